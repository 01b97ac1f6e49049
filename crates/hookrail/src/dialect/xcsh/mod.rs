//! Hooks that are modules: what their handlers receive and how their results combine.
//!
//! The handlers of one module run inside one call of its runner, which combines their results by the same rules; this
//! part sees one result per module. What a module is written in is known only to the runner.

mod conversation;
mod discover;
mod events;
mod fold;
mod load;
mod payload;
mod tool_names;

pub(crate) use discover::resolve_path as resolve_module_path;
pub(crate) use discover::{discoverable, find_module_file};
pub use events::result_members;

use std::sync::Arc;
use std::time::Duration;

use super::{Dialect, DialectId, Flow, FoldContext, Folded, LoadContext, LoadMemory, Loaded, Protocol, Reply};
use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::config::nearest;
use crate::event::{Abilities, DialectEvent, Event, EventKind, Stage};
use crate::hook::{Hook, OnFailure};
use crate::json::{Json, JsonObject};
use crate::matcher::Matcher;
use crate::outcome::{Decision, EndKind};
use crate::run::{RawEnd, RunEnd, RunInput, UnreadableResult};
use crate::text::invisible_chars::is_hidden;
use crate::tools::ToolColumn;
use crate::trust::{HookEdit, MissingGuard};

/// The dialect.
pub(crate) struct Xcsh;

/// What a module returned, or what its failure means.
pub(crate) struct ModuleAnswer {
    result: JsonObject,
}

impl Dialect for Xcsh {
    fn column(&self, kind: EventKind) -> Option<&'static DialectEvent> {
        events::column(kind)
    }

    fn load(&self, context: &mut LoadContext<'_, '_>, memory: &mut LoadMemory) -> Loaded {
        let kept = memory.take().and_then(|kept| kept.downcast::<load::LastGood>().ok());
        let mut last_good = kept.unwrap_or_default();
        let loaded = load::load(context, &mut last_good);
        *memory = Some(last_good);
        loaded
    }

    fn tools(&self) -> Option<&'static ToolColumn> {
        Some(&tool_names::TOOLS)
    }

    /// Handlers have no matchers.
    fn matcher(&self, _kind: EventKind, _pattern: &str) -> Matcher {
        Matcher::everything()
    }
}

impl Protocol for Xcsh {
    const ID: DialectId = DialectId::Xcsh;

    type Answer = ModuleAnswer;

    const GRACE: Duration = Duration::ZERO;

    fn input(_hook: &Hook, event: &Event, _before: &[Reply<ModuleAnswer>]) -> RunInput {
        payload::payload(event).to_shared_bytes().into()
    }

    fn read(hook: &Arc<Hook>, _on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<ModuleAnswer> {
        let partial = end.module().and_then(|report| report.partial.as_ref()).and_then(Json::as_object);
        let failed = |why: &str| failed_closed(kind, why).or_else(|| partial.clone());
        let (kind_of_end, result) = match (end.how(), end.failure()) {
            // A result is used if it is an object; any other value has no members.
            (RawEnd::Returned(Some(value)), _) if is_truthy(value) => (EndKind::Answered, value.as_object()),
            (RawEnd::Returned(_), _) => (EndKind::Silent, None),
            (how, Some(failure)) => (failure, failed(&reason_of_failure(hook, how))),
            // These ends come from other runners only, so they are not an answer of a module.
            (how, None) => (EndKind::BadOutput, failed(&reason_of_failure(hook, how))),
        };
        let denies = result.as_ref().is_some_and(|result| is_blocking(kind, result));
        let answer = result.map(|result| ModuleAnswer { result });
        let mut reply = Reply::new(hook, end, kind_of_end, denies.then_some(Decision::Deny), answer);
        if let Some(report) = end.module() {
            reply.diagnostics.extend(report.unknown_members.iter().map(|member| unknown_member(hook, kind, member)));
            reply.diagnostics.extend(report.unreadable.iter().map(|result| unreadable_result(hook, kind, result)));
        }
        reply
    }

    /// No answer rewrites a tool input.
    fn merge_tool_input(_answer: &mut ModuleAnswer, _merge: &dyn Fn(&Json) -> Option<Json>) {}

    fn apply_answer(event: &mut Event, _stage: Stage, reply: &Reply<ModuleAnswer>) -> Flow {
        fold::apply_answer(event, reply)
    }

    fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<ModuleAnswer>]) -> Folded {
        fold::fold(context, event, replies)
    }
}

/// Words of other hook systems, and mistyped ones, for a result that ends an operation.
const DENY_WORDS: [&str; 9] =
    ["block", "blocked", "cancel", "cancelled", "canceled", "deny", "denied", "decision", "permissionDecision"];

