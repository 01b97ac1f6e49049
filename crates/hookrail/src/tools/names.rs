//! What a host declares about its own tools: their names and those of their arguments in the dialects.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::dialect_id::DialectId;

/// One tool of the host, and what dialects call it and its arguments.
///
/// ```
/// use hookrail::{DialectId, ToolNames};
///
/// let names = ToolNames::new("write_file").in_dialect(DialectId::Xcode, "writeFile", [("path", "filePath")]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "WrittenToolNames")]
pub struct ToolNames {
    /// The host's name for it.
    pub name: String,
    pub(super) dialects: Vec<DialectNames>,
}

/// The names of one tool and its arguments in one dialect.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct DialectNames {
    #[serde(serialize_with = "write_dialect", deserialize_with = "read_dialect")]
    pub(super) dialect: DialectId,
    pub(super) name: String,
    /// The host's name of an argument, and the dialect's.
    #[serde(default)]
    pub(super) arguments: Vec<(String, String)>,
    /// Arguments with more than one name: the one that carries the value first, then the others.
    #[serde(default)]
    pub(super) aliases: Vec<Vec<String>>,
}

impl DialectNames {
    /// The names of a call, for one event only.
    pub(super) fn new(name: &str) -> Self {
        Self { dialect: DialectId::Native, name: name.to_owned(), arguments: Vec::new(), aliases: Vec::new() }
    }

    /// Adds the names of an argument: the host's, and all that the dialect has. Where the dialect has the host's name too, the
    /// value stays under it.
    pub(super) fn add_argument(&mut self, host: &str, theirs: &[&str]) {
        let Some(first) = theirs.first() else { return };
        let carrier = if theirs.contains(&host) { host } else { first };
        if carrier != host {
            self.arguments.push((host.to_owned(), carrier.to_owned()));
        }
        self.add_aliases(carrier, theirs);
    }

    /// Adds further names of the value under one name.
    pub(super) fn add_aliases(&mut self, carrier: &str, theirs: &[&str]) {
        let others = theirs.iter().filter(|name| **name != carrier);
        let names: Vec<String> = [carrier].iter().chain(others).map(|name| (*name).to_owned()).collect();
        if names.len() > 1 {
            self.aliases.push(names);
        }
    }
}

/// The names as they were written, which may contradict each other.
#[derive(Deserialize)]
struct WrittenToolNames {
    name: String,
    #[serde(default)]
    dialects: Vec<DialectNames>,
}

impl From<WrittenToolNames> for ToolNames {
    fn from(written: WrittenToolNames) -> Self {
        written.dialects.iter().fold(
            Self::new(written.name),
            |names, DialectNames { dialect, name, arguments, aliases }| {
                let pairs = arguments.iter().map(|(host, theirs)| (host.as_str(), theirs.as_str()));
                let names = names.in_dialect(*dialect, name, pairs);
                aliases.iter().filter_map(|names| names.split_first()).fold(names, |names, (first, others)| {
                    names.aliases_in_dialect(*dialect, first, others.iter().map(String::as_str))
                })
            },
        )
    }
}

fn write_dialect<S: Serializer>(dialect: &DialectId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(dialect.name())
}

fn read_dialect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DialectId, D::Error> {
    let name = String::deserialize(deserializer)?;
    DialectId::from_name(&name).ok_or_else(|| serde::de::Error::custom("unknown dialect"))
}

impl ToolNames {
    /// A tool by the host's name for it.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), dialects: Vec::new() }
    }

    /// The tool with its name in a dialect, and pairs of the host's and the dialect's name for arguments that are
    /// called otherwise there. A name can mean one argument only, so a second pair with the same name is ignored. An earlier
    /// declaration for the dialect is replaced, with its aliases.
    #[must_use]
    pub fn in_dialect<'a>(
        mut self,
        dialect: DialectId,
        name: impl Into<String>,
        arguments: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (host, theirs) in arguments {
            if !pairs.iter().any(|(one, other)| one == host || other == theirs) {
                pairs.push((host.to_owned(), theirs.to_owned()));
            }
        }
        self.dialects.retain(|known| known.dialect != dialect);
        self.dialects.push(DialectNames { dialect, name: name.into(), arguments: pairs, aliases: Vec::new() });
        self
    }

    /// The tool with further names of an argument in a dialect, given by the argument's first name there. Hooks of the
    /// dialect find the value under every name. If a hook changes it under one of them, that one counts, and all others
    /// follow before the next hook is asked; if it changes several to different values, the hook has failed. The host gets the
    /// value under the name that it used, and never sees an alias.
    ///
    /// ```
    /// use hookrail::{DialectId, ToolNames};
    ///
    /// let names = ToolNames::new("write_file").aliases_in_dialect(DialectId::Llxprt, "file_path", ["absolute_path"]);
    /// ```
    #[must_use]
    pub fn aliases_in_dialect<'a>(
        mut self,
        dialect: DialectId,
        argument: &str,
        aliases: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        if !self.dialects.iter().any(|known| known.dialect == dialect) {
            let own_name = self.name.clone();
            self = self.in_dialect(dialect, own_name, []);
        }
        let mut names = vec![argument.to_owned()];
        for alias in aliases {
            if !names.iter().any(|name| name == alias) {
                names.push(alias.to_owned());
            }
        }
        if let Some(known) = self.dialects.iter_mut().find(|known| known.dialect == dialect) {
            known.aliases.push(names);
        }
        self
    }
}
