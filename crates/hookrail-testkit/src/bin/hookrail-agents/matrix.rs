//! What each hook does, what the model asks for, and the checks afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use hookrail_testkit::model::{ModelServer, RequestKind, Script, ScriptStep};

use crate::Error;
use crate::agent::LabAgent;
use crate::lab::{Lab, Snapshot};
use crate::page::Page;

/// The dialect of the hooks in the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hooks {
    Llxprt,
    Xcode,
    Xcsh,
    /// All three dialects, one after the other.
    Chain,
    /// The settings of Claude Code, which every other agent asks once their dialect is enabled.
    Claude,
    /// What the page about hooks of other agents shows, with its own commands.
    Page,
}

/// An effect that a hook asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookWish {
    Block,
    Allow,
    Rewrite,
    Replace,
    Context,
    Stop,
    /// The second dialect changes what the first one made, and the third is asked about that.
    Chain,
    /// A block holds after the model went into a folder that it made look like a project.
    ChangedDirectory,
    /// A hook runs once for each call, in the agent or in its bridge.
    Once,
    /// Not a hook: the settings must be as before after an uninstallation.
    Uninstall,
}

/// How an agent handled an effect.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// The agent applied it.
    Honoured,
    /// The agent cannot apply it, and did what the answer table says instead.
    Replaced(String),
    /// Neither.
    Failed(String),
}

impl Hooks {
    pub(crate) const ALL: [Self; 6] = [Self::Llxprt, Self::Xcode, Self::Xcsh, Self::Chain, Self::Claude, Self::Page];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Llxprt => "llxprt",
            Self::Xcode => "xcode",
            Self::Xcsh => "xcsh",
            Self::Chain => "chain",
            Self::Claude => "claude",
            Self::Page => "page",
        }
    }

    /// The effects that hooks of this dialect can ask for.
    pub(crate) const fn wishes(self) -> &'static [HookWish] {
        match self {
            Self::Llxprt => &[
                HookWish::Block,
                HookWish::Allow,
                HookWish::Rewrite,
                HookWish::Context,
                HookWish::Stop,
                HookWish::Uninstall,
            ],
            Self::Xcode => &[
                HookWish::Block,
                HookWish::Allow,
                HookWish::Rewrite,
                HookWish::Replace,
                HookWish::Context,
                HookWish::Uninstall,
            ],
            Self::Xcsh => &[HookWish::Block, HookWish::Allow, HookWish::Replace, HookWish::Uninstall],
            Self::Chain => {
                &[HookWish::Block, HookWish::Allow, HookWish::Chain, HookWish::ChangedDirectory, HookWish::Uninstall]
            }
            Self::Claude => &[HookWish::Block, HookWish::Allow, HookWish::Once, HookWish::Uninstall],
            Self::Page => &[HookWish::Block, HookWish::Allow, HookWish::Uninstall],
        }
    }

    /// Where the agent is started. Guards of the project must hold below its root too.
    fn start(self, project: &Path) -> PathBuf {
        match self {
            Self::Llxprt | Self::Xcode | Self::Chain | Self::Claude | Self::Page => project.to_owned(),
            Self::Xcsh => project.join("sub"),
        }
    }
}

impl HookWish {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Allow => "allow",
            Self::Rewrite => "rewrite",
            Self::Replace => "replace",
            Self::Context => "context",
            Self::Stop => "stop",
            Self::Chain => "chain",
            Self::ChangedDirectory => "cd",
            Self::Once => "once",
            Self::Uninstall => "uninstall",
        }
    }
}

/// The order of the model's calls.
const BLOCKED: usize = 0;
const REWRITTEN: usize = 2;
const SHELL: usize = 3;

/// The output of this command is not in its text.
const COMMAND: &str = "printf result-%d 42";
const OUTPUT: &str = "result-42";

/// The call that the guard of the page denies, one that it lets pass, and what it says.
const FORCED: &str = "echo pushed > forced.txt # git push --force";
const PUSHED: &str = "echo pushed > plain.txt # git push";
const PAGE_REASON: &str = "a forced push rewrites what others have";

/// How many files the model writes.
const WRITES: usize = 5;

/// Makes a folder look like a project without hooks and goes into it. Claude Code stays there.
const AWAY: &str = "mkdir -p away/.llxprt && echo '{}' > away/.llxprt/settings.json && cd away && pwd";

fn script(agent: &LabAgent, hooks: Hooks, folder: &Path) -> Script {
    let write = |name: &str, content: &str| ScriptStep::call(agent.write(&folder.join(name), content));
    let shell = |command: &str| ScriptStep::call(agent.shell(command));
    if hooks == Hooks::Page {
        let steps = vec![shell(FORCED), shell(PUSHED), ScriptStep::text("all done")];
        return Script { steps, side: "ok".to_owned() };
    }
    let mut steps = vec![write("deploy.key", "key"), write("plain.txt", "plain"), write("draft.txt", "DRAFT")];
    steps.extend(match hooks {
        Hooks::Llxprt | Hooks::Xcode | Hooks::Xcsh | Hooks::Claude | Hooks::Page => {
            [shell(COMMAND), write("halt.txt", "HALT"), write("after.txt", "after")]
        }
        Hooks::Chain => [shell(AWAY), write("away.key", "key"), write("after.txt", "after")],
    });
    steps.push(ScriptStep::text("all done"));
    Script { steps, side: "ok".to_owned() }
}

