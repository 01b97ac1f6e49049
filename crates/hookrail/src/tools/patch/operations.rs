//! A patch file by file: the write or the replacement that each part of it is, and a rewrite of one of them put back.

use std::path::{Path, PathBuf};

use super::format::{Change, FilePatch, Hunk, Patch};
use crate::json::{Json, JsonObject};

/// Why a rewrite cannot be put back into the patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnpatchableRewrite {
    /// The rewrite is not an object with the members of the operation.
    #[error("the rewrite is not the input of a file operation")]
    NotAnOperation,
    /// The rewrite asks for another old text than the file has.
    #[error("a patch cannot look for another old text")]
    OldText,
    /// The rewrite changes several hunks, and it does not show where one ends.
    #[error("a patch cannot tell which of its hunks the new text belongs to")]
    SeveralHunks,
    /// Parts of one file would go to different files.
    #[error("a patch cannot send the parts of one file to different files")]
    SplitFile,
    /// The patch with the rewrite would be read as something else.
    #[error("a patch writes whole lines that end with a line feed, to paths of one line")]
    Unsayable,
    /// A deletion or a move was rewritten, or a patch in a form that is only read.
    #[error("a patch cannot rewrite a deletion or a move")]
    NotWritable,
}

/// One file operation of a patch, as a guard of files sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operation {
    /// The neutral tool that does the same.
    pub(crate) tool: &'static str,
    /// The neutral input.
    pub(crate) input: Json,
    /// The file of the patch in which a rewrite has a place.
    writable: Option<usize>,
}

impl Operation {
    /// A change of a file that is known by its path alone.
    pub(crate) fn of_path(path: &str, old: &str, new: &str) -> Self {
        let input = object([("file_path", path), ("old_string", old), ("new_string", new)]);
        Self { tool: "replace", input, writable: None }
    }

    /// The file.
    pub(crate) fn path(&self) -> Option<String> {
        self.input.as_object()?.get("file_path")?.as_str()
    }
}

impl Patch {
    /// The file operations of the patch, in order. Relative paths are resolved against the directory of the call.
    ///
    /// A deletion is shown as a write of nothing, and a move as a deletion of its source and a write of its target, because
    /// those are the operations that a guard of files asks about.
    pub(crate) fn operations(&self, directory: &Path) -> Vec<Operation> {
        let mut operations = Vec::new();
        for (file, FilePatch { path, change }) in self.files.iter().enumerate() {
            let resolved = resolve(directory, path);
            match change {
                Change::Add { content } => operations.push(Operation {
                    tool: "write_file",
                    input: object([("file_path", &resolved), ("content", content)]),
                    writable: Some(file),
                }),
                Change::Delete => operations.push(deletion(&resolved)),
                Change::Update { move_to, hunks } => {
                    let (old, new) = texts(hunks);
                    if !hunks.is_empty() || move_to.is_none() {
                        let replaced = Operation::of_path(&resolved, &old, &new);
                        operations.push(Operation { writable: (!hunks.is_empty()).then_some(file), ..replaced });
                    }
                    if let Some(target) = move_to {
                        operations.push(deletion(&resolved));
                        operations.push(Operation {
                            tool: "write_file",
                            input: object([
                                ("file_path", &resolve(directory, target)),
                                ("content", &new),
                                ("operation", "move"),
                            ]),
                            writable: None,
                        });
                    }
                }
            }
        }
        operations
    }

    /// The patch with the rewrite of the operation at this position put back.
    pub(crate) fn with_rewrite(&self, directory: &Path, at: usize, rewrite: &Json) -> Result<Self, UnpatchableRewrite> {
        let operations = self.operations(directory);
        let operation = operations.get(at).ok_or(UnpatchableRewrite::NotAnOperation)?;
        let mut patch = self.clone();
        let before = operation.input.as_object().unwrap_or_default();
        let after = rewrite.as_object().ok_or(UnpatchableRewrite::NotAnOperation)?;
        let text = |name: &str| after.get(name).and_then(Json::as_str).ok_or(UnpatchableRewrite::NotAnOperation);
        let file = operation.writable.ok_or(UnpatchableRewrite::NotWritable)?;
        // A member that the operation does not have, such as a file mode, has no place in a patch.
        if after.iter().any(|(name, _)| before.get(name).is_none()) {
            return Err(UnpatchableRewrite::NotAnOperation);
        }
        let Some(FilePatch { path, change }) = patch.files.get_mut(file) else {
            return Err(UnpatchableRewrite::NotAnOperation);
        };
        let new_path = text("file_path")?;
        let is_moved = operation.path().as_ref() != Some(&new_path);
        if is_moved {
            *path = shorten(directory, &new_path);
        }
        match change {
            Change::Add { content } => *content = text("content")?,
            Change::Update { move_to, .. } if is_moved && move_to.is_some() => {
                return Err(UnpatchableRewrite::SplitFile);
            }
            Change::Update { hunks, .. } => {
                let new = text("new_string")?;
                if text("old_string")? != texts(hunks).0 {
                    return Err(UnpatchableRewrite::OldText);
                }
                replace_new_texts(hunks, &new)?;
            }
            Change::Delete => return Err(UnpatchableRewrite::NotWritable),
        }
        if patch.says(directory, &operations, at, rewrite) { Ok(patch) } else { Err(UnpatchableRewrite::Unsayable) }
    }

