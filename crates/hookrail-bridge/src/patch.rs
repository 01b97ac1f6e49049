//! Parses Codex's patches into files and hunks, and writes them again.
//!
//! One call of `apply_patch` changes many files. A guard has to see each of them as the write or the replacement that it is,
//! and a rewrite of one of them has to find its way back into the patch.

use std::path::{Path, PathBuf};

use hookrail::{Json, JsonObject};

/// Why a text cannot be parsed as a patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The text does not begin and end as a patch does.
    #[error("the patch has no `*** Begin Patch` and `*** End Patch`")]
    NoFrame,
    /// A line has no meaning where it stands.
    #[error("line {line} of the patch has no meaning: `{text}`")]
    UnexpectedLine {
        /// The number of the line, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
}

/// Why a rewrite cannot be put back into the patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnpatchableRewrite {
    /// The rewrite is not an object with the members of the operation.
    #[error("the rewrite is not the input of a file operation")]
    NotAnOperation,
    /// The rewrite asks for another old text than the file has.
    #[error("a patch cannot look for another old text")]
    OldText,
    /// Parts of one file would go to different files.
    #[error("a patch cannot send the parts of one file to different files")]
    SplitFile,
    /// The patch with the rewrite would be read as something else.
    #[error("a patch writes whole lines that end with a line feed, to paths of one line")]
    Unsayable,
    /// A deletion or a move was rewritten.
    #[error("a patch cannot rewrite a deletion or a move")]
    NotWritable,
}

/// A patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The line that begins the here-document around the patch, if there is one.
    here_document: Option<String>,
    files: Vec<FilePatch>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FilePatch {
    path: String,
    change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Add { content: String },
    Delete,
    Update { move_to: Option<String>, hunks: Vec<Hunk> },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// The line that begins the hunk, `@@` with what follows it. The first hunk of a file may have none.
    header: Option<String>,
    /// The lines with their marks: blank, `-` or `+`.
    lines: Vec<String>,
    /// Whether the hunk is anchored at the end of the file.
    at_end: bool,
}

/// One file operation of a patch, as a guard sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The neutral tool that does the same.
    pub tool: &'static str,
    /// The neutral input.
    pub input: Json,
    place: Place,
}

