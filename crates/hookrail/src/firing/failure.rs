//! The sentence about a run that did not end well.

use crate::diagnostic::{Code, Diagnostic};
use crate::hook::Hook;
use crate::outcome::{EndKind, Health};
use crate::run::{How, RelocationReason, RunEnd, joined_protections};

/// What to report about the end of a run, apart from what the dialect has to say about the answer.
pub(super) fn report(hook: &Hook, health: Health, kind: EndKind, end: &RunEnd) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if health == Health::Failed
        && let Some((code, message, hint)) = about(hook, kind, end)
    {
        let diagnostic = Diagnostic::new(code, message).at(hook.origin.location.clone());
        found.push(match hint {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        });
    }
    if let Some(relocation) = &end.relocated {
        let (unusable, used) = (relocation.unusable.display(), relocation.used.display());
        let (problem, hint) = match relocation.why {
            RelocationReason::Unusable => {
                ("cannot be used", "create the directory, or fire events with a directory that exists")
            }
            RelocationReason::OutsideProject => {
                ("is outside of the project", "fire the event for the project that the directory belongs to")
            }
        };
        let message = format!("the working directory `{unusable}` {problem}, so hook `{hook}` ran in `{used}`");
        let diagnostic = Diagnostic::new(Code::WorkingDirectoryReplaced, message).at(hook.origin.location.clone());
        found.push(diagnostic.hint(hint));
    }
    if !end.unenforced.is_empty() {
        let missing = joined_protections(&end.unenforced);
        let message = format!("this system cannot enforce all of the sandbox of hook `{hook}` (missing: {missing})");
        let diagnostic = Diagnostic::new(Code::SandboxNotEnforced, message).at(hook.origin.location.clone());
        found.push(
            diagnostic.hint("use Linux 6.12 or newer, or set `sandboxRequired` to run the hook only in a full sandbox"),
        );
    }
    for message in end.module().iter().flat_map(|report| &report.failures) {
        let message = format!("hook `{hook}` threw: {message}");
        found.push(Diagnostic::new(Code::HookThrew, message).at(hook.origin.location.clone()));
    }
    if end.stderr.is_truncated() {
        let message =
            format!("hook `{hook}` wrote {} bytes to standard error; only the first part was kept", end.stderr.total);
        found.push(Diagnostic::new(Code::StderrTruncated, message).at(hook.origin.location.clone()));
    }
    let survivors = end.process().map_or(0, |report| report.survivors);
    if survivors > 0 {
        let message = format!("hook `{hook}` left {survivors} process(es) running in the background");
        found.push(Diagnostic::new(Code::Survivors, message).at(hook.origin.location.clone()));
    }
    found
}

fn about(hook: &Hook, kind: EndKind, end: &RunEnd) -> Option<(Code, String, Option<&'static str>)> {
    let said = said(end);
    Some(match (&end.how, kind) {
        (How::TimedOut(after), _) => (
            Code::HookTimedOut,
            format!("hook `{hook}` was ended after its timeout of {} ms", after.as_millis()),
            Some("raise its `timeout` or make the hook faster"),
        ),
        (How::Signalled(signal), _) => {
            (Code::HookSignalled, format!("hook `{hook}` was ended by signal {signal}{said}"), None)
        }
        (How::StatusUnknown, _) => (
            Code::HookExited,
            format!("the exit status of hook `{hook}` is unknown because this program reaps children by itself"),
            Some("do not ignore SIGCHLD in the embedding program"),
        ),
        (How::Exited(127), EndKind::Exited) => (
            Code::CommandNotFound,
            format!("the command of hook `{hook}` was not found (exit status 127){said}"),
            Some("check the path and the hook's PATH"),
        ),
        (How::Exited(126), EndKind::Exited) => (
            Code::CommandNotRunnable,
            format!("the command of hook `{hook}` cannot be executed (exit status 126){said}"),
            Some("make the file executable with `chmod +x`"),
        ),
        (How::Exited(code), EndKind::Exited) if *code != 0 => {
            (Code::HookExited, format!("hook `{hook}` exited with status {code}{said}"), None)
        }
        (How::OutputLimit, _) => (
            Code::OutputLimit,
            format!("hook `{hook}` wrote more to standard output than is read ({} bytes)", end.stdout.total),
            None,
        ),
        (How::SpawnFailed(why), _) => (Code::SpawnFailed, format!("hook `{hook}` could not be started: {why}"), None),
        (How::Cancelled, _) => (Code::HookCancelled, format!("hook `{hook}` was cancelled"), None),
        (How::BrokeProtocol(why), _) => (
            Code::BadOutput,
            format!("the worker of hook `{hook}` gave no answer: {why}{said}"),
            Some("a worker answers every line with one line that has the same `id`"),
        ),
        (How::Threw(message), _) => (Code::HookThrew, format!("hook `{hook}` threw: {message}"), None),
        (How::OverLimit(limit), _) => (Code::HookLimit, format!("hook `{hook}` went over its limit: {limit}"), None),
        (How::ContentChanged, _) => (
            Code::TrustChanged,
            format!("hook `{hook}` has changed since it was granted and was not run; it fails as it was granted to"),
            Some("look at the change with `hookrail trust diff`, then run `hookrail trust grant`"),
        ),
        (How::Unusable(why), _) => (
            Code::GuardUnusable,
            format!("hook `{hook}` cannot be used: {why}"),
            Some("repair the entry, or remove it to go on without this guard"),
        ),
        // An exit status that the dialect reads, or an answer that it could not read.
        (How::Exited(_) | How::Returned(_) | How::Decided(_), _) => return None,
    })
}

/// The last words of a hook that failed: warnings for the user and the log, never context for a model.
fn said(end: &RunEnd) -> String {
    const LONGEST: usize = 400;
    let stderr = end.stderr.lossy();
    let stdout = end.stdout.lossy();
    let text = if stderr.trim().is_empty() { stdout.trim() } else { stderr.trim() };
    if text.is_empty() {
        return String::new();
    }
    let short: String = text.chars().take(LONGEST).collect();
    let cut = if short.len() < text.len() { " […]" } else { "" };
    format!(": {short}{cut}")
}
