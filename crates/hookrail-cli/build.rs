//! Links debug programs of this package so that they start quickly: the tests start some sixteen thousand.
//!
//! * To a fixed address. A relocatable program of this size has 160 000 addresses that the loader fills in at every start, in
//!   pages of its own: a third of the time of a short command.
//! * Into a file that is written and not mapped. The system caches a file that was written in large pieces in large pages, and
//!   one that was mapped in small ones: a start takes 1.7 ms in the kernel instead of 3.5.
//!
//! What is installed or packaged stays relocatable, so that the system can place it at random.

use std::env::{var, var_os};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What makes `lld` write the file, which is the linker that comes with the compiler on the most common machine. Its two
/// words for this mean the opposite of what they say. Other linkers have no such word.
const WRITTEN: &str = "-Wl,--mmap-output-file";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg=-no-pie");
        if links_with(WRITTEN) == Some(true) {
            println!("cargo::rustc-link-arg={WRITTEN}");
        }
    }
}

/// Whether an empty program can be linked with this argument.
fn links_with(argument: &str) -> Option<bool> {
    let folder = PathBuf::from(var_os("OUT_DIR")?);
    let source = folder.join("empty.rs");
    std::fs::write(&source, "fn main() {}\n").ok()?;
    let mut compiler = Command::new(var_os("RUSTC")?);
    compiler.arg(&source).arg("-o").arg(folder.join("empty")).args(["--target", &var("TARGET").ok()?]);
    compiler.arg(format!("-Clink-arg={argument}"));
    if let Some(linker) = var_os("RUSTC_LINKER") {
        compiler.arg(format!("-Clinker={}", linker.to_str()?));
    }
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    compiler.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    Some(compiler.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?.success())
}
