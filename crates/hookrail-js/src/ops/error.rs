//! Why an operation failed, in the words that modules know.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::machine::is_exhausted;

/// Why an operation failed.
#[derive(Debug)]
pub(crate) struct OpError {
    message: String,
    code: Option<&'static str>,
    syscall: Option<&'static str>,
    path: Option<String>,
    name: Option<&'static str>,
    cause: Cause,
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

    pub(super) fn cause(&self) -> Cause {
        self.cause
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

    pub(super) fn to_value(&self) -> Value {
        let mut about = json!({ "message": self.message });
        if let Some(members) = about.as_object_mut() {
            let known = [("code", self.code), ("syscall", self.syscall), ("name", self.name)];
            for (key, value) in known.into_iter().filter_map(|(key, value)| Some((key, value?))) {
                members.insert(key.to_owned(), json!(value));
            }
            if let Some(path) = &self.path {
                members.insert("path".to_owned(), json!(path));
            }
        }
        about
    }
}