/// Warns about a member of a result without a meaning: a guard that returns `{ blocked: true }` blocks nothing, and its
/// author has to know.
fn unknown_member(hook: &Hook, kind: EventKind, member: &str) -> Diagnostic {
    let message = format!("`{hook}` returned `{}` for `{}`, which means nothing there", visible(member), name_of(kind));
    answer_warning(hook, Code::AnswerUnknownField, message).hint(member_hint(kind, member))
}

/// Warns about a result that says nothing in an event that can be denied. As in the original it has no effect.
fn unreadable_result(hook: &Hook, kind: EventKind, result: &UnreadableResult) -> Diagnostic {
    let event = name_of(kind);
    let (returned, hint) = match result {
        UnreadableResult::Member(member) => (format!("`{}`", visible(member)), member_hint(kind, member)),
        UnreadableResult::Value(value) => (visible(value), deny_hint(kind)),
    };
    let message = format!("`{hook}` returned {returned} for `{event}`, which is no result of it; nothing is denied");
    answer_warning(hook, Code::UnreadableAnswer, message).hint(hint)
}

/// A warning about an answer: in the other dialects an unknown field rarely carries a decision, and an unreadable answer is a
/// failure.
fn answer_warning(hook: &Hook, code: Code, message: String) -> Diagnostic {
    let mut finding = Diagnostic::new(code, message).at(hook.origin.location.clone());
    finding.level = Level::Warning;
    finding
}

fn name_of(kind: EventKind) -> &'static str {
    events::column(kind).map_or(kind.name(), |column| column.name)
}

fn visible(text: &str) -> String {
    text.chars().map(|character| if is_hidden(character) { '\u{fffd}' } else { character }).collect()
}

/// How a handler denies in an event in which it can.
fn deny_hint(kind: EventKind) -> String {
    if result_members(kind).contains(&"block") {
        "return `{ block: true, reason: \"…\" }` to block the tool".to_owned()
    } else {
        "return `{ cancel: true }` to cancel".to_owned()
    }
}

fn member_hint(kind: EventKind, member: &str) -> String {
    let event = name_of(kind);
    let members = result_members(kind);
    let can_deny = members.contains(&"block") || members.contains(&"cancel");
    if members.is_empty() {
        format!("what a `{event}` handler returns is ignored")
    } else if can_deny && DENY_WORDS.iter().any(|word| word.eq_ignore_ascii_case(member)) {
        deny_hint(kind)
    } else if let Some(known) = nearest(member, members.iter().copied()) {
        format!("did you mean `{known}`?")
    } else {
        let known: Vec<String> = members.iter().map(|known| format!("`{known}`")).collect();
        format!("a `{event}` handler can return {}", known.join(", "))
    }
}

/// Why a module has no result, in the words of its dialect. What a handler threw is used as it is.
fn reason_of_failure(hook: &Hook, how: &RawEnd) -> String {
    let why = match how {
        RawEnd::Threw(message) => return message.clone(),
        RawEnd::TimedOut(_) | RawEnd::NotStarted(_) => "it took too long".to_owned(),
        RawEnd::OverLimit(limit) => format!("it went over its {limit}"),
        RawEnd::SpawnFailed(why) => why.to_string(),
        RawEnd::Unusable(why) | RawEnd::ValueRefused(why) => why.to_string(),
        RawEnd::ContentChanged => format!("it {}; `hookrail trust diff` shows the change", HookEdit::of(hook)),
        RawEnd::Missing(guard) => format!("it {}; {}", guard.reason(), MissingGuard::repair(&hook.label)),
        RawEnd::Cancelled => "it was cancelled".to_owned(),
        RawEnd::Exited(_)
        | RawEnd::Signalled(_)
        | RawEnd::HeldBack
        | RawEnd::StatusUnknown
        | RawEnd::OutputLimit
        | RawEnd::BrokeProtocol(_)
        | RawEnd::Contradicted(_)
        | RawEnd::Returned(_)
        | RawEnd::Decided(_)
        | RawEnd::Unanswered(_) => "it gave no result of a module".to_owned(),
    };
    format!("Hook failed, blocking execution: {why}")
}

/// A guard of tool calls that fails blocks; everywhere else a failure is reported and the next handler runs.
fn failed_closed(kind: EventKind, why: &str) -> Option<JsonObject> {
    (kind == EventKind::BeforeTool)
        .then(|| [("block", Json::boolean(true)), ("reason", Json::string(why))].into_iter().collect())
}

fn is_blocking(kind: EventKind, result: &JsonObject) -> bool {
    let can_deny = events::column(kind).is_some_and(|column| column.can.includes(Abilities::DENY));
    let word = if kind == EventKind::BeforeTool { "block" } else { "cancel" };
    can_deny && result.get(word).is_some_and(is_truthy)
}

/// What JavaScript takes for true.
fn is_truthy(value: &Json) -> bool {
    !matches!(value.text(), "null" | "false" | "0" | "-0" | "0.0" | "\"\"")
}
