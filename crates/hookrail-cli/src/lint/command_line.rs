//! The simple commands of a hook: which program each starts, with which words, and what of it is a file.
//!
//! A line for the shell is parsed, not run. A word whose value only a shell knows is left unknown, and nothing is
//! reported about it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use hookrail::hook::Action;
use hookrail::sources::without_dots;
use hookrail::{DialectId, Hook};
use tree_sitter::{Node, Tree};

use super::interpreter::Interpreter;
use super::syntax::parse_shell;

/// One simple command.
#[derive(Debug)]
pub(super) struct CommandUse {
    /// The file it runs, if its words say so.
    pub(super) script: Option<ScriptUse>,
    /// Whether the shell looks for the program in the search path.
    pub(super) lookup: Lookup,
}

/// How the program of a command is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// By this name in the search path.
    SearchPath(String),
    /// It is a path, a builtin of the shell, or not known.
    Other,
}

/// A file that a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScriptUse {
    /// The path as it is written.
    pub(super) written: String,
    pub(super) path: PathBuf,
    pub(super) runner: Runner,
}

/// What runs a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// The kernel, which needs the permission to execute it and reads its first line.
    Itself,
    /// An interpreter that the command names.
    Given(Interpreter),
}

/// Programs that run the program after them.
const PREFIXES: [&str; 8] = ["exec", "command", "env", "nohup", "nice", "time", "setsid", "sudo"];

/// What a shell runs by itself.
const BUILTINS: &str = " . : [ [[ alias bg bind break builtin caller case cd command compgen complete continue declare \
    dirs disown do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help \
    history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set \
    shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset until wait while \
    { } ! ";

/// The simple commands of a hook.
pub(super) fn commands_of(root: &Path, hook: &Hook) -> Vec<CommandUse> {
    let folders = Folders::of(root, hook);
    match &hook.action {
        Action::Shell(line) => {
            let Some(tree) = parse_shell(line) else { return Vec::new() };
            let guarded = guarded_programs(&tree, line);
            let functions = names_of(&tree, line, "function_definition");
            let is_own = |name: &str| guarded.iter().chain(&functions).any(|own| own == name);
            let mut commands = Vec::new();
            for node in nodes(&tree).filter(|node| node.kind() == "command") {
                let mut cursor = node.walk();
                let words = node.named_children(&mut cursor).filter(|child| is_word(*child));
                let words: Vec<Option<String>> = words.map(|word| value_of(word, line, &folders)).collect();
                commands.push(command_use(&words, &folders, is_own));
            }
            commands
        }
        Action::Program(words) => {
            let words: Vec<Option<String>> = words.iter().cloned().map(Some).collect();
            vec![command_use(&words, &Folders { variables: Vec::new(), ..folders }, |_| false)]
        }
        Action::Module(_) | Action::Native(_) | Action::Remote(_) | Action::NotExecutable(_) | Action::Unusable(_) => {
            Vec::new()
        }
    }
}

/// The programs that a shell's code starts by name, each once with its first place. Functions of the code and programs
/// whose absence it handles are left out.
pub(super) fn programs_in(code: &str) -> Vec<(String, Range<usize>)> {
    let Some(tree) = parse_shell(code) else { return Vec::new() };
    let own = [guarded_programs(&tree, code), names_of(&tree, code, "function_definition")].concat();
    let mut found: Vec<(String, Range<usize>)> = Vec::new();
    for node in nodes(&tree).filter(|node| node.kind() == "command_name") {
        let Some(name) = code.get(node.byte_range()) else { continue };
        if !own.iter().any(|known| known == name) && !found.iter().any(|(known, _)| known == name) {
            found.push((name.to_owned(), node.byte_range()));
        }
    }
    found
}

/// The variables without quotes in a line, each once, but not those that the engine or the dialect quotes.
pub(super) fn unquoted_variables(line: &str, known: &[&str]) -> Vec<(String, Range<usize>)> {
    let Some(tree) = parse_shell(line) else { return Vec::new() };
    let mut found: Vec<(String, Range<usize>)> = Vec::new();
    for node in nodes(&tree).filter(|node| matches!(node.kind(), "simple_expansion" | "expansion")) {
        let parents = [node.parent(), node.parent().and_then(|parent| parent.parent())];
        let is_word_of_command =
            parents.iter().flatten().any(|parent| matches!(parent.kind(), "command" | "command_name"))
                && !parents.iter().flatten().any(|parent| parent.kind() == "string");
        let text = &line[node.byte_range()];
        let name = text.trim_start_matches(['$', '{']).trim_end_matches('}');
        let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if is_word_of_command && is_name && !known.contains(&name) && !found.iter().any(|(known, _)| known == text) {
            found.push((text.to_owned(), node.byte_range()));
        }
    }
    found
}

