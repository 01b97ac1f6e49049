//! The sentences about runs that failed: the reasons that a model may read, and the diagnostics for people. What a raw end is
//! called in the words of a dialect's own log is up to the dialect.

use std::time::Duration;

use super::{
    HeldAnswer, ModuleEnd, ProcessEnd, Protection, RawEnd, Relocation, RelocationReason, RunEnd, joined_protections,
};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::hook::remote::RemoteFailure;
use crate::hook::{Action, Authority, Hook, OnFailure};
use crate::outcome::{EndKind, Health};
use crate::trust::{HookEdit, MissingGuard};

/// The reason shown when a failure has an effect.
pub(crate) fn failure_reason(hook: &Hook, on_failure: OnFailure, end: EndKind, how: &RawEnd) -> String {
    if *how == RawEnd::ContentChanged {
        // A model reads this too, and must not be told how to grant the change.
        let edit = HookEdit::of(hook);
        return format!("hook `{hook}` {edit}, so it did not run; `hookrail trust diff` shows the change");
    }
    if let RawEnd::Missing(guard) = how {
        let repair = MissingGuard::repair(&hook.label);
        return format!("guard `{hook}`, which the user trusted, {}; {repair}", guard.reason());
    }
    let what = described_failure(end, how);
    if hook.authority() == Authority::System && hook.on_failure < on_failure {
        return format!("system hook `{hook}` could not be asked ({what}), so the operation is denied");
    }
    format!("hook `{hook}` failed ({what}) and its failure policy is `{}`", on_failure.name())
}

/// How a hook failed, with the exit status or the signal, which is what its author looks for.
fn described_failure(end: EndKind, how: &RawEnd) -> String {
    match how {
        RawEnd::Exited(127) => "exit status 127: command not found".to_owned(),
        RawEnd::Exited(126) => "exit status 126: command cannot be executed".to_owned(),
        RawEnd::Exited(status) if end == EndKind::Exited => format!("exit status {status}"),
        RawEnd::Signalled(signal) => match signal_name(*signal) {
            Some(name) => format!("signal {signal}, {name}"),
            None => format!("signal {signal}"),
        },
        RawEnd::HeldBack => "no answer, and its output held by another process".to_owned(),
        RawEnd::TimedOut(after) => format!("timed out after {} ms", after.as_millis()),
        RawEnd::NotStarted(after) => format!("not started after {} ms", after.as_millis()),
        RawEnd::Unanswered(why) => why.to_string(),
        RawEnd::Contradicted(why) => why.clone(),
        _ => end.name().to_owned(),
    }
}

/// The name of a signal that often ends a process.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}

/// The diagnostics about the end of a run, apart from those of the dialect about the answer.
pub(crate) fn about_end(hook: &Hook, health: Health, kind: EndKind, end: &RunEnd) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if health == Health::Failed {
        found.extend(about_failure(hook, kind, end));
    }
    found.extend(end.held().map(|held| about_held_output(hook, end.how(), held)));
    match end {
        RunEnd::Process(ProcessEnd { surroundings, .. }) | RunEnd::Module(ModuleEnd { surroundings, .. }) => {
            found.extend(surroundings.relocated.as_ref().map(|relocation| about_relocation(hook, relocation)));
            found.extend(about_sandbox(hook, &surroundings.unenforced));
        }
        RunEnd::Native(_) | RunEnd::Remote(_) | RunEnd::NotRun(_) => {}
    }
    for message in end.module().iter().flat_map(|returned| &returned.failures) {
        found.push(Diagnostic::new(Code::HookThrew, format!("hook `{hook}` threw: {message}")));
    }
    // If the refusal made the hook fail, the failure says so.
    let refusals = end.module().into_iter().filter(|_| health == Health::Well).flat_map(|returned| &returned.refusals);
    for message in refusals {
        found.push(Diagnostic::new(Code::CapabilityRefused, format!("hook `{hook}`: {message}")));
    }
    if end.stderr().is_truncated() {
        let total = end.stderr().total;
        let message = format!("hook `{hook}` wrote {total} bytes to standard error; only the first part was kept");
        found.push(Diagnostic::new(Code::StderrTruncated, message));
    }
    if let RunEnd::Process(ProcessEnd { survivors: survivors @ 1.., .. }) = end {
        let message = format!("hook `{hook}` left {survivors} process(es) running in the background");
        found.push(Diagnostic::new(Code::Survivors, message));
    }
    found.into_iter().map(|diagnostic| diagnostic.at(hook.origin.location.clone())).collect()
}

