//! A call of a file tool as a patch of that file, and a rewrite of the patch as arguments of the tool.

use super::format::{Change, FilePatch, Hunk, Patch};

/// Why a rewritten patch cannot become the arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnfitPatch {
    /// The text is no patch.
    #[error("it answers a call of a file tool with what is no patch")]
    Unreadable,
    /// The patch changes several files, deletes one or moves one.
    #[error("it answers a call that changes one file with a patch that does something else")]
    OtherFiles,
    /// The patch writes a file of which the call replaces a part, or the other way.
    #[error("it answers with a patch that the arguments of the tool cannot express")]
    OtherChange,
    /// The call cannot be shown as a patch: a path of several lines would be read as something else.
    #[error("the call cannot be shown as a patch")]
    Unsayable,
    /// The answer changes something beside the patch.
    #[error("it changes more than the patch of the call")]
    OtherArgument,
}

/// What a call of a file tool does, in neutral words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallAsPatch {
    /// It writes a file.
    Write { path: String, content: String },
    /// It replaces a text in a file.
    Replace { path: String, old: String, new: String },
    /// It changes a file in a way that the table does not know.
    Change { path: String },
}

impl CallAsPatch {
    /// The text of the patch that does the same.
    pub(crate) fn to_text(&self) -> Result<String, UnfitPatch> {
        let (path, change) = match self {
            Self::Write { path, content } => (path, Change::Add { content: content.clone() }),
            Self::Replace { path, old, new } => {
                (path, Change::Update { move_to: None, hunks: vec![Hunk::replacing(old, new)] })
            }
            Self::Change { path } => (path, Change::Update { move_to: None, hunks: Vec::new() }),
        };
        let patch = Patch { here_document: None, files: vec![FilePatch { path: path.clone(), change }] };
        let text = patch.to_text();
        let is_said = Patch::parse(&text).is_ok_and(|read| match read.files.as_slice() {
            [FilePatch { path: read, .. }] => read == path,
            _ => false,
        });
        if is_said { Ok(text) } else { Err(UnfitPatch::Unsayable) }
    }

    /// What the call would do with a rewritten patch.
    pub(crate) fn with_patch(&self, text: &str) -> Result<Self, UnfitPatch> {
        if self.to_text().as_deref() == Ok(text) {
            return Ok(self.clone());
        }
        let patch = Patch::parse(text).map_err(|_| UnfitPatch::Unreadable)?;
        let Ok([FilePatch { path, change }]) = <[FilePatch; 1]>::try_from(patch.files) else {
            return Err(UnfitPatch::OtherFiles);
        };
        match (self, change) {
            (Self::Write { content: before, .. }, Change::Add { content }) => {
                Ok(Self::Write { path, content: ended_as(before, content) })
            }
            (Self::Replace { old: old_before, new: new_before, .. }, Change::Update { move_to: None, hunks }) => {
                let Ok([hunk]) = <[Hunk; 1]>::try_from(hunks) else { return Err(UnfitPatch::OtherChange) };
                let (old, new) = (hunk.old_text(), hunk.new_text());
                Ok(Self::Replace { path, old: ended_as(old_before, old), new: ended_as(new_before, new) })
            }
            (Self::Change { .. }, Change::Update { move_to: None, hunks }) if hunks.is_empty() => {
                Ok(Self::Change { path })
            }
            (_, Change::Delete | Change::Update { move_to: Some(_), .. }) => Err(UnfitPatch::OtherFiles),
            (Self::Write { .. } | Self::Replace { .. } | Self::Change { .. }, _) => Err(UnfitPatch::OtherChange),
        }
    }
}

/// A text of whole lines, without the last line feed if the text before had none.
fn ended_as(before: &str, mut text: String) -> String {
    if !before.ends_with('\n') && text.ends_with('\n') {
        text.pop();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn write(path: &str, content: &str) -> CallAsPatch {
        CallAsPatch::Write { path: path.to_owned(), content: content.to_owned() }
    }

    fn replace(old: &str, new: &str) -> CallAsPatch {
        CallAsPatch::Replace { path: "a".to_owned(), old: old.to_owned(), new: new.to_owned() }
    }

    const WRITE: &str = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";
    const REPLACE: &str = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n";

    #[test]
    fn a_call_is_a_patch_of_its_file_and_a_rewrite_comes_back() {
        assert_eq!(write("a", "x\n").to_text().unwrap(), WRITE);
        assert_eq!(replace("x", "y").to_text().unwrap(), REPLACE);
        let cases = [
            (write("a", "x\n"), WRITE.replace("+x", "+[cut]"), write("a", "[cut]\n")),
            (write("a", "x"), WRITE.replace("+x", "+[cut]"), write("a", "[cut]")),
            (write("a", "x"), WRITE.replace("File: a", "File: b/c"), write("b/c", "x")),
            (write("a", "x\r\n"), write("a", "x\r\n").to_text().unwrap(), write("a", "x\r\n")),
            (replace("x", "y"), REPLACE.replace("+y", "+z"), replace("x", "z")),
            (replace("x\n", "y\n"), REPLACE.replace("-x", "-w"), replace("w\n", "y\n")),
        ];
        for (call, patch, expected) in cases {
            assert_eq!(call.with_patch(&patch), Ok(expected), "{patch}");
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let two = WRITE.replace("*** End", "*** Add File: b\n*** End");
        let deleted = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        for (call, patch, expected) in [
            (write("a", "x"), "x", UnfitPatch::Unreadable),
            (write("a", "x"), two.as_str(), UnfitPatch::OtherFiles),
            (write("a", "x"), deleted, UnfitPatch::OtherFiles),
            (write("a", "x"), REPLACE, UnfitPatch::OtherChange),
            (replace("x", "y"), WRITE, UnfitPatch::OtherChange),
            (CallAsPatch::Change { path: "a".to_owned() }, REPLACE, UnfitPatch::OtherChange),
        ] {
            assert_eq!(call.with_patch(patch), Err(expected), "{patch}");
        }
        for path in ["a\n*** Delete File: b", " a"] {
            assert_eq!(write(path, "x").to_text(), Err(UnfitPatch::Unsayable), "{path:?}");
        }
    }
}
