//! Links debug programs of this package to a fixed address.
//!
//! A relocatable program of this size has 160 000 addresses that the loader fills in at every start, in pages of its own:
//! a third of the time of a short command, and the tests start some thousand. What is installed or packaged stays
//! relocatable, so that the system can place it at random.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg=-no-pie");
    }
}
