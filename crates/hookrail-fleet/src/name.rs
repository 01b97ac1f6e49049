//! Names of tenants, channels and machines.

use serde::{Deserialize, Serialize};

/// The name of a tenant, a channel or a machine. It can be part of a path and of a subject.
///
/// ```
/// use hookrail_fleet::manifest::Name;
///
/// assert!("acme-dev".parse::<Name>().is_ok());
/// assert!("../acme".parse::<Name>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Name(String);

/// A text that is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no name: a name has 1 to 63 letters a to z, digits, `-` and `_`, and begins with a letter or digit")]
pub struct NotAName(String);

impl Name {
    /// Returns the text of the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for Name {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let begins_well = text.bytes().next().is_some_and(is_word);
        let is_known = text.bytes().all(|byte| is_word(byte) || byte == b'-' || byte == b'_');
        if begins_well && is_known && text.len() <= 63 {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAName(text.to_owned()))
        }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl TryFrom<String> for Name {
    type Error = NotAName;

    fn try_from(text: String) -> Result<Self, NotAName> {
        text.parse()
    }
}
