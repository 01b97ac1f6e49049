//! Files that commands write for their users. A program that is killed cannot remove its temporary files, so the next one that
//! writes to the same folder does.

use std::fs::Permissions;
use std::io;
use std::path::Path;

use hookrail_spawn::{Durability, Replace, ReplacedLinks, ReplacedMode};

/// Replaces a file in one step. The new file has the given mode, or else the mode of the old file.
pub fn write_atomically(path: &Path, text: &str, mode: Option<Permissions>) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        hookrail_spawn::remove_abandoned_files(folder);
    }
    let how = Replace {
        mode: mode.map_or(ReplacedMode::KeepOr(0o644), ReplacedMode::Permissions),
        links: ReplacedLinks::Replace,
        durable: Durability::File,
    };
    hookrail_spawn::replace_file(path, text.as_bytes(), &how)
}