/// Where an operation stands in its patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Whole {
        file: usize,
    },
    Hunk {
        file: usize,
        hunk: usize,
    },
    /// The file as a whole, beside its hunks.
    File {
        file: usize,
    },
    Fixed,
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
    /// Takes a patch apart.
    ///
    /// # Errors
    ///
    /// The text is not a patch. A caller that guards something then has to deny the call: a part that was not understood
    /// could write anywhere.
    pub fn parse(text: &str) -> Result<Self, PatchError> {
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
    #[must_use]
    pub fn to_text(&self) -> String {
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

    /// The file operations of the patch, in order. Relative paths are resolved against the directory of the call.
    ///
    /// A deletion is shown as a write of nothing, and a move as a deletion of its source and a write of its target, because
    /// those are the operations that a guard of files asks about.
    #[must_use]
    pub fn operations(&self, directory: &Path) -> Vec<Operation> {
        let mut operations = Vec::new();
        for (file, FilePatch { path, change }) in self.files.iter().enumerate() {
            let resolved = resolve(directory, path);
            match change {
                Change::Add { content } => operations.push(Operation {
                    tool: "write_file",
                    input: object([("file_path", &resolved), ("content", content)]),
                    place: Place::Whole { file },
                }),
                Change::Delete => operations.push(deletion(&resolved, Place::Fixed)),
                Change::Update { move_to, hunks } => {
                    for (hunk, parts) in hunks.iter().enumerate() {
                        let (old, new) = (parts.old_text(), parts.new_text());
                        operations.push(Operation {
                            tool: "replace",
                            input: object([("file_path", &resolved), ("old_string", &old), ("new_string", &new)]),
                            place: Place::Hunk { file, hunk },
                        });
                    }
                    if hunks.is_empty() && move_to.is_none() {
                        operations.push(Operation {
                            tool: "replace",
                            input: object([("file_path", &resolved), ("old_string", ""), ("new_string", "")]),
                            place: Place::File { file },
                        });
                    }
                    if let Some(target) = move_to {
                        operations.push(deletion(&resolved, Place::File { file }));
                        let target = resolve(directory, target);
                        let text: String = hunks.iter().map(Hunk::new_text).collect();
                        operations.push(Operation {
                            tool: "write_file",
                            input: object([("file_path", &target), ("content", &text), ("operation", "move")]),
                            place: Place::Fixed,
                        });
                    }
                }
            }
        }
        operations
    }

    /// The patch with rewrites put back. Each rewrite belongs to the operation at the same position.
    ///
    /// # Errors
    ///
    /// A patch cannot express one of the rewrites.
    pub fn with_rewrites(
        &self,
        directory: &Path,
        operations: &[Operation],
        rewrites: &[Option<Json>],
    ) -> Result<Self, UnpatchableRewrite> {
        let mut patch = self.clone();
        let mut new_paths: Vec<Option<String>> = vec![None; patch.files.len()];
        for (operation, rewrite) in operations.iter().zip(rewrites) {
            let Some(rewrite) = rewrite.as_ref().filter(|rewrite| !rewrite.same_as(&operation.input)) else {
                continue;
            };
            let before = operation.input.as_object().unwrap_or_default();
            let after = rewrite.as_object().ok_or(UnpatchableRewrite::NotAnOperation)?;
            let text = |name: &str| after.get(name).and_then(Json::as_str);
            let (Place::Whole { file } | Place::Hunk { file, .. }) = operation.place else {
                return Err(UnpatchableRewrite::NotWritable);
            };
            // A member that the operation does not have, such as a file mode, has no place in a patch.
            if after.iter().any(|(name, _)| before.get(name).is_none()) {
                return Err(UnpatchableRewrite::NotAnOperation);
            }
            let path = text("file_path").ok_or(UnpatchableRewrite::NotAnOperation)?;
            if before.get("file_path").and_then(Json::as_str).as_deref() != Some(&path)
                && let Some(slot) = new_paths.get_mut(file)
            {
                *slot = Some(shorten(directory, &path));
            }
            let Some(change) = patch.files.get_mut(file).map(|file| &mut file.change) else { continue };
            match (change, operation.place) {
                (Change::Add { content }, Place::Whole { .. }) => {
                    *content = text("content").ok_or(UnpatchableRewrite::NotAnOperation)?;
                }
                (Change::Update { hunks, .. }, Place::Hunk { hunk, .. }) => {
                    let new = text("new_string").ok_or(UnpatchableRewrite::NotAnOperation)?;
                    let Some(hunk) = hunks.get_mut(hunk) else { continue };
                    if text("old_string").as_deref() != Some(&hunk.old_text()) {
                        return Err(UnpatchableRewrite::OldText);
                    }
                    hunk.replace_new_text(&new);
                }
                _ => return Err(UnpatchableRewrite::NotWritable),
            }
        }
        let patch = patch.move_files(operations, rewrites, new_paths)?;
        if patch.says(directory, operations, rewrites) { Ok(patch) } else { Err(UnpatchableRewrite::Unsayable) }
    }

    /// Whether the text of the patch is read as these operations with these rewrites. A path with a line feed could begin an
    /// operation that no guard was asked about.
    fn says(&self, directory: &Path, operations: &[Operation], rewrites: &[Option<Json>]) -> bool {
        let read = Self::parse(&self.to_text()).map(|patch| patch.operations(directory)).unwrap_or_default();
        let is_same = |(index, (read, operation)): (usize, (&Operation, &Operation))| {
            let wanted = rewrites.get(index).and_then(Option::as_ref).unwrap_or(&operation.input);
            let (read, wanted) = (read.input.as_object().unwrap_or_default(), wanted.as_object().unwrap_or_default());
            read.iter().all(|(name, value)| match (value.as_str(), wanted.get(name).and_then(Json::as_str)) {
                (Some(read), Some(wanted)) if name == "file_path" => {
                    Path::new(&read) == Path::new(&resolve(directory, &wanted))
                }
                // The text of a moved file is that of its hunks, which may be rewritten.
                (Some(_), Some(_)) if name == "content" && operation.place == Place::Fixed => true,
                // A patch writes whole lines, so it ends the last one.
                (Some(read), Some(wanted)) => read == wanted || read.strip_suffix('\n') == Some(&wanted),
                (None, _) | (_, None) => false,
            })
        };
        read.len() == operations.len() && read.iter().zip(operations).enumerate().all(is_same)
    }

    /// Sends files to other paths. Every part of a file has to agree.
    fn move_files(
        mut self,
        operations: &[Operation],
        rewrites: &[Option<Json>],
        new_paths: Vec<Option<String>>,
    ) -> Result<Self, UnpatchableRewrite> {
        for (index, (file, new_path)) in self.files.iter_mut().zip(new_paths).enumerate() {
            let Some(new_path) = new_path else { continue };
            let paths = operations.iter().zip(rewrites).filter_map(|(operation, rewrite)| match operation.place {
                Place::Whole { file } | Place::Hunk { file, .. } | Place::File { file } if file == index => {
                    rewrite.as_ref().unwrap_or(&operation.input).as_object()?.get("file_path").cloned()
                }
                _ => None,
            });
            let mut paths: Vec<String> = paths.map(|path| path.text().to_owned()).collect();
            paths.dedup();
            if paths.len() > 1 {
                return Err(UnpatchableRewrite::SplitFile);
            }
            file.path = new_path;
        }
        Ok(self)
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

    fn old_text(&self) -> String {
        self.text_without('+')
    }

    fn new_text(&self) -> String {
        self.text_without('-')
    }

    /// Replaces what the hunk writes: all of the old text goes, all of the new text comes.
    fn replace_new_text(&mut self, new: &str) {
        let removed = self.old_text();
        let removed = removed.lines().map(|line| format!("-{line}"));
        let added = new.lines().map(|line| format!("+{line}"));
        self.lines = removed.chain(added).collect();
    }
}

fn deletion(path: &str, place: Place) -> Operation {
    let input = object([("file_path", path), ("content", ""), ("operation", "delete")]);
    Operation { tool: "write_file", input, place }
}

fn resolve(directory: &Path, path: &str) -> String {
    let path = PathBuf::from(path);
    let absolute = if path.is_absolute() { path } else { directory.join(path) };
    absolute.to_string_lossy().into_owned()
}

/// The path as a patch names it: relative where it lies below the directory of the call.
fn shorten(directory: &Path, path: &str) -> String {
    let short = Path::new(path).strip_prefix(directory).ok().map(|path| path.to_string_lossy().into_owned());
    short.filter(|path| !path.is_empty()).unwrap_or_else(|| path.to_owned())
}

fn object<const N: usize>(members: [(&str, &str); N]) -> Json {
    members.into_iter().map(|(name, text)| (name.to_owned(), Json::string(text))).collect::<JsonObject>().to_json()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    const PATCH: &str = "*** Begin Patch\n*** Add File: a.txt\n+hello\n+world\n*** Update File: src/b.rs\n@@ fn main\n \
        one\n-two\n+three\n@@\n-x\n+y\n*** End of File\n*** Delete File: /abs/c\n*** Update File: d\n*** Move to: e\n@@\n-1\n+2\n*** \
        End Patch\n";

    fn parsed() -> (Patch, Vec<Operation>) {
        let patch = Patch::parse(PATCH).unwrap();
        let operations = patch.operations(Path::new("/p"));
        (patch, operations)
    }

    #[test]
    fn a_patch_is_taken_apart_and_put_together_again() {
        let (patch, operations) = parsed();
        assert_eq!(patch.to_text(), PATCH);
        let seen: Vec<(&str, &str)> = operations.iter().map(|one| (one.tool, one.input.text())).collect();
        assert_eq!(
            seen,
            [
                ("write_file", r#"{"file_path":"/p/a.txt","content":"hello\nworld\n"}"#),
                ("replace", r#"{"file_path":"/p/src/b.rs","old_string":"one\ntwo\n","new_string":"one\nthree\n"}"#),
                ("replace", r#"{"file_path":"/p/src/b.rs","old_string":"x\n","new_string":"y\n"}"#),
                ("write_file", r#"{"file_path":"/abs/c","content":"","operation":"delete"}"#),
                ("replace", r#"{"file_path":"/p/d","old_string":"1\n","new_string":"2\n"}"#),
                ("write_file", r#"{"file_path":"/p/d","content":"","operation":"delete"}"#),
                ("write_file", r#"{"file_path":"/p/e","content":"2\n","operation":"move"}"#),
            ]
        );
    }

    fn rewrite(position: usize, input: &str) -> Result<String, UnpatchableRewrite> {
        let (patch, operations) = parsed();
        let mut rewrites = vec![None; operations.len()];
        rewrites[position] = Some(Json::parse(input).unwrap());
        patch.with_rewrites(Path::new("/p"), &operations, &rewrites).map(|patch| patch.to_text())
    }

    #[test]
    fn rewrites_are_put_back() {
        let changed = rewrite(0, r#"{"file_path":"/p/n.txt","content":"new\n"}"#).unwrap();
        assert!(changed.contains("*** Add File: n.txt\n+new\n*** Update File: src/b.rs"), "{changed}");
        let changed =
            rewrite(1, r#"{"file_path":"/p/src/b.rs","old_string":"one\ntwo\n","new_string":"four\n"}"#).unwrap();
        assert!(changed.contains("@@ fn main\n-one\n-two\n+four\n@@\n-x\n+y\n"), "{changed}");
        assert_eq!(rewrite(3, r#"{"file_path":"/abs/c","content":"","operation":"delete"}"#).unwrap(), PATCH);
    }

    #[test]
    fn a_rewrite_that_a_patch_cannot_express_is_an_error() {
        let cases = [
            (1, r#"{"file_path":"/p/src/b.rs","old_string":"zero\n","new_string":"y\n"}"#, UnpatchableRewrite::OldText),
            (1, r#"{"file_path":"/p/z","old_string":"one\ntwo\n","new_string":"y\n"}"#, UnpatchableRewrite::SplitFile),
            (3, r#"{"file_path":"/abs/z","content":""}"#, UnpatchableRewrite::NotWritable),
            (5, r#"{"file_path":"/p/z","content":""}"#, UnpatchableRewrite::NotWritable),
            (6, r#"{"file_path":"/p/z","content":""}"#, UnpatchableRewrite::NotWritable),
            (0, r#"{"file_path":"z\n*** Delete File: q","content":"x\n"}"#, UnpatchableRewrite::Unsayable),
            (0, r#"{"file_path":"/p/a.txt","content":"x\r\n"}"#, UnpatchableRewrite::Unsayable),
            (0, r#"{"content":"x"}"#, UnpatchableRewrite::NotAnOperation),
            (0, r#"{"file_path":"/p/a.txt","content":"x","mode":"0600"}"#, UnpatchableRewrite::NotAnOperation),
            (0, "[]", UnpatchableRewrite::NotAnOperation),
        ];
        for (position, input, expected) in cases {
            assert_eq!(rewrite(position, input), Err(expected), "{input}");
        }
    }

    #[test]
    fn what_is_not_a_patch_is_an_error() {
        for text in ["", "hello", "*** Begin Patch\n", "*** Begin Patch\nfoo\n*** End Patch"] {
            assert!(Patch::parse(text).is_err(), "{text:?}");
        }
        let odd = "*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch";
        assert_eq!(Patch::parse(odd), Err(PatchError::UnexpectedLine { line: 3, text: "no plus".to_owned() }));
    }
}
