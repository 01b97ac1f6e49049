//! The hooks that the bridge would ask, and what keeps it from asking others that are there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::hook::Enablement;
use hookrail::sources::Location;
use hookrail::{Builder, Code, DialectId, Hook, HookSystem, Level};
use hookrail_bridge::Agent;
use hookrail_bridge::doctor::DoctorCheck;

use crate::failure::Result;
use crate::project::{Project, of_agent, read_by_agent_now};
use crate::text::counted;
use crate::text::visible;

/// The hooks of the project in which the bridge looks for them.
pub(super) struct AskedHooks {
    pub(super) system: HookSystem,
    /// The hooks that the agent runs itself, of every dialect that is known, also if it is not enabled.
    pub(super) run_by_agent: Vec<Arc<Hook>>,
    /// The folder that the agent declares, from which its own files are read.
    pub(super) started: PathBuf,
    project: Project,
    /// A nearer folder with hooks of which none is granted.
    passed_over: Option<PathBuf>,
}

impl AskedHooks {
    /// Finds the project as the bridge does from the directory that the agent declares.
    pub(super) fn find(declared: &Path) -> Result<Self> {
        let found = Project::of_agent(declared);
        let project = Project::open_named(Some(&found.root))?;
        let system = project.builder(project.root())?.build();
        Ok(Self {
            system,
            run_by_agent: Vec::new(),
            started: declared.to_owned(),
            project,
            passed_over: found.passed_over,
        })
    }

    /// Returns the hooks that the bridge of one agent asks: those that the agent runs itself are left to it.
    pub(super) fn asked_by(&self, agent: Agent) -> Result<Self> {
        let project = Project::open_named(Some(self.project.root()))?;
        let read = read_by_agent_now(agent, &self.started);
        let builder = || -> Result<Builder> { Ok(of_agent(project.builder(project.root())?, agent, read.clone())) };
        let system = builder()?.build();
        let switchable = DialectId::CONFIGURED.into_iter().filter(|dialect| dialect.needs_enabling());
        let known = switchable.fold(builder()?, Builder::enable_dialect).build();
        let run_by_agent = known.snapshot().hooks().iter().filter(|hook| is_run_by_agent(hook)).cloned().collect();
        let (started, passed_over) = (self.started.clone(), self.passed_over.clone());
        Ok(Self { system, run_by_agent, started, project, passed_over })
    }

    /// Shows a place in a file as a person would name it.
    pub(super) fn place(&self, place: &Location) -> String {
        self.project.places.location(place)
    }
}

/// Whether a hook is left to the agent.
pub(super) fn is_run_by_agent(hook: &Hook) -> bool {
    matches!(hook.enablement, Enablement::RunByAgent)
}

