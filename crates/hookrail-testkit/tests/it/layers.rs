//! Crates and modules of the workspace keep the order in `layers.toml`.

use std::path::Path;

#[test]
fn crates_and_modules_use_only_what_stands_below_them() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let violations = hookrail_testkit::layers::check(&workspace).unwrap();
    let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(texts.is_empty(), "{}", texts.join("\n"));
}
