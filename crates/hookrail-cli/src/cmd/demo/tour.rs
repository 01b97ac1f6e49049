//! The second half of the demonstration: the reference agent at work in a project with hooks of every dialect.
//!
//! Its model follows a script, and the script says what each request must be like: when a hook's word does not reach the
//! model, the tour fails.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hookrail::guard::Approval;
use hookrail::{Environment, HookSystem, Json, lock};
use hookrail_agent::{
    Agent, AgentError, AgentParts as Parts, EndReason, ScriptedModel, SessionOpening as Begin, SessionStore, TurnEnd,
    User, UserFuture, View, ViewEvent as Shown, Workspace as Place, declare,
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
        let builder = HookSystem::builder(&self.project).environment(environment).runner(hookrail_js::modules());
        declare(builder).trust_project().build()
    }

    /// Lets the agent work. Gives what was shown, and what did not go as it should.
    pub(super) async fn play(&self) -> Result<(String, Option<String>), AgentError> {
        let hooks = self.system();
        let model = Arc::new(ScriptedModel::read(&self.script)?);
        let place = Place::new(&hooks).map_err(|error| AgentError::System(error.to_string()))?;
        let store = SessionStore::new(&self.base.join("sessions"), &self.project);
        let page = Arc::new(Page::default());
        page.line(&paint(HEADING, format!("the prompt: {PROMPT}")));
        let parts =
            Parts::new(hooks, model, place, store, Arc::clone(&page) as Arc<_>, Arc::new(Visitor(Arc::clone(&page))));
        let (agent, _) = Agent::begin(parts, &Begin::New).await?;
        let end = agent.prompt(PROMPT).await;
        agent.end(EndReason::Exit).await;
        let wrong = match &end {
            _ if self.project.join(".env").exists() => Some("the blocked file was written".to_owned()),
            TurnEnd::Stopped(reason) if reason == STOP => None,
            other => Some(format!("the agent was to be stopped by its budget, and ended with {other:?}")),
        };
        Ok((page.text(), wrong))
    }
}

/// What is shown, as text that is printed in the end.
#[derive(Default)]
struct Page(Mutex<String>);

impl Page {
    fn line(&self, text: &str) {
        let mut page = lock(&self.0);
        for line in text.lines() {
            page.push_str("   ");
            page.push_str(line);
            page.push('\n');
        }
    }

    fn text(&self) -> String {
        lock(&self.0).clone()
    }

    fn receipt(&self, receipt: &Json) {
        let ran = receipt.as_object().and_then(|receipt| receipt.get("ran")?.as_array()).unwrap_or_default();
        let names = ran.iter().filter_map(|run| {
            let run = run.as_object()?;
            let hook = run.get("hook")?.as_str()?;
            // A module is called by its path, a plugin's hook by its plugin and its whole command.
            let name = hook.rsplit('/').next().unwrap_or(&hook).trim_end_matches('"');
            Some(format!("{} ({})", short(name, 40), run.get("dialect")?.as_str()?))
        });
        self.line(&paint(QUIET, format!("    hooks: {}", names.collect::<Vec<_>>().join(", "))));
    }

    fn result(&self, end: &str, input: &Json, display: &Json, content: &Json) {
        let text = |value: &Json| value.as_str().unwrap_or_else(|| value.text().to_owned());
        if end == "ran" {
            self.line(&format!("    ran with {}", short(input.text(), WIDE)));
        }
        let style = if end == "ran" { QUIET } else { CAREFUL };
        self.line(&paint(style, format!("    {end}: {}", short(text(display).trim_end(), WIDE))));
        if !content.same_as(display) {
            self.line(&paint(QUIET, format!("    the model reads: {}", short(text(content).trim_end(), WIDE))));
        }
    }
}

impl View for Page {
    fn show(&self, shown: &Shown<'_>) {
        match shown {
            Shown::Answer { text: Some(text), .. } => self.line(&format!("the model: {}", limited(text))),
            Shown::ToolCall { tool, input, .. } => self.line(&format!("  calls {tool} {}", short(input.text(), WIDE))),
            Shown::ToolResult { end, input, display: Some(display), content: Some(content), .. } => {
                self.result(end, input, display, content);
            }
            Shown::Receipt { receipt } => self.receipt(receipt),
            Shown::Stopped { reason } => self.line(&paint(BAD, format!("stopped: {}", limited(reason)))),
            Shown::Warning { text, .. } => self.line(&paint(CAREFUL, format!("warning: {}", limited(text)))),
            _ => {}
        }
    }
}

/// Somebody who says yes, so that the tour needs nobody.
struct Visitor(Arc<Page>);

impl User for Visitor {
    fn is_there(&self) -> bool {
        true
    }

    fn approve<'a>(&'a self, operation: &'a str, input: &'a Json, reason: Option<&'a str>) -> UserFuture<'a, Approval> {
        let why = reason.unwrap_or("a hook wants it");
        let question = format!("    may {operation} run with {}? {}", short(input.text(), WIDE), limited(why));
        self.0.line(&paint(CAREFUL, format!("{question}: yes, says the visitor")));
        Box::pin(std::future::ready(Approval::Granted))
    }

    fn line<'a>(&'a self, _question: &'a str) -> UserFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}
