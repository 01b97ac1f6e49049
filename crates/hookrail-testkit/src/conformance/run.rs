//! Runs one case.

use std::path::Path;

use serde_json::Value;

use super::case::{ConformanceCase, FileExpectation};
use super::pattern::{Mismatch, compare};
use super::scratch::{CaseFolder, CommandResult};

/// The result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseVerdict {
    /// The case passed.
    Passed,
    /// The case failed.
    Failed {
        /// The differences.
        mismatches: Vec<Mismatch>,
    },
    /// The case was skipped.
    Skipped {
        /// What it needs and this machine does not have.
        missing: String,
    },
}

/// Runs one case against `program`, in a temporary folder.
#[must_use]
pub fn run(case: &ConformanceCase, program: &Path) -> CaseVerdict {
    if let Some(missing) = case.skip_without.iter().find(|name| !is_installed(name)) {
        return CaseVerdict::Skipped { missing: missing.clone() };
    }
    if case.terminal.is_some() && cfg!(not(unix)) {
        return CaseVerdict::Skipped { missing: "a pseudo terminal".to_owned() };
    }
    let mismatches = attempt(case, program)
        .unwrap_or_else(|error| vec![Mismatch::new("program", "a case that can be run", error.to_string())]);
    if mismatches.is_empty() { CaseVerdict::Passed } else { CaseVerdict::Failed { mismatches } }
}

fn attempt(case: &ConformanceCase, program: &Path) -> std::io::Result<Vec<Mismatch>> {
    let scratch = CaseFolder::new(case)?;
    for arguments in &case.before {
        let finished = scratch.run(program, case, arguments, false)?;
        if !finished.status.is_some_and(|status| status.success()) {
            let found = format!("{}: {}", ended(&finished), finished.stderr.trim());
            return Ok(vec![Mismatch::new(format!("before `{}`", arguments.join(" ")), "exit status 0", found)]);
        }
    }
    let finished = scratch.run(program, case, &case.command, true)?;
    let mut out = Vec::new();
    streams(case, &scratch, &finished, &mut out);
    for (path, expected) in &case.expect.files {
        file(path, expected, &scratch, &mut out);
    }
    // The output of the program helps to find the cause.
    if !out.is_empty() && case.expect.stderr.is_none() && !finished.stderr.trim().is_empty() {
        out.push(Mismatch::new("stderr", "a passing case", finished.stderr.trim()));
    }
    Ok(out)
}

fn streams(case: &ConformanceCase, scratch: &CaseFolder, finished: &CommandResult, out: &mut Vec<Mismatch>) {
    let expect = &case.expect;
    let code = finished.status.and_then(|status| status.code());
    if let Some(exit) = expect.exit
        && code != Some(exit)
    {
        out.push(Mismatch::new("exit", exit.to_string(), ended(finished)));
    }
    if let Some(limit) = expect.within_ms
        && finished.took.as_millis() > u128::from(limit)
    {
        out.push(Mismatch::new("time", format!("at most {limit} ms"), format!("{} ms", finished.took.as_millis())));
    }
    if let Some(pattern) = &expect.json {
        match serde_json::from_str::<Value>(&finished.stdout) {
            Ok(document) => compare(&scratch.fill_value(pattern), Some(&document), "json", out),
            Err(error) => out.push(Mismatch::new("json", "a JSON document", format!("{error}: {}", finished.stdout))),
        }
    }
    for (pattern, text, place) in
        [(&expect.stdout, &finished.stdout, "stdout"), (&expect.stderr, &finished.stderr, "stderr")]
    {
        if let Some(pattern) = pattern {
            compare(&scratch.fill_value(pattern), Some(&Value::from(text.as_str())), place, out);
        }
    }
}

fn file(path: &str, expected: &FileExpectation, scratch: &CaseFolder, out: &mut Vec<Mismatch>) {
    let found = std::fs::read(scratch.path(path)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    match (expected, found) {
        (FileExpectation::Absent(true), Ok(text)) => out.push(Mismatch::new(path, "no such file", text)),
        (FileExpectation::Absent(true), Err(_)) | (FileExpectation::Absent(false), Ok(_)) => {}
        (_, Err(error)) => out.push(Mismatch::new(path, "a file", error.to_string())),
        (FileExpectation::Text(pattern), Ok(text)) => {
            compare(&scratch.fill_value(pattern), Some(&Value::from(text)), path, out);
        }
        (FileExpectation::Json(pattern), Ok(text)) => match serde_json::from_str::<Value>(&text) {
            Ok(document) => compare(&scratch.fill_value(pattern), Some(&document), path, out),
            Err(error) => out.push(Mismatch::new(path, "JSON", format!("{error}: {text}"))),
        },
    }
}

fn ended(finished: &CommandResult) -> String {
    match finished.status {
        Some(status) => status.code().map_or_else(|| status.to_string(), |code| code.to_string()),
        None => "it had not ended at the runner's limit".to_owned(),
    }
}

fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
