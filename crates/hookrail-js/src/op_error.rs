//! The error of an operation, as modules know it from Node.

use std::io;
use std::path::Path;

use serde::Serialize;

use crate::shortage::is_exhausted;

/// The error of an operation, as the prelude receives it.
#[derive(Debug, Serialize)]
pub(crate) struct OpError {
    message: String,
    code: Option<&'static str>,
    syscall: Option<&'static str>,
    path: Option<String>,
    name: Option<&'static str>,
    #[serde(skip)]
    pub(crate) cause: Cause,
}

/// What an error means for the module as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Nothing: the module handles it.
    Ordinary,
    /// The machine was short of a resource.
    Machine,
    /// The module exceeded its memory limit.
    Memory,
}

impl OpError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: None, syscall: None, path: None, name: None, cause: Cause::Ordinary }
    }

    pub(crate) fn type_error(message: impl Into<String>) -> Self {
        Self { name: Some("TypeError"), ..Self::new(message) }
    }

    /// The error of an operation that needs more memory than the module may have.
    pub(crate) fn over_memory() -> Self {
        Self { cause: Cause::Memory, ..Self::new("out of memory") }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// An error of the operating system about a file, in Node's words.
    pub(crate) fn io(error: &io::Error, syscall: &'static str, path: &Path) -> Self {
        let (code, text) = match error.kind() {
            io::ErrorKind::NotFound => ("ENOENT", "no such file or directory"),
            io::ErrorKind::PermissionDenied => ("EACCES", "permission denied"),
            io::ErrorKind::AlreadyExists => ("EEXIST", "file already exists"),
            io::ErrorKind::NotADirectory => ("ENOTDIR", "not a directory"),
            io::ErrorKind::IsADirectory => ("EISDIR", "illegal operation on a directory"),
            io::ErrorKind::DirectoryNotEmpty => ("ENOTEMPTY", "directory not empty"),
            io::ErrorKind::InvalidInput => ("EINVAL", "invalid argument"),
            io::ErrorKind::CrossesDevices => ("EXDEV", "cross-device link not permitted"),
            _ if is_exhausted(error) => ("EMFILE", "the machine has too few descriptors, or too little memory or room"),
            _ => ("EIO", "input/output error"),
        };
        let path = path.to_string_lossy().into_owned();
        Self {
            message: format!("{code}: {text}, {syscall} '{path}'"),
            code: Some(code),
            syscall: Some(syscall),
            path: Some(path),
            name: None,
            cause: if is_exhausted(error) { Cause::Machine } else { Cause::Ordinary },
        }
    }
}
