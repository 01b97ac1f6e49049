//! The text of a patch: files with hunks, as Codex CLI and OpenCode write them.

/// Why a text cannot be read as a patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatchError {
    /// The text does not begin and end as a patch does.
    #[error("the patch has no `*** Begin Patch` and `*** End Patch`")]
    NoFrame,
    /// A line has no meaning where it stands.
    #[error("line {line} of the patch has no meaning: `{text}`")]
    UnexpectedLine { line: usize, text: String },
    /// The call has no text that could be a patch.
    #[error("the call has no patch")]
    NoText,
}

/// A patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Patch {
    /// The line that begins the here-document around the patch, if there is one.
    pub(super) here_document: Option<String>,
    pub(super) files: Vec<FilePatch>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilePatch {
    pub(super) path: String,
    pub(super) change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Add { content: String },
    Delete,
    Update { move_to: Option<String>, hunks: Vec<Hunk> },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The line that begins the hunk, `@@` with what follows it. The first hunk of a file may have none.
    pub(super) header: Option<String>,
    /// The lines with their marks: blank, `-` or `+`.
    pub(super) lines: Vec<String>,
    /// Whether the hunk is anchored at the end of the file.
    pub(super) at_end: bool,
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// What models write around a patch as if it were the input of a shell command. Codex ignores exactly these.
const HERE_DOCUMENTS: [&str; 3] = ["<<EOF", "<<'EOF'", "<<\"EOF\""];
const END_OF_HERE_DOCUMENT: &str = "EOF";

impl Patch {
    /// Reads a patch. A caller that guards something has to deny a call whose patch is an error: a part that was not understood
    /// could write anywhere.
    pub(crate) fn parse(text: &str) -> Result<Self, PatchError> {
        let lines: Vec<&str> = text.trim().lines().collect();
        let (here_document, lines) = match lines.as_slice() {
            [first, lines @ .., END_OF_HERE_DOCUMENT] if HERE_DOCUMENTS.contains(first) => (Some(*first), lines),
            lines => (None, lines),
        };
        let [first, inner @ .., last] = lines else { return Err(PatchError::NoFrame) };
        if first.trim() != BEGIN || last.trim() != END {
            return Err(PatchError::NoFrame);
        }
        let line_of_inner = if here_document.is_some() { 3 } else { 2 };
        let mut files: Vec<FilePatch> = Vec::new();
        for (index, line) in inner.iter().enumerate() {
            let unexpected = || PatchError::UnexpectedLine { line: index + line_of_inner, text: (*line).to_owned() };
            if let Some(file) = begin_file(line) {
                files.push(file);
            } else if !files.last_mut().is_some_and(|file| file.change.take_line(line)) {
                return Err(unexpected());
            }
        }
        Ok(Self { here_document: here_document.map(str::to_owned), files })
    }

    /// The patch as text again.
    pub(crate) fn to_text(&self) -> String {
        let mut lines: Vec<String> = self.here_document.iter().cloned().collect();
        lines.push(BEGIN.to_owned());
        for FilePatch { path, change } in &self.files {
            match change {
                Change::Add { content } => {
                    lines.push(format!("{ADD}{path}"));
                    lines.extend(content.lines().map(|line| format!("+{line}")));
                }
                Change::Delete => lines.push(format!("{DELETE}{path}")),
                Change::Update { move_to, hunks } => {
                    lines.push(format!("{UPDATE}{path}"));
                    lines.extend(move_to.iter().map(|path| format!("{MOVE}{path}")));
                    for Hunk { header, lines: own, at_end } in hunks {
                        lines.extend(header.iter().cloned());
                        lines.extend(own.iter().cloned());
                        lines.extend(at_end.then(|| END_OF_FILE.to_owned()));
                    }
                }
            }
        }
        lines.push(END.to_owned());
        lines.extend(self.here_document.iter().map(|_| END_OF_HERE_DOCUMENT.to_owned()));
        lines.join("\n") + "\n"
    }
}

fn begin_file(line: &str) -> Option<FilePatch> {
    let file = |path: &str, change| Some(FilePatch { path: path.trim().to_owned(), change });
    if let Some(path) = line.strip_prefix(ADD) {
        return file(path, Change::Add { content: String::new() });
    }
    if let Some(path) = line.strip_prefix(DELETE) {
        return file(path, Change::Delete);
    }
    let path = line.strip_prefix(UPDATE)?;
    file(path, Change::Update { move_to: None, hunks: Vec::new() })
}

impl Change {
    /// Takes a line that belongs to the file. Returns whether it has a meaning there.
    fn take_line(&mut self, line: &str) -> bool {
        match self {
            Self::Add { content } => match line.strip_prefix('+') {
                Some(text) => {
                    content.push_str(text);
                    content.push('\n');
                    true
                }
                None => false,
            },
            Self::Delete => line.trim().is_empty(),
            Self::Update { move_to, hunks } => {
                if let Some(path) = line.strip_prefix(MOVE) {
                    let first = move_to.is_none() && hunks.is_empty();
                    *move_to = Some(path.trim().to_owned());
                    return first;
                }
                if line.starts_with("@@") {
                    hunks.push(Hunk { header: Some(line.to_owned()), ..Hunk::default() });
                    return true;
                }
                if hunks.is_empty() {
                    hunks.push(Hunk::default());
                }
                hunks.last_mut().is_some_and(|hunk| hunk.take_line(line))
            }
        }
    }
}

impl Hunk {
    /// A hunk that replaces one text by another.
    pub(super) fn replacing(old: &str, new: &str) -> Self {
        let mut hunk = Self { header: Some("@@".to_owned()), ..Self::default() };
        hunk.lines = marked('-', old).chain(marked('+', new)).collect();
        hunk
    }

    fn take_line(&mut self, line: &str) -> bool {
        if line == END_OF_FILE {
            self.at_end = true;
            return true;
        }
        let has_mark = line.is_empty() || line.starts_with([' ', '-', '+']);
        if has_mark {
            self.lines.push(line.to_owned());
        }
        has_mark
    }

    fn text_without(&self, left_out: char) -> String {
        let kept = self.lines.iter().filter(|line| !line.starts_with(left_out));
        kept.fold(String::new(), |text, line| text + line.get(1..).unwrap_or("") + "\n")
    }

    pub(super) fn old_text(&self) -> String {
        self.text_without('+')
    }

    pub(super) fn new_text(&self) -> String {
        self.text_without('-')
    }

    /// Replaces what the hunk writes: all of the old text goes, all of the new text comes.
    pub(super) fn replace_new_text(&mut self, new: &str) {
        let removed = self.old_text();
        self.lines = marked('-', &removed).chain(marked('+', new)).collect();
    }
}

/// The lines of a text with a mark.
fn marked(mark: char, text: &str) -> impl Iterator<Item = String> {
    text.lines().map(move |line| format!("{mark}{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_is_not_a_patch_is_an_error() {
        for text in ["", "hello", "*** Begin Patch\n", "*** Begin Patch\nfoo\n*** End Patch"] {
            assert!(Patch::parse(text).is_err(), "{text:?}");
        }
        let odd = "*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch";
        assert_eq!(Patch::parse(odd), Err(PatchError::UnexpectedLine { line: 3, text: "no plus".to_owned() }));
    }

    #[test]
    fn a_here_document_around_a_patch_stays_and_must_end() {
        let inner = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";
        for begin in HERE_DOCUMENTS {
            let text = format!("{begin}\n{inner}EOF\n");
            assert_eq!(Patch::parse(&text).unwrap().to_text(), text);
            assert_eq!(Patch::parse(&format!("{begin}\n{inner}")), Err(PatchError::NoFrame));
        }
        assert_eq!(Patch::parse(inner).unwrap().to_text(), inner);
    }
}
