//! `hookrail demo`: real hooks and real processes in a sample project that is removed afterwards.
//!
//! The first part fires events as an agent would and shows what the hooks answered, what the agent does with it, and why
//! other hooks were skipped. The second part runs the reference agent in a project with hooks of every dialect. Both
//! compare what happened with what must happen, so the demonstration is also a test of an installation.

mod project;
mod scenes;
mod steps;
mod tour;

use std::fmt::Write as _;

use hookrail::{Decision, Effects, Event, FireOptions, HookSystem, Json, Outcome};

use crate::args::DemoArgs;
use crate::errors::{Exit, Failure, Result};
use crate::interrupt::Interrupts;
use crate::output;
use crate::render::counted;
use crate::render::outcome::{duration, end, subject};
use crate::render::text::{hanging, limited, one_line, short};
use crate::style::{BAD, GOOD, HEADING, HINT, QUIET, paint};
use project::Sample;
use scenes::{SCENES, Scene};
use steps::Choice;
use tour::Tour;

/// How much of a hook's answer is shown.
const ANSWER: usize = 160;

/// What to do after the demonstration.
const NEXT: [(&str, &str); 4] = [
    ("hookrail init", "create a first hook in your project"),
    ("hookrail docs cookbook", "copy a hook that does what you need"),
    ("hookrail docs tutorial/command-hook", "write a hook of your own, step by step"),
    ("hookrail demo --keep", "keep the sample projects and look at their hooks"),
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

pub(crate) fn run(args: &DemoArgs) -> Result<Exit> {
    let created = Sample::create().and_then(|sample| Ok((Tour::create(sample.base())?, sample)));
    let (tour, sample) = created.map_err(|error| {
        Failure::new(format!("the sample project cannot be created: {error}"))
            .hint("set `TMPDIR` to a directory that can be written")
    })?;
    let system = sample.system();
    let ended = super::runtime()?.block_on(async {
        let mut interrupts = Interrupts::listen().map_err(|error| {
            Failure::new(format!("the demonstration cannot listen to signals: {error}"))
                .hint("the system may be out of file descriptors")
        })?;
        // A signal drops everything in order: the terminal gets its modes back and the sample project is removed.
        let ended = tokio::select! {
            ended = play(&system, &tour) => ended,
            signal = interrupts.next() => Ok(DemoEnd::Signalled(signal.number())),
        };
        system.shutdown().await;
        ended
    })?;
    let mut text = String::from("\n");
    let exit = match ended {
        DemoEnd::Signalled(number) => return Ok(Exit::Signalled(number)),
        DemoEnd::Quit => Exit::Fine,
        DemoEnd::Shown(differences) if differences.is_empty() => {
            let _ = writeln!(text, "{}\n", paint(GOOD, "Everything went as expected."));
            Exit::Fine
        }
        DemoEnd::Shown(differences) => {
            for difference in &differences {
                let _ = writeln!(text, "{}: {}", paint(BAD, "different"), one_line(difference));
            }
            text.push('\n');
            Exit::Failed
        }
    };
    if args.keep {
        let root = sample.keep();
        let _ = writeln!(text, "The sample project is in {}", one_line(&root.display().to_string()));
        let (project, script) = (tour.project.display().to_string(), tour.script.display().to_string());
        let again = format!("hookrail agent --project {project} --script {script} --trust-project");
        let _ = writeln!(text, "To talk with the agent yourself, run {}\n", one_line(&again));
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
async fn play(system: &HookSystem, tour: &Tour) -> Result<DemoEnd> {
    let in_steps = steps::are_wanted();
    output::text(&format!(
        "{}\n\
         A hook is a script or module of yours that runs when a coding agent is about to act.\n\
         This sample project has {}. It is temporary, and your own files and settings are not used.\n",
        paint(HEADING, "What hooks can do"),
        counted(system.snapshot().hooks().len(), "hook"),
    ))?;
    let mut differences = Vec::new();
    for (number, scene) in (1..).zip(&SCENES) {
        output::text("\n")?;
        if in_steps && steps::ask().await == Choice::Quit {
            return Ok(DemoEnd::Quit);
        }
        differences.extend(play_scene(system, number, scene).await?);
    }
    let (pages, wrong) = tour.play().await.map_err(|error| Failure::new(error.to_string()))?;
    differences.extend(wrong.map(|wrong| format!("the agent: {wrong}")));
    let heading = format!("{}. An agent works with hooks of three hook systems", SCENES.len() + 1);
    for (number, page) in pages.iter().enumerate() {
        output::text("\n")?;
        if in_steps && steps::ask().await == Choice::Quit {
            return Ok(DemoEnd::Quit);
        }
        if number == 0 {
            output::text(&format!("{}\n", paint(HEADING, &heading)))?;
        }
        output::text(page)?;
    }
    Ok(DemoEnd::Shown(differences))
}

/// Fires a scene's event and shows it. Returns what was not as expected.
async fn play_scene(system: &HookSystem, number: usize, scene: &Scene) -> Result<Option<String>> {
    let Some(event) = scene.event(system.project()) else {
        return Ok(Some(format!("{}: the event cannot be made", scene.title)));
    };
    let outcome = system.fire_with(event.clone(), FireOptions::new().wait_for_all()).await;
    output::text(&shown(number, scene, &event, &outcome))?;
    let difference = scene.expected.difference(&outcome);
    Ok(difference.map(|difference| format!("{}: {difference}", scene.title)))
}

fn shown(number: usize, scene: &Scene, event: &Event, outcome: &Outcome) -> String {
    let mut out = format!("{}\n", paint(HEADING, format!("{number}. {}", scene.title)));
    let _ = writeln!(out, "   {}\n", scene.situation);
    let about = event.field("tool_input").map(|input| format!(" {}", short(input.text(), ANSWER))).unwrap_or_default();
    line(&mut out, "event", &format!("{}{about}", subject(event)));
    for run in &outcome.runs {
        let (name, took) = (short(&run.hook.label, 24), duration(run.duration));
        line(&mut out, "ran", &format!("{name}  {}  {}", end(run), paint(QUIET, took)));
        // Hooks may lay out their answers over several lines.
        let said = [&run.stdout, &run.stderr].map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        if let Some(said) = said.into_iter().find(|text| !text.is_empty()) {
            line(&mut out, "", &short(&said, ANSWER));
        }
    }
    for skipped in &outcome.skipped {
        let name = short(&skipped.hook.label, 24);
        let detail = skipped.detail.replace(&format!("{}/", event.cwd().display()), "");
        line(&mut out, "skipped", &paint(QUIET, format!("{name}  {}", one_line(&detail))));
    }
    let (result, style) = result(&outcome.effects);
    line(&mut out, "result", &hanging(&paint(style, result), LABEL + 5));
    out
}

const LABEL: usize = 7;

fn line(out: &mut String, label: &str, text: &str) {
    let _ = writeln!(out, "   {label:LABEL$}  {text}");
}

/// What the agent does with the outcome, one line for each thing.
fn result(effects: &Effects) -> (String, anstyle::Style) {
    let mut results = Vec::new();
    let denied = effects.decision == Some(Decision::Deny);
    if denied {
        let reason = effects.reason.as_deref().unwrap_or_default();
        results.push(format!("blocked: the tool does not run, and the model reads: {}", limited(reason)));
    }
    if let Some(stop) = &effects.stop {
        results.push(format!("stopped: the agent ends its work, and the user reads: {}", limited(&stop.reason)));
    }
    if let Some(input) = &effects.tool_input {
        results.push(format!("rewritten: the tool runs with {}", short(input.text(), ANSWER)));
    }
    if let Some(context) = &effects.additional_context {
        results.push(format!("context added: the model also reads: {}", limited(context)));
    }
    if let Some(config) = &effects.tool_config {
        results.push(format!("restricted: the model can call only {}", short(&allowed_tools(config), ANSWER)));
    }
    if results.is_empty() {
        results.push("allowed: the agent works as if there were no hooks".to_owned());
    }
    (results.join("\n"), if denied || effects.stop.is_some() { BAD } else { GOOD })
}

/// The names in a tool configuration, or the configuration itself if it names none.
fn allowed_tools(config: &Json) -> String {
    let names = config.as_object().and_then(|config| config.get("allowedFunctionNames")?.as_array());
    let names: Vec<String> = names.unwrap_or_default().iter().filter_map(Json::as_str).collect();
    if names.is_empty() { config.text().to_owned() } else { names.join(", ") }
}
