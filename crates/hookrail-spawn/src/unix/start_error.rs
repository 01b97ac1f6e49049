//! Finds the cause of a failed start.
//!
//! `posix_spawn` returns one errno, which does not tell whether the working directory, the program or its interpreter is
//! the cause. So they are examined after a failure, which costs nothing if the start succeeds.

use std::io;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, accessat};

use super::ExecArguments;
use crate::command::ChildCommand;
use crate::error::SpawnError;

/// Returns the error for a missing resource of the host, such as a pipe.
pub(crate) fn resource_error(command: &ChildCommand, error: io::Error) -> SpawnError {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::EAGAIN | libc::ENOSPC) => {
            SpawnError::Resources { source: error }
        }
        _ => SpawnError::Other { program: command.program.clone(), source: error },
    }
}

/// Returns the error for an errno of `posix_spawn`.
pub(super) fn from_errno(command: &ChildCommand, arguments: &ExecArguments, errno: i32) -> SpawnError {
    let program = command.program.clone();
    match errno {
        libc::E2BIG => return SpawnError::ArgumentListTooLong { program },
        libc::ETXTBSY => return SpawnError::Busy { program },
        libc::ENOEXEC => return SpawnError::BadFormat { program },
        _ => {}
    }
    if let Err(error) = command.check_directory(may_execute) {
        return error;
    }
    let path = arguments.path_from_here();
    match errno {
        libc::ENOENT if path.exists() => SpawnError::InterpreterNotFound { program },
        libc::ENOENT | libc::ENOTDIR => SpawnError::ProgramNotFound { program },
        libc::EACCES | libc::EPERM | libc::EISDIR => SpawnError::NotExecutable { program },
        _ => resource_error(command, io::Error::from_raw_os_error(errno)),
    }
}

/// Whether this process may execute the file, or enter the directory.
pub(super) fn may_execute(path: &Path) -> bool {
    accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}
