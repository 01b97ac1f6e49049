//! Finds the programs of this package, and builds them where nobody else has.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The path of the `hookrail-child` binary, see `src/bin/hookrail-child`.
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
    CHILD.get_or_init(|| find_or_build("hookrail-child")).clone()
}

/// The path of the `hookrail-measure` binary, see `src/bin/hookrail-measure`; found and built in the same way.
///
/// # Panics
///
/// If it is missing and cannot be built.
#[must_use]
pub fn measure() -> PathBuf {
    static MEASURE: OnceLock<PathBuf> = OnceLock::new();
    MEASURE.get_or_init(|| find_or_build("hookrail-measure")).clone()
}

#[expect(clippy::panic, reason = "a test without its programs can only fail")]
fn find_or_build(name: &str) -> PathBuf {
    let folder = profile_folder();
    let binary = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if is_fresh(name, &binary) {
        return binary;
    }
    let mut build = build_command(name, &folder);
    match build.status() {
        Ok(status) if status.success() && binary.is_file() => binary,
        Ok(status) => panic!("{build:?} ended with {status}, {}", binary.display()),
        Err(error) => panic!("cannot start {build:?}: {error}"),
    }
}

/// `target/[triple/]profile`, from `target/[triple/]profile/deps/this-test`.
#[expect(clippy::panic, reason = "a test that cannot find itself can only fail")]
fn profile_folder() -> PathBuf {
    let test = match std::env::current_exe() {
        Ok(test) => test,
        Err(error) => panic!("cannot tell the path of this test: {error}"),
    };
    let folder = test.parent().unwrap_or(Path::new("."));
    match folder.file_name() {
        Some(name) if name == "deps" || name == "examples" => folder.parent().unwrap_or(folder).to_owned(),
        _ => folder.to_owned(),
    }
}

fn build_command(name: &str, folder: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--package", "hookrail-testkit", "--bin", name]);
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
    // Cargo marks the target folder itself; a triple's folder is one below.
    let triple = parent.file_name().filter(|_| !parent.join("CACHEDIR.TAG").exists());
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

/// Whether the binary exists and is not older than its source.
fn is_fresh(name: &str, binary: &Path) -> bool {
    let Some(built) = modified(binary) else {
        return false;
    };
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin").join(name);
    let Ok(entries) = std::fs::read_dir(sources) else {
        // The source is not on this machine, so the binary cannot be stale.
        return true;
    };
    entries.flatten().filter_map(|entry| modified(&entry.path())).all(|written| written <= built)
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|data| data.modified()).ok()
}
