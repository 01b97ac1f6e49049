//! Why an operation failed, in the words that modules know.

use std::io;
use std::path::Path;

use serde::Serialize;

use crate::machine::is_exhausted;

/// Why an operation failed, as the prelude is told of it.
#[derive(Debug, Serialize)]
pub(crate) struct OpError {
    message: String,
    code: Option<&'static str>,
    syscall: Option<&'static str>,
    path: Option<String>,
    name: Option<&'static str>,
    #[serde(skip)]
    pub(super) cause: Cause,
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// Nothing that has to be known outside of the module.
    Ordinary,
    /// The machine ran out of something.
    Machine,
    /// The module went over its memory.
    Memory,
}

impl OpError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: None, syscall: None, path: None, name: None, cause: Cause::Ordinary }
    }

    pub(crate) fn type_error(message: impl Into<String>) -> Self {
        Self { name: Some("TypeError"), ..Self::new(message) }
    }

    /// It takes more memory than a module has.
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

    /// What the operating system said about a file, as Node says it.
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