    /// Whether the text of the patch is read as these operations with this rewrite. A path with a line feed could begin an
    /// operation that no guard was asked about.
    fn says(&self, directory: &Path, operations: &[Operation], at: usize, rewrite: &Json) -> bool {
        let read = Self::parse(&self.to_text()).map(|patch| patch.operations(directory)).unwrap_or_default();
        let is_same = |(index, (read, operation)): (usize, (&Operation, &Operation))| {
            let wanted = if index == at { rewrite } else { &operation.input };
            let (read, wanted) = (read.input.as_object().unwrap_or_default(), wanted.as_object().unwrap_or_default());
            read.iter().all(|(name, value)| match (value.as_str(), wanted.get(name).and_then(Json::as_str)) {
                (Some(read), Some(wanted)) if name == "file_path" => {
                    Path::new(&read) == Path::new(&resolve(directory, &wanted))
                }
                // The text of a moved file is that of its hunks, which may be rewritten.
                (Some(_), Some(_)) if name == "content" && operation.writable.is_none() => true,
                // A patch writes whole lines, so it ends the last one.
                (Some(read), Some(wanted)) => read == wanted || read.strip_suffix('\n') == Some(&wanted),
                (None, _) | (_, None) => false,
            })
        };
        read.len() == operations.len() && read.iter().zip(operations).enumerate().all(is_same)
    }
}

/// The old and the new text of all hunks of a file.
fn texts(hunks: &[Hunk]) -> (String, String) {
    hunks
        .iter()
        .fold(Default::default(), |(old, new): (String, String), hunk| (old + &hunk.old_text(), new + &hunk.new_text()))
}

/// Gives each hunk its part of a new text: by the number of lines if that is the same as before, else to the one hunk whose
/// neighbours are unchanged.
fn replace_new_texts(hunks: &mut [Hunk], new: &str) -> Result<(), UnpatchableRewrite> {
    let before: Vec<String> = hunks.iter().map(Hunk::new_text).collect();
    let lines: Vec<&str> = new.lines().collect();
    let mut parts: Vec<String> = Vec::new();
    if lines.len() == before.iter().map(|text| text.lines().count()).sum::<usize>() {
        let mut rest = lines.iter();
        for text in &before {
            parts.push(rest.by_ref().take(text.lines().count()).map(|line| format!("{line}\n")).collect());
        }
    } else {
        let ended = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let (mut rest, mut first, mut end) = (ended.as_str(), 0, before.len());
        while let Some(after) =
            before.get(first).filter(|_| first + 1 < end).and_then(|text| rest.strip_prefix(text.as_str()))
        {
            (rest, first) = (after, first + 1);
        }
        while let Some(ahead) =
            before.get(end - 1).filter(|_| first + 1 < end).and_then(|text| rest.strip_suffix(text.as_str()))
        {
            (rest, end) = (ahead, end - 1);
        }
        if first + 1 != end {
            return Err(UnpatchableRewrite::SeveralHunks);
        }
        parts.extend_from_slice(before.get(..first).unwrap_or_default());
        parts.push(rest.to_owned());
        parts.extend_from_slice(before.get(end..).unwrap_or_default());
    }
    for ((hunk, part), text) in hunks.iter_mut().zip(parts).zip(before) {
        if part != text {
            hunk.replace_new_text(&part);
        }
    }
    Ok(())
}

fn deletion(path: &str) -> Operation {
    let input = object([("file_path", path), ("content", ""), ("operation", "delete")]);
    Operation { tool: "write_file", input, writable: None }
}