/// Says what a status that is a failure means, where nothing else is advised.
pub(crate) fn add_exit_hint(reported: &mut [Diagnostic], hint: Option<&'static str>) {
    for diagnostic in reported.iter_mut().filter(|found| found.code == Code::HookExited && found.hint.is_none()) {
        diagnostic.hint = hint.map(str::to_owned);
    }
}

fn about_held_output(hook: &Hook, how: &RawEnd, held: &HeldAnswer) -> Diagnostic {
    let holders: Vec<String> = held.holders.iter().map(|it| format!("`{}` (process {})", it.name, it.pid)).collect();
    let holder = if holders.is_empty() { "another process".to_owned() } else { holders.join(", ") };
    let result = match how {
        RawEnd::HeldBack => "it is a guard and has said nothing, so it has failed",
        _ => "what it wrote until then counts",
    };
    let waited = held.waited.as_millis();
    let message = format!("hook `{hook}` has exited, but {holder} held its output for {waited} ms more; {result}");
    let hint = "redirect the output of background processes with `>/dev/null 2>&1`, and wait for a filter with `wait`";
    Diagnostic::new(Code::OutputHeld, message).hint(hint)
}

fn about_relocation(hook: &Hook, relocation: &Relocation) -> Diagnostic {
    let (unusable, used) = (relocation.unusable.display(), relocation.used.display());
    let (problem, hint) = match relocation.why {
        RelocationReason::NamesOtherFiles => {
            let hint = "begin paths in its command with the variable of the project's root, which names the same files everywhere";
            let message = format!(
                "in the working directory `{unusable}` the command of hook `{hook}` names other files than those that were \
                 trusted, so it ran in `{used}`"
            );
            return Diagnostic::new(Code::WorkingDirectoryReplaced, message).hint(hint);
        }
        RelocationReason::Unusable => {
            ("cannot be used", "create the directory, or fire events with a directory that exists")
        }
        RelocationReason::OutsideProject => {
            ("is outside of the project", "fire the event for the project that the directory belongs to")
        }
    };
    let message = format!("the working directory `{unusable}` {problem}, so hook `{hook}` ran in `{used}`");
    Diagnostic::new(Code::WorkingDirectoryReplaced, message).hint(hint)
}

fn about_sandbox(hook: &Hook, unenforced: &[Protection]) -> Option<Diagnostic> {
    if unenforced.is_empty() {
        return None;
    }
    let missing = joined_protections(unenforced);
    let message = format!("this system cannot enforce all of the sandbox of hook `{hook}` (missing: {missing})");
    let hint = "use Linux 6.12 or newer, or set `sandboxRequired` to run the hook only in a full sandbox";
    Some(Diagnostic::new(Code::SandboxNotEnforced, message).hint(hint))
}

