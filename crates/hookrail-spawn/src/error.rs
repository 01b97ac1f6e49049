//! The errors of a program that could not be started.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// The reason why [`run`](crate::run) could not start the program.
///
/// Everything that happens after the start is a [`ChildEnd`](crate::ChildEnd), not an
/// error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The working directory does not exist.
    #[error("the working directory {} does not exist", directory.display())]
    WorkingDirectoryMissing {
        /// The directory as given.
        directory: PathBuf,
    },
    /// The working directory is not a directory, or may not be entered.
    #[error("cannot use the working directory {}", directory.display())]
    WorkingDirectoryUnusable {
        /// The directory as given.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no such program.
    #[error("program {} not found", program.display())]
    ProgramNotFound {
        /// The program as given.
        program: OsString,
    },
    /// The program exists, but the interpreter or loader that it names does not.
    #[error("the interpreter of {} was not found", program.display())]
    InterpreterNotFound {
        /// The program as given.
        program: OsString,
    },
    /// The program exists but may not be executed.
    #[error("{} may not be executed", program.display())]
    NotExecutable {
        /// The program as given.
        program: OsString,
    },
    /// The file is in no format that the system can execute, for example a script without `#!`.
    #[error("{} is not in an executable format", program.display())]
    BadFormat {
        /// The program as given.
        program: OsString,
    },
    /// The program was open for writing at every attempt to start it.
    #[error("{} is being written by another process", program.display())]
    Busy {
        /// The program as given.
        program: OsString,
    },
    /// The arguments and the environment are larger than the system allows.
    #[error("the arguments and environment of {} are too long", program.display())]
    ArgumentListTooLong {
        /// The program as given.
        program: OsString,
    },
    /// A value contains a NUL byte, which the system cannot pass to a program.
    #[error("NUL byte in {place}")]
    NulByte {
        /// The value that contains it.
        place: NulPlace,
    },
    /// The system has no processes, descriptors or memory left.
    #[error("out of system resources")]
    Resources {
        /// What the system said.
        source: io::Error,
    },
    /// The program was not running when the time for it was over.
    #[error("{} did not start in time", program.display())]
    NotInTime {
        /// The program as given.
        program: OsString,
    },
    /// The thread that starts children in the sandbox is gone.
    #[error("cannot start {}: its sandbox has ended", program.display())]
    SandboxEnded {
        /// The program as given.
        program: OsString,
    },
    /// Any other refusal of the system.
    #[error("cannot start {}", program.display())]
    Other {
        /// The program as given.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
}

/// The value that holds a NUL byte. It is not shown itself, as it may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NulPlace {
    /// The program.
    #[error("the program")]
    Program,
    /// The argument with this number; the program's own name is number 0.
    #[error("argument {0}")]
    Argument(usize),
    /// The environment variable with this name.
    #[error("the environment variable {}", _0.display())]
    Variable(OsString),
    /// The working directory.
    #[error("the working directory")]
    WorkingDirectory,
}
