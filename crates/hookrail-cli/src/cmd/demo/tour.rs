//! The second part of the demonstration: the reference agent works in a project with hooks of every dialect.
//!
//! Its model follows a script, and the script says what each request must contain: if the answer of a hook does not reach
//! the model, the tour fails.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hookrail::guard::Approval;
use hookrail::{Environment, HookSystem, Json, lock};
use hookrail_agent::{
    AgentError, AgentParts, EndReason, ReferenceAgent, ScriptedModel, SessionOpening, SessionStore, TurnEnd, User,
    UserFuture, View, ViewEvent, Workspace, declare,
};

use crate::render::text::{limited, short};
use crate::style::{BAD, CAREFUL, HEADING, QUIET, paint};

const FILES: [(&str, &str); 10] = [
    (".llxprt/settings.json", include_str!("../../../assets/tour/settings.json")),
    (".llxprt/hooks/no-sub-agents.sh", include_str!("../../../assets/tour/llxprt/no-sub-agents.sh")),
    (".llxprt/hooks/guard-secrets.sh", include_str!("../../../assets/tour/llxprt/guard-secrets.sh")),
    (".llxprt/hooks/ask-before-deploy.sh", include_str!("../../../assets/tour/llxprt/ask-before-deploy.sh")),
    (".llxprt/hooks/house-rules.sh", include_str!("../../../assets/tour/llxprt/house-rules.sh")),
    (".llxprt/hooks/redact.sh", include_str!("../../../assets/tour/llxprt/redact.sh")),
    (".x-code/plugins/gentle-push/.x-code-plugin/plugin.json", include_str!("../../../assets/tour/plugin/plugin.json")),
    (".x-code/plugins/gentle-push/gentle-push.sh", include_str!("../../../assets/tour/plugin/gentle-push.sh")),
    (".xcsh/hooks/no-rm.js", include_str!("../../../assets/tour/no-rm.js")),
    ("notes.md", include_str!("../../../assets/tour/notes.md")),
];
const SCRIPT: &str = include_str!("../../../assets/tour/script.json");
const PROMPT: &str = "save the token, push, and deploy";
const STOP: &str = "the budget of this session is used up";
const WIDE: usize = 120;

/// The tour's project on disk, below the demonstration's folder.
pub(super) struct Tour {
    base: PathBuf,
    pub(super) project: PathBuf,
    pub(super) script: PathBuf,
}

impl Tour {
    pub(super) fn create(base: &Path) -> io::Result<Self> {
        let project = base.join("tour");
        for (name, text) in FILES {
            let path = project.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&project))?;
            fs::write(path, text)?;
        }
        let script = base.join("tour.json");
        fs::write(&script, SCRIPT)?;
        Ok(Self { base: base.to_owned(), project, script })
    }

    fn system(&self) -> HookSystem {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let environment = Environment::new()
            .with("PATH", path)
            .with("HOME", self.base.join("home"))
            .with("LLXPRT_SYSTEM_SETTINGS_PATH", self.base.join("no-system-settings.json"));
        let builder = HookSystem::builder(&self.project).environment(environment).no_bundles();
        let builder = builder.runner(hookrail_js::modules());
        declare(builder).trust_project().build()
    }

    /// Runs the agent. Returns what it showed, one page for each answer of the model, and what was not as expected.
    pub(super) async fn play(&self) -> Result<(Vec<String>, Option<String>), AgentError> {
        let hooks = self.system();
        let model = Arc::new(ScriptedModel::read(&self.script)?);
        let place = Workspace::new(&hooks).map_err(|error| AgentError::System(error.to_string()))?;
        let store = SessionStore::new(&self.base.join("sessions"), &self.project);
        let page = Arc::new(Transcript::default());
        page.line(&format!("{}: {PROMPT}", paint(HEADING, "prompt")));
        let user = Arc::new(ApprovingUser(Arc::clone(&page)));
        let parts = AgentParts::new(hooks, model, place, store, Arc::clone(&page) as Arc<_>, user);
        let (agent, _) = ReferenceAgent::begin(parts, &SessionOpening::New).await?;
        let end = agent.prompt(PROMPT).await;
        agent.end(EndReason::Exit).await;
        let wrong = match &end {
            _ if self.project.join(".env").exists() => Some("the blocked file was written".to_owned()),
            TurnEnd::Stopped(reason) if reason == STOP => None,
            other => Some(format!("a hook stops the agent when the budget is used up; it ended with {other:?}")),
        };
        Ok((page.pages(), wrong))
    }
}

