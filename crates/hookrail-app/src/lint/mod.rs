//! What keeps a hook from working and can be seen without running anything: lints over the loaded hooks, their entries
//! and their scripts.
//!
//! Loading reports what the engine cannot use. A lint reports what the engine can use and the author did not mean: a
//! script that is not there, a matcher that no tool has, a timeout of 5 ms. Each kind has a file; the table below is the
//! only list of them.

mod advice;
mod answer_keys;
mod bashisms;
mod code_of_hook;
mod command_line;
mod context;
pub mod dead_guards;
mod duplicates;
mod entry;
mod events;
mod exit_status;
mod failure;
mod first_line;
pub mod fix;
pub mod format;
mod interpreter;
mod lost_status;
mod matcher;
mod modules;
mod parse;
mod payload_fields;
mod prints_text;
mod python;
mod quoting;
mod scripts;
mod shell_syntax;
mod switched_off;
mod switched_on;
mod switches;
mod syntax;
mod timeouts;
mod undefined;
mod unread_files;
mod variables;

use hookrail::{Code, Diagnostic, HookSystem};

pub use advice::with_advice;
use context::LintContext;
pub use events::{in_other_words, misnamed_event};
pub use failure::explain_failures;
pub use fix::Fix;
pub use matcher::{MatcherFix, hidden_tools, known_tools, matcher_fixes, usual_values};

/// A diagnostic, and the change that makes it go away if that is mechanical.
#[derive(Clone, Debug)]
pub struct Finding {
    pub diagnostic: Diagnostic,
    pub fix: Option<Fix>,
}

impl Finding {
    fn new(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, fix: None }
    }

    fn fixed_by(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }
}

/// Every lint, in the order of what it looks at: entries first, then scripts.
const LINTS: &[fn(&LintContext<'_>) -> Vec<Finding>] = &[
    unread_files::check,
    switched_off::check,
    timeouts::check,
    matcher::check,
    quoting::check,
    variables::check,
    lost_status::check,
    scripts::check,
    first_line::check,
    syntax::check,
    undefined::check,
    bashisms::check,
    modules::check,
    exit_status::check,
    prints_text::check,
    payload_fields::check,
    answer_keys::check,
    duplicates::check,
];

/// Returns everything that loading and the lints found, in the order in which it was found.
pub fn find_problems(system: &HookSystem) -> Vec<Finding> {
    let snapshot = system.snapshot();
    let context = LintContext::new(system.project(), &snapshot);
    let loaded = [snapshot.diagnostics(), &snapshot.project_code_findings()].concat();
    let mut found: Vec<Finding> = loaded.into_iter().map(|diagnostic| with_fix(&context, diagnostic)).collect();
    found.extend(LINTS.iter().flat_map(|check| check(&context)));
    let mut once: Vec<Finding> = Vec::new();
    // Two hooks may run the same script, whose problems are then found twice.
    for finding in found {
        if !once.iter().any(|known| known.diagnostic == finding.diagnostic) {
            once.push(finding);
        }
    }
    once
}

/// Returns why hooks could never be started, of those that are meant: a script that is missing or not executable, or the program or
/// interpreter that is to run it. Tools that a script uses are its own to look for.
#[cfg(feature = "fleet")]
pub fn find_unstartable(system: &HookSystem, is_meant: impl Fn(&hookrail::Hook) -> bool) -> Vec<Diagnostic> {
    let snapshot = system.snapshot();
    let context = LintContext::new(system.project(), &snapshot);
    let mut found: Vec<Diagnostic> = Vec::new();
    for seen in context.active().filter(|seen| is_meant(seen.hook)) {
        let of_entry = |finding: &Finding| match finding.diagnostic.code {
            Code::ProgramMissing => {
                let location = finding.diagnostic.location.as_ref();
                location.is_some_and(|location| location.file == seen.hook.origin.location.file)
            }
            Code::ScriptMissing | Code::ScriptNotExecutable | Code::ScriptInterpreter | Code::ScriptLineEndings => true,
            _ => false,
        };
        let findings = scripts::of_hook(&context, seen).into_iter().chain(first_line::of_hook(&context, seen));
        for Finding { diagnostic, .. } in findings.filter(of_entry) {
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        }
    }
    found
}

/// Adds what the tables of other agents know, and a fix, to a diagnostic of loading.
fn with_fix(context: &LintContext<'_>, diagnostic: Diagnostic) -> Finding {
    match diagnostic.code {
        Code::HooksNeverOn => switched_on::with_fix(context, diagnostic),
        Code::UnknownEvent => events::with_fix(diagnostic),
        _ => Finding::new(with_advice(diagnostic)),
    }
}
