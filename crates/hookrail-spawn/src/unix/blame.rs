//! Finds out what an errno of a failed start was about.
//!
//! `posix_spawn` returns one number for the change of directory, the program
//! and its interpreter alike. So the likely culprits are looked at afterwards,
//! which costs nothing where the start succeeds.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::image::Image;
use crate::command::Command;
use crate::error::SpawnError;

/// The error for a refusal of the host's own resources, such as pipes.
pub(super) fn on_host(command: &Command, error: io::Error) -> SpawnError {
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
    if let Err(error) = on_directory(command) {
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

/// Whether the working directory can be entered.
pub(super) fn on_directory(command: &Command) -> Result<(), SpawnError> {
    let Some(cwd) = &command.cwd else {
        return Ok(());
    };
    let directory = cwd.clone();
    match std::fs::metadata(cwd) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(SpawnError::WorkingDirectoryMissing { directory }),
        Err(source) => Err(SpawnError::WorkingDirectoryUnusable { directory, source }),
        Ok(data) if !data.is_dir() => {
            let source = io::ErrorKind::NotADirectory.into();
            Err(SpawnError::WorkingDirectoryUnusable { directory, source })
        }
        Ok(_) if !may_execute(cwd) => {
            let source = io::ErrorKind::PermissionDenied.into();
            Err(SpawnError::WorkingDirectoryUnusable { directory, source })
        }
        Ok(_) => Ok(()),
    }
}

/// Whether this process may execute the file, or enter the directory.
pub(super) fn may_execute(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: the path is a C string that outlives the call, which only reads it.
    let answer = unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) };
    answer == 0
}
