//! Runs every folder of cases under `conformance/` against the binary of this build.

#![cfg(unix)]

use std::path::Path;

use hookrail_testkit::conformance::{CaseSummary, folders, load, run_all};

/// The number of cases that run at once.
const WORKERS: usize = 2;

/// The lowest expected number of cases of each dialect.
const AT_LEAST: usize = 80;

#[test]
fn every_case_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let mut cases = Vec::new();
    for folder in folders(&root).unwrap() {
        let loaded = load(&folder).unwrap_or_else(|error| panic!("{error}"));
        if ["llxprt", "gemini", "claude", "codex", "xcode", "xcsh"].iter().any(|dialect| folder.ends_with(dialect)) {
            assert!(loaded.len() >= AT_LEAST, "only {} cases in {}", loaded.len(), folder.display());
        }
        cases.extend(loaded);
    }
    let summary = CaseSummary::from_verdicts(&run_all(&cases, Path::new(env!("CARGO_BIN_EXE_hookrail")), WORKERS));
    for name in &summary.skipped {
        println!("skipped: {name}");
    }
    assert!(summary.failures.is_empty(), "{summary}\n\n{}", summary.failures.join("\n\n"));
    if std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1") {
        assert!(summary.skipped.is_empty(), "{summary}\n\n{}", summary.skipped.join("\n"));
    }
}
