//! Finds the programs that tests start, and builds those that are missing or older than their sources.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The package of the misbehaving children.
const TESTKIT: &str = "hookrail-testkit";

/// Returns the path of the `hookrail-child` binary, see `src/bin/hookrail-child`.
///
/// Cargo builds it for this package's own tests only. In a test of another
/// package it may be missing or older than its source, and is then built on
/// the first call with the cargo that runs the test, into the same target
/// folder and profile as the running test.
///
/// # Panics
///
/// If it is missing and cannot be built.
#[must_use]
pub fn child() -> PathBuf {
    static CHILD: OnceLock<PathBuf> = OnceLock::new();
    CHILD.get_or_init(|| find_or_build(TESTKIT, "hookrail-child")).clone()
}

/// Returns the path of the `hookrail` binary, for tests of packages that it links and that cannot depend on its package.
///
/// `cargo test --workspace` builds it before any test runs. In a test of one package it is found or built as
/// [`child`] is.
///
/// # Panics
///
/// If it is missing and cannot be built.
#[must_use]
pub fn hookrail() -> PathBuf {
    static HOOKRAIL: OnceLock<PathBuf> = OnceLock::new();
    HOOKRAIL.get_or_init(|| find_or_build("hookrail-cli", "hookrail")).clone()
}

/// Returns the path of the `hookrail-measure` binary, see `src/bin/hookrail-measure`; found and built in the same way.
///
/// # Panics
///
/// If it is missing and cannot be built.
#[must_use]
pub fn measure() -> PathBuf {
    static MEASURE: OnceLock<PathBuf> = OnceLock::new();
    MEASURE.get_or_init(|| find_or_build(TESTKIT, "hookrail-measure")).clone()
}

#[expect(clippy::panic, reason = "a test without its programs can only fail")]
fn find_or_build(package: &str, name: &str) -> PathBuf {
    let folder = profile_folder();
    let binary = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if is_fresh(&binary) {
        return binary;
    }
    let mut build = build_command(package, name, &folder);
    let problem = match build.status() {
        Ok(status) if status.success() && binary.is_file() => return binary,
        Ok(status) => format!("{build:?} ended with {status}"),
        Err(error) => format!("cannot start {build:?}: {error}"),
    };
    panic!(
        "this test starts `{}`, which is missing or older than its sources: {problem}; \
         `cargo build --package {package} --bin {name}` builds it",
        binary.display()
    )
}

/// `target/[triple/]profile`, from `target/[triple/]profile/deps/this-test`.
#[expect(clippy::panic, reason = "a test that cannot find itself can only fail")]
fn profile_folder() -> PathBuf {
    let test = match std::env::current_exe() {
        Ok(test) => test,
        Err(error) => panic!("cannot determine the path of this test: {error}"),
    };
    let folder = test.parent().unwrap_or(Path::new("."));
    match folder.file_name() {
        Some(name) if name == "deps" || name == "examples" => folder.parent().unwrap_or(folder).to_owned(),
        _ => folder.to_owned(),
    }
}

fn build_command(package: &str, name: &str, folder: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--package", package, "--bin", name]);
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    match folder.file_name() {
        None => {}
        Some(name) if name == "debug" => {}
        Some(name) => {
            build.arg("--profile").arg(name);
        }
    }
    let Some(parent) = folder.parent() else {
        return build;
    };
    // Cargo marks the target folder itself; a triple's folder is one below. It does not tag a folder that was there before.
    let is_target = ["CACHEDIR.TAG", ".rustc_info.json"].iter().any(|mark| parent.join(mark).exists());
    let triple = parent.file_name().filter(|_| !is_target);
    match (triple, parent.parent()) {
        (Some(triple), Some(target)) => {
            build.arg("--target").arg(triple).arg("--target-dir").arg(target);
        }
        _ => {
            build.arg("--target-dir").arg(parent);
        }
    }
    build
}

/// Whether the binary exists and is not older than any of its sources.
///
/// Cargo lists the sources in a file beside the binary. Without that list the binary counts as stale, because a test must
/// not run a program that was built from other sources.
fn is_fresh(binary: &Path) -> bool {
    let (Some(built), Ok(list)) = (modified(binary), std::fs::read_to_string(binary.with_extension("d"))) else {
        return false;
    };
    sources(&list).iter().all(|source| modified(source).is_some_and(|written| written <= built))
}

/// The files after the colon of a rule for `make`, in which a space of a name follows a backslash.
fn sources(list: &str) -> Vec<PathBuf> {
    let names = list.split_once(": ").map_or("", |(_, names)| names);
    let names = names.replace("\\ ", "\0");
    names.split_whitespace().map(|name| PathBuf::from(name.replace('\0', " "))).collect()
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|data| data.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_sources_is_read() {
        let list = "/target/debug/hookrail: /a/main.rs /a/with\\ space/lib.rs\n";
        assert_eq!(sources(list), [Path::new("/a/main.rs"), Path::new("/a/with space/lib.rs")]);
    }
}
