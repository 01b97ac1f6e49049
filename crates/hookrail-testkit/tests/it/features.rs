//! The two commands of README compile each dependency once: both resolve it with the same features.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// What Cargo resolves: a crate, its version and its features on each line.
fn resolved(selection: &[&str]) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p} {f}"])
        .args(selection)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn the_first_command_of_the_readme_compiles_nothing_that_the_second_compiles_again() {
    let first = resolved(&["-p", "hookrail-cli", "--edges", "normal,build"]);
    let second = resolved(&["--workspace", "--edges", "normal,build,dev"]);
    let again: Vec<_> = first.difference(&second).collect();
    assert!(first.len() > 100, "{first:?}");
    assert!(again.is_empty(), "name these features in `[workspace.dependencies]`: {again:#?}");
}
