//! Messages of the bridge itself for the user of the agent.

use std::collections::BTreeSet;

use hookrail::{Effects, EventKind};
use hookrail_bridge::{AgentRequest, EffectKind, EventResult};

use super::session_file::hash;

/// More notices of one session are not remembered.
const MOST_NOTICES: usize = 64;

/// What the bridge itself has to say.
#[derive(Default)]
pub(super) struct Notices {
    /// What it asks of the agent, beside the hooks.
    pub(super) results: Vec<EventResult>,
    /// Lines for standard error.
    pub(super) warnings: Vec<String>,
}

impl Notices {
    pub(super) fn and(mut self, others: Self) -> Self {
        self.results.extend(others.results);
        self.warnings.extend(others.warnings);
        self
    }
}

/// How a message of the bridge reaches the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The agent shows it.
    Shown,
    /// The model is asked to tell it.
    ThroughModel,
    /// At this event neither is possible.
    None,
}

fn way(request: &AgentRequest) -> Way {
    let honours = |effect| request.agent.handling(request.kind(), effect).is_honoured();
    if honours(EffectKind::SystemMessage) {
        Way::Shown
    } else if honours(EffectKind::Context) {
        Way::ThroughModel
    } else {
        Way::None
    }
}

/// Tells the user something. Where the agent shows no messages of hooks, the model is asked to, now or at the next event.
pub(super) fn told_user(request: &AgentRequest, text: &str) -> EventResult {
    let none = Effects::none();
    let effects = match way(request) {
        Way::Shown => Effects { system_message: Some(text.to_owned()), ..none },
        Way::ThroughModel | Way::None => {
            let told = format!("Tell the user this message of hookrail: {text}");
            Effects { additional_context: Some(told), ..none }
        }
    };
    EventResult { effects, ..EventResult::default() }
}

/// Tells that hooks are not asked because their source cannot be used: at the start of a session, else once at the first
/// event at which the user can be told. Standard error says it at every event.
pub(super) fn load_failure_notices(
    load_failures: &[String],
    request: &AgentRequest,
    reported: &mut BTreeSet<String>,
) -> Notices {
    let mut notices = Notices { warnings: load_failures.to_vec(), ..Notices::default() };
    for text in load_failures {
        let key = format!("load-failure {:016x}", hash(text));
        let is_start = request.kind() == EventKind::SessionStart;
        let is_news = !reported.contains(&key) && reported.len() < MOST_NOTICES;
        if is_start || (is_news && way(request) != Way::None) {
            reported.insert(key);
            notices.results.push(told_user(request, text));
        }
    }
    notices
}

/// Tells with every answer that hooks are disabled: what is disabled for one call is easily forgotten.
pub(super) fn disabled_notice(request: &AgentRequest) -> Notices {
    if std::env::var_os("HOOKRAIL_DISABLE").is_none_or(|value| value != "1") {
        return Notices::default();
    }
    let text = "hooks are disabled: `HOOKRAIL_DISABLE=1` turns off all but those of the system layer";
    let is_told = way(request) == Way::Shown || request.kind() == EventKind::SessionStart;
    let results = is_told.then(|| told_user(request, text)).into_iter().collect();
    Notices { results, warnings: vec![text.to_owned()] }
}