/// What the agent shows, kept until it is printed page by page.
#[derive(Default)]
struct Transcript(Mutex<Vec<String>>);

impl Transcript {
    /// Begins a page. What hooks did before the first answer of the model is on its page.
    fn begin_page(&self) {
        lock(&self.0).push(String::new());
    }

    fn line(&self, text: &str) {
        let mut pages = lock(&self.0);
        if pages.is_empty() {
            pages.push(String::new());
        }
        let Some(page) = pages.last_mut() else { return };
        for line in text.lines() {
            page.push_str("   ");
            page.push_str(line);
            page.push('\n');
        }
    }

    fn pages(&self) -> Vec<String> {
        lock(&self.0).clone()
    }

    fn receipt(&self, receipt: &Json) {
        let ran = receipt.as_object().and_then(|receipt| receipt.get("ran")?.as_array()).unwrap_or_default();
        let names = ran.iter().filter_map(|run| {
            let run = run.as_object()?;
            let hook = run.get("hook")?.as_str()?;
            // The name of a module is its path, and that of a plugin's hook is the plugin and the whole command.
            let name = hook.rsplit('/').next().unwrap_or(&hook).trim_end_matches('"');
            Some(format!("{} ({})", short(name, 40), run.get("dialect")?.as_str()?))
        });
        self.line(&paint(QUIET, format!("    hooks: {}", names.collect::<Vec<_>>().join(", "))));
    }

    fn result(&self, end: &str, input: &Json, display: &Json, content: &Json) {
        let text = |value: &Json| value.as_str().unwrap_or_else(|| value.text().to_owned());
        if end == "ran" {
            self.line(&format!("    input: {}", short(input.text(), WIDE)));
        }
        let (label, style) = if end == "ran" { ("output", QUIET) } else { (end, CAREFUL) };
        self.line(&paint(style, format!("    {label}: {}", short(text(display).trim_end(), WIDE))));
        if !content.same_as(display) {
            self.line(&paint(QUIET, format!("    the model reads: {}", short(text(content).trim_end(), WIDE))));
        }
    }
}

impl View for Transcript {
    fn show(&self, shown: &ViewEvent<'_>) {
        match shown {
            ViewEvent::Answer { text: Some(text), .. } => {
                self.begin_page();
                self.line(&format!("{}: {}", paint(HEADING, "model"), limited(text)));
            }
            ViewEvent::ToolCall { tool, input, .. } => {
                self.line(&format!("  tool call: {tool} {}", short(input.text(), WIDE)));
            }
            ViewEvent::ToolResult { end, input, display: Some(display), content: Some(content), .. } => {
                self.result(end, input, display, content);
            }
            ViewEvent::Receipt { receipt } => self.receipt(receipt),
            ViewEvent::Stopped { reason } => self.line(&paint(BAD, format!("stopped: {}", limited(reason)))),
            ViewEvent::Warning { text, .. } => self.line(&paint(CAREFUL, format!("warning: {}", limited(text)))),
            _ => {}
        }
    }
}

/// A user who approves everything, so that the tour runs without one.
struct ApprovingUser(Arc<Transcript>);

impl User for ApprovingUser {
    fn is_there(&self) -> bool {
        true
    }

    fn approve<'a>(&'a self, operation: &'a str, input: &'a Json, reason: Option<&'a str>) -> UserFuture<'a, Approval> {
        let why = reason.map(|reason| format!(": {}", limited(reason))).unwrap_or_default();
        let question = format!("    approval required for {operation} {}{why}", short(input.text(), WIDE));
        self.0.line(&paint(CAREFUL, format!("{question} (the demo approves)")));
        Box::pin(std::future::ready(Approval::Granted))
    }

    fn line<'a>(&'a self, _question: &'a str) -> UserFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}
