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
mod scene;
mod scripts;
mod shell_syntax;
mod stray;
mod switched_off;
mod switched_on;
mod switches;
mod syntax;
mod timeouts;
mod undefined;
mod variables;

use hookrail::{Code, Diagnostic, HookSystem};

pub use advice::with_advice;
pub use events::{in_other_words, misnamed_event};
pub use failure::explain_failures;
pub use fix::Fix;
pub use matcher::{MatcherFix, known_tools, matcher_fixes, usual_values};
use scene::Scene;

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
const LINTS: &[fn(&Scene<'_>) -> Vec<Finding>] = &[
    stray::look,
    switched_off::look,
    timeouts::look,
    matcher::look,
    quoting::look,
    variables::look,
    lost_status::look,
    scripts::look,
    first_line::look,
    syntax::look,
    undefined::look,
    bashisms::look,
    modules::look,
    exit_status::look,
    prints_text::look,
    payload_fields::look,
    answer_keys::look,
    duplicates::look,
];

/// Returns everything that loading and the lints found, in the order in which it was found.
pub fn find_problems(system: &HookSystem) -> Vec<Finding> {
    let snapshot = system.snapshot();
    let scene = Scene::new(system.project(), &snapshot);
    let loaded = [snapshot.diagnostics(), &snapshot.project_code_findings()].concat();
    let mut found: Vec<Finding> = loaded.into_iter().map(|diagnostic| with_fix(&scene, diagnostic)).collect();
    found.extend(LINTS.iter().flat_map(|look| look(&scene)));
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
    let scene = Scene::new(system.project(), &snapshot);
    let mut found: Vec<Diagnostic> = Vec::new();
    for seen in scene.active().filter(|seen| is_meant(seen.hook)) {
        let of_entry = |finding: &Finding| match finding.diagnostic.code {
            Code::ProgramMissing => {
                let location = finding.diagnostic.location.as_ref();
                location.is_some_and(|location| location.file == seen.hook.origin.location.file)
            }
            Code::ScriptMissing | Code::ScriptNotExecutable | Code::ScriptInterpreter | Code::ScriptLineEndings => true,
            _ => false,
        };
        let findings = scripts::of_hook(&scene, seen).into_iter().chain(first_line::of_hook(&scene, seen));
        for Finding { diagnostic, .. } in findings.filter(of_entry) {
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        }
    }
    found
}

/// Adds what the tables of other agents know, and a fix, to a diagnostic of loading.
fn with_fix(scene: &Scene<'_>, diagnostic: Diagnostic) -> Finding {
    match diagnostic.code {
        Code::HooksNeverOn => switched_on::with_fix(scene, diagnostic),
        Code::UnknownEvent => events::with_fix(diagnostic),
        _ => Finding::new(with_advice(diagnostic)),
    }
}
