//! The simple commands of a hook: which program each starts, with which words, and what of it is a file.
//!
//! A line for the shell is parsed, not run. A word whose value only a shell knows is left unknown, and nothing is
//! reported about it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use hookrail::hook::Action;
use hookrail::sources::without_dots;
use hookrail::{DialectId, Hook};
use hookrail_shell::{PieceKind, Quotes, command_words};
use tree_sitter::{Node, Tree};

use super::interpreter::{Given, Interpreter, ShellKind};
use super::parse::{nodes, parse_shell};

/// One simple command.
#[derive(Debug)]
pub(super) struct CommandUse {
    /// The file it runs, if its words say so.
    pub(super) script: Option<ScriptUse>,
    /// Whether the shell looks for the program in the search path.
    pub(super) lookup: Lookup,
    /// The code that it gives to an interpreter.
    pub(super) code: Option<GivenCode>,
    /// Its place in the line, or in the code, that it stands in.
    pub(super) span: Range<usize>,
}

/// Code in the words of a command, as in `bash -c 'code'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GivenCode {
    pub(super) interpreter: Interpreter,
    pub(super) text: String,
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
const PREFIXES: [&str; 9] = ["exec", "command", "env", "nohup", "nice", "time", "timeout", "setsid", "sudo"];

/// What a shell runs by itself.
const BUILTINS: &str = " . : [ [[ alias bg bind break builtin caller case cd command compgen complete continue declare \
    dirs disown do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help \
    history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set \
    shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset until wait while \
    { } ! ";

/// How deeply code for a shell may be given to a shell.
const DEEPEST_CODE: usize = 3;

/// The simple commands of a hook, with those of the code that they give to a shell.
pub(super) fn commands_of(root: &Path, hook: &Hook) -> Vec<CommandUse> {
    let folders = Folders::of(root, hook);
    let mut commands = match &hook.action {
        Action::Shell(line) => commands_in(line, &folders),
        Action::Program(words) => {
            let words: Vec<Option<String>> = words.iter().cloned().map(Some).collect();
            vec![command_use(&words, &Folders { variables: Vec::new(), ..folders.clone() }, 0..0, |_| false)]
        }
        Action::Module(_)
        | Action::Native(_)
        | Action::Remote(_)
        | Action::Http(_)
        | Action::Rule(_)
        | Action::NotExecutable(_)
        | Action::Unusable(_)
        | Action::Missing(_) => Vec::new(),
    };
    let mut level = 0..commands.len();
    for _ in 0..DEEPEST_CODE {
        let given = commands.get(level.clone()).unwrap_or_default().iter().filter_map(|command| command.code.as_ref());
        let for_shells = given.filter(|code| matches!(code.interpreter, Interpreter::Shell(_)));
        let inner: Vec<CommandUse> = for_shells.flat_map(|code| commands_in(&code.text, &folders)).collect();
        level = commands.len()..commands.len() + inner.len();
        commands.extend(inner);
    }
    commands
}

/// The simple commands of a shell's code, without those of code that they give to another shell.
pub(super) fn commands_in_code(root: &Path, hook: &Hook, code: &str) -> Vec<CommandUse> {
    commands_in(code, &Folders::of(root, hook))
}

