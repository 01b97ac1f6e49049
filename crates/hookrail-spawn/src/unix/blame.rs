//! Finds out what an errno of a failed start was about.
//!
//! `posix_spawn` returns one number for the change of directory, the program
//! and its interpreter alike. So the likely culprits are looked at afterwards,
//! which costs nothing where the start succeeds.

use std::io;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, accessat};

use super::image::Image;
use crate::command::Command;
use crate::error::SpawnError;

/// The error for a refusal of the host's own resources, such as pipes.
pub(crate) fn on_host(command: &Command, error: io::Error) -> SpawnError {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::EAGAIN | libc::ENOSPC) => {
            SpawnError::Resources { source: error }
        }
        _ => SpawnError::Other { program: command.program.clone(), source: error },
    }
}

/// The error for a refusal of `posix_spawn`.
pub(super) fn on_start(command: &Command, image: &Image, errno: i32) -> SpawnError {
    let program = command.program.clone();
    match errno {
        libc::E2BIG => return SpawnError::ArgumentListTooLong { program },
        libc::ETXTBSY => return SpawnError::Busy { program },
        libc::ENOEXEC => return SpawnError::BadFormat { program },
        _ => {}
    }
    if let Err(error) = command.check_directory() {
        return error;
    }
    let path = image.path_from_here();
    match errno {
        libc::ENOENT if path.exists() => SpawnError::InterpreterNotFound { program },
        libc::ENOENT | libc::ENOTDIR => SpawnError::ProgramNotFound { program },
        libc::EACCES | libc::EPERM | libc::EISDIR => SpawnError::NotExecutable { program },
        _ => on_host(command, io::Error::from_raw_os_error(errno)),
    }
}

/// Whether this process may execute the file, or enter the directory.
pub(crate) fn may_execute(path: &Path) -> bool {
    accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}
