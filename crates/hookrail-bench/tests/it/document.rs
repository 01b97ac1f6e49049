//! The page says what the raw data says.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};

use hookrail_bench::results::BenchResults;
use hookrail_bench::table;

fn docs(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file)
}

fn results() -> Result<BenchResults, Box<dyn std::error::Error>> {
    Ok(serde_json::from_str(&std::fs::read_to_string(docs("evidence/performance.json"))?)?)
}

#[test]
fn the_tables_of_the_page_are_those_of_the_raw_data() {
    let page = std::fs::read_to_string(docs("evidence/performance.md")).unwrap();
    let made = table::replace(&page, &results().unwrap()).unwrap();
    assert!(made == page, "docs/evidence/performance.md is not current: run scripts/bench.sh --redraw");
}

#[test]
fn the_raw_data_is_of_a_whole_run() {
    let results = results().unwrap();
    assert!(!results.method.quick, "a quick look is not for the page");
    assert!(results.cases.len() > 30, "only {} cases", results.cases.len());
}
