//! The second step: the session of a request, and the project whose hooks are asked.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hookrail::{Code, Event, EventKind};
use hookrail_bridge::install::FolderStanding;
use hookrail_bridge::{AgentRequest, Answer, BridgeSession, UnfinishedResponse};

use super::session_file::{LockedSession, SessionError, SessionFiles};
use crate::failure::{Failure, Result};
use crate::project::{Project, folder_standing, read_by_agent, repository_of};

/// A request with what its session adds to it.
pub(super) struct Opened {
    pub(super) request: AgentRequest,
    pub(super) session: OpenedSession,
    /// The answer that a pending stop demands: no hook is asked.
    pub(super) stopped: Option<Answer>,
    /// The pieces of a response before the last one.
    pub(super) pieces: Option<UnfinishedResponse>,
    /// The root of the repository in which the agent was started.
    pub(super) repository: Option<PathBuf>,
    /// Whether the agent trusted the folder in which it was started.
    pub(super) folder: FolderStanding,
}

/// Where the session is while hooks run. Its lock is not held then: two calls of one session may be asked about at the same time.
pub(super) enum OpenedSession {
    /// In its file.
    Kept,
    /// In memory only: it ends, and some agents kill this process before slow hooks have ended.
    Ended(Box<LockedSession>),
}

impl OpenedSession {
    /// Locks the session again, after its hooks.
    pub(super) fn lock(
        self,
        store: &SessionFiles,
        request: &AgentRequest,
        patience: Duration,
    ) -> std::result::Result<LockedSession, SessionError> {
        match self {
            Self::Kept => store.lock(request, patience),
            Self::Ended(session) => Ok(*session),
        }
    }
}

/// Opens the session of a request.
pub(super) fn open(
    store: &SessionFiles,
    request: AgentRequest,
    patience: Duration,
) -> std::result::Result<Opened, SessionError> {
    let kind = request.kind();
    let locked = store.lock(&request, patience)?;
    if kind == EventKind::SessionStart {
        store.remove_old_sessions(SystemTime::now());
    }
    let mut session = locked.session().clone();
    let found = session.repository.get_or_insert_with(|| repository_of(start_of(&request)).unwrap_or_default());
    let repository = Some(found.clone()).filter(|root| root.is_absolute());
    let folder = *session.folder.get_or_insert_with(|| folder_standing(request.agent, start_of(&request)));
    let stopped = Answer::while_stopped(&request, &mut session);
    if kind == EventKind::Prompt {
        session.prompt = request.prompt.clone().unwrap_or_default();
        session.agent_end_denials = 0;
        session.asked_calls.clear();
    }
    let pieces = request.last_piece.as_ref().and_then(|last| session.take_pieces(last));
    let request = with_prompt(request, &session);
    let request = match &pieces {
        Some(pieces) => pieces.complete(request),
        None => request,
    };
    let session = if kind == EventKind::SessionEnd {
        OpenedSession::Ended(Box::new(locked.end(session)))
    } else {
        locked.save(session)?;
        OpenedSession::Kept
    };
    Ok(Opened { request, session, stopped, pieces, repository, folder })
}

/// Gives the prompt to the end of the answer, which most agents send without it.
fn with_prompt(request: AgentRequest, session: &BridgeSession) -> AgentRequest {
    if request.kind() != EventKind::AgentEnd {
        return request;
    }
    let is_missing = |event: &Event| event.text("prompt").is_none_or(|text| text.is_empty());
    let with_prompt = |event: Event| match is_missing(&event) {
        true => event.with_text("prompt", &session.prompt),
        false => event,
    };
    AgentRequest { events: request.events.into_iter().map(with_prompt).collect(), ..request }
}

/// The project whose hooks are asked.
pub(super) struct OpenedProject {
    pub(super) project: Project,
    /// A nearer folder with hooks that was passed over, because it has no grant.
    pub(super) passed_over: Option<PathBuf>,
    /// The files and folders whose hooks the agent runs itself.
    pub(super) read_by_agent: Vec<PathBuf>,
}

/// The folder where the agent was started, as far as it says so.
fn start_of(request: &AgentRequest) -> &Path {
    request.declared_project.as_deref().unwrap_or(&request.cwd)
}

