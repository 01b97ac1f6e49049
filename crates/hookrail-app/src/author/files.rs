//! Writes several files as one step: all of them, or none.
//!
//! Each file is first written under a temporary name beside its place. Then the files are renamed in order, the one that
//! switches the others on last. A failure takes back what was renamed; an interruption leaves each file old or new, and
//! never half-written. The temporary files of a killed program are removed by the next one.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use hookrail_spawn::{Durability, Replace, ReplacedLinks, ReplacedMode, UnplacedFile};

use crate::failure::{Failure, Result};

/// Whether a file can be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileMode {
    Plain,
    Executable,
}

/// What happens to a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    /// Nothing is written at all.
    Refuse,
    /// It is replaced.
    Replace,
    /// It stays as it is.
    Keep,
}

/// A file to be written.
#[derive(Debug)]
pub(super) struct NewFile {
    /// The path from the root on.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) mode: FileMode,
    pub(super) if_exists: IfExists,
}

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileWrite {
    Created,
    Changed,
    Kept,
}

/// Reads a file below a root that will be changed; none if it does not exist. A link, or a path through one, is refused: it
/// could lead to the user's own settings, whose hooks run without a grant.
pub(super) fn read_below(root: &Path, path: &str) -> Result<Option<String>> {
    match inspect(root, path)? {
        Found::Nothing => Ok(None),
        Found::File => {
            let text = fs::read(root.join(path)).map_err(|error| {
                Failure::new(format!("`{path}` cannot be read: {error}; nothing was written"))
                    .hint("check the permissions of the file")
            })?;
            String::from_utf8(text).map(Some).map_err(|error| {
                let line =
                    error.as_bytes().iter().take(error.utf8_error().valid_up_to()).filter(|byte| **byte == b'\n');
                let line = line.count() + 1;
                Failure::new(format!("`{path}` is not UTF-8 text (line {line}); nothing was written"))
                    .hint("convert the file to UTF-8")
            })
        }
    }
}

/// What is at a path that may be written.
enum Found {
    Nothing,
    File,
}

fn inspect(root: &Path, path: &str) -> Result<Found> {
    let refused = |part: &Path, why: &str, hint: String| {
        Err(Failure::new(format!("`{}` {why}; nothing was written", part.display())).hint(hint))
    };
    let mut at = PathBuf::new();
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    for (index, part) in parts.iter().enumerate() {
        at.push(part);
        let is_last = index + 1 == parts.len();
        match root.join(&at).symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => {
                return refused(&at, &format!("cannot be looked at: {error}"), "check its permissions".to_owned());
            }
            Ok(about) if about.is_symlink() => {
                let hint = "replace it with a directory or a file, or run the command in the directory that the link \
                            leads to";
                return refused(&at, "is a symbolic link", hint.to_owned());
            }
            Ok(about) if is_last && about.is_dir() => {
                return refused(&at, "is a directory", "move it away, or choose another name".to_owned());
            }
            Ok(about) if is_last && !about.is_file() => {
                return refused(&at, "is not a regular file", "move it away, or choose another name".to_owned());
            }
            Ok(about) if is_last && about.permissions().readonly() => {
                return refused(&at, "is read-only", format!("make it writable with `chmod u+w {path}`"));
            }
            Ok(about) if !is_last && !about.is_dir() => {
                return refused(&at, "is not a directory", "move it away, or choose another name".to_owned());
            }
            Ok(_) => {}
        }
    }
    Ok(Found::File)
}

/// Files that are written under temporary names.
#[derive(Debug, Default)]
pub(super) struct StagedFiles {
    files: Vec<StagedFile>,
    /// The folders that were created for them, the outermost first.
    folders: Vec<PathBuf>,
}

#[derive(Debug)]
struct StagedFile {
    path: PathBuf,
    /// The new content; none if the file stays as it is.
    content: Option<UnplacedFile>,
    /// The old content, to take a change back.
    before: Option<(Vec<u8>, Permissions)>,
    change: FileWrite,
}

