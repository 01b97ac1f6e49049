//! How the command ends: the exit statuses that scripts rely on.

use std::process::ExitCode;

/// The exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded; after `fire`, the event is allowed.
    Fine,
    /// The command failed, `check` found an error, `trust diff` a change, or a case of `test` failed.
    Failed,
    /// Hooks blocked the event.
    Blocked,
    /// The audit of a fleet is not what it must be.
    #[cfg(feature = "fleet")]
    Alarm,
    /// Hooks require the agent to stop.
    Stop,
    /// Hooks require the approval of the user.
    Ask,
    /// A signal ended the command: 128 plus the signal's number.
    Signalled(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Blocked => 2,
            #[cfg(feature = "fleet")]
            Exit::Alarm => 2,
            Exit::Stop => 3,
            Exit::Ask => 4,
            Exit::Signalled(number) => 128 + number,
        })
    }
}
