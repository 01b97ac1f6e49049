//! Where a hook or a diagnostic comes from: the layer, the file, the place in it.
//!
//! This module knows no configuration format and no dialect.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::text::names::named;

named! {
    /// The kind of place a hook was configured in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum SourceKind {
        /// A file of the project the agent works in. Needs trust.
        Project = "project",
        /// The user's own settings.
        User = "user",
        /// The machine's settings, a floor for all others.
        System = "system",
        /// An extension the user installed.
        Extension = "extension",
        /// A plugin the user installed.
        Plugin = "plugin",
        /// Named on the command line or by the embedding host.
        Option = "option",
        /// Registered by the embedding program as code.
        Native = "native",
    }
}

named! {
    /// The authority of a hook against others, by where it was configured. The order is from the least to the most.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Authority {
        /// A file of the project.
        #[default]
        Project = "project",
        /// The user: settings, extensions, installed plugins, the user's modules and those named on the command line.
        /// Hooks of the embedding program have the same authority: the user chose the program, and it acts for the
        /// user.
        User = "user",
        /// The system layer. No other layer can override it.
        System = "system",
    }
}

impl SourceKind {
    /// The authority of a hook that was configured there.
    pub(crate) fn authority(self) -> Authority {
        match self {
            Self::System => Authority::System,
            Self::User | Self::Extension | Self::Plugin | Self::Option | Self::Native => Authority::User,
            Self::Project => Authority::Project,
        }
    }

    /// Whether a switch or list of this layer is about the hooks of another: of its own and of those with less authority. A
    /// project's is about the project alone.
    pub(crate) fn reaches(self, other: Self) -> bool {
        match self {
            Self::System => true,
            Self::User => other != Self::System,
            Self::Project | Self::Extension | Self::Plugin | Self::Option | Self::Native => self == other,
        }
    }
}

/// A place in a file. Lines and columns count from one; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: Arc<Path>,
    /// The line, from one.
    pub line: u32,
    /// The column, from one, in characters.
    pub column: u32,
    /// The bytes of the file that are meant.
    pub span: std::ops::Range<usize>,
}

impl Location {
    /// A place in a file with this text.
    #[must_use]
    pub fn in_text(file: &Path, text: &str, span: std::ops::Range<usize>) -> Self {
        LineIndex::new(text.to_owned()).location(&file.into(), span)
    }

    /// The beginning of a file, for what concerns the file as a whole.
    #[must_use]
    pub fn whole_file(file: &Path) -> Self {
        Self { file: file.into(), line: 1, column: 1, span: 0..0 }
    }
}

/// Where one hook was configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The layer.
    pub kind: SourceKind,
    /// The place of the hook's own entry.
    pub location: Location,
}

impl Origin {
    /// The origin of a hook that no file describes.
    #[must_use]
    pub fn without_file(kind: SourceKind) -> Self {
        Self { kind, location: Location::whole_file(&PathBuf::new()) }
    }
}

/// Turns byte offsets of one text into lines and columns.
#[derive(Debug)]
pub(crate) struct LineIndex {
    text: String,
    starts: Vec<usize>,
}

/// On a line that is longer than this, columns count bytes: counting characters from its beginning for every finding
/// would let a file of one long line take for ever.
const LONG_LINE: usize = 4096;

impl LineIndex {
    pub(crate) fn new(text: String) -> Self {
        let starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1))
            .collect();
        Self { text, starts }
    }

    /// The text itself.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Line and column, both from one, of a byte offset.
    pub(crate) fn position(&self, offset: usize) -> (u32, u32) {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|at| self.starts.get(at)).copied().unwrap_or(0);
        let column = match self.text.get(start..offset) {
            Some(head) if head.len() <= LONG_LINE => head.chars().count(),
            _ => offset - start,
        };
        (saturate(line), saturate(column + 1))
    }

    /// The place of a span in `file`.
    pub(crate) fn location(&self, file: &Arc<Path>, span: std::ops::Range<usize>) -> Location {
        let (line, column) = self.position(span.start);
        Location { file: Arc::clone(file), line, column, span }
    }
}

fn saturate(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::LineIndex;

    #[test]
    fn columns_count_characters_from_one() {
        let index = LineIndex::new("a\nöx\n".to_owned());
        assert_eq!(index.position(0), (1, 1));
        assert_eq!(index.position(2), (2, 1));
        assert_eq!(index.position(4), (2, 2));
        assert_eq!(index.position(999), (3, 1));
    }
}
