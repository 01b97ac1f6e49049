//! The dialect of Gemini CLI: command hooks in its own settings files and extensions.
//!
//! `layers` and `extensions` find the hooks and `entries` says how they are written; `launch` says how a hook is started, `input`
//! writes what it receives, `answer` reads what it says, and `fold` combines several answers. The names of tools are in
//! `tool_names`.

mod answer;
mod entries;
mod events;
mod extensions;
mod fold;
mod input;
mod launch;
mod layers;
mod tool_names;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::command_hooks::{AgentAnswer, CommandDialect, apply_agent_answer};
use super::{Dialect, DialectId, Flow, FoldContext, Folded, Launch, LoadContext, LoadMemory, Loaded, Protocol, Reply};
use crate::event::{DialectEvent, Event, EventKind, Stage};
use crate::hook::{GroupOrder, Hook, OnFailure};
use crate::json::Json;
use crate::matcher::{Matcher, OnInvalid};
use crate::run::{ChildExit, Environment, ExitMeaning, RunEnd, RunInput};
use crate::tools::ToolColumn;

/// The dialect of Gemini CLI.
pub(crate) struct Gemini;

impl Dialect for Gemini {
    fn column(&self, kind: EventKind) -> Option<&'static DialectEvent> {
        events::column(kind)
    }

    fn load(&self, context: &mut LoadContext<'_, '_>, _memory: &mut LoadMemory) -> Loaded {
        layers::load(context)
    }

    fn machine_places(&self, _environment: &Environment) -> Vec<PathBuf> {
        vec![layers::MANAGED.into()]
    }

    fn tools(&self) -> Option<&'static ToolColumn> {
        Some(&tool_names::TOOLS)
    }

    fn project_variables(&self) -> &'static [&'static str] {
        &launch::PROJECT
    }

    fn owner_variable(&self) -> Option<&'static str> {
        Some("extensionPath")
    }

    /// One sequential group makes the whole event sequential.
    fn stage(&self, _kind: EventKind, matching: &[&Arc<Hook>]) -> Stage {
        let sequential = matching.iter().any(|hook| hook.order == GroupOrder::Sequential);
        if sequential { Stage::Chain } else { Stage::Parallel }
    }

    fn matches_own_names_only(&self) -> bool {
        true
    }

    fn matcher_subject(&self, event: &Event, field: &str) -> String {
        input::matched_text(event, field)
    }

    fn matcher(&self, kind: EventKind, pattern: &str) -> Matcher {
        Self::compile_matcher(kind, pattern, OnInvalid::MatchAll).matcher
    }

    fn work_key(&self, hook: &Hook) -> Option<String> {
        launch::work_key(hook)
    }
}

impl Protocol for Gemini {
    const ID: DialectId = DialectId::Gemini;

    type Answer = AgentAnswer;

    const GRACE: Duration = Duration::from_secs(5);

    const EXIT_STATUS_HINT: Option<&'static str> =
        Some("exit with 2 and write the reason to standard error to block; 1 is a warning");

    const SAME_INPUT_FOR_ALL: bool = true;

    /// An object on standard output counts at any status.
    fn exit_meaning(exit: ChildExit) -> ExitMeaning {
        match exit {
            ChildExit::Code(0 | 1) => ExitMeaning::AnswerOnStdout,
            ChildExit::Code(_) => ExitMeaning::Denies,
            ChildExit::Signal(_) | ChildExit::Unknown => ExitMeaning::DecidesAlone,
        }
    }

    fn launch(hook: &Hook, event: &Event) -> Launch {
        launch::launch(hook, event)
    }

    fn input(_hook: &Hook, event: &Event, _before: &[Reply<AgentAnswer>]) -> RunInput {
        input::input(event)
    }

    fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<AgentAnswer> {
        answer::read(hook, on_failure, kind, end)
    }

    fn merge_tool_input(answer: &mut AgentAnswer, merge: &dyn Fn(&Json) -> Option<Json>) {
        answer.merge_tool_input(merge);
    }

    fn apply_answer(event: &mut Event, _stage: Stage, reply: &Reply<AgentAnswer>) -> Flow {
        apply_agent_answer(event, reply, input::lay_over)
    }

    fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<AgentAnswer>]) -> Folded {
        fold::fold(context, event, replies)
    }
}
