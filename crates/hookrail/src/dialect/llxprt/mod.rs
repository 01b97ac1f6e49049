//! The LLxprt dialect: command hooks in settings files and extensions.
//!
//! `super::command_hooks` reads the entries and the answers. In this folder `settings` and `extension` find the hooks, `input`
//! holds what a hook receives, `fold` combines several answers, `model` makes the two views of a model request agree, and
//! `output` holds the documented output types.
//!
//! Every event of this dialect has a typed input, which becomes an event, and an outcome gives the documented result back:
//!
//! ```
//! use hookrail::dialect::llxprt::{AggregatedHookResult, BeforeToolInput, HookInput, ProcessedHookResult};
//! use hookrail::{Environment, HookSystem, Json};
//!
//! let hooks = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).build();
//! let base = HookInput::new("session-1", hooks.project());
//! let input = BeforeToolInput::new(base, "write_file", Json::parse(r#"{"path": "a.txt"}"#).unwrap());
//! let outcome = hooks.fire_blocking(input.into());
//! assert!(AggregatedHookResult::from_outcome(&outcome).before_tool().is_none(), "no hook answered");
//! assert!(!ProcessedHookResult::from(&outcome).should_stop);
//! ```

mod aggregate;
mod command;
mod disabled_list;
mod events;
mod extension;
mod fold;
mod input;
mod layers;
mod llm;
mod model;
mod output;
mod rewrite;
mod schema;
mod settings;
mod specific;
mod tool_names;
mod tools;

pub use super::command_hooks::{
    BlockingError, EXIT_CODE_BLOCKING_ERROR, EXIT_CODE_NON_BLOCKING_ERROR, EXIT_CODE_SUCCESS, HookDecision, HookOutput,
};
pub use super::extension_enablement::is_extension_disabled;
pub use super::tool_choice::{HookToolConfig, HookToolMode};
pub use crate::payload::{request_with_changes as from_hook_request, response_with_changes as from_hook_response};
pub use aggregate::{AggregatedHookResult, ProcessedHookResult};
pub use disabled_list::{DisabledListError, set_disabled};
pub use input::{
    AfterAgentInput, AfterModelInput, AfterToolInput, AnyHookInput, BeforeAgentInput, BeforeModelInput,
    BeforeToolInput, BeforeToolSelectionInput, CompressTrigger, HookEventName, HookInput, NotificationInput,
    PreCompressInput, SessionEndInput, SessionStartInput,
};
pub use llm::{LlmRequest, LlmResponse};
pub use model::{to_hook_request, to_hook_response};
pub use output::{
    AfterModelHookOutput, BeforeModelHookOutput, BeforeToolHookOutput, BeforeToolSelectionHookOutput, DefaultHookOutput,
};
pub use schema::{MATCHER_FORMAT, schemas};

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::command_hooks::{Answer, CommandDialect, TimeoutUnit, read_answer, with_quoted_variables};
use super::{
    Dialect, DialectId, Flow, FoldContext, Folded, Launch, LoadContext, LoadMemory, Loaded, OutcomeDetail, Protocol,
    Reply,
};
use crate::config::diagnostic::Diagnostic;
use crate::event::{DialectEvent, Event, EventKind, Stage};
use crate::hook::{Action, GroupOrder, Hook, OnFailure};
use crate::json::{Json, ObjectWriter};
use crate::matcher::{CompiledMatcher, Language, MatchScope, Matcher, OnInvalid};
use crate::outcome::{Effects, Outcome};
use crate::payload::list;
use crate::run::{ChildExit, Environment, ExitMeaning, RunEnd, RunInput};
use crate::tools::ToolColumn;

/// The LLxprt dialect.
pub(crate) struct Llxprt;

