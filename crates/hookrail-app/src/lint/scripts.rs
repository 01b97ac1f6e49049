//! Files and programs that a command runs and that are not there, or cannot be executed.

use std::path::{Path, PathBuf};

use hookrail::hook::Action;
use hookrail::sources::{Location, nearest};
use hookrail::{Code, Diagnostic, Hook};

use super::Finding;
use super::command_line::{Lookup, QUOTED_HOME, Runner, ScriptUse, programs_in};
use super::context::{HookContext, LintContext, find_program};
use super::fix::Fix;
use super::interpreter::Interpreter;
use super::syntax::language_of;

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    context.active().flat_map(|seen| of_hook(context, seen)).collect()
}

/// What is wrong with the programs and scripts of one hook.
pub(super) fn of_hook(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let hook = seen.hook;
    let mut found = Vec::new();
    for command in &seen.commands {
        if let Some(script) = &command.script {
            found.extend(about_script(context, hook, script));
            found.extend(missing_tools(context, seen, script));
        }
        if let Lookup::SearchPath(name) = &command.lookup
            && find_program(&seen.search_path(), name).is_none()
        {
            found.push(missing_program(context, hook, name));
        }
    }
    found
}

/// Tools that scripts of hooks use and that a system may lack. A name that is not here may be a function from a file that
/// the script sources.
const TOOLS: [&str; 20] = [
    "jq",
    "yq",
    "rg",
    "fd",
    "curl",
    "wget",
    "git",
    "gh",
    "docker",
    "python3",
    "python",
    "node",
    "npx",
    "deno",
    "bun",
    "ruby",
    "perl",
    "shellcheck",
    "prettier",
    "ruff",
];

/// The tools that a shell script starts and that are not in the search path of its hook.
fn missing_tools(context: &LintContext<'_>, seen: &HookContext<'_>, script: &ScriptUse) -> Vec<Finding> {
    let Some(text) = context.text(&script.path) else { return Vec::new() };
    if !matches!(language_of(script, &text), Some(Interpreter::Shell(_))) {
        return Vec::new();
    }
    let search_path = seen.search_path();
    let is_missing = |name: &str| TOOLS.contains(&name) && find_program(&search_path, name).is_none();
    let missing = programs_in(&text).into_iter().filter(|(name, _)| is_missing(name));
    let finding = |(name, place): (String, std::ops::Range<usize>)| {
        let message = format!("this script of hook `{}` starts `{name}`, which is not in the search path", seen.hook);
        let diagnostic = Diagnostic::new(Code::ProgramMissing, message);
        let hint = format!("install `{name}`, or handle its absence, as in `command -v {name} >/dev/null || exit 2`");
        Finding::new(diagnostic.at(Location::in_text(&script.path, &text, place)).hint(hint))
    };
    missing.map(finding).collect()
}

fn missing_program(context: &LintContext<'_>, hook: &Hook, name: &str) -> Finding {
    let message = format!("hook `{hook}` starts `{name}`, which is not in the search path");
    // A shell takes a backslash away, so the folders of a path for Windows run together.
    let line = match &hook.action {
        Action::Shell(line) => &**line,
        _ => "",
    };
    let first = line.split_ascii_whitespace().find(|word| word.contains('\\') && word.replace('\\', "") == name);
    if let Some(written) = first {
        let hint = format!("a shell reads `\\` as an escape; write `{}`", written.replace('\\', "/"));
        return Finding::new(context.about_key(hook, "command", Code::ProgramMissing, message).hint(hint));
    }
    let hint = match context.root.join(name).is_file() || context.root.join(".llxprt/hooks").join(name).is_file() {
        true => format!("write a path with a slash, as in `./{name}`"),
        false => format!("install `{name}`, or write its path"),
    };
    Finding::new(context.about_key(hook, "command", Code::ProgramMissing, message).hint(hint))
}

fn about_script(context: &LintContext<'_>, hook: &Hook, script: &ScriptUse) -> Option<Finding> {
    let ScriptUse { written, path, runner } = script;
    let Ok(about) = path.metadata() else { return Some(missing(context, hook, script)) };
    if about.is_dir() {
        let message = format!("hook `{hook}` runs `{written}`, which is a folder");
        let diagnostic = context.about_key(hook, "command", Code::ScriptMissing, message);
        return Some(Finding::new(diagnostic.hint("name the script in the folder")));
    }
    if *runner != Runner::Itself || is_executable(&about) {
        return None;
    }
    let message = format!("hook `{hook}` runs `{written}`, which is not executable");
    let diagnostic = context.about_key(hook, "command", Code::ScriptNotExecutable, message);
    let shown = path.strip_prefix(context.root).unwrap_or(path);
    let finding = Finding::new(diagnostic.hint(format!("run `chmod +x {}`", quoted(shown))));
    Some(finding.fixed_by(Fix::MakeExecutable(path.clone())))
}

