//! Finds hooks from outside a project that run code which the project supplies, because they run in its directory.
//!
//! A hook of a user or of the system needs no grant, and it runs in projects that were never trusted. If it is `python3
//! -c 'import json'`, a `json.py` in the project runs as part of it. What a script of such a hook does in turn is not
//! looked at.

use std::sync::Arc;

use hookrail_shell::{Comments, LooseWord, loose_words};
use hookrail_spawn::Environment;

use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect_id::DialectId;
use crate::hook::variables::is_word_of;
use crate::hook::{Action, Authority, Hook};

/// Keeps Python 3.11 and later from importing modules out of the directory in which it runs.
const PYTHON_SAFE_PATH: &str = "PYTHONSAFEPATH";

/// How a command runs code that a project can supply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum ProjectCode {
    /// Python without a script imports from the directory in which it runs.
    #[error("starts Python without a script, which before Python 3.11 imports modules of any project")]
    Python,
    /// Python looks for a module in the directory in which it runs.
    #[error("starts a module of Python by its name, which any project can supply")]
    PythonModule,
    /// Node resolves modules from the directory in which it runs.
    #[error("gives Node code that loads modules, which any project can supply")]
    Node,
    /// Git runs programs that the repository's configuration names.
    #[error("runs git, which runs the programs that a project's git configuration names")]
    Git,
    /// The program runs what files of the project say.
    #[error("runs `{0}`, which runs what files of any project say")]
    BuildTool(String),
    /// The path leads into the project.
    #[error("runs `{0}`, a file that any project can supply")]
    ProjectPath(String),
}

impl ProjectCode {
    /// How the author of the hook keeps the code of projects out.
    fn hint(&self) -> &'static str {
        match self {
            Self::Python => "isolate it, as in `python3 -I -c …`, or put the code into a script outside of projects",
            Self::PythonModule => {
                "isolate it, as in `python3 -I -m …`, or change to a directory outside of projects first"
            }
            Self::Node => "put the code into a script outside of projects, and name that by its absolute path",
            Self::Git => "switch that off, as in `git -c core.fsmonitor= …`",
            Self::BuildTool(_) => "configure the hook in the projects that need it, where it has to be trusted",
            Self::ProjectPath(_) => {
                "name a file outside of projects by its absolute path, as in `\"$HOME/hooks/guard.sh\"`"
            }
        }
    }
}

/// Programs that run what files in the working directory say.
const BUILD_TOOLS: &str = "
    npm npx yarn pnpm pnpx bunx make gmake cargo just task rake gradle mvn tox poetry pre-commit ninja
";

/// Programs that run the program after them.
const PREFIXES: &str = "
    env exec command nohup nice time timeout sudo xargs setsid ! { if then do else while
";

/// Sets `PYTHONSAFEPATH` for hooks from outside of the project that start Python without a script. It is not set for
/// `-m` behind a `cd` to another place, which would then not find the module there.
pub(crate) fn protect_python(hooks: &mut [Hook], inherited: &Arc<Environment>) {
    for hook in hooks.iter_mut().filter(|hook| hook.authority() != Authority::Project) {
        let mentions_python = match &hook.action {
            Action::Shell(line) => line.contains("python"),
            Action::Program(words) => words.iter().any(|word| word.contains("python")),
            Action::Module(_)
            | Action::Native(_)
            | Action::Remote(_)
            | Action::Http(_)
            | Action::Rule(_)
            | Action::NotExecutable(_)
            | Action::Unusable(_)
            | Action::Missing(_) => false,
        };
        if mentions_python && project_code(&hook.action).contains(&ProjectCode::Python) {
            let environment = Environment::clone(hook.environment.as_ref().unwrap_or(inherited));
            hook.environment = Some(Arc::new(environment.with(PYTHON_SAFE_PATH, "1")));
        }
    }
}

/// What a user should know about the hooks from outside of the project that run code of the project.
pub(crate) fn findings<'h>(hooks: impl IntoIterator<Item = &'h Hook>) -> Vec<Diagnostic> {
    let outside = hooks.into_iter().filter(|hook| hook.authority() != Authority::Project);
    outside.flat_map(|hook| project_code(&hook.action).into_iter().map(|code| finding(hook, &code))).collect()
}

fn finding(hook: &Hook, code: &ProjectCode) -> Diagnostic {
    let message = format!("hook `{hook}` {code}");
    Diagnostic::new(Code::ReadsProject, message).at(hook.origin.location.clone()).hint(code.hint())
}