/// Hooks that are there and are not asked, whatever the agent does.
pub(super) fn examine(asked: &AskedHooks) -> Vec<DoctorCheck> {
    let snapshot = asked.system.snapshot();
    let root = asked.project.root();
    let mut checks = Vec::new();
    if std::env::var_os("HOOKRAIL_DISABLE").is_some_and(|value| value == "1") {
        let text = "`HOOKRAIL_DISABLE=1` in the environment turns off all hooks but those of the system layer";
        checks.push(DoctorCheck::error("hooks", text, "run `unset HOOKRAIL_DISABLE` before you start the agent"));
    }
    for found in snapshot.diagnostics().iter().filter(|found| found.level == Level::Error) {
        let place = found.location.as_ref().map(|place| asked.project.places.location(place)).unwrap_or_default();
        let place = if place.is_empty() { place } else { format!("`{place}`: ") };
        let text = format!("{place}{}", visible(&asked.project.places.sentence(&found.message)));
        let shows_line = || format!("repair it; `hookrail check --project {}` shows the line", root.display());
        let fix = match found.code {
            Code::GuardMissing | Code::UserUnusable => found.hint.clone().unwrap_or_else(shows_line),
            _ => shows_line(),
        };
        checks.push(DoctorCheck::error("configuration", text, fix));
    }
    for found in snapshot.diagnostics().iter().filter(|found| found.code == Code::SystemMissing) {
        let text = visible(&asked.project.places.sentence(&found.message));
        checks.push(DoctorCheck::warning("configuration", text, found.hint.clone().unwrap_or_default()));
    }
    if let Some(folder) = &asked.passed_over {
        let text = format!(
            "`{}` has hooks and no grant: they are not asked, and those of `{}` are",
            folder.display(),
            root.display()
        );
        checks.push(DoctorCheck::error("grants", text, grant(folder)));
    }
    // The switch in settings of a project counts only when the project is trusted.
    let may_be_on = |hook: &Hook| matches!(hook.enablement, Enablement::Active | Enablement::NeverSwitchedOn);
    let waiting = snapshot.hooks().iter().filter(|hook| may_be_on(hook) && !hook.trust.allows());
    let (edited, waiting): (Vec<_>, Vec<_>) = waiting.partition(|hook| hook.edit().is_some());
    for hook in edited {
        let edit = hook.edit().map(|edit| edit.to_string()).unwrap_or_default();
        let text = format!("hook `{}` {}, so it does not run", visible(&hook.label), visible(&edit));
        let fix = "look at the change with `hookrail trust diff --project";
        let shown = root.display();
        checks.push(DoctorCheck::error(
            "grants",
            text,
            format!("{fix} {shown}`, then `hookrail trust grant --project {shown}`"),
        ));
    }
    let waiting: Vec<String> = waiting.iter().map(|hook| format!("`{}`", visible(&hook.label))).collect();
    if !waiting.is_empty() {
        let is = if waiting.len() == 1 { "is not trusted and is" } else { "are not trusted and are" };
        let text = format!("{} of this project {is} not asked: {}", counted(waiting.len(), "hook"), waiting.join(", "));
        checks.push(DoctorCheck::error("grants", text, grant(root)));
    }
    checks.extend(switched_off(asked));
    checks
}

/// Warns if the agent calls this program and there is no store of grants: one that was removed cannot be told from a first start.
pub(super) fn examine_store(has_entries: bool) -> Option<DoctorCheck> {
    let store = Project::trust_store().ok()?;
    let is_missing = store.path().symlink_metadata().is_err();
    let text = format!("there is no trust store at `{}`: no hook of any project is granted", store.path().display());
    let fix =
        "nothing if you have granted none; otherwise bring it back, or run `hookrail trust grant` in each project";
    (has_entries && is_missing).then(|| DoctorCheck::warning("grants", text, fix))
}

fn grant(root: &Path) -> String {
    format!("review and grant them with `hookrail trust grant --project {}`", root.display())
}

/// Hooks that settings switch off: their user may have meant it, but not if nothing ever switched them on.
fn switched_off(asked: &AskedHooks) -> Vec<DoctorCheck> {
    let snapshot = asked.system.snapshot();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let mut never_on = 0;
    for hook in snapshot.hooks() {
        match &hook.enablement {
            Enablement::Active | Enablement::OwnBridge | Enablement::RunByAgent => {}
            Enablement::Disabled(why) | Enablement::SwitchedOff(why) => *reasons.entry(why).or_default() += 1,
            Enablement::NeverSwitchedOn if hook.trust.allows() => never_on += 1,
            Enablement::NeverSwitchedOn => {}
        }
    }
    let mut checks = Vec::new();
    if never_on > 0 {
        let text = format!("no settings switch hooks on: {} never asked", are(never_on));
        let fix = "add `\"hooksConfig\": {\"enabled\": true}` to the settings with the hooks";
        checks.push(DoctorCheck::error("hooks", text, fix));
    }
    for (why, count) in reasons {
        let text = format!("{} switched off by {}", are(count), visible(why));
        checks.push(DoctorCheck::warning("hooks", text, "nothing if that is meant; otherwise switch them on again"));
    }
    checks
}

fn are(count: usize) -> String {
    format!("{} {}", counted(count, "hook"), if count == 1 { "is" } else { "are" })
}
