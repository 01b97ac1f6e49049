//! Messages of the bridge itself for the user of the agent.

use hookrail::{Effects, EventKind};
use hookrail_bridge::{AgentRequest, BridgeSession, EffectKind, EventResult};

use super::firing::Fired;
use super::session_file::hash;

/// More notices of one session are not remembered.
const MOST_NOTICES: usize = 64;

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
pub(super) fn tell(fired: &mut Fired, request: &AgentRequest, text: String) {
    let none = Effects::none();
    let effects = match way(request) {
        Way::Shown => Effects { system_message: Some(text), ..none },
        Way::ThroughModel | Way::None => {
            let told = format!("Tell the user this message of hookrail: {text}");
            Effects { additional_context: Some(told), ..none }
        }
    };
    fired.said.push(EventResult { effects, denied_by: None });
}

/// Tells that hooks are not asked because their source cannot be used: at the start of a session, else once at the first
/// event at which the user can be told. Standard error says it at every event.
pub(super) fn report_load_failures(fired: &mut Fired, request: &AgentRequest, session: &mut BridgeSession) {
    for text in std::mem::take(&mut fired.load_failures) {
        fired.warn(&text);
        let key = format!("load-failure {:016x}", hash(&text));
        let is_start = request.kind() == EventKind::SessionStart;
        let is_news = !session.reported.contains(&key) && session.reported.len() < MOST_NOTICES;
        if is_start || (is_news && way(request) != Way::None) {
            session.reported.insert(key);
            tell(fired, request, text);
        }
    }
}

/// Tells with every answer that hooks are disabled: what is disabled for one call is easily forgotten.
pub(super) fn report_disabled(fired: &mut Fired, request: &AgentRequest) {
    if std::env::var_os("HOOKRAIL_DISABLE").is_none_or(|value| value != "1") {
        return;
    }
    let text = "hooks are disabled: `HOOKRAIL_DISABLE=1` turns off all but those of the system layer";
    fired.warn(text);
    if way(request) == Way::Shown || request.kind() == EventKind::SessionStart {
        tell(fired, request, text.to_owned());
    }
}
