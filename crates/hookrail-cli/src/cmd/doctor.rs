//! `hookrail doctor`: finds out whether an agent really calls hookrail, and what to do if it does not.

mod dry_fire;
mod entries;
mod hooks;
mod losses;
mod outside;
mod settings;
mod trust;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hookrail_app::config::{HookrailConfiguration, ProjectFileTrust};
use hookrail_app::failure::Result;
use hookrail_app::folders::home;
use hookrail_app::project::Project;
use hookrail_app::project::search::find_project;
use hookrail_app::text::visible;
use hookrail_app::{foreign_hooks, telemetry};
use hookrail_bridge::Agent;
use serde_json::{Value, json};

use crate::args::DoctorArgs;
use crate::exit::Exit;
use crate::output;
use crate::style::{BAD, CAREFUL, GOOD, HEADING, paint};

use hooks::AskedHooks;
use outside::OutsideProject;

/// How long the version of an agent and a dry run may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// How good one thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Health {
    Fine,
    Warning,
    Error,
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
struct Check {
    /// The stable name of what was looked at.
    name: &'static str,
    health: Health,
    text: String,
    /// What to do about it.
    fix: Option<String>,
}

impl Check {
    fn fine(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, health: Health::Fine, text: text.into(), fix: None }
    }

    fn warning(name: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, health: Health::Warning, text: text.into(), fix: Some(fix.into()) }
    }

    fn error(name: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, health: Health::Error, text: text.into(), fix: Some(fix.into()) }
    }
}

pub(crate) fn run(args: &DoctorArgs) -> Result<Exit> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let root = args.project.clone().unwrap_or_else(|| find_project(&here, home().as_deref()));
    let project = Project::open_named(Some(&root))?;
    let asked = AskedHooks::find(project.root())?;
    let agents: Vec<Agent> = match args.agent {
        Some(agent) => vec![agent],
        None => Agent::ALL.into_iter().filter(|agent| is_of_interest(*agent, &project)).collect(),
    };
    let mut worst = Health::Fine;
    let mut document = Vec::new();
    for agent in &agents {
        let checks = examine(*agent, &project, &asked)?;
        worst = checks.iter().map(|check| check.health).fold(worst, Ord::max);
        if args.json {
            document.extend(checks.iter().map(|check| as_json(agent.name(), check)));
        } else {
            output::text(&as_text(*agent, &checks))?;
        }
    }
    let mut foreign = foreign_hooks::find(project.root());
    foreign.retain(|found| args.agent.is_none_or(|agent| found.agent == agent.name()));
    if args.json {
        document.extend(foreign.iter().map(|found| {
            let check = Check::fine(found.diagnostic.code.name(), &found.diagnostic.message);
            as_json(found.agent, &check)
        }));
        output::json(&hookrail::Json::from(json!({ "checks": document })))?;
    } else {
        let none = "no agent that hookrail knows is installed; name one: `hookrail doctor claude`\n";
        let none = if agents.is_empty() { none } else { "" };
        let foreign: Vec<_> = foreign.into_iter().map(|found| found.diagnostic).collect();
        output::text(&format!("{none}{}", crate::render::foreign_hooks::lines(&foreign)))?;
    }
    Ok(if worst == Health::Error { Exit::Failed } else { Exit::Fine })
}

/// Agents that are installed or that already have entries of hookrail.
fn is_of_interest(agent: Agent, project: &Project) -> bool {
    OutsideProject::of(project.root()).find_program(agent.program()).is_some()
        || settings::read_all(agent, project.root()).iter().any(|file| !file.calls.is_empty())
}

