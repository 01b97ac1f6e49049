//! The dialect of Claude Code: command hooks in its own settings files and plugins.
//!
//! `layers` and `plugins` find the hooks; `entries` says how they are written, with those of the type `http` in `http`; `events` has the events, `payload` writes what a
//! hook receives, with results of tools as `tool_result` has them, and `launch` says how it is started. `answer` reads what it
//! answers, and `fold` combines several answers. The names of tools are in `tool_names`.

mod answer;
mod entries;
mod events;
mod fold;
mod http;
mod launch;
mod layers;
mod matcher;
mod payload;
mod plugins;
mod tool_names;
mod tool_result;

pub use tool_names::TOOLS;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::command_hooks::{Answer, EXIT_CODE_BLOCKING_ERROR, EXIT_CODE_SUCCESS, read_answer};
use super::{Dialect, DialectId, Flow, FoldContext, Folded, Launch, LoadContext, LoadMemory, Loaded, Protocol, Reply};
use crate::event::{DialectEvent, Event, EventKind, Stage};
use crate::hook::condition::HookCondition;
use crate::hook::{Hook, HookDelivery, OnFailure};
use crate::json::Json;
use crate::matcher::{Matcher, OnInvalid};
use crate::outcome::Decision;
use crate::run::{ChildExit, Environment, ExitMeaning, RunEnd, RunInput};
use crate::tools::ToolColumn;

/// The dialect.
pub(crate) struct Claude;

impl Dialect for Claude {
    fn column(&self, kind: EventKind) -> Option<&'static DialectEvent> {
        events::column(kind)
    }

    fn load(&self, context: &mut LoadContext<'_, '_>, _memory: &mut LoadMemory) -> Loaded {
        layers::load(context)
    }

    fn machine_places(&self, _environment: &Environment) -> Vec<PathBuf> {
        vec![layers::MANAGED.into()]
    }

    fn folder_variables(&self) -> &'static [&'static str] {
        &[layers::FOLDER_VARIABLE]
    }

    fn tools(&self) -> Option<&'static ToolColumn> {
        Some(&TOOLS)
    }

    fn project_variables(&self) -> &'static [&'static str] {
        &[launch::PROJECT]
    }

    fn owner_variable(&self) -> Option<&'static str> {
        Some(launch::PLUGIN)
    }

    fn matcher_subject(&self, event: &Event, field: &str) -> String {
        payload::subject(event, field)
    }

    fn matches_own_names_only(&self) -> bool {
        true
    }

    fn matcher(&self, _kind: EventKind, pattern: &str) -> Matcher {
        matcher::compile(pattern, OnInvalid::MatchAll).matcher
    }

    fn work_key(&self, hook: &Hook) -> Option<String> {
        launch::work_key(hook)
    }

    fn late_words(&self, end: &RunEnd) -> Option<String> {
        answer::late_words(end)
    }
}

impl Protocol for Claude {
    const ID: DialectId = DialectId::Claude;

    type Answer = Answer;

    const GRACE: Duration = Duration::from_secs(5);

    const EXIT_STATUS_HINT: Option<&'static str> =
        Some("exit with 2 to block; any other status is a failure, and `onFailure` decides what that does");
    const SAME_INPUT_FOR_ALL: bool = true;

    fn exit_meaning(exit: ChildExit) -> ExitMeaning {
        match exit {
            ChildExit::Code(EXIT_CODE_SUCCESS) => ExitMeaning::AnswerOnStdout,
            ChildExit::Code(EXIT_CODE_BLOCKING_ERROR) => ExitMeaning::Denies,
            // A denial that was printed counts, whatever the status.
            ChildExit::Code(_) => ExitMeaning::AnswerOnStdout,
            ChildExit::Signal(_) | ChildExit::Unknown => ExitMeaning::DecidesAlone,
        }
    }

    fn launch(hook: &Hook, event: &Event) -> Launch {
        launch::launch(hook, event)
    }

    fn input(_hook: &Hook, event: &Event, _before: &[Reply<Answer>]) -> RunInput {
        payload::input(event)
    }

    fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<Answer> {
        let mut reply = read_answer::<Self>(hook, on_failure, kind, end);
        // What no event waits for decides nothing, and a hook whose condition cannot be read allows nothing.
        let is_unreadable = hook.conditions.iter().any(HookCondition::is_unreadable);
        if hook.delivery != HookDelivery::Awaited || is_unreadable && reply.decision == Some(Decision::Allow) {
            reply.decision = None;
        }
        reply
    }

    fn merge_tool_input(answer: &mut Answer, merge: &dyn Fn(&Json) -> Option<Json>) {
        if let Some(merged) = answer.output.specific("updatedInput").and_then(merge)
            && let Some(specific) = &mut answer.output.hook_specific_output
        {
            specific.set("updatedInput", merged);
        }
    }

    fn apply_answer(event: &mut Event, _stage: Stage, reply: &Reply<Answer>) -> Flow {
        if let Some(input) = fold::rewritten(reply)
            && event.field("tool_input").is_none_or(|current| !current.same_as(input))
        {
            event.set("tool_input", input.clone());
        }
        Flow::Continue
    }

    fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<Answer>]) -> Folded {
        fold::fold(context, event, replies)
    }
}