fn about_failure(hook: &Hook, kind: EndKind, end: &RunEnd) -> Option<Diagnostic> {
    let said = output_excerpt(end);
    Some(match (end.how(), kind) {
        (RawEnd::TimedOut(after), _) => {
            let message = format!("hook `{hook}` was ended after its timeout of {} ms", after.as_millis());
            // No program starts in that time, so the author counted in seconds.
            let hint = match *after < Duration::from_millis(100) {
                true => format!("`timeout` is in milliseconds; write `{}000` for {0} s", after.as_millis()),
                false => "raise its `timeout` or make the hook faster".to_owned(),
            };
            Diagnostic::new(Code::HookTimedOut, message).hint(hint)
        }
        (RawEnd::NotStarted(after), _) => {
            let message = format!("hook `{hook}` did not start within its timeout of {} ms", after.as_millis());
            let hint = "its program or its working directory may lie on a disk or a network that does not answer";
            Diagnostic::new(Code::HookTimedOut, message).hint(hint)
        }
        (RawEnd::Signalled(signal), _) => {
            Diagnostic::new(Code::HookSignalled, format!("hook `{hook}` was ended by signal {signal}{said}"))
        }
        (RawEnd::StatusUnknown, _) => {
            let why = "because this program reaps children by itself";
            Diagnostic::new(Code::HookExited, format!("the exit status of hook `{hook}` is unknown {why}"))
                .hint("do not ignore SIGCHLD in the embedding program")
        }
        (RawEnd::Exited(127), EndKind::Exited) => {
            let message = format!("the command of hook `{hook}` was not found (exit status 127){said}");
            Diagnostic::new(Code::CommandNotFound, message).hint("check the path and the hook's PATH")
        }
        (RawEnd::Exited(126), EndKind::Exited) => {
            let message = format!("the command of hook `{hook}` cannot be executed (exit status 126){said}");
            Diagnostic::new(Code::CommandNotRunnable, message).hint("make the file executable with `chmod +x`")
        }
        (RawEnd::Exited(code), EndKind::Exited) if *code != 0 => {
            Diagnostic::new(Code::HookExited, format!("hook `{hook}` exited with status {code}{said}"))
        }
        (RawEnd::OutputLimit, _) => {
            let total = end.stdout().total;
            let message = format!("hook `{hook}` wrote more to standard output than is read ({total} bytes)");
            Diagnostic::new(Code::OutputLimit, message)
        }
        (RawEnd::SpawnFailed(why), _) => {
            Diagnostic::new(Code::SpawnFailed, format!("hook `{hook}` could not be started: {why}"))
        }
        (RawEnd::Cancelled, _) => Diagnostic::new(Code::HookCancelled, format!("hook `{hook}` was cancelled")),
        (RawEnd::BrokeProtocol(why), _) => {
            Diagnostic::new(Code::BadOutput, format!("the worker of hook `{hook}` gave no answer: {why}{said}"))
                .hint("a worker answers every line with one line that has the same `id`")
        }
        (RawEnd::Contradicted(why), _) => {
            Diagnostic::new(Code::BadOutput, format!("the answer of hook `{hook}` cannot be used: {why}"))
                .hint("rewrite one of the names; the others follow")
        }
        (RawEnd::Unanswered(why), _) => about_remote(hook, why),
        (RawEnd::Threw(message), _) => Diagnostic::new(Code::HookThrew, format!("hook `{hook}` threw: {message}")),
        (RawEnd::OverLimit(limit), _) => {
            Diagnostic::new(Code::HookLimit, format!("hook `{hook}` went over its limit: {limit}"))
        }
        (RawEnd::ContentChanged, _) => {
            let edit = HookEdit::of(hook);
            let message = format!("hook `{hook}` {edit}; it was not run and is treated as failed");
            Diagnostic::new(Code::TrustChanged, message).hint(HookEdit::HINT)
        }
        (RawEnd::Unusable(why), _) => {
            Diagnostic::new(Code::GuardUnusable, format!("hook `{hook}` cannot be used: {why}"))
                .hint("repair the entry, or remove it to work without this guard")
        }
        (RawEnd::Missing(guard), _) => {
            let message = format!("guard `{hook}`, which you trusted, {}; it is treated as failed", guard.reason());
            Diagnostic::new(Code::GuardMissing, message).hint(MissingGuard::repair(&hook.label))
        }
        (RawEnd::ValueRefused(why), _) => Diagnostic::new(Code::VariableUnsafe, format!("hook `{hook}`: {why}"))
            .hint("give the value to the code as an argument, as in `bash -c 'ls \"$1\"' - ${cwd}`"),
        // An exit status that the dialect reads, or an answer that it could not read.
        // The diagnostic about the held output says it.
        (RawEnd::HeldBack | RawEnd::Exited(_) | RawEnd::Returned(_) | RawEnd::Decided(_), _) => return None,
    })
}

/// Why a remote hook has no answer. The group is what an administrator looks for.
fn about_remote(hook: &Hook, why: &RemoteFailure) -> Diagnostic {
    let group = match &hook.action {
        Action::Remote(target) => format!(" of group `{}`", target.group),
        _ => String::new(),
    };
    let (code, hint) = match why {
        RemoteFailure::NotConnected(_) => (
            Code::RemoteNotConnected,
            "check the network, and the servers in the configuration of the user or the machine",
        ),
        RemoteFailure::NoResponders => {
            (Code::RemoteNoResponders, "start a worker: `hookrail serve --nats URL --group NAME`")
        }
        RemoteFailure::TimedOut(_) => (Code::HookTimedOut, "raise its `timeout`, or look at the load of the workers"),
        RemoteFailure::Overloaded(_) => (Code::RemoteOverloaded, "start more workers, or raise their `--limit`"),
        RemoteFailure::Refused(_) => (Code::RemoteRefused, "the log of the worker has the same reason"),
        RemoteFailure::NotUnderstood(_) => {
            (Code::BadOutput, "something else answers for the group, or a worker of another version")
        }
    };
    Diagnostic::new(code, format!("the workers{group} did not answer hook `{hook}`: {why}")).hint(hint)
}

/// The beginning of what a failed hook wrote, for the user and the log. A model never receives it.
fn output_excerpt(end: &RunEnd) -> String {
    const LONGEST: usize = 400;
    let stderr = end.stderr().lossy();
    let stdout = end.stdout().lossy();
    let text = if stderr.trim().is_empty() { stdout.trim() } else { stderr.trim() };
    if text.is_empty() {
        return String::new();
    }
    let short: String = text.chars().take(LONGEST).collect();
    let cut = if short.len() < text.len() { " […]" } else { "" };
    format!(": {short}{cut}")
}