pub(crate) fn resolve(directory: &Path, path: &str) -> String {
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

    fn parsed() -> Patch {
        Patch::parse(PATCH).unwrap()
    }

    #[test]
    fn a_patch_is_taken_apart_file_by_file_and_put_together_again() {
        assert_eq!(parsed().to_text(), PATCH);
        let operations = parsed().operations(Path::new("/p"));
        let seen: Vec<(&str, &str)> = operations.iter().map(|one| (one.tool, one.input.text())).collect();
        assert_eq!(
            seen,
            [
                ("write_file", r#"{"file_path":"/p/a.txt","content":"hello\nworld\n"}"#),
                (
                    "replace",
                    r#"{"file_path":"/p/src/b.rs","old_string":"one\ntwo\nx\n","new_string":"one\nthree\ny\n"}"#
                ),
                ("write_file", r#"{"file_path":"/abs/c","content":"","operation":"delete"}"#),
                ("replace", r#"{"file_path":"/p/d","old_string":"1\n","new_string":"2\n"}"#),
                ("write_file", r#"{"file_path":"/p/d","content":"","operation":"delete"}"#),
                ("write_file", r#"{"file_path":"/p/e","content":"2\n","operation":"move"}"#),
            ]
        );
    }

    fn rewrite(position: usize, input: &str) -> Result<String, UnpatchableRewrite> {
        let rewrite = Json::parse(input).unwrap();
        parsed().with_rewrite(Path::new("/p"), position, &rewrite).map(|patch| patch.to_text())
    }

    fn rewrite_hunks(new: &str) -> Result<String, UnpatchableRewrite> {
        let old = "one\ntwo\nx\n";
        rewrite(1, object([("file_path", "/p/src/b.rs"), ("old_string", old), ("new_string", new)]).text())
    }

    #[test]
    fn rewrites_are_put_back() {
        let changed = rewrite(0, r#"{"file_path":"/p/n.txt","content":"new\n"}"#).unwrap();
        assert!(changed.contains("*** Add File: n.txt\n+new\n*** Update File: src/b.rs"), "{changed}");
        let moved = rewrite(1, r#"{"file_path":"/p/z","old_string":"one\ntwo\nx\n","new_string":"one\nthree\ny\n"}"#);
        assert_eq!(moved.unwrap(), PATCH.replace("src/b.rs", "z"));
        for (new, hunks) in [
            ("one\n[cut]\ny\n", "@@ fn main\n-one\n-two\n+one\n+[cut]\n@@\n-x\n+y\n"),
            ("one\nthree\n[cut]\n", "@@ fn main\n one\n-two\n+three\n@@\n-x\n+[cut]\n"),
            ("four\ny\n", "@@ fn main\n-one\n-two\n+four\n@@\n-x\n+y\n"),
            ("one\nthree\ny\nz", "@@ fn main\n one\n-two\n+three\n@@\n-x\n+y\n+z\n"),
            ("one\nthree\n", "@@ fn main\n one\n-two\n+three\n@@\n-x\n*** End of File"),
        ] {
            let changed = rewrite_hunks(new).unwrap();
            assert!(changed.contains(hunks), "{new:?}: {changed}");
        }
    }

    #[test]
    fn a_rewrite_that_a_patch_cannot_express_is_an_error() {
        let cases = [
            (1, r#"{"file_path":"/p/src/b.rs","old_string":"zero\n","new_string":"y\n"}"#, UnpatchableRewrite::OldText),
            (3, r#"{"file_path":"/p/z","old_string":"1\n","new_string":"2\n"}"#, UnpatchableRewrite::SplitFile),
            (2, r#"{"file_path":"/abs/z","content":""}"#, UnpatchableRewrite::NotWritable),
            (4, r#"{"file_path":"/p/z","content":""}"#, UnpatchableRewrite::NotWritable),
            (5, r#"{"file_path":"/p/z","content":""}"#, UnpatchableRewrite::NotWritable),
            (0, r#"{"file_path":"z\n*** Delete File: q","content":"x\n"}"#, UnpatchableRewrite::Unsayable),
            (0, r#"{"file_path":"/p/z.txt ","content":"x\n"}"#, UnpatchableRewrite::Unsayable),
            (0, r#"{"file_path":"/p/a.txt","content":"x\r\n"}"#, UnpatchableRewrite::Unsayable),
            (0, r#"{"content":"x"}"#, UnpatchableRewrite::NotAnOperation),
            (0, r#"{"file_path":"/p/a.txt","content":"x","mode":"0600"}"#, UnpatchableRewrite::NotAnOperation),
            (0, "[]", UnpatchableRewrite::NotAnOperation),
        ];
        for (position, input, expected) in cases {
            assert_eq!(rewrite(position, input), Err(expected), "{input}");
        }
        assert_eq!(rewrite_hunks("everything\nis\nnew\nhere\n"), Err(UnpatchableRewrite::SeveralHunks));
        // A line that looks like a part of the patch is only text.
        let text = rewrite(0, r#"{"file_path":"/p/a.txt","content":"*** End Patch\n*** Delete File: q\n"}"#).unwrap();
        assert!(text.contains("+*** End Patch\n+*** Delete File: q\n"), "{text}");
    }
}
