//! `hookrail demo`: real hooks and real processes in a sample project that is removed afterwards.
//!
//! First, coding agents ask a hook through `hookrail bridge`, as they do after `hookrail install`. Then the reference agent
//! works in the same project, which has hooks of every dialect. Both compare what happened with what must happen, so the
//! demonstration is also a test of an installation.

mod steps;

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use hookrail_app::demo::{DemoStep, Mark, PROMPT, Row, STEPS, SampleProject, Told, play_tour, write_script};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::text::{one_line, short};

use crate::args::DemoArgs;
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::style::{BAD, CAREFUL, GOOD, HEADING, HINT, QUIET, paint};
use hookrail_app::signals::Interrupts;
use steps::Choice;

/// How much of a payload or an answer is shown.
const LONGEST: usize = 160;

/// What to do after the demonstration.
const NEXT: [(&str, &str); 4] = [
    ("hookrail init", "create a first hook in your project; `hookrail add` lists hooks that are ready to use"),
    ("hookrail trust grant", "let it run"),
    ("hookrail install claude", "make Claude Code ask it; codex, gemini and others work too"),
    ("hookrail demo --keep", "keep the sample project and look at its hooks"),
];

/// How the demonstration ended.
enum DemoEnd {
    /// Everything was shown. The sentences say what was not as expected.
    Shown(Vec<String>),
    /// The user had seen enough.
    Quit,
    /// A signal came; its number.
    Signalled(u8),
}

/// What became of something that an agent wanted to do, in a word.
fn painted(mark: Mark) -> String {
    let (word, style) = match mark {
        Mark::Allowed => ("ALLOWED", GOOD),
        Mark::Denied => ("DENIED", BAD),
        Mark::Asked => ("ASKED", CAREFUL),
        Mark::Rewritten => ("REWRITTEN", CAREFUL),
        Mark::Added => ("ADDED", CAREFUL),
        Mark::Hidden => ("HIDDEN", CAREFUL),
        Mark::Stopped => ("STOPPED", BAD),
        Mark::Failed => ("FAILED", BAD),
    };
    paint(style, format!("{word:9}"))
}

pub(crate) fn run(args: &DemoArgs) -> Result<Exit> {
    let created = SampleProject::create().and_then(|sample| Ok((write_script(&sample)?, sample)));
    let (script, sample) = created.map_err(|error| {
        Failure::new(format!("the sample project cannot be created: {error}"))
            .hint("set `TMPDIR` to a directory that can be written")
    })?;
    let ended = hookrail_app::runtime::runtime()?.block_on(async {
        let mut interrupts = Interrupts::listen().map_err(|error| {
            Failure::new(format!("the demonstration cannot listen to signals: {error}"))
                .hint("the system may be out of file descriptors")
        })?;
        // A signal drops everything in order: the terminal gets its modes back and the sample project is removed.
        tokio::select! {
            ended = play(&sample, &script) => ended,
            signal = interrupts.next() => Ok(DemoEnd::Signalled(signal.number())),
        }
    })?;
    let mut text = String::new();
    let exit = match ended {
        DemoEnd::Signalled(number) => return Ok(Exit::Signalled(number)),
        DemoEnd::Quit => Exit::Fine,
        DemoEnd::Shown(differences) if differences.is_empty() => {
            let _ = writeln!(text, "\n{}\n", paint(GOOD, "Everything went as expected."));
            Exit::Fine
        }
        DemoEnd::Shown(differences) => {
            text.push('\n');
            for difference in &differences {
                let _ = writeln!(text, "{}: {}", paint(BAD, "different"), one_line(difference));
            }
            text.push('\n');
            Exit::Failed
        }
    };
    if args.keep {
        let root = one_line(&sample.keep().display().to_string());
        let _ = writeln!(text, "The sample project is in {root}");
        let script = one_line(&script.display().to_string());
        let again = format!("hookrail agent --project {root} --script {script} --trust-project");
        let _ = writeln!(text, "To talk with the agent yourself, run {again}\n");
    }
    text.push_str(&next());
    output::text(&text)?;
    Ok(exit)
}

fn next() -> String {
    let width = NEXT.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    let mut text = format!("{}\n", paint(HEADING, "What to do next"));
    for (command, purpose) in NEXT {
        let _ = writeln!(text, "  {}  {purpose}", paint(HINT, format!("{command:width$}")));
    }
    text
}

/// Shows everything, in steps on a terminal.
async fn play(sample: &SampleProject, script: &Path) -> Result<DemoEnd> {
    let in_steps = steps::are_wanted();
    let head = "What hooks can do: real hooks in a temporary project. Your own files and settings are not used.";
    output::text(&format!("{}\n\n", paint(HEADING, head)))?;
    grant(sample)?;
    let mut differences = Vec::new();
    for (number, step) in (1..).zip(&STEPS) {
        let (told, wrong) = step.play(sample).map_err(|error| cannot_ask(&error))?;
        output::text(&shown(number, step, &told))?;
        differences.extend(wrong);
        output::text("\n")?;
        if in_steps && steps::ask().await == Choice::Quit {
            return Ok(DemoEnd::Quit);
        }
    }
    let (rows, wrong) = play_tour(sample, script).await.map_err(|error| Failure::new(error.to_string()))?;
    differences.extend(wrong.map(|wrong| format!("the agent: {wrong}")));
    output::text(&tour_shown(STEPS.len() + 1, &rows))?;
    Ok(DemoEnd::Shown(differences))
}

/// Grants the hooks of the sample project, which has a home and so a trust store of its own.
fn grant(sample: &SampleProject) -> Result<()> {
    let granted = sample.run_hookrail(&["trust", "grant", "--yes"], "").map_err(|error| cannot_ask(&error))?;
    if granted.status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("the sample project cannot be trusted: {}", String::from_utf8_lossy(&granted.stderr))))
}

fn cannot_ask(error: &io::Error) -> Failure {
    Failure::new(format!("this program cannot start itself: {error}")).hint("reinstall hookrail")
}

fn shown(number: usize, step: &DemoStep, told: &[Told]) -> String {
    let mut out = format!("{}\n", paint(HEADING, format!("{number}. {}", step.title)));
    for (call, told) in step.calls.iter().zip(told) {
        let agent = call.agent.title();
        let _ = writeln!(out, "   {agent} sends  {}", paint(QUIET, short(&call.shown(), LONGEST)));
        let (mark, text) = match told {
            Told::Denied(reason) => (Mark::Denied, format!("the model reads: {}", short(reason, LONGEST))),
            Told::NoObjection => (Mark::Allowed, "no hook objects".to_owned()),
            Told::Other(answer) => (Mark::Failed, short(answer, LONGEST)),
        };
        let _ = writeln!(out, "   {} {text}", painted(mark));
    }
    out
}

fn tour_shown(number: usize, rows: &[Row]) -> String {
    let title = format!("{number}. An agent with hooks of three hook systems is told: {}", PROMPT);
    let mut out = format!("{}\n", paint(HEADING, title));
    let width = rows.iter().map(|row| row.act.chars().count()).max().unwrap_or_default();
    for Row { act, mark, text } in rows {
        let _ = writeln!(out, "   {:width$}  {} {}", one_line(act), painted(*mark), short(text, LONGEST));
    }
    out
}
