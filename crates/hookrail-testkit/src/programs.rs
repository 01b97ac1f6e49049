//! Programs that a test needs and that may be missing on a machine.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Whether a program is in `PATH`. A test that needs it returns if not.
///
/// # Panics
/// With `HOOKRAIL_REQUIRE_ALL=1`, if the program is missing, so that continuous integration never skips a test unseen.
#[must_use]
pub fn has_program(name: &str) -> bool {
    let found = find_program(&machine_path(), name).is_some();
    if !found {
        let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!required, "HOOKRAIL_REQUIRE_ALL=1, and `{name}` is missing");
        eprintln!("skipped: `{name}` is missing");
    }
    found
}

/// The machine's search path, for the programs that a test starts.
///
/// Where the first `python3` is the script of a version manager, the folder of the interpreter that it starts comes before
/// all others: such a script runs some thirty shells, which is several times the work of the test's own program.
#[must_use]
pub fn search_path() -> OsString {
    static SEARCH_PATH: LazyLock<OsString> = LazyLock::new(|| {
        let machine = machine_path();
        let interpreter = find_program(&machine, "python3").filter(|found| is_script(found)).and_then(|found| {
            let printed = Command::new(found).args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
            Some(PathBuf::from(String::from_utf8(printed.stdout).ok()?.trim_end()))
        });
        let folder = interpreter.as_deref().filter(|path| path.is_absolute()).and_then(Path::parent);
        let folders = folder.map(Path::to_path_buf).into_iter().chain(std::env::split_paths(&machine));
        std::env::join_paths(folders).unwrap_or_else(|_| machine.clone())
    });
    SEARCH_PATH.clone()
}

/// The machine's search path, with a folder before all others.
///
/// # Panics
/// If the name of the folder has the character that separates folders.
#[must_use]
#[expect(clippy::expect_used, reason = "a test that names such a folder can only fail")]
pub fn search_path_after(folder: &Path) -> OsString {
    let machine = search_path();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&machine));
    std::env::join_paths(folders).expect("a folder that a search path can name")
}

fn machine_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

fn find_program(path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn is_script(file: &Path) -> bool {
    let mut start = [0; 2];
    File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"#!"
}

#[cfg(test)]
mod tests {
    use super::{find_program, is_script, machine_path, search_path};

    #[test]
    fn no_script_stands_before_the_interpreter() {
        let Some(found) = find_program(&search_path(), "python3") else { return };
        assert!(!is_script(&found), "{}", found.display());
    }

    #[test]
    fn every_folder_of_the_machine_is_searched_in_its_order() {
        let (ours, machine) = (search_path(), machine_path());
        let ours: Vec<_> = std::env::split_paths(&ours).collect();
        let machine: Vec<_> = std::env::split_paths(&machine).collect();
        assert!(ours.ends_with(&machine), "{machine:?} is not the end of {ours:?}");
        assert!(ours.len() <= machine.len() + 1, "one more folder at most: {ours:?}");
    }
}
