//! `hookrail demo`: real hooks, real processes, a sample project that is gone afterwards.
//!
//! First it fires events as an agent would and shows what the hooks said, what the host has to do, and why every other
//! hook did not run. Then it lets the reference agent work in a project with hooks of every dialect. It needs nothing
//! but a shell.

mod project;
mod scenes;
mod tour;

use std::fmt::Write as _;

use hookrail::{Effects, Event, FireOptions, HookSystem, Outcome};

use crate::args::DemoArgs;
use crate::errors::{Exit, Failure, Result};
use crate::output;
use crate::render::counted;
use crate::render::outcome::{duration, end, subject, verdict};
use crate::render::text::{hanging, limited, one_line, short};
use crate::style::{BAD, GOOD, HEADING, QUIET, paint};
use project::Sample;
use scenes::{SCENES, Scene};
use tour::Tour;

/// How much of a hook's answer is shown.
const ANSWER: usize = 160;

pub(crate) fn run(args: &DemoArgs) -> Result<Exit> {
    let created = Sample::create().and_then(|sample| Ok((Tour::create(sample.base())?, sample)));
    let (tour, sample) = created.map_err(|error| {
        Failure::new(format!("the sample project cannot be created: {error}"))
            .hint("set `TMPDIR` to a directory that can be written")
    })?;
    let system = sample.system();
    output::text(&format!("a sample project with {}:\n", counted(system.snapshot().hooks().len(), "hook")))?;
    let differences = super::runtime()?.block_on(async {
        let mut differences = Vec::new();
        for (number, scene) in (1..).zip(&SCENES) {
            differences.extend(play(&system, number, scene).await?);
        }
        system.shutdown().await;
        output::text("\nand an agent, in a project with hooks of every dialect:\n\n")?;
        let (shown, wrong) = tour.play().await.map_err(|error| Failure::new(error.to_string()))?;
        output::text(&shown)?;
        differences.extend(wrong.map(|wrong| format!("the agent: {wrong}")));
        Ok(differences)
    })?;
    let mut end = String::from("\n");
    if args.keep {
        let root = sample.keep();
        let _ = writeln!(end, "the sample project is in {}", one_line(&root.display().to_string()));
        let (project, script) = (tour.project.display().to_string(), tour.script.display().to_string());
        let again = format!("hookrail agent --project {project} --script {script} --trust-project");
        let _ = writeln!(end, "talk with the agent yourself: {}", one_line(&again));
    }
    if differences.is_empty() {
        let next = "run `hookrail init` in a project of yours to create a first hook";
        let _ = writeln!(end, "{}: {next}", paint(GOOD, "all went as it should"));
        output::text(&end)?;
        return Ok(Exit::Fine);
    }
    for difference in &differences {
        let _ = writeln!(end, "{}: {}", paint(BAD, "different"), one_line(difference));
    }
    output::text(&end)?;
    Ok(Exit::Failed)
}

/// Fires a scene's event and shows it. Returns what did not go as it should.
async fn play(system: &HookSystem, number: usize, scene: &Scene) -> Result<Option<String>> {
    let Some(event) = scene.event(system.project()) else {
        return Ok(Some(format!("{}: the event cannot be made", scene.title)));
    };
    let outcome = system.fire_with(event.clone(), FireOptions::new().wait_for_all()).await;
    output::text(&shown(number, scene, &event, &outcome))?;
    let difference = scene.expected.difference(&outcome);
    Ok(difference.map(|difference| format!("{}: {difference}", scene.title)))
}

fn shown(number: usize, scene: &Scene, event: &Event, outcome: &Outcome) -> String {
    let mut out = format!("\n{}\n", paint(HEADING, format!("{number}. {}", scene.title)));
    let about = event.field("tool_input").map(|input| format!(" {}", short(input.text(), ANSWER))).unwrap_or_default();
    line(&mut out, "fires", &format!("{}{about}", subject(event)));
    for run in &outcome.runs {
        let (name, took) = (short(&run.hook.label, 24), duration(run.duration));
        // The white space between the parts of an answer is its author's business.
        let said = [&run.stdout, &run.stderr].map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let said = said.into_iter().find(|text| !text.is_empty());
        let said = said.map(|said| format!(": {}", short(&said, ANSWER))).unwrap_or_default();
        line(&mut out, "ran", &format!("{name}  {}  {}{said}", end(run), paint(QUIET, took)));
    }
    for skipped in &outcome.skipped {
        let name = short(&skipped.hook.label, 24);
        let detail = skipped.detail.replace(&format!("{}/", event.cwd().display()), "");
        line(&mut out, "did not run", &paint(QUIET, format!("{name}  {}", one_line(&detail))));
    }
    let (word, style) = verdict(outcome);
    line(&mut out, "verdict", &paint(style, word));
    line(&mut out, "so the host", &hanging(&duty(&outcome.effects), LABEL + 5));
    out
}

const LABEL: usize = 11;

fn line(out: &mut String, label: &str, text: &str) {
    let _ = writeln!(out, "   {label:LABEL$}  {text}");
}

/// What the host has to do, in words.
fn duty(effects: &Effects) -> String {
    let mut duties = Vec::new();
    if effects.decision == Some(hookrail::Decision::Deny) {
        let reason = effects.reason.as_deref().unwrap_or_default();
        duties.push(format!("does not run it, and tells the model: {}", limited(reason)));
    }
    if let Some(stop) = &effects.stop {
        duties.push(format!("stops the agent, and tells the user: {}", limited(&stop.reason)));
    }
    if let Some(input) = &effects.tool_input {
        duties.push(format!("runs it with {} instead", short(input.text(), ANSWER)));
    }
    if let Some(context) = &effects.additional_context {
        duties.push(format!("adds to what the model reads: {}", limited(context)));
    }
    if let Some(config) = &effects.tool_config {
        duties.push(format!("gives the model only these tools: {}", short(config.text(), ANSWER)));
    }
    if duties.is_empty() { "goes on as if there were no hooks".to_owned() } else { duties.join("\n") }
}
