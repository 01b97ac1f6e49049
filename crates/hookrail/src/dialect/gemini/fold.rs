//! Several answers become one. About a call of the model the last one counts; of lists of tools all do.

use super::input::lay_over;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::command_hooks::{AgentAnswer, Provenance, agent_fold};
use crate::dialect::tool_choice::{HookToolConfig, narrowed, union};
use crate::dialect::{DialectId, FoldContext, Folded, Reply};
use crate::event::{Event, EventKind};
use crate::hook::Authority;
use crate::json::Json;
use crate::outcome::{Decision, Effects};
use crate::tools::offered_tools;

pub(super) fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<AgentAnswer>]) -> Folded {
    let mut folded = agent_fold(context, event, replies, lay_over);
    match event.kind() {
        EventKind::BeforeModel => last_decision(&mut folded, replies),
        EventKind::ToolSelection => folded.effects.tool_config = tool_config(context, replies),
        // The response is in the event; an outcome takes it from there.
        EventKind::AfterModel => folded.effects.llm_response = None,
        _ => {}
    }
    folded
}

/// A later answer takes an earlier denial back, unless that came from a status, a failure or the system layer.
fn last_decision(folded: &mut Folded, replies: &[Reply<AgentAnswer>]) {
    let answers: Vec<(&Reply<AgentAnswer>, &AgentAnswer)> =
        replies.iter().filter_map(|reply| Some((reply, reply.answer.as_ref()?))).collect();
    let is_own = |answer: &AgentAnswer| answer.provenance.is_the_hooks_own();
    let stands = |reply: &Reply<AgentAnswer>, answer: &AgentAnswer| {
        matches!(answer.provenance, Provenance::Failure | Provenance::ExitCode) || reply.authority == Authority::System
    };
    let decided = answers.iter().filter(|(_, answer)| answer.effects.decision.is_some());
    let last = decided.clone().rfind(|(_, answer)| is_own(answer)).or(decided.clone().next_back());
    let Some((_, last)) = last else { return };
    let standing = decided.clone().filter(|(reply, answer)| stands(reply, answer)).map(|(_, answer)| &answer.effects);
    let strictest = standing.max_by_key(|effects| effects.decision);
    let counts: &Effects = match strictest {
        Some(standing) if standing.decision > last.effects.decision => standing,
        _ => &last.effects,
    };
    if counts.decision < folded.effects.decision {
        for (reply, _) in decided.filter(|(_, answer)| answer.effects.decision == Some(Decision::Deny)) {
            let message = format!("the deny of hook `{}` was replaced by a later hook's answer", reply.hook);
            let finding = Diagnostic::new(Code::DecisionOverridden, message);
            folded.diagnostics.push(finding.at(reply.hook.origin.location.clone()));
        }
        folded.effects.decision = counts.decision;
        folded.effects.reason.clone_from(&counts.reason);
        folded.effects.llm_response.clone_from(&counts.llm_response);
    }
}

/// The union of the lists of all hooks; a list of the system layer is never widened.
fn tool_config(context: &FoldContext<'_>, replies: &[Reply<AgentAnswer>]) -> Option<Json> {
    let offered = context.before.field("llm_request").map(offered_tools).unwrap_or_default();
    let known = |name: String| {
        let name = name.trim().to_owned();
        context.tools.offered_as(&name, DialectId::Gemini, &offered).unwrap_or(name)
    };
    let given = |reply: &Reply<AgentAnswer>| {
        let config = reply.answer.as_ref()?.effects.tool_config.as_ref()?.as_object()?;
        let HookToolConfig { mode, allowed_function_names } = HookToolConfig::read(&config);
        let names = allowed_function_names.map(|names| names.into_iter().map(known).collect());
        Some(HookToolConfig { mode, allowed_function_names: names })
    };
    let configs: Vec<HookToolConfig> = replies.iter().filter_map(given).collect();
    if configs.is_empty() {
        return None;
    }
    let system = replies.iter().filter(|reply| reply.authority == Authority::System).filter_map(given);
    let floors: Vec<Vec<String>> = system.filter_map(|config| config.allowed_function_names).collect();
    Some(narrowed(union(configs), &floors).to_json())
}