/// The folders that words are resolved with.
struct Folders {
    root: PathBuf,
    home: Option<PathBuf>,
    variables: Vec<(&'static str, PathBuf)>,
}

impl Folders {
    fn of(root: &Path, hook: &Hook) -> Self {
        let mut variables: Vec<(&'static str, PathBuf)> =
            super::quoting::PROJECT_VARIABLES.iter().map(|name| (*name, root.to_owned())).collect();
        variables.extend([("PWD", root.to_owned()), ("cwd", root.to_owned()), ("workspacePath", root.to_owned())]);
        if let Some(owner) = &hook.owner {
            variables.extend([("pluginDir", owner.dir.clone()), ("extensionPath", owner.dir.clone())]);
        }
        let home = crate::project::home();
        variables.extend(home.iter().flat_map(|home| [("HOME", home.clone()), ("homedir", home.clone())]));
        if hook.dialect == DialectId::Xcode {
            variables.push(("sep", std::path::MAIN_SEPARATOR_STR.into()));
        }
        Self { root: root.to_owned(), home, variables }
    }

    fn path(&self, word: &str) -> PathBuf {
        let path = match (word.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.root.join(word),
        };
        // Two hooks may write the same path differently.
        without_dots(&path)
    }
}

/// Every node of a tree, parents first.
pub(super) fn nodes(tree: &Tree) -> impl Iterator<Item = Node<'_>> {
    let mut waiting = vec![tree.root_node()];
    std::iter::from_fn(move || {
        let node = waiting.pop()?;
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        waiting.extend(children.into_iter().rev());
        Some(node)
    })
}

fn is_word(node: Node<'_>) -> bool {
    let kinds = [
        "command_name",
        "word",
        "string",
        "raw_string",
        "concatenation",
        "simple_expansion",
        "expansion",
        "number",
        "command_substitution",
        "ansi_c_string",
        "process_substitution",
    ];
    kinds.contains(&node.kind())
}

/// The value of a word, if no shell is needed to know it.
fn value_of(node: Node<'_>, line: &str, folders: &Folders) -> Option<String> {
    let text = line.get(node.byte_range())?;
    match node.kind() {
        "word" | "number" => Some(text.replace('\\', "")),
        "raw_string" => Some(text.trim_matches('\'').to_owned()),
        "simple_expansion" | "expansion" => {
            let name = text.trim_start_matches(['$', '{']).trim_end_matches('}');
            let (_, folder) = folders.variables.iter().find(|(known, _)| *known == name)?;
            Some(folder.to_string_lossy().into_owned())
        }
        "command_name" | "concatenation" => {
            let mut cursor = node.walk();
            node.children(&mut cursor).map(|part| value_of(part, line, folders)).collect()
        }
        "string" => {
            let mut cursor = node.walk();
            let parts = node.named_children(&mut cursor).map(|part| match part.kind() {
                "string_content" => line.get(part.byte_range()).map(|text| text.replace("\\\"", "\"")),
                _ => value_of(part, line, folders),
            });
            parts.collect()
        }
        _ => None,
    }
}

/// The programs whose absence a line handles itself, as in `command -v jq`.
fn guarded_programs(tree: &Tree, line: &str) -> Vec<String> {
    let commands = nodes(tree).filter(|node| node.kind() == "command").filter_map(|node| line.get(node.byte_range()));
    let guards = commands.filter_map(|text| {
        let mut words = text.split_whitespace();
        let asks = match words.next()? {
            "command" => words.next()?.starts_with('-'),
            "type" | "which" | "hash" => true,
            _ => false,
        };
        words.find(|word| !word.starts_with('-')).filter(|_| asks).map(str::to_owned)
    });
    guards.collect()
}

fn names_of(tree: &Tree, line: &str, kind: &str) -> Vec<String> {
    let named = nodes(tree).filter(|node| node.kind() == kind).filter_map(|node| node.child_by_field_name("name"));
    named.filter_map(|name| line.get(name.byte_range()).map(str::to_owned)).collect()
}

fn command_use(words: &[Option<String>], folders: &Folders, is_own: impl Fn(&str) -> bool) -> CommandUse {
    let mut rest = words;
    let mut behind_prefix = false;
    while let Some((Some(first), others)) = rest.split_first() {
        let is_assignment = first.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'));
        if PREFIXES.contains(&first.as_str()) {
            behind_prefix = true;
        } else if !(behind_prefix && (first.starts_with('-') || is_assignment)) {
            break;
        }
        rest = others;
    }
    let program = rest.first().cloned().flatten();
    let mut lookup = Lookup::Other;
    let mut script = None;
    if let Some(program) = program {
        let arguments = rest.get(1..).unwrap_or_default();
        if program.contains('/') || program.starts_with('~') {
            let path = folders.path(&program);
            script = Some(ScriptUse { written: program.clone(), path, runner: Runner::Itself });
        } else if !BUILTINS.contains(&format!(" {program} ")) && !is_own(&program) && !program.is_empty() {
            lookup = Lookup::SearchPath(program.clone());
        }
        let name = program.rsplit('/').next().unwrap_or(&program);
        if let Some(interpreter) = Interpreter::of_program(name)
            && let Some(written) = interpreter.script_in(arguments)
        {
            let path = folders.path(&written);
            script = Some(ScriptUse { written, path, runner: Runner::Given(interpreter) });
        } else if matches!(program.as_str(), "." | "source")
            && let Some(Some(written)) =
                arguments.first().filter(|word| word.as_ref().is_some_and(|word| word.contains('/')))
        {
            let path = folders.path(written);
            script = Some(ScriptUse { written: written.clone(), path, runner: Runner::Given(Interpreter::Shell) });
        }
    }
    CommandUse { script, lookup }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<CommandUse> {
        let origin = hookrail::sources::Origin::without_file(hookrail::sources::SourceKind::Project);
        let action = Action::Shell(line.into());
        commands_of(
            Path::new("/p"),
            &Hook::new(hookrail::EventKind::BeforeTool, DialectId::Llxprt, "x", action, origin),
        )
    }

    #[test]
    fn the_file_that_a_line_runs() {
        for (line, path, runner) in [
            ("./a.sh x", "/p/a.sh", Runner::Itself),
            ("\"$LLXPRT_PROJECT_DIR\"/h/a.sh", "/p/h/a.sh", Runner::Itself),
            ("python3 -u h/a.py", "/p/h/a.py", Runner::Given(Interpreter::Python)),
            ("exec bash \"${LLXPRT_PROJECT_DIR}/a b.sh\"", "/p/a b.sh", Runner::Given(Interpreter::Shell)),
            ("env A=1 node a.mjs", "/p/a.mjs", Runner::Given(Interpreter::JavaScript)),
            (". ./lib.sh", "/p/lib.sh", Runner::Given(Interpreter::Shell)),
        ] {
            let script = of(line).into_iter().find_map(|command| command.script).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((script.path.as_path(), script.runner), (Path::new(path), runner), "{line}");
        }
        for line in ["sh -c 'echo'", "python3 -c 'x'", "$UNKNOWN/a.sh", "node -e 1", "python3 -m guard"] {
            assert!(of(line).iter().all(|command| command.script.is_none()), "{line}");
        }
    }

    #[test]
    fn the_programs_that_are_looked_for() {
        let programs = |line: &str| -> Vec<String> {
            let names = of(line).into_iter().filter_map(|command| match command.lookup {
                Lookup::SearchPath(name) => Some(name),
                Lookup::Other => None,
            });
            names.collect()
        };
        assert_eq!(programs("jq -r .x | grep -q y && exit 2"), ["jq", "grep"]);
        assert_eq!(programs("f() { echo; }; f; [ -f x ] && cd /"), Vec::<String>::new());
        assert_eq!(programs("command -v jq >/dev/null && jq ."), Vec::<String>::new());
        assert_eq!(programs("if true; then cat; fi"), ["cat"]);
    }

    #[test]
    fn variables_without_quotes() {
        let found = |line: &str| -> Vec<String> {
            unquoted_variables(line, &["LLXPRT_PROJECT_DIR"]).into_iter().map(|(text, _)| text).collect()
        };
        assert_eq!(found("$HOME/h/a.sh"), ["$HOME"]);
        assert_eq!(found("sh ${HOME}/a.sh $LLXPRT_PROJECT_DIR/x"), ["${HOME}"]);
        assert_eq!(found("sh \"$HOME/a.sh\" '$X' $? $1"), Vec::<String>::new());
    }
}