fn missing(context: &LintContext<'_>, hook: &Hook, script: &ScriptUse) -> Finding {
    let ScriptUse { written, path, .. } = script;
    let message = format!("hook `{hook}` runs `{written}`, which does not exist");
    let diagnostic: Diagnostic = context.about_key(hook, "command", Code::ScriptMissing, message);
    let is_relative = !Path::new(written).is_absolute() && !written.starts_with('~');
    let in_plugin =
        hook.owner.as_ref().map(|owner| owner.dir.join(written)).filter(|file| is_relative && file.is_file());
    let hint = if let Some(rest) = written.strip_prefix(QUOTED_HOME) {
        format!("`~` has no meaning in quotes; write `\"$HOME/{rest}\"`")
    } else if matches!(hook.action, Action::Program(_)) && written.contains(char::is_whitespace) {
        "with `args` no shell reads `command`; write the program alone there, or leave out `args`".to_owned()
    } else if let Some(build) = build_command(context.root, path) {
        format!("build it with `{build}`")
    } else if let Some(folder) = owner_variable(hook).filter(|_| in_plugin.is_some()) {
        let rest = written.trim_start_matches("./");
        format!("it is in the plugin: write `{folder}/{rest}`; a relative path starts at the directory of the event")
    } else if let Some(other) = similar_file(context.root, path) {
        format!("there is `{}`", other.strip_prefix(context.root).unwrap_or(&other).display())
    } else if is_relative {
        let safer = owner_variable(hook).map_or("an absolute one".to_owned(), |folder| format!("`\"{folder}/…\"`"));
        format!("create it; a relative path starts at the directory of the event, so {safer} is safer")
    } else {
        format!("create `{}`, or correct the path", path.display())
    };
    Finding::new(diagnostic.hint(hint))
}

/// The variable for the folder that a hook's files are in, if its dialect has one.
pub(super) fn owner_variable(hook: &Hook) -> Option<String> {
    let of_owner = hook.dialect.variable_of_owner().map(|name| format!("${{{name}}}"));
    let of_project = hook.dialect.variables_of_project().first().map(|name| format!("${name}"));
    if hook.owner.is_some() { of_owner.or(of_project) } else { of_project.or(of_owner) }
}

/// The command that builds a program in the folder of cargo's results, if there is something to build.
fn build_command(root: &Path, missing: &Path) -> Option<String> {
    let mut folders = missing.ancestors().skip(1);
    let target = folders.find(|folder| folder.file_name().is_some_and(|name| name == "target"))?;
    let manifest = target.parent()?.join("Cargo.toml");
    if !manifest.is_file() {
        return None;
    }
    let is_release =
        missing.strip_prefix(target).is_ok_and(|rest| rest.components().any(|part| part.as_os_str() == "release"));
    let profile = if is_release { " --release" } else { "" };
    let place = match manifest.strip_prefix(root) {
        Ok(inside) if inside == Path::new("Cargo.toml") => String::new(),
        Ok(inside) => format!(" --manifest-path {}", quoted(inside)),
        Err(_) => format!(" --manifest-path {}", quoted(&manifest)),
    };
    Some(format!("cargo build{profile}{place}"))
}

/// A file with a similar name beside the missing one, or in the folder for hooks.
fn similar_file(root: &Path, missing: &Path) -> Option<PathBuf> {
    let name = missing.file_name()?.to_str()?;
    let folders = [missing.parent().map(Path::to_owned), Some(root.join(".llxprt/hooks")), Some(root.join("hooks"))];
    folders.into_iter().flatten().find_map(|folder| {
        let entries = std::fs::read_dir(&folder).ok()?.take(1000).flatten();
        let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        let names: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.sort_unstable();
        let only = match names.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        let same_stem = names.iter().copied().find(|other| stem(other) == stem(name));
        same_stem.or_else(|| nearest(name, names.iter().copied())).or(only).map(|found| folder.join(found))
    })
}

fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains([' ', '\'', '"', '$']) { format!("'{}'", text.replace('\'', "'\\''")) } else { text }
}

#[cfg(unix)]
fn is_executable(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    about.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_about: &std::fs::Metadata) -> bool {
    true
}
