//! Opening files that somebody else may have prepared.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a regular file for reading, and never waits: not for the other end of a pipe, not for a device.
///
/// What the path leads to is looked at after it was opened, so nobody can put something else in its place in between.
/// Reading a kernel file that has nothing to say fails instead of waiting.
///
/// # Errors
/// What the system says, or [`io::ErrorKind::InvalidInput`] for what is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    regular(options().read(true).open(path)?)
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

/// Opens a regular file to write at its end, and never waits. A file that is not there is made, for its owner alone.
///
/// # Errors
/// What the system says, or [`io::ErrorKind::InvalidInput`] for what is not a regular file.
pub fn append_to_regular(path: &Path) -> io::Result<File> {
    regular(options().read(false).append(true).create(true).open(path)?)
}

/// Creates a folder, and those above it that are missing, for its owner alone whatever the process's mask of modes is. A
/// folder that exists is left as it is.
///
/// # Errors
/// What the system says.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    private_folders().recursive(true).create(folder)
}

/// Whether nobody but this user and the system could have written what this is about. Elsewhere than on Unix the folder's
/// own rules decide.
#[must_use]
pub fn is_ours_alone(about: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let us = rustix::process::geteuid().as_raw();
        (about.uid() == us || about.uid() == 0) && about.mode() & 0o022 == 0
    }
    #[cfg(not(unix))]
    {
        let _ = about;
        true
    }
}

/// Options that make a new file its owner's alone.
#[must_use]
pub fn private_file_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Options with which opening a file never waits.
fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no such flags"))]
    let mut options = private_file_options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    options
}

/// A builder of folders that are their owner's alone.
pub(crate) fn private_folders() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(test)]
mod tests {
    use super::open_regular;

    #[test]
    fn only_regular_files_are_opened_and_nothing_is_waited_for() {
        let place = hookrail_testkit::TestProject::new();
        assert!(open_regular(&place.write("file", "x")).is_ok());
        assert!(open_regular(&place.project).is_err());
        assert!(open_regular(&place.project.join("missing")).is_err());
        #[cfg(unix)]
        {
            let pipe = place.project.join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            if made.is_ok_and(|status| status.success()) {
                assert!(open_regular(&pipe).is_err(), "a pipe without a writer is not waited for");
            }
        }
    }
}