impl Dialect for Llxprt {
    fn column(&self, kind: EventKind) -> Option<&'static DialectEvent> {
        events::column(kind)
    }

    fn load(&self, context: &mut LoadContext<'_, '_>, _memory: &mut LoadMemory) -> Loaded {
        layers::load(context)
    }

    fn machine_places(&self, environment: &Environment) -> Vec<PathBuf> {
        vec![layers::system_file(environment)]
    }

    fn project_variables(&self) -> &'static [&'static str] {
        &command::PROJECT_VARIABLES
    }

    fn owner_variable(&self) -> Option<&'static str> {
        Some("extensionPath")
    }

    fn tools(&self) -> Option<&'static ToolColumn> {
        Some(&tool_names::TOOLS)
    }

    /// One sequential group makes the whole event sequential.
    fn stage(&self, _kind: EventKind, matching: &[&Arc<Hook>]) -> Stage {
        let sequential = matching.iter().any(|hook| hook.order == GroupOrder::Sequential);
        if sequential { Stage::Chain } else { Stage::Parallel }
    }

    /// A matcher is compared with the text that the hook receives, which can differ from the neutral field.
    fn matcher_subject(&self, event: &Event, field: &str) -> String {
        input::matched_text(event, field)
    }

    fn matcher(&self, kind: EventKind, pattern: &str) -> Matcher {
        Self::compile_matcher(kind, pattern, OnInvalid::MatchAll).matcher
    }

    fn work_key(&self, hook: &Hook) -> Option<String> {
        command::work_key(hook)
    }

    fn instead_of_deny(&self, kind: EventKind) -> Option<String> {
        specific::instead_of_deny(kind)
    }

    fn record_refusal(&self, outcome: &mut Outcome, effects: &Effects) {
        OutcomeDetail::amend(Box::new(AggregatedHookResult::empty()), outcome, effects);
    }

    fn finalize(&self, outcome: &mut Outcome, event: Option<&Event>) {
        aggregate::finalize(outcome, event);
    }

    fn take_carried(&self, outcome: &mut Outcome, carried: &Outcome) {
        aggregate::take_carried(outcome, carried);
    }

    fn outcome_members(&self, outcome: &Outcome) -> Vec<(&'static str, Json)> {
        vec![("aggregated", AggregatedHookResult::from_outcome(outcome).to_json())]
    }

    fn plan_members(&self, stage: Stage) -> Vec<(&'static str, Json)> {
        vec![("mode", Json::string(stage.name()))]
    }
}

impl Protocol for Llxprt {
    const ID: DialectId = DialectId::Llxprt;

    type Answer = Answer;

    const GRACE: Duration = Duration::from_secs(5);

    const EXIT_STATUS_HINT: Option<&'static str> =
        Some("exit with 2 to block; any other status is a failure, and `onFailure` decides what that does");
    const SAME_INPUT_FOR_ALL: bool = true;

    fn exit_meaning(exit: ChildExit) -> ExitMeaning {
        match exit {
            ChildExit::Code(EXIT_CODE_SUCCESS) => ExitMeaning::AnswerOnStdout,
            ChildExit::Code(EXIT_CODE_BLOCKING_ERROR) => ExitMeaning::Denies,
            ChildExit::Code(_) | ChildExit::Signal(_) | ChildExit::Unknown => ExitMeaning::DecidesAlone,
        }
    }

    fn input(_hook: &Hook, event: &Event, before: &[Reply<Self::Answer>]) -> RunInput {
        let mut payload = ObjectWriter::new();
        if let Some(input) = AnyHookInput::of_event(event) {
            input.write(&mut payload);
            // In a chain a hook also receives the answers of the hooks before it.
            if !before.is_empty() {
                let outputs = before.iter().filter_map(|reply| Some(reply.answer.as_ref()?.output.to_json()));
                payload.value("previous_outputs", list(outputs));
            }
        }
        payload.finish().into()
    }

    fn launch(hook: &Hook, event: &Event) -> Launch {
        let command = match &hook.action {
            Action::Shell(line) => with_quoted_variables(line, &command::PROJECT_VARIABLES),
            _ => None,
        };
        Launch { command, variables: command::variables(hook, event), ..Launch::default() }
    }

    fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<Self::Answer> {
        read_answer::<Self>(hook, on_failure, kind, end)
    }

    fn merge_tool_input(answer: &mut Self::Answer, merge: &dyn Fn(&Json) -> Option<Json>) {
        if let Some(merged) = answer.output.specific("tool_input").and_then(merge)
            && let Some(specific) = &mut answer.output.hook_specific_output
        {
            specific.set("tool_input", merged);
        }
    }

    fn apply_answer(event: &mut Event, stage: Stage, reply: &Reply<Self::Answer>) -> Flow {
        rewrite::apply_answer(event, stage, reply)
    }

    fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<Self::Answer>]) -> Folded {
        fold::fold(context, event, replies)
    }
}

impl CommandDialect for Llxprt {
    const DIALECT: DialectId = DialectId::Llxprt;
    const TIMEOUT_UNIT: TimeoutUnit = TimeoutUnit::MILLISECONDS;

    /// A pattern matches any part of a tool's name, but other fields, such as the source of a session, only as a whole.
    fn compile_matcher(event: EventKind, pattern: &str, on_invalid: OnInvalid) -> CompiledMatcher {
        let names_a_tool = event.spec().matched_on(DialectId::Llxprt) == Some("tool_name");
        let scope = if names_a_tool { MatchScope::Anywhere } else { MatchScope::Whole };
        Matcher::compile(pattern, Language::GlobOrRegex, scope, on_invalid)
    }

    fn check_specific(event: EventKind, output: &mut HookOutput) -> Vec<Diagnostic> {
        specific::check(event, output)
    }

    fn specific_members(event: EventKind) -> Vec<&'static str> {
        specific::known_on(event)
    }
}
