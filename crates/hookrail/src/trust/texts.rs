//! The texts of granted files, so that a change can be shown as text.
//!
//! They are kept beside the store, each under the digest of its bytes, and not in it: the store is read for every
//! event, the texts only when the user asks what has changed. A text is shown only if it has the digest that was
//! granted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::grants::Grants;
use crate::config::read_within;
use crate::hook::grant::GrantedFile;
use crate::text::digest::Digest;

/// The largest file whose text is kept.
const LARGEST: u64 = 256 * 1024;

/// How many bytes are kept of all files together.
const MOST: u64 = 16 * 1024 * 1024;

/// The folder with the texts.
pub(super) struct GrantedTexts {
    folder: PathBuf,
}

impl GrantedTexts {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Keeps the texts of granted files of the project, and removes those that are not granted any more. A text that
    /// cannot be kept is not shown later; the grant does not need it.
    pub(super) fn keep(&self, project: &Path, all: &BTreeMap<String, Grants>) {
        let files = || all.values().flat_map(|grants| &grants.hooks).flat_map(|grant| &grant.files);
        let wanted: BTreeSet<&str> = files().map(|file| file.sha256.as_str()).collect();
        let mut size = 0;
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if wanted.contains(&*entry.file_name().to_string_lossy()) {
                size += entry.metadata().map_or(0, |about| about.len());
            } else {
                let _ = fs::remove_file(entry.path());
            }
        }
        for file in files().filter(|file| is_digest(&file.sha256) && file.path.starts_with(project)) {
            let kept = self.folder.join(&file.sha256);
            if kept.exists() || size >= MOST {
                continue;
            }
            if let Some(text) = present_text(project, file)
                && self.write(&kept, &text).is_ok()
            {
                size += text.len() as u64;
            }
        }
    }

    /// The text with that digest.
    pub(super) fn read(&self, sha256: &str) -> Option<String> {
        if !is_digest(sha256) {
            return None;
        }
        text_with(&self.folder.join(sha256), sha256)
    }

    fn write(&self, file: &Path, text: &str) -> io::Result<()> {
        hookrail_spawn::create_private_folder(&self.folder)?;
        let mut options = hookrail_spawn::private_file_options();
        let written = options.write(true).create_new(true).open(file)?.write_all(text.as_bytes());
        if written.is_err() {
            let _ = fs::remove_file(file);
        }
        written
    }
}

/// The text of a file that still has the granted content. The target of a link that leads outside the project is not
/// copied.
fn present_text(project: &Path, file: &GrantedFile) -> Option<String> {
    let real = file.path.canonicalize().ok()?;
    if real.starts_with(project) { text_with(&real, &file.sha256) } else { None }
}

/// The text in a file, if it has that digest.
fn text_with(file: &Path, sha256: &str) -> Option<String> {
    let bytes = read_within(file, &mut { LARGEST }).ok()??;
    if Digest::of(&bytes).is_hex(sha256) { String::from_utf8(bytes).ok() } else { None }
}

/// Whether the text is a digest, and so a name without folders.
fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