/// Opens the project that the agent declares, never one that the model chose with `cd` or made with `mkdir`.
pub(super) fn open_project(
    request: &AgentRequest,
    repository: Option<&Path>,
    folder: FolderStanding,
) -> Result<OpenedProject> {
    let start = start_of(request);
    if let Some((folder, real)) = Project::replaced_by_link(start) {
        let (folder, real, code) = (folder.display(), real.display(), Code::GuardMissing.name());
        let missing =
            format!("`{folder}`, where you trusted guards, is a link to `{real}` now, where you trusted none ({code})");
        return Err(Failure::new(format!(
            "{missing}; review `{real}` with `hookrail trust grant` in a terminal, or remove the link"
        )));
    }
    let found = Project::of_agent(start);
    match found.unknown {
        None => {
            let project = Project::open_named(Some(&found.root))?;
            let read_by_agent = read_by_agent(request.agent, start, repository, folder);
            Ok(OpenedProject { project, passed_over: found.passed_over, read_by_agent })
        }
        Some(problem) => {
            let unknown = format!("{problem}, so it is not known which of several folders with hooks guards this one");
            Err(Failure::new(format!("{unknown} ({}); {}", Code::StoreUnusable.name(), problem.repair())))
        }
    }
}

#[cfg(test)]
mod tests {
    use hookrail_bridge::{Agent, Incoming, NoisyEvents, Reading, request};
    use serde_json::json;

    use super::*;

    fn request(event: &str, members: &serde_json::Value) -> AgentRequest {
        let mut payload = json!({ "session_id": "s", "hook_event_name": event, "cwd": "/", "transcript_path": "/t" });
        payload.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let payload = payload.to_string();
        let incoming = Incoming {
            agent: Agent::from_name("claude").unwrap(),
            event: None,
            payload: payload.as_bytes(),
            variable: &|_| None,
            noisy: NoisyEvents::Filtered,
        };
        match request::read(&incoming).unwrap() {
            Reading::Fire(request) => *request,
            Reading::Pass(pass) => panic!("{pass:?}"),
        }
    }

    fn opened(store: &SessionFiles, event: &str, members: &serde_json::Value) -> Opened {
        open(store, request(event, members), Duration::from_secs(2)).unwrap()
    }

    #[test]
    fn the_end_of_an_answer_gets_the_prompt_that_it_lacks() {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionFiles::in_folder(folder.path());
        opened(&store, "UserPromptSubmit", &json!({ "prompt": "build it" }));
        let ended = opened(&store, "Stop", &json!({ "stop_hook_active": false }));
        assert_eq!(ended.request.events[0].text("prompt").as_deref(), Some("build it"));
        assert!(ended.stopped.is_none());
        // Another event is left as it came.
        let tool = opened(&store, "PreToolUse", &json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } }));
        assert_eq!(tool.request.events[0].text("prompt"), None);
    }

    #[test]
    fn a_session_that_ends_is_in_memory_only_and_any_other_in_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionFiles::in_folder(folder.path());
        let file = folder.path().join("session-s.json");
        let prompted = opened(&store, "UserPromptSubmit", &json!({ "prompt": "x" }));
        assert!(matches!(prompted.session, OpenedSession::Kept) && file.exists());
        let ended = opened(&store, "SessionEnd", &json!({ "reason": "exit" }));
        assert!(!file.exists());
        let OpenedSession::Ended(session) = ended.session else { panic!("the session is kept") };
        assert_eq!(session.session().prompt, "x");
    }

    #[test]
    fn a_pending_stop_is_answered_without_hooks_until_the_next_prompt() {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionFiles::in_folder(folder.path());
        let stop = json!({ "stop": { "reason": "enough", "reach": "until-prompt" } });
        store.lock_named("s", Duration::ZERO).unwrap().save(serde_json::from_value(stop).unwrap()).unwrap();
        let tool = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } });
        assert!(opened(&store, "PreToolUse", &tool).stopped.is_some());
        assert!(opened(&store, "UserPromptSubmit", &json!({ "prompt": "go on" })).stopped.is_none());
        assert!(opened(&store, "PreToolUse", &tool).stopped.is_none());
    }
}