fn commands_in(code: &str, folders: &Folders) -> Vec<CommandUse> {
    let Some(tree) = parse_shell(code) else { return Vec::new() };
    let guarded = guarded_programs(&tree, code);
    let functions = names_of(&tree, code, "function_definition");
    let is_own = |name: &str| guarded.iter().chain(&functions).any(|own| own == name);
    let mut commands = Vec::new();
    let mut folders = folders.clone();
    for node in nodes(&tree).filter(|node| node.kind() == "command") {
        let mut cursor = node.walk();
        let words = node.named_children(&mut cursor).filter(|child| is_word(*child));
        let words: Vec<Option<String>> = words.map(|word| value_of(word, code, &folders)).collect();
        let mut command = command_use(&words, &folders, node.byte_range(), is_own);
        if folders.is_elsewhere {
            command.script = command.script.filter(|script| script.written.starts_with(['/', '~']));
        }
        commands.push(command);
        // What stands behind `cd` is relative to another folder.
        match words.as_slice() {
            [Some(name), Some(folder)] if name == "cd" => folders.root = folders.path(folder),
            [Some(name), ..] if ["cd", "pushd", "popd"].contains(&name.as_str()) => folders.is_elsewhere = true,
            _ => {}
        }
    }
    commands
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

/// The variables that a line reads and does not set itself, each once as its name and as it is written.
pub(super) fn variables_in(line: &str) -> Vec<(String, String)> {
    let Some(tree) = parse_shell(line) else { return Vec::new() };
    let assigned = names_of(&tree, line, "variable_assignment");
    let mut found: Vec<(String, String)> = Vec::new();
    for node in nodes(&tree).filter(|node| matches!(node.kind(), "simple_expansion" | "expansion")) {
        let Some(written) = line.get(node.byte_range()) else { continue };
        let name = written.trim_start_matches(['$', '{']).trim_end_matches('}');
        let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let is_known = found.iter().any(|(_, known)| known == written);
        if is_name && !is_known && !assigned.iter().any(|assigned| assigned == name) {
            found.push((name.to_owned(), written.to_owned()));
        }
    }
    found
}

/// The variable in which a hook of a bundle finds the folder of its bundle.
const BUNDLE_VARIABLE: &str = "HOOKRAIL_BUNDLE_DIR";

/// The folders that words are resolved with.
#[derive(Clone)]
struct Folders {
    root: PathBuf,
    home: Option<PathBuf>,
    variables: Vec<(&'static str, PathBuf)>,
    /// Whether the line went to a folder that is not known.
    is_elsewhere: bool,
}

impl Folders {
    fn of(root: &Path, hook: &Hook) -> Self {
        let of_project = hook.dialect.variables_of_project().iter();
        let mut variables: Vec<(&'static str, PathBuf)> = of_project.map(|name| (*name, root.to_owned())).collect();
        variables.extend([("PWD", root.to_owned()), ("cwd", root.to_owned()), ("workspacePath", root.to_owned())]);
        let bundle = hook.environment.as_ref().and_then(|environment| environment.get(BUNDLE_VARIABLE));
        variables.extend(bundle.map(|folder| (BUNDLE_VARIABLE, PathBuf::from(folder))));
        if let Some(owner) = &hook.owner {
            variables.extend(hook.dialect.variable_of_owner().map(|name| (name, owner.dir.clone())));
        }
        let home = crate::folders::home();
        variables.extend(home.iter().flat_map(|home| [("HOME", home.clone()), ("homedir", home.clone())]));
        if hook.dialect == DialectId::Xcode {
            variables.push(("sep", std::path::MAIN_SEPARATOR_STR.into()));
        }
        Self { root: root.to_owned(), home, variables, is_elsewhere: false }
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
    let words = command_words(text).ok()?;
    let [word] = words.as_slice() else { return None };
    let mut value = String::new();
    for piece in &word.pieces {
        match &piece.kind {
            PieceKind::Text(part) => {
                // In quotes, `~` is a letter as any other.
                let is_quoted = matches!(piece.quotes, Quotes::Single | Quotes::Double);
                match part.strip_prefix("~/").filter(|_| is_quoted && value.is_empty()) {
                    Some(rest) => value.extend([QUOTED_HOME, rest]),
                    None => value.push_str(part),
                }
            }
            PieceKind::Tilde(_) => value.push_str(text.get(piece.span.range())?),
            PieceKind::Parameter(parameter) if parameter.is_plain() => {
                let (_, folder) = folders.variables.iter().find(|(known, _)| *known == parameter.name)?;
                value.push_str(&folder.to_string_lossy());
            }
            // Which files a pattern means is the shell's to find out.
            PieceKind::Parameter(_)
            | PieceKind::Command(_)
            | PieceKind::Process { .. }
            | PieceKind::Arithmetic(_)
            | PieceKind::Glob(_)
            | PieceKind::Brace(_)
            | PieceKind::Sequence(_) => return None,
        }
    }
    Some(value)
}

/// The beginning of a path in quotes that was meant to be in the home directory.
pub(super) const QUOTED_HOME: &str = "./~/";

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

/// Whether a word is a number with or without a unit, as in `timeout 5s` and `nice -n 10`.
fn is_duration(word: &str) -> bool {
    let number = word.trim_end_matches(['s', 'm', 'h', 'd']);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn command_use(
    words: &[Option<String>],
    folders: &Folders,
    span: Range<usize>,
    is_own: impl Fn(&str) -> bool,
) -> CommandUse {
    let mut rest = words;
    let mut behind_prefix = false;
    while let Some((Some(first), others)) = rest.split_first() {
        let is_assignment = first.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'));
        if PREFIXES.contains(&first.as_str()) {
            behind_prefix = true;
        } else if !(behind_prefix && (first.starts_with('-') || is_assignment || is_duration(first))) {
            break;
        }
        rest = others;
    }
    let mut command = CommandUse { script: None, lookup: Lookup::Other, code: None, span };
    let Some(program) = rest.first().cloned().flatten() else { return command };
    let arguments = rest.get(1..).unwrap_or_default();
    let script = |written: String, runner: Runner| ScriptUse { path: folders.path(&written), written, runner };
    if program.contains('/') || program.starts_with('~') {
        command.script = Some(script(program.clone(), Runner::Itself));
    } else if !BUILTINS.contains(&format!(" {program} ")) && !is_own(&program) && !program.is_empty() {
        command.lookup = Lookup::SearchPath(program.clone());
    }
    let name = program.rsplit('/').next().unwrap_or(&program);
    if let Some(interpreter) = Interpreter::of_program(name) {
        match interpreter.given_in(arguments) {
            Some(Given::Script(written)) => command.script = Some(script(written, Runner::Given(interpreter))),
            Some(Given::Code(text)) => command.code = Some(GivenCode { interpreter, text }),
            None => {}
        }
    } else if matches!(program.as_str(), "." | "source")
        && let Some(Some(written)) =
            arguments.first().filter(|word| word.as_ref().is_some_and(|word| word.contains('/')))
    {
        // The shell of hooks reads the file.
        let runner = Runner::Given(Interpreter::Shell(ShellKind::Bash));
        command.script = Some(script(written.clone(), runner));
    }
    command
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
            (
                "exec bash \"${LLXPRT_PROJECT_DIR}/a b.sh\"",
                "/p/a b.sh",
                Runner::Given(Interpreter::Shell(ShellKind::Bash)),
            ),
            ("env A=1 node a.mjs", "/p/a.mjs", Runner::Given(Interpreter::JavaScript)),
            (". ./lib.sh", "/p/lib.sh", Runner::Given(Interpreter::Shell(ShellKind::Bash))),
            ("timeout -k 1 5s ./a.sh", "/p/a.sh", Runner::Itself),
            ("cd h && ./a.sh", "/p/h/a.sh", Runner::Itself),
            ("bash -ec './a.sh x'", "/p/a.sh", Runner::Itself),
            ("sh -c \"bash -c 'exec ./a.sh'\"", "/p/a.sh", Runner::Itself),
        ] {
            let script = of(line).into_iter().find_map(|command| command.script).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((script.path.as_path(), script.runner), (Path::new(path), runner), "{line}");
        }
        let quoted = of("\"~/a.sh\"").into_iter().find_map(|command| command.script).unwrap();
        assert_eq!(quoted.path, Path::new("/p/~/a.sh"), "no shell expands it");
        for line in [
            "cd \"$X\" && ./a.sh",
            "./hooks/*.sh",
            "sh -c 'echo'",
            "python3 -c 'x'",
            "$UNKNOWN/a.sh",
            "node -e 1",
            "python3 -m guard",
        ] {
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
