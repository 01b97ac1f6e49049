//! Opening and creating files safely in places that other programs can write to.

mod replace;
mod stamp;

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

pub use replace::{
    Durability, Replace, ReplacedLinks, ReplacedMode, UnplacedFile, remove_abandoned_files, replace_file,
    replace_file_through, sync_folder, wait_for_lock,
};
pub use stamp::FileStamp;

/// Opens a regular file for reading without ever blocking, neither on the other end of a pipe nor on a device.
///
/// The type of the file is checked after it was opened, so that no other file can be put in its place in between.
/// Reading a kernel file that has no data fails instead of blocking.
///
/// # Errors
/// If the file cannot be opened, or with [`io::ErrorKind::InvalidInput`] if it is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    require_regular(never_waiting_options().read(true).open(path)?)
}

fn require_regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

/// Opens a regular file for appending without ever blocking. A missing file is created with access for its owner only.
///
/// # Errors
/// If the file cannot be opened, or with [`io::ErrorKind::InvalidInput`] if it is not a regular file.
pub fn append_to_regular(path: &Path) -> io::Result<File> {
    require_regular(never_waiting_options().read(false).append(true).create(true).open(path)?)
}

/// Creates a folder and the missing folders above it, with access for their owner only, whatever the process's umask is. A
/// folder that exists is not changed.
///
/// # Errors
/// If a folder cannot be created.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    private_folders().recursive(true).create(folder)
}

/// Who can write a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writers {
    /// This user and root.
    Ours,
    /// Another user, to whom it belongs.
    AnotherOwner,
    /// Users beside its owner.
    Others,
}

/// Who can write the file with this metadata. On systems other than Unix this is always this user, because the access rules
/// of its folder decide.
#[must_use]
pub fn writers(about: &std::fs::Metadata) -> Writers {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let us = rustix::process::geteuid().as_raw();
        if about.uid() != us && about.uid() != 0 {
            return Writers::AnotherOwner;
        }
        if about.mode() & 0o022 == 0 { Writers::Ours } else { Writers::Others }
    }
    #[cfg(not(unix))]
    {
        let _ = about;
        Writers::Ours
    }
}

/// Whether only this user and root can write the file with this metadata.
#[must_use]
pub fn is_ours_alone(about: &std::fs::Metadata) -> bool {
    writers(about) == Writers::Ours
}

/// Returns options that create a file with access for its owner only.
#[must_use]
pub fn private_file_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Returns options with which opening a file never blocks and never makes a terminal the controlling one.
fn never_waiting_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no such flags"))]
    let mut options = private_file_options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    options
}

/// Returns a builder of folders with access for their owner only.
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
