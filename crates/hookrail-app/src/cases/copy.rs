//! Copies what a case needs into its own project, and writes the files of the case there.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::scratch::SetupFailure;

/// The most that is copied for one case.
const MAX_COPIED_BYTES: u64 = 64 * 1024 * 1024;

/// How deep folders are copied. A link to a folder above itself would be copied for ever.
const MAX_DEPTH: usize = 32;

/// Copies files, up to a limit.
pub(super) struct Copier {
    /// The project that is copied.
    root: PathBuf,
    /// The case's own project.
    copy: PathBuf,
    budget: u64,
}

impl Copier {
    pub(super) fn new(root: &Path, copy: &Path) -> Self {
        Self { root: root.to_owned(), copy: copy.to_owned(), budget: MAX_COPIED_BYTES }
    }

    /// Returns the place of a file of the project in the copy.
    pub(super) fn place_of(&self, path: &Path) -> PathBuf {
        self.copy.join(path.strip_prefix(&self.root).unwrap_or(path))
    }

    /// Copies a file of the project, or a folder with everything below it, to its place in the copy.
    pub(super) fn copy_to_its_place(&mut self, from: &Path) -> Result<(), SetupFailure> {
        self.copy(from, &self.place_of(from))
    }

    /// Copies a file, or a folder with everything below it.
    pub(super) fn copy(&mut self, from: &Path, to: &Path) -> Result<(), SetupFailure> {
        self.copy_at_depth(from, to, 0)
    }

    fn copy_at_depth(&mut self, from: &Path, to: &Path, depth: usize) -> Result<(), SetupFailure> {
        let failed = |error: io::Error| SetupFailure::new(format!("`{}` cannot be copied: {error}", from.display()));
        if depth > MAX_DEPTH {
            return Err(SetupFailure::new(format!("the folders in `{}` are too deep to be copied", from.display())));
        }
        let about = fs::symlink_metadata(from).map_err(failed)?;
        if about.file_type().is_symlink() {
            return self.copy_link(from, to, depth);
        }
        if about.is_dir() {
            fs::create_dir_all(to).map_err(failed)?;
            for entry in fs::read_dir(from).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                self.copy_at_depth(&entry.path(), &to.join(entry.file_name()), depth + 1)?;
            }
            return Ok(());
        }
        // A pipe or a device would be waited for. What is there already was named twice.
        if !about.is_file() || to.symlink_metadata().is_ok() {
            return Ok(());
        }
        self.budget = self.budget.checked_sub(about.len()).ok_or_else(|| {
            SetupFailure::new(format!("more than {} MiB would be copied for this case", MAX_COPIED_BYTES / 1024 / 1024))
                .hint("name the hook with `hook` or its settings with `settings`, and what it needs with `copy`")
        })?;
        create_parent(to)?;
        fs::copy(from, to).map_err(failed)?;
        Ok(())
    }

    /// Copies a link. One that leads to a place in the project stays a link, because a grant covers where a path really
    /// leads. What any other one leads to is copied, so that nothing that the case writes gets there.
    fn copy_link(&mut self, from: &Path, to: &Path, depth: usize) -> Result<(), SetupFailure> {
        let failed = |error: io::Error| SetupFailure::new(format!("`{}` cannot be copied: {error}", from.display()));
        let target = fs::read_link(from).map_err(failed)?;
        let Ok(real) = from.canonicalize() else { return Ok(()) };
        let mut parts = target.components();
        let is_beside = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        let stays_inside = target.is_relative() && real.starts_with(&self.root) && to == self.place_of(from);
        if !is_beside && !stays_inside {
            return self.copy_at_depth(&real, to, depth + 1);
        }
        if to.symlink_metadata().is_err() {
            create_parent(to)?;
            link(&target.to_string_lossy(), to).map_err(|error| not_written(to, &error))?;
        }
        if stays_inside {
            let place = self.place_of(&real);
            self.copy_at_depth(&real, &place, depth + 1)?;
        }
        Ok(())
    }
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), SetupFailure> {
    create_parent(path)?;
    fs::write(path, text).map_err(|error| not_written(path, &error))
}

pub(super) fn create_parent(path: &Path) -> Result<(), SetupFailure> {
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| not_written(path, &error))
}

pub(super) fn not_written(path: &Path, error: &io::Error) -> SetupFailure {
    SetupFailure::new(format!("`{}` cannot be written: {error}", path.display()))
}

#[cfg(unix)]
pub(super) fn make_executable(path: &Path) -> Result<(), SetupFailure> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(|error| not_written(path, &error))
}

#[cfg(not(unix))]
pub(super) fn make_executable(_path: &Path) -> Result<(), SetupFailure> {
    Ok(())
}

#[cfg(unix)]
pub(super) fn link(target: &str, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
pub(super) fn link(_target: &str, _path: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "links are not supported here"))
}
