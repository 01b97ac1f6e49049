//! Finds out whether an agent really calls hookrail, and what to do if it does not.

mod dry_fire;
mod entries;
mod hooks;
mod losses;
mod outside;
mod own_hooks;
mod settings;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hookrail_bridge::Agent;
use hookrail_bridge::doctor::{DoctorCheck, DoctorScene};

use hooks::AskedHooks;
use outside::OutsideProject;

use crate::config::{HookrailConfiguration, ProjectFileTrust};
use crate::failure::Result;
use crate::folders::home;
use crate::foreign_hooks::ForeignHooks;
use crate::project::Project;
use crate::project::search::find_project;
use crate::text::visible;
use crate::{foreign_hooks, telemetry};

/// How long the version of an agent and a dry run may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Looks at agents for one project.
pub struct Doctor {
    project: Project,
    asked: AskedHooks,
}

impl Doctor {
    /// Opens the project in this directory, or the one that is found upwards from the current directory.
    ///
    /// # Errors
    ///
    /// The project cannot be opened.
    pub fn open(named: Option<&Path>) -> Result<Self> {
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let root = named.map_or_else(|| find_project(&here, home().as_deref()), Path::to_owned);
        let project = Project::open_named(Some(&root))?;
        let asked = AskedHooks::find(project.root())?;
        Ok(Self { project, asked })
    }

    /// Agents that are installed or that already have entries of hookrail.
    pub fn agents_of_interest(&self) -> Vec<Agent> {
        let root = self.project.root();
        let outside = OutsideProject::of(root);
        let is_of_interest = |agent: &Agent| {
            outside.find_program(agent.program()).is_some()
                || settings::read_all(*agent, root).iter().any(|file| !file.calls.is_empty())
        };
        Agent::ALL.into_iter().filter(is_of_interest).collect()
    }

    /// Looks at everything that decides whether an agent calls hookrail.
    ///
    /// # Errors
    ///
    /// The project cannot be opened.
    pub fn examine(&self, agent: Agent) -> Result<Vec<DoctorCheck>> {
        Ok(examine(agent, &self.project, &self.asked.asked_by(agent)?))
    }

    /// Hooks of the project that agents find in their own settings, those of one agent or of all.
    pub fn foreign_hooks(&self, agent: Option<Agent>) -> Vec<ForeignHooks> {
        let mut found = foreign_hooks::find(self.project.root());
        found.retain(|found| agent.is_none_or(|agent| found.agent == agent.name()));
        found
    }
}

fn examine(agent: Agent, project: &Project, asked: &AskedHooks) -> Vec<DoctorCheck> {
    let system = &asked.system;
    let files = settings::read_all(agent, project.root());
    let outside = OutsideProject::of(project.root());
    let mut checks = vec![version(agent, &outside)];
    checks.extend(settings::examine_files(agent, &files, project.root()));
    checks.extend(entries::examine(agent, &files, &losses::wanted_events(system)));
    let files_of =
        |name: &str| Agent::from_name(name).map(|other| settings::read_all(other, project.root())).unwrap_or_default();
    let left = own_hooks::left_files(system);
    let scene = DoctorScene { project: project.root(), files: &files, left: &left, files_of: &files_of };
    checks.extend(agent.spec().doctor.checks.iter().flat_map(|check| check(&scene)));
    checks.extend(hooks::examine(asked));
    checks.extend(own_hooks::examine_guards(agent, asked));
    checks.extend(own_hooks::examine(agent, asked));
    checks.extend(hooks::examine_store(files.iter().any(|file| !file.calls.is_empty())));
    let configured = HookrailConfiguration::load(project.root(), ProjectFileTrust::Untrusted).telemetry;
    checks.extend(
        telemetry::unusable_setting(&configured)
            .map(|finding| DoctorCheck::error("telemetry", finding.message, finding.hint.unwrap_or_default())),
    );
    checks.extend(losses::examine(agent, system, settings::noisy_events(&files)));
    checks.extend(losses::examine_past(agent));
    checks.push(dry_fire::examine(agent, system, &files, project.root(), &outside));
    checks
}

fn version(agent: Agent, outside: &OutsideProject) -> DoctorCheck {
    let title = agent.title();
    let Some(program) = outside.find_program(agent.program()) else {
        let text = format!("{title} is not in PATH");
        return DoctorCheck::warning(
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
                return DoctorCheck::fine("version", format!("{title} {tested}, the version that was tested"));
            }
            let text = format!("{title} {}; tested was {tested}", visible(found.unwrap_or("of an unknown version")));
            DoctorCheck::warning(
                "version",
                text,
                "what follows describes the tested version; newer events pass unchanged",
            )
        }
        Err(error) => DoctorCheck::warning(
            "version",
            format!("the version of {title} is not known: {error}"),
            "start it once by hand",
        ),
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