/// Every way in which a command runs code of the project, each once.
fn project_code(action: &Action) -> Vec<ProjectCode> {
    let mut found = Vec::new();
    match action {
        Action::Shell(line) => look_at_line(line, DEPTH, &mut found),
        Action::Program(words) => {
            look_at_command(words, DEPTH, &mut found);
            module_of_the_project(&mut found);
        }
        Action::Module(_)
        | Action::Native(_)
        | Action::Remote(_)
        | Action::Http(_)
        | Action::Rule(_)
        | Action::NotExecutable(_)
        | Action::Unusable(_)
        | Action::Missing(_) => {}
    }
    let mut once = Vec::new();
    for code in found {
        if !once.contains(&code) {
            once.push(code);
        }
    }
    once
}

/// How deep the code of nested shells is parsed.
const DEPTH: usize = 4;

fn look_at_line(line: &str, depth: usize, found: &mut Vec<ProjectCode>) {
    let mut is_elsewhere = false;
    for command in simple_commands(line) {
        let before = found.len();
        look_at_command(&command, depth, found);
        if !is_elsewhere && let Some(added) = found.get_mut(before..) {
            module_of_the_project(added);
        }
        if let Some(("cd" | "pushd", places)) = program_of(&command) {
            is_elsewhere = places.last().is_some_and(|place| leads_elsewhere(place));
        }
    }
}

/// A module of Python that is started where the event happens comes from the project, like what its code imports.
fn module_of_the_project(found: &mut [ProjectCode]) {
    for code in found.iter_mut().filter(|code| **code == ProjectCode::PythonModule) {
        *code = ProjectCode::Python;
    }
}

fn look_at_command(words: &[String], depth: usize, found: &mut Vec<ProjectCode>) {
    let Some((program, arguments)) = program_of(words) else { return };
    if leads_into_project(program) {
        found.push(ProjectCode::ProjectPath(program.to_owned()));
        return;
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    match name {
        _ if name.starts_with("python") => look_at_python(arguments, found),
        "node" | "nodejs" | "bun" => look_at_node(arguments, found),
        "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh" => look_at_shell(arguments, depth, found),
        "." | "source" | "ruby" | "perl" => found.extend(script(arguments)),
        "eval" if depth > 0 => look_at_line(&arguments.join(" "), depth - 1, found),
        "git" if !arguments.iter().any(|word| word.starts_with("core.fsmonitor=")) => found.push(ProjectCode::Git),
        _ if is_word_of(BUILD_TOOLS, name) => found.push(ProjectCode::BuildTool(name.to_owned())),
        _ => {}
    }
}

/// The program of a simple command, and its arguments.
fn program_of(words: &[String]) -> Option<(&str, &[String])> {
    let mut rest = words;
    let mut behind_prefix = false;
    while let Some((first, others)) = rest.split_first() {
        let is_assignment = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
        });
        let is_number = first.starts_with(|character: char| character.is_ascii_digit());
        if is_word_of(PREFIXES, first.rsplit('/').next().unwrap_or(first)) {
            behind_prefix = true;
        } else if !(is_assignment || behind_prefix && (first.starts_with('-') || is_number)) {
            return Some((first, others));
        }
        rest = others;
    }
    None
}

fn look_at_python(arguments: &[String], found: &mut Vec<ProjectCode>) {
    let mut arguments = arguments.iter();
    let mut code = ProjectCode::Python;
    while let Some(argument) = arguments.next() {
        let Some(letters) = argument.strip_prefix('-') else {
            found.extend(leads_into_project(argument).then(|| ProjectCode::ProjectPath(argument.clone())));
            return;
        };
        // After the letter that takes code, or the name of a module, everything is that.
        let options = letters.split(['c', 'm']).next().unwrap_or_default();
        if !letters.starts_with('-') && options.contains(['I', 'P']) {
            return;
        }
        if letters.is_empty() || (!letters.starts_with('-') && options.len() < letters.len()) {
            if letters.get(options.len()..).is_some_and(|rest| rest.starts_with('m')) {
                code = ProjectCode::PythonModule;
            }
            break;
        }
        if options.ends_with(['W', 'X']) {
            arguments.next();
        }
    }
    found.push(code);
}

fn look_at_node(arguments: &[String], found: &mut Vec<ProjectCode>) {
    let is_code = |word: &String| {
        matches!(word.as_str(), "--eval" | "--print")
            || word.starts_with("--eval=")
            || word.starts_with('-') && !word.starts_with("--") && word.contains(['e', 'p'])
    };
    if !arguments.iter().any(is_code) {
        found.extend(script(arguments));
    } else if arguments.iter().any(|word| word.contains("require") || word.contains("import")) {
        found.push(ProjectCode::Node);
    }
}

fn look_at_shell(arguments: &[String], depth: usize, found: &mut Vec<ProjectCode>) {
    let is_option = |word: &&String| word.starts_with(['-', '+']);
    let takes_code = arguments.iter().take_while(is_option).any(|word| !word.starts_with("--") && word.contains('c'));
    match arguments.iter().find(|word| !is_option(word)) {
        Some(code) if takes_code && depth > 0 => look_at_line(code, depth - 1, found),
        Some(_) if takes_code => {}
        _ => found.extend(script(arguments)),
    }
}

