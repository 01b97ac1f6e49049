//! The dialect of Codex CLI: command hooks in `hooks.json` and in TOML settings.
//!
//! `layers` finds the hooks and `entries` says how they are written; `input` writes what a hook receives, and `answer` reads what it says. Hooks of this dialect know a
//! shell and patches: a call of a file tool is shown to them as a patch of that file.

mod answer;
mod entries;
mod events;
mod input;
mod layers;
mod tool_names;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::command_hooks::{AgentAnswer, CommandDialect, agent_fold, apply_agent_answer};
use super::{Dialect, DialectId, Flow, FoldContext, Folded, Launch, LoadContext, LoadMemory, Loaded, Protocol, Reply};
use crate::event::{DialectEvent, Event, EventKind, Stage};
use crate::hook::exec_options::CommandShell;
use crate::hook::{Hook, OnFailure};
use crate::json::Json;
use crate::matcher::{Matcher, OnInvalid};
use crate::run::{ChildExit, Environment, ExitMeaning, RunEnd, RunInput};
use crate::tools::ToolColumn;

/// The dialect of Codex CLI.
pub(crate) struct Codex;

impl Dialect for Codex {
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
        Some(&tool_names::TOOLS)
    }

    fn matched_as(&self, tool: &str) -> &'static [&'static str] {
        tool_names::matched_as(tool)
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
}

impl Protocol for Codex {
    const ID: DialectId = DialectId::Codex;

    type Answer = AgentAnswer;

    /// The agent kills a hook at once; ours are told before.
    const GRACE: Duration = Duration::from_secs(1);

    const EXIT_STATUS_HINT: Option<&'static str> =
        Some("exit with 2 and write the reason to standard error to block; any other status is a failure");

    const SAME_INPUT_FOR_ALL: bool = true;

    fn exit_meaning(exit: ChildExit) -> ExitMeaning {
        match exit {
            ChildExit::Code(0) => ExitMeaning::AnswerOnStdout,
            ChildExit::Code(2) => ExitMeaning::Denies,
            ChildExit::Code(_) | ChildExit::Signal(_) | ChildExit::Unknown => ExitMeaning::DecidesAlone,
        }
    }

    fn launch(_hook: &Hook, _event: &Event) -> Launch {
        Launch { shell: CommandShell::Posix, ..Launch::default() }
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
        agent_fold(context, event, replies, input::lay_over)
    }
}
