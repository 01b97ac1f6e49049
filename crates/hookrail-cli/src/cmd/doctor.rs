//! `hookrail doctor`: finds out whether an agent really calls hookrail, and what to do if it does not.

mod settings;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hookrail::{EventKind, HookSystem};
use hookrail_bridge::{Agent, BridgeSession};
use serde_json::{Value, json};

use crate::args::{DoctorArgs, ProjectArgs};
use crate::errors::{Exit, Result};
use crate::output;
use crate::project::{Project, home};
use crate::project_search::find_project;
use crate::render::text::visible;
use crate::style::{BAD, CAREFUL, GOOD, HEADING, paint};

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
struct Finding {
    health: Health,
    text: String,
    /// What to do about it.
    advice: Option<String>,
}

impl Finding {
    fn fine(text: impl Into<String>) -> Self {
        Self { health: Health::Fine, text: text.into(), advice: None }
    }

    fn warning(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { health: Health::Warning, text: text.into(), advice: Some(advice.into()) }
    }

    fn error(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { health: Health::Error, text: text.into(), advice: Some(advice.into()) }
    }
}

pub(crate) fn run(args: &DoctorArgs) -> Result<Exit> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let root = args.project.clone().unwrap_or_else(|| find_project(&here, home().as_deref()));
    let project = Project::open(&ProjectArgs {
        project: Some(root),
        trust_project: false,
        modules: Vec::new(),
        no_plugins: false,
    })?;
    let agents: Vec<Agent> = match args.agent {
        Some(agent) => vec![agent],
        None => Agent::ALL.into_iter().filter(|agent| is_of_interest(*agent, &project)).collect(),
    };
    let mut worst = Health::Fine;
    let mut document = Vec::new();
    for agent in &agents {
        let findings = examine(*agent, &project)?;
        worst = findings.iter().map(|finding| finding.health).fold(worst, Ord::max);
        if args.json {
            document.push(as_json(*agent, &findings));
        } else {
            output::text(&as_text(*agent, &findings))?;
        }
    }
    if args.json {
        output::json(&hookrail::Json::from(json!({ "agents": document })))?;
    } else if agents.is_empty() {
        output::text("no agent that hookrail knows is installed; name one: `hookrail doctor claude`\n")?;
    }
    Ok(if worst == Health::Error { Exit::Failed } else { Exit::Fine })
}

/// Agents that are installed or that already have entries of hookrail.
fn is_of_interest(agent: Agent, project: &Project) -> bool {
    find_program(agent.program()).is_some()
        || settings::entries(agent, project.root()).iter().any(|file| !file.entries.is_empty())
}

fn examine(agent: Agent, project: &Project) -> Result<Vec<Finding>> {
    let mut findings = vec![version(agent)];
    let files = settings::entries(agent, project.root());
    findings.extend(settings::examine(agent, &files));
    if agent == Agent::Codex {
        findings.extend(settings::examine_codex_trust(&files));
        findings.push(Finding::warning(
            "commands typed into a shell that the agent keeps open (`write_stdin`) reach no hook",
            "guard the program that is started, or forbid `tty` shells in Codex CLI's configuration",
        ));
    }
    let args = ProjectArgs {
        project: Some(project.root().to_owned()),
        trust_project: false,
        modules: Vec::new(),
        no_plugins: false,
    };
    let system = project.builder(&args)?.build();
    findings.extend(unreached_hooks(agent, &system));
    findings.extend(recorded_losses(agent));
    findings.push(dry_run(agent, project.root()));
    Ok(findings)
}

fn version(agent: Agent) -> Finding {
    let title = agent.title();
    let Some(program) = find_program(agent.program()) else {
        let text = format!("{title} is not in PATH");
        return Finding::warning(text, format!("install {title}, or ignore this if it is started in another way"));
    };
    let tested = agent.tested_version();
    match run_with_patience(Command::new(program).arg("--version"), None) {
        Ok((_, out, _)) if out.contains(tested) => {
            Finding::fine(format!("{title} {tested}, the version that was tested"))
        }
        Ok((_, out, _)) => {
            let found = out.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
            let text = format!("{title} {}; tested was {tested}", visible(found.unwrap_or("of an unknown version")));
            Finding::warning(text, "what follows describes the tested version; newer events pass unchanged")
        }
        Err(error) => {
            Finding::warning(format!("the version of {title} is not known: {error}"), "start it once by hand")
        }
    }
}

