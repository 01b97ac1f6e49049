//! Runs conformance cases against any program that answers like `hookrail fire --json`.

#![forbid(unsafe_code)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hookrail_testkit::conformance::{CaseSummary, folders, load, run_all};

const USAGE: &str = "usage: hookrail-conformance PROGRAM [FOLDER…]     run the cases (all of conformance/ by default)";

/// How many cases run at a time.
const WORKERS: usize = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((program, rest)) if !program.starts_with('-') => run(program, rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("hookrail-conformance: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(program: &str, named: &[String]) -> Result<bool, Box<dyn Error>> {
    let program = std::fs::canonicalize(program).map_err(|error| format!("{program}: {error}"))?;
    let named: Vec<PathBuf> = if named.is_empty() {
        folders(Path::new("conformance")).map_err(|error| format!("conformance: {error}"))?
    } else {
        named.iter().map(PathBuf::from).collect()
    };
    let mut cases = Vec::new();
    for folder in &named {
        cases.extend(load(folder)?);
    }
    let summary = CaseSummary::from_verdicts(&run_all(&cases, &program, WORKERS));
    for name in &summary.skipped {
        println!("skipped: {name}");
    }
    for failure in &summary.failures {
        println!("FAILED {failure}");
    }
    println!("{summary}");
    Ok(summary.failures.is_empty())
}
