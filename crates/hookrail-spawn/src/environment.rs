//! The environment of a child as a value.
//!
//! Nothing here reads the environment of the running process: a library inside
//! a host's process cannot do that at an arbitrary moment without a race
//! against the host's own `setenv`.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::Arc;

/// The suffix of the variable that holds the markers of the runs around this one.
pub(crate) const OUTER_SUFFIX: &str = "_OUTER";

/// An ordered list of variables with unique names.
///
/// The child gets exactly these, in this order, and nothing of the host's. On
/// Windows names are compared without regard to ASCII case. A clone shares the
/// variables, so setting one for a single child is cheap.
///
/// ```
/// use hookrail_spawn::Environment;
///
/// let environment = Environment::new().with("HOME", "/home/me");
/// assert_eq!(environment.get("HOME").and_then(|home| home.to_str()), Some("/home/me"));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    pub(crate) entries: Vec<Arc<EnvironmentVariable>>,
}

/// One variable.
#[cfg(unix)]
#[derive(PartialEq, Eq)]
pub(crate) struct EnvironmentVariable {
    /// The variable as `execve` takes it: `name=value` and a NUL byte. It is made once for all children.
    terminated: Vec<u8>,
    name_length: usize,
}

#[cfg(unix)]
impl EnvironmentVariable {
    fn new(name: &OsStr, value: &OsStr) -> Self {
        let (name, value) = (name.as_encoded_bytes(), value.as_encoded_bytes());
        Self { terminated: [name, b"=", value, b"\0"].concat(), name_length: name.len() }
    }

    pub(crate) fn name(&self) -> &OsStr {
        self.part(..self.name_length)
    }

    /// Whether this is its name. Collecting and searching an environment compares each name with many others.
    fn is_named(&self, name: &OsStr) -> bool {
        self.name_length == name.len() && self.terminated.starts_with(name.as_encoded_bytes())
    }

    fn value(&self) -> &OsStr {
        self.part(self.name_length + 1..self.terminated.len() - 1)
    }

    fn part(&self, part: impl std::slice::SliceIndex<[u8], Output = [u8]>) -> &OsStr {
        std::os::unix::ffi::OsStrExt::from_bytes(self.terminated.get(part).unwrap_or_default())
    }

    /// The variable as `execve` takes it; `None` if it contains a NUL byte.
    pub(crate) fn c_string(&self) -> Option<&std::ffi::CStr> {
        std::ffi::CStr::from_bytes_with_nul(&self.terminated).ok()
    }
}

/// One variable.
#[cfg(not(unix))]
#[derive(PartialEq, Eq)]
pub(crate) struct EnvironmentVariable {
    name: OsString,
    value: OsString,
}

#[cfg(not(unix))]
impl EnvironmentVariable {
    fn new(name: &OsStr, value: &OsStr) -> Self {
        Self { name: name.to_owned(), value: value.to_owned() }
    }

    fn name(&self) -> &OsStr {
        &self.name
    }

    fn is_named(&self, name: &OsStr) -> bool {
        if cfg!(windows) { self.name.eq_ignore_ascii_case(name) } else { self.name == name }
    }

    fn value(&self) -> &OsStr {
        &self.value
    }
}

impl Environment {
    /// Makes an empty environment.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value of a variable.
    #[must_use]
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        let name = name.as_ref();
        self.entries.iter().find(|known| known.is_named(name)).map(|known| known.value())
    }

    /// Returns this environment with one variable set: replaced in its place, or added at the end.
    ///
    /// A name that is empty, or has a `=` after its first character, cannot
    /// exist in an environment and changes nothing.
    #[must_use]
    pub fn with(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.set(name.as_ref(), value.as_ref());
        self
    }

    /// Returns the variables in order.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.entries.iter().map(|entry| (entry.name(), entry.value()))
    }

    /// Returns this environment with the value that is returned for each variable; one without a value is left out.
    #[must_use]
    pub fn with_values<'v>(&'v self, mut value: impl FnMut(&'v OsStr, &'v OsStr) -> Option<Cow<'v, OsStr>>) -> Self {
        let change = |known: &'v Arc<EnvironmentVariable>| match value(known.name(), known.value())? {
            same if *same == *known.value() => Some(Arc::clone(known)),
            other => Some(Arc::new(EnvironmentVariable::new(known.name(), &other))),
        };
        Self { entries: self.entries.iter().filter_map(change).collect() }
    }

    fn set(&mut self, name: &OsStr, value: &OsStr) {
        // Windows has variables such as `=C:`, so a `=` is allowed as the first character.
        if name.as_encoded_bytes().iter().skip(1).any(|byte| *byte == b'=') || name.is_empty() {
            return;
        }
        match self.entries.iter_mut().find(|known| known.is_named(name)) {
            // It stays shared with the environment that this one is a clone of.
            Some(known) if known.value() == value => {}
            // On Windows names may differ in case; the spelling that came first is kept.
            Some(known) => *known = Arc::new(EnvironmentVariable::new(known.name(), value)),
            None => self.entries.push(Arc::new(EnvironmentVariable::new(name, value))),
        }
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    /// Collects variables. If a name comes twice, the later value is used, in the earlier place.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let mut environment = Self::new();
        for (name, value) in variables {
            environment.set(&name.into(), &value.into());
        }
        environment
    }
}

/// Shows the names only: values may be secret.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::Environment;

    #[test]
    fn a_later_value_replaces_an_earlier_one_in_its_place() {
        let environment = Environment::from_iter([("A", "1"), ("B", "2"), ("A", "3")]);
        let entries: Vec<_> = environment.iter().collect();
        assert_eq!(entries, [(OsStr::new("A"), OsStr::new("3")), (OsStr::new("B"), OsStr::new("2"))]);
    }

    #[test]
    fn values_are_changed_in_their_places_and_others_stay_shared() {
        let environment = Environment::from_iter([("A", "1"), ("B", "2"), ("C", "3")]);
        let changed = environment.with_values(|name, value| match name.to_str() {
            Some("A") => None,
            Some("B") => Some(OsStr::new("4").into()),
            _ => Some(value.into()),
        });
        assert_eq!(changed, Environment::from_iter([("B", "4"), ("C", "3")]));
        assert!(std::sync::Arc::ptr_eq(&changed.entries[1], &environment.entries[2]));
    }

    #[test]
    fn debug_output_does_not_show_values() {
        let environment = Environment::new().with("TOKEN", "secret");
        assert_eq!(format!("{environment:?}"), r#"{"TOKEN"}"#);
    }

    #[test]
    fn names_that_cannot_exist_are_left_out() {
        let environment = Environment::from_iter([("", "1"), ("A=B", "2"), ("C", "=3")]);
        assert_eq!(environment.iter().count(), 1);
        assert_eq!(environment.get("C"), Some(OsStr::new("=3")));
    }
}
