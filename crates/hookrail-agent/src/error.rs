//! Errors that keep the agent from working at all. [`TurnEnd`](crate::TurnEnd) says how the work on a prompt ended.

use std::path::PathBuf;

/// The reason why the agent cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A script cannot be read or does not have the documented form.
    #[error("the script `{}` cannot be used: {message}", file.display())]
    Script {
        /// The script.
        file: PathBuf,
        /// The problem, with line and column if they are known.
        message: String,
    },
    /// The stream rules cannot be read or do not have the documented form.
    #[error("the rules `{}` cannot be used: {message}", file.display())]
    Rules {
        /// The file.
        file: PathBuf,
        /// The problem.
        message: String,
    },
    /// A session's file cannot be made, read or written.
    #[error("the session file `{}` cannot be used: {message}", file.display())]
    Session {
        /// The file.
        file: PathBuf,
        /// The problem.
        message: String,
    },
    /// A line cannot be added to a session's file.
    #[error("the session file `{}` cannot be written: {message}", file.display())]
    NotRecorded {
        /// The file.
        file: PathBuf,
        /// The problem.
        message: String,
    },
    /// Another process works on the session.
    #[error(
        "the session `{id}` is in use by {}; end that process, or continue in a copy with `--resume {id} --fork`",
        process.map_or_else(|| "another process".to_owned(), |process| format!("process {process}"))
    )]
    SessionInUse {
        /// The session.
        id: String,
        /// The process, if it is known.
        process: Option<u32>,
    },
    /// Standard output cannot be written.
    #[error("standard output cannot be written: {0}")]
    Output(String),
    /// No session of the project has this ID.
    #[error("there is no session `{0}` of this project")]
    NoSession(String),
    /// No entry of the session has this ID.
    #[error("there is no entry `{0}` in this session")]
    NoEntry(String),
    /// The terminal, the signals or the runtime cannot be used.
    #[error("{0}")]
    System(String),
}
