//! The real cause of a command that could not be started, for `fire`: the engine knows the exit status of the shell, and
//! the lints know why.

use hookrail::{Code, HookSystem, Outcome};

use super::context::{HookContext, LintContext};
use super::{bashisms, first_line, scripts, syntax, undefined, variables};

/// Replaces the general advice of diagnostics about commands that were not found by what is wrong with the files.
pub fn explain_failures(system: &HookSystem, outcome: &mut Outcome) {
    // An interpreter that finds no script exits with a status of its own.
    let with_cause = [
        Code::CommandNotFound,
        Code::CommandNotRunnable,
        Code::ExitStatusOfInterpreter,
        Code::HookExited,
        Code::SilentFailure,
    ];
    let needs_cause = |code: Code| with_cause.contains(&code);
    if !outcome.diagnostics.iter().any(|diagnostic| needs_cause(diagnostic.code)) {
        return;
    }
    let snapshot = system.snapshot();
    let context = LintContext::new(system.project(), &snapshot);
    for diagnostic in outcome.diagnostics.iter_mut().filter(|diagnostic| needs_cause(diagnostic.code)) {
        let is_meant = |seen: &&HookContext<'_>| {
            diagnostic.location.as_ref().is_some_and(|place| *place == seen.hook.origin.location)
        };
        let Some(seen) = context.hooks.iter().find(is_meant) else { continue };
        let checks = [
            variables::of_hook,
            scripts::of_hook,
            first_line::of_hook,
            syntax::of_hook,
            undefined::of_hook,
            bashisms::of_hook,
        ];
        let mut causes = checks.into_iter().flat_map(|check| check(&context, seen));
        if let Some(cause) = causes.next().map(|finding| finding.diagnostic) {
            let hint = cause.hint.map_or_else(String::new, |hint| format!("; {hint}"));
            let place = cause.location.as_ref().map_or_else(String::new, |place| {
                let file = place.file.strip_prefix(system.project()).unwrap_or(&place.file);
                format!("{}:{}: ", file.display(), place.line)
            });
            diagnostic.hint = Some(format!("{place}{}{hint}", cause.message));
        }
    }
}