fn examine(agent: Agent, project: &Project, asked: &AskedHooks) -> Result<Vec<Check>> {
    let system = &asked.system;
    let files = settings::read_all(agent, project.root());
    let outside = OutsideProject::of(project.root());
    let mut checks = vec![version(agent, &outside)];
    checks.extend(settings::examine_files(agent, &files, project.root()));
    checks.extend(entries::examine(agent, &files, &losses::wanted_events(system)));
    checks.extend(trust::examine(agent, &files, project.root()));
    if agent == Agent::Codex {
        checks.push(Check::warning(
            "limits",
            "commands typed into a shell that the agent keeps open (`write_stdin`) reach no hook",
            "guard the program that is started, or forbid `tty` shells in Codex CLI's configuration",
        ));
    }
    checks.extend(hooks::examine(asked));
    checks.extend(hooks::examine_store(files.iter().any(|file| !file.calls.is_empty())));
    let configured = HookrailConfiguration::load(project.root(), ProjectFileTrust::Untrusted).telemetry;
    checks.extend(
        telemetry::unusable_setting(&configured)
            .map(|finding| Check::error("telemetry", finding.message, finding.hint.unwrap_or_default())),
    );
    checks.extend(losses::examine(agent, system, settings::noisy_events(&files)));
    checks.extend(losses::examine_past(agent));
    checks.push(dry_fire::examine(agent, &files, project.root(), &outside));
    Ok(checks)
}

fn version(agent: Agent, outside: &OutsideProject) -> Check {
    let title = agent.title();
    let Some(program) = outside.find_program(agent.program()) else {
        let text = format!("{title} is not in PATH");
        return Check::warning(
            "version",
            text,
            format!("install {title}, or ignore this if it is started in another way"),
        );
    };
    let tested = agent.tested_version();
    // In the project an agent could read settings of it before it says its version.
    let mut command = Command::new(program);
    command.arg("--version").current_dir("/").env("PATH", outside.search_path());
    match run_with_patience(&mut command, None) {
        Ok((_, out, _)) => {
            let found = version_in(&out);
            if found == Some(tested) {
                return Check::fine("version", format!("{title} {tested}, the version that was tested"));
            }
            let text = format!("{title} {}; tested was {tested}", visible(found.unwrap_or("of an unknown version")));
            Check::warning("version", text, "what follows describes the tested version; newer events pass unchanged")
        }
        Err(error) => {
            Check::warning("version", format!("the version of {title} is not known: {error}"), "start it once by hand")
        }
    }
}

/// The version in what an agent prints: the first word that begins with a number, without a `v` before and punctuation behind it.
fn version_in(printed: &str) -> Option<&str> {
    let word = |word| {
        let word: &str = str::trim_start_matches(word, ['v', '(']);
        word.trim_end_matches(|last: char| !last.is_ascii_alphanumeric())
    };
    let is_version = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.');
    printed.split_whitespace().map(word).find(is_version)
}

/// Runs a program and ends it if it takes too long.
fn run_with_patience(command: &mut Command, input: Option<String>) -> std::io::Result<(Option<i32>, String, String)> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        // A program that does not read its input is not a failure of this one.
        let _ = stdin.write_all(input.as_bytes());
    }
    let deadline = Instant::now() + PATIENCE;
    while child.try_wait()?.is_none() {
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "it did not end in time"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = child.wait_with_output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((ended.status.code(), text(&ended.stdout), text(&ended.stderr)))
}

fn as_text(agent: Agent, checks: &[Check]) -> String {
    let mut text = format!("{}\n", paint(HEADING, agent.title()));
    for check in checks {
        let mark = match check.health {
            Health::Fine => paint(GOOD, "ok     "),
            Health::Warning => paint(CAREFUL, "warning"),
            Health::Error => paint(BAD, "error  "),
        };
        text.push_str(&format!("  {mark}  {}\n", check.text));
        if let Some(fix) = &check.fix {
            text.push_str(&format!("           {fix}\n"));
        }
    }
    text
}

fn as_json(agent: &str, check: &Check) -> Value {
    let status = match check.health {
        Health::Fine => "ok",
        Health::Warning => "warning",
        Health::Error => "error",
    };
    json!({ "agent": agent, "name": check.name, "status": status, "message": check.text, "fix": check.fix })
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn the_version_is_the_whole_word() {
        for (printed, version) in [
            ("0.73.1\n", Some("0.73.1")),
            ("0.73.10\n", Some("0.73.10")),
            ("2.1.325 (Claude Code)", Some("2.1.325")),
            ("codex-cli 0.166.0", Some("0.166.0")),
            ("GitHub Copilot CLI 1.0.102.\nCommit: 0abc.1", Some("1.0.102")),
            ("v1.18.33", Some("1.18.33")),
            ("0.61.0-nightly.1", Some("0.61.0-nightly.1")),
            ("no number here", None),
        ] {
            assert_eq!(version_in(printed), version, "{printed}");
        }
    }
}
