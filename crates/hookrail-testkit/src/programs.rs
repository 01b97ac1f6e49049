//! Programs that a test needs and that may be missing on a machine.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::children::profile_folder;

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
/// Before all others comes a folder with a `python3` that starts without the machine's packages. Packages may run code
/// whenever Python starts, and the first `python3` may be the script of a version manager, which runs some thirty shells:
/// either is several times the work of the test's own program.
#[must_use]
pub fn search_path() -> OsString {
    static SEARCH_PATH: LazyLock<OsString> = LazyLock::new(|| {
        let machine = machine_path();
        let folder = find_program(&machine, "python3").and_then(|found| python_without_packages(&found));
        let folders = folder.into_iter().chain(std::env::split_paths(&machine));
        std::env::join_paths(folders).unwrap_or_else(|_| machine.clone())
    });
    SEARCH_PATH.clone()
}

/// The folder of a `python3` that is in an environment of its own and has no packages. All tests of a build share it.
#[cfg(unix)]
fn python_without_packages(found: &Path) -> Option<PathBuf> {
    let name = found.to_string_lossy().replace('/', "-");
    let environment = profile_folder().join(format!("hookrail-test-python{name}"));
    let programs = environment.join("bin");
    if find_program(programs.as_os_str(), "python3").is_none() {
        let printed = Command::new(found)
            .args(["-c", "import os, sys; print(os.path.realpath(sys.executable))"])
            .output()
            .ok()?;
        let interpreter = PathBuf::from(String::from_utf8(printed.stdout).ok()?.trim_end());
        let made = tempfile::tempdir_in(profile_folder()).ok()?;
        std::fs::create_dir(made.path().join("bin")).ok()?;
        let home = interpreter.parent().filter(|home| home.is_absolute())?;
        let settings = format!("home = {}\ninclude-system-site-packages = false\n", home.display());
        std::fs::write(made.path().join("pyvenv.cfg"), settings).ok()?;
        std::os::unix::fs::symlink(&interpreter, made.path().join("bin/python3")).ok()?;
        // Another test may have been faster. Where not, there is an environment whose interpreter is gone.
        let is_made = || std::fs::rename(made.path(), &environment).is_ok();
        if !is_made() && find_program(programs.as_os_str(), "python3").is_none() {
            std::fs::remove_dir_all(&environment).ok()?;
            std::fs::rename(made.path(), &environment).ok()?;
        }
    }
    Some(programs)
}

#[cfg(not(unix))]
fn python_without_packages(_: &Path) -> Option<PathBuf> {
    None
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

#[cfg(test)]
mod tests {
    use super::{find_program, has_program, machine_path, search_path};

    /// What Python says about itself when it is started by its name.
    #[cfg(unix)]
    fn python_says(expression: &str) -> String {
        let program = find_program(&search_path(), "python3").unwrap();
        let said =
            std::process::Command::new(program).args(["-c", &format!("import sys; print({expression})")]).output();
        String::from_utf8(said.unwrap().stdout).unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn python_starts_without_the_packages_of_the_machine() {
        if !has_program("python3") {
            return;
        }
        let packages =
            python_says("[path for path in sys.path if '-packages' in path and not path.startswith(sys.prefix)]");
        assert_eq!(packages, "[]\n");
        assert_eq!(python_says("sys.prefix != sys.base_prefix"), "True\n", "it is in an environment");
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
