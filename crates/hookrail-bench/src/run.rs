//! The commands of the program.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;

use crate::args::{BenchCommand, Cli, RunArgs, ViewArgs};
use crate::harness::{CaseLimits, measure};
use crate::lab::Lab;
use crate::peers::Peers;
use crate::results::{BenchResults, CaseResult, Method};
use crate::{BenchResult, cases, machine, probe, table, worker};

/// Runs the command that the arguments name.
#[must_use]
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        BenchCommand::Run(args) => run_cases(&args),
        BenchCommand::List => {
            list_cases();
            Ok(())
        }
        BenchCommand::Table(view) => write_table(&view),
        BenchCommand::Append { folder, bare: false } => cases::append(&folder),
        BenchCommand::Append { folder, bare: true } => cases::append_bare(&folder),
        BenchCommand::Worker => worker::serve(),
        BenchCommand::Probe { host } => probe::run_host(&host),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hookrail-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn list_cases() {
    for case in cases::all_cases() {
        println!("{:<24} {}", case.name, case.title);
    }
}

/// Measures the requested cases. The results so far are written after each case.
fn run_cases(args: &RunArgs) -> BenchResult<()> {
    let requested: Vec<_> = cases::all_cases().into_iter().filter(|case| is_requested(args, case.name)).collect();
    if requested.is_empty() {
        return Err("there is no such case; `hookrail-bench list` names them".into());
    }
    if !args.no_realtime {
        machine::ask_for_real_time();
    }
    let seconds = if args.quick { args.seconds.min(1.5) } else { args.seconds };
    let limits = CaseLimits { rounds: args.rounds, time: Duration::from_secs_f64(seconds) };
    let mut results = BenchResults {
        machine: machine::describe(),
        method: Method { scheduling: machine::scheduling(), rounds: args.rounds, seconds, quick: args.quick },
        ..BenchResults::default()
    };
    let lab = Lab::open(args.quick, Peers::new(!args.no_install))?;
    for (number, case) in requested.iter().enumerate() {
        eprintln!("[{}/{}] {}: {}", number + 1, requested.len(), case.name, case.title);
        let began = Instant::now();
        let result = match (case.prepare)(&lab) {
            Ok(prepared) => measure(case.name, case.title, prepared, limits),
            Err(error) => CaseResult {
                name: case.name.to_owned(),
                title: case.title.to_owned(),
                absent: vec![error.to_string()],
                ..CaseResult::default()
            },
        };
        results.peers = lab.peers.report();
        print_result(&result, began.elapsed());
        results.cases.push(result);
        if let Some(file) = &args.json {
            write_results(&results, file)?;
        }
    }
    Ok(())
}

/// Writes the targets of a measurement into a page, or prints everything that was measured.
fn write_table(view: &ViewArgs) -> BenchResult<()> {
    let results = read_results(&view.file)?;
    match &view.into {
        Some(page) => {
            let old = std::fs::read_to_string(page).map_err(|error| format!("{}: {error}", page.display()))?;
            std::fs::write(page, table::replace(&old, &results)?)?;
        }
        None => print!("{}", table::everything(&results)),
    }
    Ok(())
}

fn read_results(file: &Path) -> BenchResult<BenchResults> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("{} holds no measurement: {error}", file.display()))?)
}

/// Returns whether the arguments name a case. `*` at the end of an argument stands for any rest, and no argument for all.
fn is_requested(args: &RunArgs, name: &str) -> bool {
    let matches = |pattern: &String| pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start));
    args.cases.is_empty() || args.cases.iter().any(matches)
}

fn write_results(results: &BenchResults, file: &Path) -> BenchResult<()> {
    let mut text = serde_json::to_string(results)?;
    text.push('\n');
    std::fs::write(file, text).map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
    Ok(())
}

/// Prints the result of a case to standard error, each variant compared with the first one.
fn print_result(case: &CaseResult, took: Duration) {
    for variant in &case.variants {
        let ratio = case.variants.first().and_then(|first| case.ratio(&variant.name, &first.name));
        let (Some(time), Some(ratio)) = (variant.time(), ratio) else { continue };
        let (ratio, micros) = (format!("{:.3}", ratio.median), time.median / 1e3);
        eprintln!("      {:<24} {ratio:>12} x  {micros:>14.3} us  {}", variant.name, variant.what);
    }
    for value in &case.values {
        eprintln!("      {:<32} {:.2} {}", value.name, value.value, value.unit);
    }
    case.absent.iter().for_each(|why| eprintln!("      not measured: {why}"));
    let rounds = case.variants.first().map_or(0, |first| first.nanoseconds.len());
    eprintln!("      {rounds} rounds in {:.1} s", took.as_secs_f64());
}
