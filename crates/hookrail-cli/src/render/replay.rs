//! What a replay came to, for people.

use std::fmt::Write as _;
use std::path::Path;

use hookrail_app::replay::{Group, ReplaySummary, ReplayVerdict};
use hookrail_app::text::{counted, one_line, short};

use crate::render::style::{BAD, CAREFUL, GOOD, HEADING, QUIET, paint};

/// Renders what a replay against the configuration in this folder came to.
pub(crate) fn summary(summary: &ReplaySummary, target: &Path) -> String {
    let place = one_line(&target.to_string_lossy());
    let replayed = counted(summary.replayed(), "event");
    let mut text = format!("{replayed} replayed against the configuration of {}\n", paint(HEADING, &place));
    for (change, Group { count, example }) in &summary.changes {
        let style = if change.after.starts_with("allowed") { CAREFUL } else { BAD };
        let of = format!("{count} of {}", summary.replayed());
        let words = format!("{} → {}", change.before, change.after);
        let _ = writeln!(text, "\n{}, {of}", paint(style, words));
        let subject = short(&one_line(&format!("{} {}", example.event, example.subject)), 120);
        let at = one_line(&example.at);
        let _ = writeln!(text, "  for example {}  {}", subject.trim_end(), paint(QUIET, at));
        if let Some(hook) = &example.hook {
            let reason = example.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let _ = writeln!(text, "  by hook `{}`{}", one_line(hook), short(&one_line(&reason), 200));
        }
    }
    let _ = match summary.verdict() {
        ReplayVerdict::Differs => Ok(()),
        ReplayVerdict::Same => writeln!(text, "{}", paint(GOOD, "nothing differs")),
        ReplayVerdict::NotAllAsked => writeln!(text, "{}", paint(CAREFUL, "not all hooks could be asked")),
        ReplayVerdict::NothingCompared => writeln!(text, "{}", paint(CAREFUL, "no event could be compared")),
    };
    let left_out = [
        (summary.redacted, "cannot be replayed: values were removed from the record"),
        (summary.not_recorded, "cannot be replayed: the record has no input"),
        (summary.not_run, "not compared: a hook could not be run in the sandbox; see `--run-commands`"),
        (summary.failed_in_sandbox, "not compared: a hook failed in the sandbox; see `--run-commands`"),
        (summary.not_trusted, "not compared: a hook waits for a grant; see `hookrail trust`, or `--trust-project`"),
    ];
    for (count, why) in left_out.into_iter().filter(|(count, _)| *count > 0) {
        let _ = writeln!(text, "\n{}: {why}", counted(count, "event"));
    }
    if summary.configuration_errors > 0 {
        let errors = counted(summary.configuration_errors, "error");
        let _ = writeln!(text, "\nits configuration has {errors}; run `hookrail check --project {place}`");
    }
    for (hook, count) in &summary.failures {
        let _ = writeln!(text, "\nhook `{}` failed in {}", one_line(hook), counted(*count, "event"));
    }
    text
}
