//! Programs that a test needs and that may be missing on a machine.

use std::path::Path;

/// Whether a program is in `PATH`. A test that needs it returns if not.
///
/// # Panics
/// With `HOOKRAIL_REQUIRE_ALL=1`, if the program is missing, so that continuous integration never skips a test unseen.
#[must_use]
pub fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder: std::path::PathBuf| is_program(&folder.join(name)));
    if !found {
        let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!required, "HOOKRAIL_REQUIRE_ALL=1, and `{name}` is missing");
        eprintln!("skipped: `{name}` is missing");
    }
    found
}

fn is_program(path: &Path) -> bool {
    path.is_file()
}