/// The first argument that is not an option, if it leads into the project.
fn script(arguments: &[String]) -> Option<ProjectCode> {
    let script = arguments.iter().find(|word| !word.starts_with(['-', '+']))?;
    // A bare name is a file in the working directory too.
    let leads = leads_into_project(script) || !script.starts_with(['/', '~', '$']) && !script.is_empty();
    leads.then(|| ProjectCode::ProjectPath(script.clone()))
}

/// Whether a `cd` to this place leaves the project, as far as its text says.
fn leads_elsewhere(place: &str) -> bool {
    place.starts_with(['/', '~', '$']) && !leads_into_project(&format!("{place}/"))
}

/// Whether a word with a slash leads into the directory in which a hook runs.
fn leads_into_project(word: &str) -> bool {
    // Variables that mean the project or the directory in which a hook runs.
    let of_project = DialectId::project_variables().chain(["PWD", "cwd"]).any(|name| {
        [format!("${name}/"), format!("${{{name}}}/")].iter().any(|reference| word.starts_with(reference.as_str()))
    });
    of_project || (word.contains('/') && !word.starts_with(['/', '~', '$']))
}

/// The simple commands of a shell's line, each as its words without quotes. Redirections are left out.
fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    for LooseWord { text: word, separator: end } in loose_words(line, " \t\n;|&()`", Comments::Skipped) {
        if let Some(command) = commands.last_mut() {
            command.extend(word);
        }
        if !matches!(end, Some(' ' | '\t')) {
            commands.push(Vec::new());
        }
    }
    commands.into_iter().map(without_redirections).collect()
}

fn without_redirections(words: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let operator = word.trim_start_matches(|character: char| character.is_ascii_digit());
        if !operator.starts_with(['<', '>']) {
            kept.push(word);
        } else if operator.trim_start_matches(['<', '>', '-']).is_empty() {
            // The file is a separate word.
            words.next();
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(line: &str) -> Vec<ProjectCode> {
        project_code(&Action::Shell(line.into()))
    }

    #[test]
    fn python_without_a_script_imports_from_the_project() {
        for line in [
            "python3 -c 'import json'",
            "python3 - <<E\nimport json\nE",
            "python3 -m guard",
            "cd \"$LLXPRT_PROJECT_DIR\" && python3 -m guard",
            "python3 -m guard; cd ~/hooks",
            "python3",
            "cat x | python3.12 -u -c 'import json'",
            "X=1 env -i /usr/bin/python3 -Bc 'import json'",
            "sh -c \"python3 -c 'import json'\"",
            "timeout 5 python3 -W ignore -c 'import json'",
            "true && exec python3 < code.py",
        ] {
            assert_eq!(code_of(line), [ProjectCode::Python], "{line}");
        }
        // The module may be the author's own, in a directory to which the command changes, so its import path stays.
        for line in ["cd /opt/hooks && python3 -m guard", "cd ~/hooks && python3 -um guard"] {
            assert_eq!(code_of(line), [ProjectCode::PythonModule], "{line}");
        }
        for line in [
            "python3 -I -c 'import json'",
            "python3 -I -m guard",
            "python3 -Pc 'import json'",
            "python3 /opt/guard.py",
            "python3 ~/guard.py -c x",
        ] {
            assert_eq!(code_of(line), [], "{line}");
        }
    }

    #[test]
    fn other_programs_run_what_the_project_says() {
        let path = |path: &str| ProjectCode::ProjectPath(path.to_owned());
        let tool = |tool: &str| ProjectCode::BuildTool(tool.to_owned());
        for (line, expected) in [
            ("node -e \"require('x')\"", vec![ProjectCode::Node]),
            ("node -p '1+1'", vec![]),
            ("git status", vec![ProjectCode::Git]),
            ("git -c core.fsmonitor= status", vec![]),
            ("npm run lint; make test", vec![tool("npm"), tool("make")]),
            ("./guard.sh", vec![path("./guard.sh")]),
            ("bash hooks/guard.sh", vec![path("hooks/guard.sh")]),
            ("sh guard.sh", vec![path("guard.sh")]),
            ("sh \"$LLXPRT_PROJECT_DIR/guard.sh\"", vec![path("$LLXPRT_PROJECT_DIR/guard.sh")]),
            ("bash /opt/guard.sh relative/argument", vec![]),
            ("sh ~/guard.sh", vec![]),
            ("sh ${extensionPath}/guard.sh > out/log 2>&1", vec![]),
            ("jq -r .tool_name | grep -q rm && exit 2 # ./x", vec![]),
        ] {
            assert_eq!(code_of(line), expected, "{line}");
        }
        let words = Action::Program(["python3", "-c", "import json"].map(str::to_owned).as_slice().into());
        assert_eq!(project_code(&words), [ProjectCode::Python]);
    }
}