impl StagedFiles {
    /// Checks every target and writes every file under a temporary name. If that fails, nothing is left behind.
    pub(super) fn stage(root: &Path, files: &[NewFile]) -> Result<Self> {
        for file in files.iter().filter(|file| file.if_exists == IfExists::Refuse) {
            if let Found::File = inspect(root, &file.path)? {
                return Err(Failure::new(format!("`{}` already exists; nothing was written", file.path))
                    .hint("choose another name, or give `--force` to replace it"));
            }
        }
        let mut staged = Self::default();
        for file in files {
            let found = inspect(root, &file.path).inspect_err(|_| staged.remove_all())?;
            if let Err(error) = staged.stage_file(&root.join(&file.path), file, &found) {
                staged.remove_all();
                return Err(Failure::new(format!("`{}` cannot be written: {error}; nothing was written", file.path))
                    .hint("check that the project's directory is writable and that the disk has room"));
            }
        }
        Ok(staged)
    }

    fn stage_file(&mut self, path: &Path, file: &NewFile, found: &Found) -> io::Result<()> {
        let before = match found {
            Found::Nothing => None,
            Found::File => Some((fs::read(path)?, fs::metadata(path)?.permissions())),
        };
        let is_same = before.as_ref().is_some_and(|(text, permissions)| {
            text == file.text.as_bytes() && with_mode(permissions, file.mode) == *permissions
        });
        if is_same || (before.is_some() && file.if_exists == IfExists::Keep) {
            self.files.push(StagedFile { path: path.to_owned(), content: None, before, change: FileWrite::Kept });
            return Ok(());
        }
        let folder = path.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
        self.create_folder(folder)?;
        let content = new_file_in(folder, file.mode)?;
        content.file().write_all(file.text.as_bytes())?;
        if let Some((_, permissions)) = &before {
            content.file().set_permissions(with_mode(permissions, file.mode))?;
        }
        // No place is given before everything is written.
        content.file().sync_all()?;
        let change = if before.is_some() { FileWrite::Changed } else { FileWrite::Created };
        self.files.push(StagedFile { path: path.to_owned(), content: Some(content), before, change });
        Ok(())
    }

    fn create_folder(&mut self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
        for folder in missing.into_iter().rev() {
            fs::create_dir(folder)?;
            self.folders.push(folder.to_owned());
        }
        Ok(())
    }

    /// Gives every file its name. Returns what was done with each, in order.
    pub(super) fn commit(mut self) -> Result<Vec<FileWrite>> {
        for index in 0..self.files.len() {
            let Some(file) = self.files.get_mut(index) else { continue };
            let Some(content) = file.content.take() else { continue };
            let path = file.path.clone();
            if let Err(error) = content.place(&path, Durability::None) {
                let failure = Failure::new(format!("`{}` cannot be written: {error}", path.display()));
                return Err(failure.hint(self.take_back(index)));
            }
        }
        Ok(self.files.iter().map(|file| file.change).collect())
    }

    /// Takes back what was renamed before the file with this number. Returns a sentence about the result.
    fn take_back(&mut self, count: usize) -> String {
        let mut left = Vec::new();
        for file in self.files.iter().take(count).rev().filter(|file| file.change != FileWrite::Kept) {
            let undone = match &file.before {
                None => fs::remove_file(&file.path),
                Some((text, permissions)) => restore(&file.path, text, permissions),
            };
            if undone.is_err() {
                left.push(format!("`{}`", file.path.display()));
            }
        }
        self.remove_all();
        match left.is_empty() {
            true => "nothing was changed; check that the project's directory is writable".to_owned(),
            false => format!("these files were written and could not be taken back: {}", left.join(", ")),
        }
    }

