//! Hooks where nothing looks for them: misspelt sections of settings, events outside of `hooks`, and files with another name
//! or ending than those that are read.

use std::path::{Path, PathBuf};

use hookrail::dialect::find_event;
use hookrail::sources::Location;
use hookrail::{Code, Diagnostic, DialectId};

use super::Finding;
use super::context::LintContext;
use super::events::{is_of_plugin, is_typing_error};
use super::fix::Fix;
use super::switches::{KeyedValue, ListedName, Switches};
use crate::foreign_hooks;

/// Files that look like the settings of a project and are not.
const NOT_SETTINGS: [&str; 7] = [
    ".hookrail/settings.json",
    ".llxprt/hooks.json",
    ".llxprt/hooks/hooks.json",
    ".llxprt/setting.json",
    ".llxprt/settings.jsonc",
    ".llxprt/settings.local.json",
    "llxprt/settings.json",
];

/// Endings of JavaScript and TypeScript that no module has.
const NOT_MODULES: [&str; 2] = ["tsx", "jsx"];

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    let settings = context.settings_files().filter(|file| file.ends_with("settings.json") && !is_of_plugin(file));
    let mut found: Vec<Finding> = settings.flat_map(|file| sections(context, file)).collect();
    for name in NOT_SETTINGS {
        let file = context.root.join(name);
        if context.text(&file).is_some_and(|text| text.contains("\"hooks\"") || text.contains("\"BeforeTool\"")) {
            let message = format!("`{name}` is not read; its hooks do not run");
            found.push(not_read(&file, message, "move its hooks to `.llxprt/settings.json`"));
        }
    }
    for file in files_in(&context.root.join(".xcsh/hooks")) {
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if NOT_MODULES.contains(&ending) {
            let message = format!("a file that ends in `.{ending}` is not loaded as a module");
            found.push(not_read(
                &file,
                message,
                "rename it; modules end in `.ts`, `.mts`, `.cts`, `.js`, `.mjs` or `.cjs`",
            ));
        }
    }
    found.extend(foreign_hooks::diagnostics(context.root).into_iter().map(Finding::new));
    found
}

fn not_read(file: &Path, message: String, hint: &str) -> Finding {
    Finding::new(Diagnostic::new(Code::FileNotRead, message).at(Location::whole_file(file)).hint(hint))
}

/// The sections of a settings file that are misspelt, and the events that are outside of `hooks`.
fn sections(context: &LintContext<'_>, file: &Path) -> Vec<Finding> {
    let Some(text) = context.text(file) else { return Vec::new() };
    let keys = Switches::read(&text).keys;
    let has = |name: &str| keys.iter().any(|(key, _)| key.name == name);
    let mut found = Vec::new();
    for (ListedName { name, span }, shape) in &keys {
        let about = |message: String, hint: String| {
            let place = Location::in_text(file, &text, span.clone());
            Diagnostic::new(Code::UnknownKey, message).at(place).hint(hint)
        };
        let section =
            ["hooks", "hooksConfig"].into_iter().find(|section| !has(section) && is_typing_error(name, section));
        let event = find_event(name)
            .and_then(|event| event.spec().column(DialectId::Llxprt))
            .filter(|column| column.name == name);
        if let Some(section) = section.filter(|_| *shape == KeyedValue::Object) {
            let message = format!("`{name}` is not a section of settings and has no effect");
            let fix = Fix::Edit { file: file.to_owned(), span: span.clone(), text: format!("\"{section}\"") };
            found.push(Finding::new(about(message, format!("did you mean `{section}`?"))).fixed_by(fix));
        } else if event.is_some() && *shape == KeyedValue::List {
            let message = format!("`{name}` is outside of `hooks`; its hooks will not run");
            found.push(Finding::new(about(message, format!("move it: `\"hooks\": {{\"{name}\": […]}}`"))));
        }
    }
    found
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(1000);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|file| file.is_file()).collect();
    files.sort_unstable();
    files
}