/// The results of a run.
struct Traces<'a> {
    agent: &'a LabAgent,
    hooks: Hooks,
    folder: PathBuf,
    server: &'a ModelServer,
}

/// Where the hooks are from.
pub(crate) struct HookSources {
    /// The folder with the projects.
    pub(crate) hooks: PathBuf,
    pub(crate) page: Page,
}

/// Runs an agent once with the hooks of one dialect, and checks every effect.
pub(crate) fn run(
    agent: &LabAgent,
    hooks: Hooks,
    lab: &Lab<'_>,
    sources: &HookSources,
) -> Result<Vec<(HookWish, Cell)>, Error> {
    let folder = hooks.start(&lab.project());
    let log = fs::File::create(lab.root().join("requests.jsonl"))?;
    let server = ModelServer::start(script(agent, hooks, &folder), Some(log))?;
    agent.write_user_files(lab, server.port())?;
    let (before, untouched) = if hooks == Hooks::Page {
        let before = lab.snapshot()?;
        sources.page.follow(lab)?;
        (before, None)
    } else {
        lab.copy_to_project(&sources.hooks.join(hooks.name()))?;
        if hooks == Hooks::Claude {
            lab.hookrail(&["enable", "claude"])?;
        }
        let before = lab.snapshot()?;
        lab.hookrail(&["trust", "grant", "--yes", "--project", &lab.project().to_string_lossy()])?;
        install(agent, lab)?;
        lab.hookrail(&["uninstall", &agent.name, "--yes"])?;
        let untouched = compare(&before, &lab.snapshot()?);
        install(agent, lab)?;
        (before, untouched)
    };
    let mut command = agent.command(lab, "please work", server.port());
    command.current_dir(&folder);
    lab.run(command)?;
    lab.hookrail(&["uninstall", &agent.name, "--yes"])?;
    let after = lab.snapshot()?;
    let traces = Traces { agent, hooks, folder, server: &server };
    let cells = hooks.wishes().iter().map(|wish| {
        let cell = match wish {
            HookWish::Block => traces.blocked(),
            HookWish::Allow => traces.allowed(),
            HookWish::Rewrite => traces.rewritten(&traces.hook_text("final by")),
            HookWish::Chain => traces.rewritten("changed twice by chain"),
            HookWish::ChangedDirectory => traces.blocked_away(),
            HookWish::Replace => traces.replaced(),
            HookWish::Context => traces.context_given(),
            HookWish::Stop => traces.stopped(),
            HookWish::Once => traces.asked_once(lab),
            HookWish::Uninstall => {
                match untouched.as_ref().or(compare_settings(agent, &before, &after, lab).as_ref()) {
                    None => Cell::Honoured,
                    Some(difference) => Cell::Failed(difference.clone()),
                }
            }
        };
        (*wish, cell)
    });
    Ok(cells.collect())
}

fn install(agent: &LabAgent, lab: &Lab<'_>) -> Result<(), Error> {
    let mut args = vec!["install", &agent.name, "--yes"];
    args.extend(agent.install_options.iter().map(String::as_str));
    lab.hookrail(&args)
}

/// The first difference between two home directories.
fn compare(before: &Snapshot, after: &Snapshot) -> Option<String> {
    let changed = before.iter().find(|(path, bytes)| after.get(*path) != Some(bytes));
    let added = after.keys().find(|path| !before.contains_key(*path));
    changed.map(|(path, _)| path).or(added).map(|path| format!("`{}` is not as it was", path.display()))
}

/// The first settings file of the user that was changed. Agents write into their home directories, so other files are
/// ignored, and so are lines that the agent itself has added to a file.
fn compare_settings(agent: &LabAgent, before: &Snapshot, after: &Snapshot, lab: &Lab<'_>) -> Option<String> {
    let left = after.iter().find(|(path, bytes)| {
        let is_settings =
            path.extension().is_some_and(|end| ["json", "toml", "js", "ts"].iter().any(|known| end == *known));
        let is_new = !before.contains_key(*path);
        is_new && is_settings && !path.starts_with(lab.home().join(".cache")) && calls_bridge(bytes)
    });
    let is_changed = |file: &PathBuf| {
        let path = lab.home().join(file);
        let (Some(old), Some(new)) = (before.get(&path), after.get(&path)) else { return true };
        let has_grown = agent.growing_files.contains(file) && new.starts_with(old) && !calls_bridge(new);
        old != new && !has_grown
    };
    let changed = agent.user_files(0).into_iter().map(|file| file.path).find(is_changed);
    left.map(|(path, _)| path.clone()).or(changed).map(|path| format!("`{}` is not as it was", path.display()))
}