/// Hooks that wait for an event which the agent does not have.
fn unreached_hooks(agent: Agent, system: &HookSystem) -> Vec<Finding> {
    let snapshot = system.snapshot();
    let mut reached = 0;
    let mut findings = Vec::new();
    for hook in snapshot.hooks() {
        let Some(kind) = hook.known_event() else { continue };
        if agent.event_name(kind).is_some() {
            reached += 1;
            continue;
        }
        let text = format!("hook `{}` waits for {}, which {} does not fire", hook.label, kind.name(), agent.title());
        findings.push(Finding::warning(visible(&text), instead_of(kind)));
    }
    findings.insert(0, Finding::fine(format!("{} of this project and user can take part", counted(reached))));
    findings
}

fn counted(hooks: usize) -> String {
    crate::render::counted(hooks, "hook")
}

fn instead_of(kind: EventKind) -> &'static str {
    match kind {
        EventKind::BeforeModel | EventKind::AfterModel | EventKind::ToolSelection => {
            "guard the prompt and the tools instead: only Gemini CLI shows its model calls to hooks"
        }
        _ => "it never runs in this agent",
    }
}

fn recorded_losses(agent: Agent) -> Vec<Finding> {
    let Some(state) = super::bridge::state_folder() else { return Vec::new() };
    let folder = super::bridge::session_file::agent_folder(&state, agent);
    let mut totals = std::collections::BTreeMap::<String, u64>::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let session: BridgeSession = serde_json::from_str(&text).unwrap_or_default();
        for (name, count) in session.losses {
            *totals.entry(name).or_default() += count;
        }
    }
    let finding = |(name, count): (String, u64)| {
        let text = format!("{name}: {count} times in recent sessions");
        Finding::warning(text, format!("see `hookrail docs agents/README` for what {} cannot express", agent.title()))
    };
    totals.into_iter().map(finding).collect()
}

/// Sends a payload through the real command, as the agent would.
fn dry_run(agent: Agent, project: &Path) -> Finding {
    let (event, payload) = agent.sample_tool_event(project);
    let Ok(program) = std::env::current_exe() else {
        return Finding::error("the path of this program is not known", "reinstall hookrail");
    };
    let mut command = Command::new(program);
    command.args(["bridge", agent.name(), "--event", event]).current_dir(project);
    for variable in agent.project_variables() {
        command.env(variable, project);
    }
    let begin = Instant::now();
    match run_with_patience(&mut command, Some(payload)) {
        Ok((Some(0), out, _)) => {
            let answer = if out.trim().is_empty() { "no objection".to_owned() } else { visible(out.trim()) };
            Finding::fine(format!("a dry run of {event} took {} ms: {answer}", begin.elapsed().as_millis()))
        }
        Ok((Some(2), _, error)) => Finding::fine(format!("a dry run of {event} was denied: {}", visible(error.trim()))),
        Ok((status, _, error)) => Finding::error(
            format!("a dry run of {event} ended with {status:?}: {}", visible(error.trim())),
            "this is a defect of hookrail; please report it",
        ),
        Err(error) => Finding::error(format!("a dry run of {event} failed: {error}"), "run `hookrail check`"),
    }
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

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| settings::is_executable(file))
}

fn as_text(agent: Agent, findings: &[Finding]) -> String {
    let mut text = format!("{}\n", paint(HEADING, agent.title()));
    for finding in findings {
        let mark = match finding.health {
            Health::Fine => paint(GOOD, "ok     "),
            Health::Warning => paint(CAREFUL, "warning"),
            Health::Error => paint(BAD, "error  "),
        };
        text.push_str(&format!("  {mark}  {}\n", finding.text));
        if let Some(advice) = &finding.advice {
            text.push_str(&format!("           {advice}\n"));
        }
    }
    text
}

fn as_json(agent: Agent, findings: &[Finding]) -> Value {
    let finding = |finding: &Finding| {
        let health = match finding.health {
            Health::Fine => "ok",
            Health::Warning => "warning",
            Health::Error => "error",
        };
        json!({ "health": health, "text": finding.text, "advice": finding.advice })
    };
    json!({ "agent": agent.name(), "findings": findings.iter().map(finding).collect::<Vec<_>>() })
}
