//! `hookrail test`: runs the cases of a project's hooks, and again with `--watch` when a file changes.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};

use hookrail_app::cases::{
    CaseChoice, CaseRefusal, CopyTrust, MissingConsent, PoolOptions, PoolProgress, Report, Selection, Snapshots,
    github_annotations, github_problems, junit_report, places_to_watch, run_cases,
};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::text::{one_line, short};
use hookrail_bus::PathWatcher;

use crate::args::{TestArgs, TestFormat};
use crate::cmd::consent::ask_on_terminal;
use crate::cmd::exit::Exit;
use crate::output::progress::CounterLine;
use crate::render::style::{CAREFUL, QUIET, paint};
use crate::signals::StopSignal;
use crate::{output, render};

pub(crate) fn run(args: &TestArgs) -> Result<Exit> {
    let refused = |refusal: CaseRefusal| report_refusal(refusal, args.format);
    let selection = Selection::find(choice(args)).map_err(refused)?;
    if args.list {
        output::text(&selection.titles().map(|title| format!("{}\n", one_line(&title))).collect::<String>())?;
        return Ok(Exit::Fine);
    }
    let trust = require_consent(args, &selection).map_err(refused)?;
    // Signals are handled from now on: at the question, Ctrl-C ends the program as usual.
    let stop = StopSignal::listen();
    if args.watch {
        return watch(args, selection, trust, &stop);
    }
    let ended = run_and_print(args, &selection, trust, &stop)?;
    Ok(stop.number().map_or(ended, Exit::Signalled))
}

fn choice(args: &TestArgs) -> CaseChoice<'_> {
    CaseChoice { paths: &args.paths, filter: &args.filter, project: args.project.as_deref() }
}

/// Makes sure that the user wants to run these cases, and returns what their hooks need to run.
fn require_consent(args: &TestArgs, selection: &Selection) -> std::result::Result<CopyTrust, CaseRefusal> {
    if args.trust_project {
        return Ok(CopyTrust::Everything);
    }
    let Some(missing) = MissingConsent::find(selection) else { return Ok(CopyTrust::AsGranted) };
    let mut told = format!("{}: {}\n", paint(CAREFUL, "not trusted"), missing.summary());
    for hook in &missing.hooks {
        let _ = writeln!(told, "  hook  {}", one_line(hook));
    }
    for file in &missing.files {
        let _ = writeln!(told, "  cases {}", one_line(file));
    }
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    if can_ask && ask_on_terminal(&format!("{told}run them now? [y/N] ")) {
        return Ok(CopyTrust::Everything);
    }
    Err(missing.refusal(selection))
}

/// Runs the cases and prints what became of them.
fn run_and_print(args: &TestArgs, selection: &Selection, trust: CopyTrust, stop: &StopSignal) -> Result<Exit> {
    let options = PoolOptions {
        jobs: args.jobs,
        fail_fast: args.fail_fast,
        snapshots: if args.accept { Snapshots::Accept } else { Snapshots::Compare },
        trust,
        stop: &stop.token,
    };
    let mut progress = CounterLine::new();
    let report = run_cases(selection, options, |told| {
        match told {
            PoolProgress::Ended(result) => {
                progress.erase();
                match args.format {
                    TestFormat::Pretty | TestFormat::Github => output::text(&render::cases::line(result))?,
                    TestFormat::Json | TestFormat::Junit => {}
                }
            }
            PoolProgress::Running { done, total, first } if done < total => {
                progress.draw(&format!("{done}/{total} {}", short(&one_line(&first.unwrap_or_default()), 60)));
            }
            PoolProgress::Running { .. } => {}
        }
        Ok(())
    });
    progress.erase();
    let report = report?;
    print_report(&report, args.format)?;
    Ok(if report.failed() > 0 { Exit::Failed } else { Exit::Fine })
}

/// Prints what can only be printed when all cases have run. Problems are printed for programs only: people read them on
/// standard error.
fn print_report(report: &Report, format: TestFormat) -> Result<()> {
    match format {
        TestFormat::Pretty if !report.problems.is_empty() => Ok(()),
        TestFormat::Pretty => output::text(&render::cases::end(report)),
        TestFormat::Json => output::json(&report.document()),
        TestFormat::Junit => output::text(&junit_report(report)),
        TestFormat::Github if !report.problems.is_empty() => output::verbatim(&github_problems(report)),
        TestFormat::Github => output::text(&format!("{}{}", github_annotations(report), render::cases::end(report))),
    }
}

/// Prints the document and the excerpts of a refusal. Returns the failure that is left to be reported.
fn report_refusal(refusal: CaseRefusal, format: TestFormat) -> Failure {
    let printed = print_report(&refusal.report, format);
    if let Some((findings, places)) = refusal.findings.as_deref() {
        output::errors(&render::diagnostic::all(findings, places));
    }
    printed.err().unwrap_or(refusal.failure)
}

/// Runs the cases, and again whenever a case file or a hook changes, until a signal comes. The user has consented to the
/// first selection, and `--watch` says that what changes is to be run too.
fn watch(args: &TestArgs, first: Selection, trust: CopyTrust, stop: &StopSignal) -> Result<Exit> {
    let runtime = hookrail_app::runtime::runtime()?;
    let watcher = PathWatcher::new();
    let mut found: std::result::Result<Selection, CaseRefusal> = Ok(first);
    loop {
        // The paths are followed before any case runs, so that no change is missed.
        watcher.follow(match &found {
            Ok(selection) => selection.watched(),
            Err(_) => places_to_watch(choice(args))?,
        });
        let last = match found {
            Ok(selection) => run_and_print(args, &selection, trust, stop)?,
            // A file that is being edited is broken for a while.
            Err(refusal) => {
                output::failure(&report_refusal(refusal, args.format));
                Exit::Failed
            }
        };
        if !stop.token.is_cancelled() {
            output::text(&format!("{}\n", paint(QUIET, "waiting for a change; Ctrl-C ends")))?;
            runtime.block_on(async {
                tokio::select! {
                    () = watcher.wait_for_change() => {}
                    () = stop.token.cancelled() => {}
                }
            });
        }
        if stop.token.is_cancelled() {
            return Ok(stop.number().map_or(last, Exit::Signalled));
        }
        found = Selection::find(choice(args));
    }
}
