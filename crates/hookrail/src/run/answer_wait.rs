//! How long the answer of a command hook is awaited after its process has exited.
//!
//! A hook may send its answer through a filter (`exec > >(jq -c .)`), which ends after it. A hook may also leave a daemon
//! that holds its output for ever. Both look the same from outside, so what has come decides: a complete answer needs
//! nothing more.

use std::time::Duration;

use hookrail_spawn::{AwaitedStreams, ChildExit, LateOutput, LateWait, OutputSoFar, StreamState};

use crate::json::Json;

/// The longest wait for the answer of a guard.
const LONGEST_FOR_GUARDS: Duration = Duration::from_secs(5);

/// The longest wait for any other answer, and for the text of a status that denies.
const LONGEST: Duration = Duration::from_secs(1);

/// What a hook is to the event for which it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookRole {
    /// The operation depends on its answer.
    Guard,
    /// Nothing depends on it.
    Other,
}

/// What the end of a process says before its output is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitMeaning {
    /// The answer is on standard output.
    AnswerOnStdout,
    /// It denies, and the output has the reason.
    Denies,
    /// It decides alone.
    DecidesAlone,
}

/// The wait for the answers of one dialect.
#[derive(Debug)]
pub(crate) struct AnswerWait {
    pub(crate) meaning: fn(ChildExit) -> ExitMeaning,
    pub(crate) role: HookRole,
}

impl LateOutput for AnswerWait {
    fn wait_after(&self, exit: ChildExit) -> LateWait {
        let (longest, streams) = match ((self.meaning)(exit), self.role) {
            (ExitMeaning::AnswerOnStdout, HookRole::Guard) => (LONGEST_FOR_GUARDS, AwaitedStreams::Stdout),
            (ExitMeaning::AnswerOnStdout, HookRole::Other) => (LONGEST, AwaitedStreams::Stdout),
            (ExitMeaning::Denies | ExitMeaning::DecidesAlone, _) => (LONGEST, AwaitedStreams::Both),
        };
        LateWait { longest, streams }
    }

    fn is_complete(&self, exit: ChildExit, output: OutputSoFar<'_>) -> bool {
        let stdout = output.stdout.text_lossy();
        let stdout = stdout.trim_start_matches('\u{feff}').trim();
        let is_whole = output.stdout_state == StreamState::Ended || is_object(stdout);
        match (self.meaning)(exit) {
            ExitMeaning::DecidesAlone => true,
            ExitMeaning::AnswerOnStdout => is_whole,
            // The reason is in an object on standard output, or is the text of either stream.
            ExitMeaning::Denies if stdout.is_empty() => !output.stderr.text_lossy().trim().is_empty(),
            ExitMeaning::Denies => is_whole || !stdout.starts_with('{'),
        }
    }
}

fn is_object(text: &str) -> bool {
    text.starts_with('{') && text.ends_with('}') && Json::parse(text).is_ok()
}

#[cfg(test)]
mod tests {
    use hookrail_spawn::CapturedStream;

    use super::*;

    const fn wait(role: HookRole) -> AnswerWait {
        AnswerWait {
            meaning: |exit| match exit {
                ChildExit::Code(0) => ExitMeaning::AnswerOnStdout,
                ChildExit::Code(2) => ExitMeaning::Denies,
                _ => ExitMeaning::DecidesAlone,
            },
            role,
        }
    }

    fn is_complete(code: i32, stdout: &str, stderr: &str, stdout_state: StreamState) -> bool {
        let stream = |text: &str| CapturedStream { bytes: text.into(), ..CapturedStream::default() };
        let (stdout, stderr) = (stream(stdout), stream(stderr));
        let output = OutputSoFar { stdout: &stdout, stdout_state, stderr: &stderr };
        wait(HookRole::Guard).is_complete(ChildExit::Code(code), output)
    }

    #[test]
    fn one_object_is_a_complete_answer_and_everything_else_may_go_on() {
        for (stdout, complete) in [
            ("{}", true),
            ("\u{feff} {\"decision\": \"deny\"}\n", true),
            ("", false),
            ("text", false),
            ("\"text\"", false),
            ("{\"decision\": \"deny\"", false),
            ("{} {}", false),
            ("{}\nserver started", false),
        ] {
            assert_eq!(is_complete(0, stdout, "", StreamState::Held), complete, "{stdout}");
            assert!(is_complete(0, stdout, "", StreamState::Ended), "{stdout}");
        }
    }

    #[test]
    fn a_status_that_denies_needs_a_text_and_another_status_nothing() {
        for (stdout, stderr, complete) in [
            ("", "", false),
            ("", " \n", false),
            ("", "no", true),
            ("no", "", true),
            ("{\"reason\": \"no\"}", "", true),
            ("{\"reason\": ", "checking", false),
        ] {
            assert_eq!(is_complete(2, stdout, stderr, StreamState::Held), complete, "{stdout} {stderr}");
            assert!(is_complete(1, stdout, stderr, StreamState::Held), "{stdout} {stderr}");
        }
        assert!(!is_complete(2, "", "", StreamState::Ended), "the text may be on standard error");
    }

    #[test]
    fn only_the_answer_of_a_guard_is_worth_the_long_wait() {
        let longest = |role, code| wait(role).wait_after(ChildExit::Code(code)).longest;
        assert_eq!(longest(HookRole::Guard, 0), LONGEST_FOR_GUARDS);
        for (role, code) in [(HookRole::Guard, 1), (HookRole::Guard, 2), (HookRole::Other, 0), (HookRole::Other, 2)] {
            assert_eq!(longest(role, code), LONGEST, "{role:?} {code}");
        }
    }
}
