//! The last step of the demonstration: the reference agent works in a project with hooks of every dialect.
//!
//! Its model follows a script, and the script says what each request must contain: if the answer of a hook does not reach
//! the model, the tour fails.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hookrail::guard::Approval;
use hookrail::{HookSystem, Json, lock_mutex};
use hookrail_agent::{
    AgentError, AgentParts, EndReason, ReferenceAgent, ScriptedModel, SessionOpening, SessionStore, TurnEnd, User,
    UserFuture, View, ViewEvent, Workspace, declare,
};

use super::Mark;
use super::project::SampleProject;

pub(super) const NOTES: &str = include_str!("../../assets/tour/notes.md");
const SCRIPT: &str = include_str!("../../assets/tour/script.json");
pub const PROMPT: &str = "save the token, push, and deploy";
/// What the model reads about a tool that hooks hide from it.
const HIDDEN_TOOL: &str = "is not available for this request";
const STOP: &str = "the budget of this session is used up";

/// One thing that the agent did, and what hooks made of it.
#[derive(Clone, Debug)]
pub struct Row {
    pub act: String,
    pub mark: Mark,
    pub text: String,
}

/// Writes the script of the model, and returns its path.
pub fn write_script(sample: &SampleProject) -> io::Result<PathBuf> {
    let script = sample.base().join("script.json");
    fs::write(&script, SCRIPT)?;
    Ok(script)
}

fn system(sample: &SampleProject) -> HookSystem {
    let builder = HookSystem::builder(sample.root()).environment(sample.environment()).no_bundles();
    declare(builder.runner(hookrail_js::modules())).trust_project().build()
}

/// Runs the agent. Returns what it did, and what was not as expected.
pub async fn play_tour(sample: &SampleProject, script: &Path) -> Result<(Vec<Row>, Option<String>), AgentError> {
    let hooks = system(sample);
    let model = Arc::new(ScriptedModel::read(script)?);
    let place = Workspace::new(&hooks).map_err(|error| AgentError::System(error.to_string()))?;
    let store = SessionStore::new(&sample.base().join("sessions"), sample.root());
    let page = Arc::new(Transcript::default());
    let user = Arc::new(ApprovingUser(Arc::clone(&page)));
    let parts = AgentParts::new(hooks, model, place, store, Arc::clone(&page) as Arc<_>, user);
    let (agent, _) = ReferenceAgent::begin(parts, &SessionOpening::New).await?;
    let end = agent.prompt(PROMPT).await;
    agent.end(EndReason::Exit).await;
    let wrong = match &end {
        _ if sample.root().join(".env").exists() => Some("the blocked file was written".to_owned()),
        TurnEnd::Stopped(reason) if reason == STOP => None,
        other => Some(format!("a hook stops the agent when the budget is used up; it ended with {other:?}")),
    };
    let rows = lock_mutex(&page.0).clone();
    Ok((rows, wrong))
}

/// What the agent does, kept until it is printed.
#[derive(Default)]
struct Transcript(Mutex<Vec<Row>>);

impl Transcript {
    fn push(&self, act: String, mark: Mark, text: &str) {
        lock_mutex(&self.0).push(Row { act, mark, text: text.to_owned() });
    }

    /// Says what became of the call that was begun last.
    fn tell(&self, mark: Mark, text: &str) {
        if let Some(row) = lock_mutex(&self.0).last_mut() {
            (row.mark, row.text) = (mark, text.to_owned());
        }
    }

    fn result(&self, end: &str, input: &Json, display: &Json, content: &Json) {
        let text = |value: &Json| value.as_str().unwrap_or_else(|| value.text().to_owned());
        let (display, content) = (text(display), text(content));
        let (act, mark) = match lock_mutex(&self.0).last() {
            Some(row) => (row.act.clone(), row.mark),
            None => return,
        };
        match (end, content.strip_prefix(NOTES)) {
            ("denied", _) => self.tell(Mark::Denied, &display),
            ("ran", Some(added)) => self.tell(Mark::Added, &format!("the model also reads: {}", added.trim())),
            // The question was shown.
            ("ran", None) if mark == Mark::Asked => {}
            ("ran", None) if !act.ends_with(&subject(input)) => self.tell(Mark::Rewritten, &subject(input)),
            ("ran", None) => self.tell(Mark::Allowed, &display),
            ("failed", _) if display.contains(HIDDEN_TOOL) => self.tell(Mark::Hidden, &display),
            _ => self.tell(Mark::Failed, &display),
        }
    }
}

/// What a tool call is about: the first text among its arguments that says so.
fn subject(input: &Json) -> String {
    let members = input.as_object();
    let text = |name: &str| members.as_ref().and_then(|members| members.get(name)?.as_str());
    ["path", "command", "agent"].into_iter().find_map(text).unwrap_or_default()
}

impl View for Transcript {
    fn show(&self, shown: &ViewEvent<'_>) {
        match shown {
            ViewEvent::ToolCall { tool, input, .. } => {
                self.push(format!("{tool} {}", subject(input)), Mark::Failed, "it did not end");
            }
            ViewEvent::ToolResult { end, input, display: Some(display), content: Some(content), .. } => {
                self.result(end, input, display, content);
            }
            ViewEvent::Stopped { reason } => self.push("the next answer".to_owned(), Mark::Stopped, reason),
            ViewEvent::Warning { text, .. } => self.push("a warning".to_owned(), Mark::Failed, text),
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

    fn approve<'a>(
        &'a self,
        _operation: &'a str,
        _input: &'a Json,
        reason: Option<&'a str>,
    ) -> UserFuture<'a, Approval> {
        self.0.tell(Mark::Asked, &format!("{} (the demo approves)", reason.unwrap_or_default()));
        Box::pin(std::future::ready(Approval::Granted))
    }

    fn line<'a>(&'a self, _question: &'a str) -> UserFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}