    /// Removes the temporary files, and then the folders that were created for them. A folder with other files in it stays.
    fn remove_all(&mut self) {
        self.files.clear();
        for folder in self.folders.drain(..).rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

fn restore(path: &Path, text: &[u8], permissions: &Permissions) -> io::Result<()> {
    let mode = ReplacedMode::Permissions(permissions.clone());
    let how = Replace { mode, links: ReplacedLinks::Replace, durable: Durability::None };
    hookrail_spawn::replace_file(path, text, &how)
}

/// The permissions of a file that is replaced: those it has, and what the new one needs.
#[cfg(unix)]
fn with_mode(permissions: &Permissions, mode: FileMode) -> Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    let bits = permissions.mode();
    match mode {
        FileMode::Plain => permissions.clone(),
        FileMode::Executable => Permissions::from_mode(bits | (bits & 0o444) >> 2),
    }
}

#[cfg(not(unix))]
fn with_mode(permissions: &Permissions, _mode: FileMode) -> Permissions {
    permissions.clone()
}

/// Creates a file without a place, with the permissions that the user's mask gives to new files.
fn new_file_in(folder: &Path, mode: FileMode) -> io::Result<UnplacedFile> {
    hookrail_spawn::remove_abandoned_files(folder);
    let mode = match mode {
        FileMode::Plain => 0o666,
        FileMode::Executable => 0o777,
    };
    UnplacedFile::create(folder, mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, if_exists: IfExists) -> NewFile {
        NewFile { path: path.to_owned(), text: "new".to_owned(), mode: FileMode::Plain, if_exists }
    }

    fn names(root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![root.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                found.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn all_files_are_written_or_none() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("old"), "old").unwrap();
        let files =
            [file("a/b/one", IfExists::Refuse), file("old", IfExists::Replace), file("a/two", IfExists::Refuse)];
        let staged = StagedFiles::stage(root.path(), &files).unwrap();
        // What another program does between the check and the renaming.
        fs::create_dir_all(root.path().join("a/two/x")).unwrap();
        let failure = staged.commit().unwrap_err();
        assert!(failure.message().contains("two` cannot be written"), "{}", failure.message());
        assert_eq!(fs::read_to_string(root.path().join("old")).unwrap(), "old");
        assert_eq!(names(root.path()), ["a", "a/two", "a/two/x", "old"]);
    }

    #[test]
    fn staging_changes_nothing_that_a_reader_sees() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("old"), "old").unwrap();
        let files = [file("a/one", IfExists::Refuse), file("old", IfExists::Replace)];
        let staged = StagedFiles::stage(root.path(), &files).unwrap();
        assert!(!root.path().join("a/one").exists());
        assert_eq!(fs::read_to_string(root.path().join("old")).unwrap(), "old");
        assert_eq!(staged.commit().unwrap(), [FileWrite::Created, FileWrite::Changed]);
        assert_eq!(names(root.path()), ["a", "a/one", "old"]);
        assert_eq!(fs::read_to_string(root.path().join("old")).unwrap(), "new");
    }

    #[test]
    fn a_target_that_cannot_be_written_leaves_nothing_behind() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "").unwrap();
        fs::create_dir(root.path().join("folder")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("folder", root.path().join("link")).unwrap();
        let before = names(root.path());
        for (path, why) in [
            ("file/x", "`file` is not a directory; nothing was written"),
            ("folder", "`folder` is a directory; nothing was written"),
            #[cfg(unix)]
            ("link/x", "`link` is a symbolic link; nothing was written"),
            #[cfg(unix)]
            ("link", "`link` is a symbolic link; nothing was written"),
            ("file", "`file` already exists; nothing was written"),
        ] {
            let files = [file("new/one", IfExists::Refuse), file(path, IfExists::Refuse)];
            let failure = StagedFiles::stage(root.path(), &files).unwrap_err();
            assert_eq!(failure.message(), why);
            assert_eq!(names(root.path()), before, "{path}");
        }
    }

    #[test]
    fn what_is_to_stay_stays() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("mine"), "mine").unwrap();
        let staged = StagedFiles::stage(root.path(), &[file("mine", IfExists::Keep)]).unwrap();
        assert_eq!(staged.commit().unwrap(), [FileWrite::Kept]);
        assert_eq!(fs::read_to_string(root.path().join("mine")).unwrap(), "mine");
    }
}
