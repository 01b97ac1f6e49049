//! The arguments of `execve` as C strings: path, arguments and environment.
//!
//! A bare program name is looked up here, in the child's `PATH`. `posix_spawnp` would use the host's.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use libc::c_char;

use crate::command::ChildCommand;
use crate::environment::Environment;
use crate::error::{NulPlace, SpawnError};

/// The search path if the child's environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/bin:/bin";

/// The path, the arguments and the environment of a program to start.
pub(super) struct ExecArguments {
    pub(super) path: CString,
    argv: Vec<CString>,
    environment: Environment,
    pub(super) cwd: Option<CString>,
    marker: Option<CString>,
}

impl ExecArguments {
    pub(super) fn new(command: &ChildCommand, environment: Environment) -> Result<Self, SpawnError> {
        let cwd = match &command.cwd {
            Some(cwd) => Some(c_string(cwd.as_os_str(), || NulPlace::WorkingDirectory)?),
            None => None,
        };
        // Checked before the lookup, which would report a program with a NUL byte as not found.
        c_string(&command.program, || NulPlace::Program)?;
        let program = resolve_program(command, environment.get("PATH"))?;
        let name = command.arg0.as_ref().unwrap_or(&command.program);
        let mut argv = vec![c_string(name, || NulPlace::Argument(0))?];
        for (index, arg) in command.args.iter().enumerate() {
            argv.push(c_string(arg, || NulPlace::Argument(index + 1))?);
        }
        if let Some(entry) = environment.entries.iter().find(|entry| entry.c_string().is_none()) {
            return Err(SpawnError::NulByte { place: NulPlace::Variable(entry.name().to_owned()) });
        }
        let marker = match &command.marker {
            Some((name, value)) => Some(c_string(&join_variable(name, value), || NulPlace::Variable(name.clone()))?),
            None => None,
        };
        let path = c_string(program.as_os_str(), || NulPlace::Program)?;
        Ok(Self { path, argv, environment, cwd, marker })
    }

    /// Returns pointers to the program's name and its arguments, valid as long as `self`.
    pub(super) fn argv_pointers(&self) -> Vec<*const c_char> {
        pointers(self.argv.iter().map(CString::as_c_str))
    }

    /// Returns pointers to the variables, valid as long as `self`.
    pub(super) fn envp_pointers(&self) -> Vec<*const c_char> {
        pointers(self.environment.entries.iter().filter_map(|entry| entry.c_string()))
    }

    /// Returns the program's path, resolved from the child's working directory as the child does it.
    pub(super) fn path_from_here(&self) -> PathBuf {
        let path = Path::new(OsStr::from_bytes(self.path.to_bytes()));
        match &self.cwd {
            Some(cwd) => Path::new(OsStr::from_bytes(cwd.to_bytes())).join(path),
            None => path.to_owned(),
        }
    }

    /// Returns the marker as it is in the child's environment, `name=value`.
    pub(super) fn marker(&self) -> Option<Vec<u8>> {
        self.marker.as_ref().map(|marker| marker.to_bytes().to_owned())
    }
}

/// Returns the pointers to these strings, followed by a null pointer. They are valid as long as the strings are.
fn pointers<'s>(strings: impl Iterator<Item = &'s CStr>) -> Vec<*const c_char> {
    strings.map(CStr::as_ptr).chain([ptr::null()]).collect()
}

fn join_variable(name: &OsStr, value: &OsStr) -> OsString {
    let mut pair = name.to_owned();
    pair.push("=");
    pair.push(value);
    pair
}

fn c_string(text: &OsStr, place: impl FnOnce() -> NulPlace) -> Result<CString, SpawnError> {
    CString::new(text.as_bytes()).map_err(|_| SpawnError::NulByte { place: place() })
}

/// Finds the program. A relative result is resolved from the child's working directory.
///
/// As in a shell, the first executable file is used, and a file that may not be executed is remembered for the error.
/// Unlike in a shell, relative and empty entries of the search path are skipped: they would let the directory in which a
/// child happens to run supply the program.
fn resolve_program(command: &ChildCommand, path: Option<&OsStr>) -> Result<PathBuf, SpawnError> {
    let program = &command.program;
    if program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(program));
    }
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut forbidden = false;
    if !program.is_empty() {
        for entry in path.as_bytes().split(|byte| *byte == b':').filter(|entry| entry.starts_with(b"/")) {
            let candidate = Path::new(OsStr::from_bytes(entry)).join(program);
            if !candidate.is_file() {
                continue;
            }
            if super::start_error::may_execute(&candidate) {
                return Ok(candidate);
            }
            forbidden = true;
        }
    }
    // A missing working directory is reported first, because no program could be started there.
    command.check_directory(super::start_error::may_execute)?;
    let program = program.clone();
    Err(if forbidden { SpawnError::NotExecutable { program } } else { SpawnError::ProgramNotFound { program } })
}
