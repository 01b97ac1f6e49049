//! Links the unwinder into the binary instead of loading it as a library at every start. With it goes a library whose
//! constructors alone take as long as starting a small process.
//!
//! Where the static unwinder is not to be had, nothing changes.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// What the compiler collection calls it.
const UNWINDER: &str = "libgcc_eh.a";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let linked_anyway = features.split(',').any(|feature| feature == "crt-static");
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") || linked_anyway {
        return;
    }
    if let Some(folder) = folder_of_the_unwinder() {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static:+verbatim={UNWINDER}");
    }
}

/// Asks the linker's driver, which also knows when this is a build for another machine.
fn folder_of_the_unwinder() -> Option<PathBuf> {
    let driver = match env::var_os("RUSTC_LINKER") {
        Some(driver) => driver,
        None if env::var_os("HOST") == env::var_os("TARGET") => "cc".into(),
        None => return None,
    };
    let answer = Command::new(driver).arg(format!("-print-file-name={UNWINDER}")).output().ok()?;
    let file = PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim());
    // A driver that does not have the file gives back the bare name.
    if file.is_absolute() && file.is_file() { file.parent().map(PathBuf::from) } else { None }
}