fn calls_bridge(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains("hookrail bridge") || text.contains("hooks.state")
}

impl Traces<'_> {
    fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok().map(|text| text.trim_end().to_owned())
    }

    /// Whether the model received a text in its turn with this number.
    fn model_saw(&self, step: usize, text: &str) -> bool {
        let requests = self.server.requests();
        let turn = requests.iter().filter(|request| request.kind == RequestKind::Main);
        let mut turn = turn.filter(|request| request.step == Some(step));
        turn.any(|request| request.body.to_string().contains(text))
    }

    /// The text of a hook, with the name of its dialect.
    fn hook_text(&self, text: &str) -> String {
        format!("{text} {}", self.hooks.name())
    }

    /// The guard leaves a line for each call that it is asked about.
    fn asked_once(&self, lab: &Lab<'_>) -> Cell {
        let log = fs::read_to_string(lab.project().join("guard.log")).unwrap_or_default();
        match log.lines().count() {
            WRITES => Cell::Honoured,
            count => Cell::Failed(format!("the guard was asked {count} times about {WRITES} calls")),
        }
    }

    fn blocked(&self) -> Cell {
        let (file, reason) = match self.hooks {
            Hooks::Page => ("forced.txt", PAGE_REASON.to_owned()),
            Hooks::Llxprt | Hooks::Xcode | Hooks::Xcsh | Hooks::Chain | Hooks::Claude => {
                ("deploy.key", self.hook_text("no key files, says"))
            }
        };
        match self.file(file) {
            Some(_) => Cell::Failed("the file was written".to_owned()),
            None if self.model_saw(BLOCKED + 1, &reason) => Cell::Honoured,
            None => Cell::Failed("the model was not given the reason".to_owned()),
        }
    }

    fn blocked_away(&self) -> Cell {
        if !self.folder.join("away/.llxprt/settings.json").exists() {
            return Cell::Failed("the model did not change its directory".to_owned());
        }
        if ["away.key", "away/away.key"].iter().any(|name| self.file(name).is_some()) {
            return Cell::Failed("the file was written".to_owned());
        }
        if !self.model_saw(SHELL + 2, &self.hook_text("no key files, says")) {
            return Cell::Failed("the model was not given the reason".to_owned());
        }
        let written = ["after.txt", "away/after.txt"].iter().any(|name| self.file(name).as_deref() == Some("after"));
        if written { Cell::Honoured } else { Cell::Failed("nothing else can be written any more".to_owned()) }
    }

    fn allowed(&self) -> Cell {
        match self.file("plain.txt").as_deref() {
            Some("plain" | "pushed") => Cell::Honoured,
            other => Cell::Failed(format!("the file holds {other:?}")),
        }
    }

    fn rewritten(&self, text: &str) -> Cell {
        match (self.file("draft.txt"), self.agent.instead_of(self.hooks.name(), HookWish::Rewrite.name())) {
            (Some(found), _) if found == text => Cell::Honoured,
            (None, Some(instead)) if self.model_saw(REWRITTEN + 1, text) => Cell::Replaced(instead.to_owned()),
            (found, _) => Cell::Failed(format!("the file holds {found:?}")),
        }
    }

    fn replaced(&self) -> Cell {
        let is_replaced = self.model_saw(SHELL + 1, &self.hook_text("replaced by"));
        let instead = self.agent.instead_of(self.hooks.name(), HookWish::Replace.name());
        match (is_replaced, self.model_saw(SHELL + 1, OUTPUT), instead) {
            (true, false, _) => Cell::Honoured,
            (true, true, Some(instead)) => Cell::Replaced(instead.to_owned()),
            (true, true, None) => Cell::Failed("the model also saw the original result".to_owned()),
            (false, _, _) => Cell::Failed("the model did not see the new result".to_owned()),
        }
    }

    fn context_given(&self) -> Cell {
        // The plugin adds its context at the prompt, the command hook after the shell command.
        let step = if self.hooks == Hooks::Xcode { 0 } else { SHELL + 1 };
        let instead = self.agent.instead_of(self.hooks.name(), HookWish::Context.name());
        match (self.model_saw(step, &self.hook_text("context by")), instead) {
            (true, _) => Cell::Honoured,
            (false, Some(instead)) => Cell::Replaced(instead.to_owned()),
            (false, None) => Cell::Failed("the model did not see the context".to_owned()),
        }
    }

    fn stopped(&self) -> Cell {
        let ran = |name: &str| self.file(name).is_some();
        if !self.model_saw(SHELL + 1, OUTPUT) {
            return Cell::Failed("the run ended before the hook could stop it".to_owned());
        }
        if ran("halt.txt") || ran("after.txt") {
            return Cell::Failed("a tool ran after the stop".to_owned());
        }
        let asked_again = self.server.requests().iter().any(|request| request.step == Some(SHELL + 2));
        if asked_again { Cell::Replaced("denied until the next prompt".to_owned()) } else { Cell::Honoured }
    }
}
