//! Command hooks in settings files.
//!
//! `command_hooks` reads their settings and answers. Here `settings` and `extension` find them, `input` and `stdin` write
//! what a hook receives, `fold` makes one of several answers, `model` keeps the two views of a model request in step, and
//! `output` holds the documented output types.

mod aggregate;
mod command;
mod event_name;
mod events;
mod extension;
mod fold;
mod input;
mod layers;
mod llm;
mod model;
mod output;
mod processed;
mod rewrite;
mod schema;
mod settings;
mod specific;
mod stdin;
mod tools;
mod translate;

pub use super::command_hooks::{
    BlockingError, EXIT_CODE_BLOCKING_ERROR, EXIT_CODE_NON_BLOCKING_ERROR, EXIT_CODE_SUCCESS, HookDecision, HookOutput,
};
pub(crate) use aggregate::amend_aggregate;
pub use event_name::HookEventName;
pub use input::{
    AfterAgentInput, AfterModelInput, AfterToolInput, AnyHookInput, BeforeAgentInput, BeforeModelInput,
    BeforeToolInput, BeforeToolSelectionInput, CompressTrigger, HookInput, NotificationInput, PreCompressInput,
    SessionEndInput, SessionStartInput,
};
pub use llm::{HookToolConfig, HookToolMode, LlmRequest, LlmResponse};
pub use output::{
    AfterModelHookOutput, BeforeModelHookOutput, BeforeToolHookOutput, BeforeToolSelectionHookOutput, DefaultHookOutput,
};
pub use processed::ProcessedHookResult;
pub use schema::{MATCHER_FORMAT, schemas};
pub use translate::{from_hook_request, from_hook_response, to_hook_request, to_hook_response};

pub(crate) use layers::load;

use std::sync::Arc;
use std::time::Duration;

use super::command_hooks::{Answer, CommandDialect, TimeoutUnit, read_answer};
use super::{Dialect, DialectId, Flow, FoldContext, Folded, Launch, Reply};
use crate::diagnostic::Diagnostic;
use crate::event::{Column, Event, EventKind, Stage};
use crate::exec_options::ProcessLifetime;
use crate::hook::{Action, GroupOrder, Hook, OnFailure};
use crate::matcher::{Compiled, Language, Matcher, OnInvalid, Scope};
use crate::run::{RunEnd, RunInput};
use command::PROJECT_VARIABLES;

/// The dialect.
pub(crate) struct Llxprt;

impl Dialect for Llxprt {
    type Answer = Answer;

    fn column(kind: EventKind) -> Option<&'static Column> {
        events::column(kind)
    }

    const GRACE: Duration = Duration::from_secs(5);
    const SAME_INPUT_FOR_ALL: bool = true;

    fn input(_hook: &Hook, event: &Event, before: &[Reply<Self::Answer>]) -> RunInput {
        stdin::input(event, before)
    }

    fn launch(hook: &Hook, event: &Event) -> Launch {
        let command = match &hook.action {
            Action::Shell(line) => command::with_quoted_project(line),
            _ => None,
        };
        Launch { command, variables: Self::variables(hook, event), ..Launch::default() }
    }

    fn variables(hook: &Hook, event: &Event) -> Arc<[(String, String)]> {
        // The project is where its hooks were loaded for, wherever the event happens.
        let [variable, ..] = PROJECT_VARIABLES;
        let known = hook.environment.as_ref().and_then(|environment| environment.get(variable));
        let project = known.unwrap_or(event.cwd().as_os_str()).to_string_lossy().into_owned();
        let mut variables: Vec<(String, String)> =
            PROJECT_VARIABLES.map(|name| (name.to_owned(), project.clone())).into();
        if let Some(extension) = &hook.owner {
            variables.push(("extensionPath".to_owned(), extension.dir.to_string_lossy().into_owned()));
            variables.push(("workspacePath".to_owned(), project));
            variables.push(("pathSeparator".to_owned(), std::path::MAIN_SEPARATOR_STR.to_owned()));
        }
        variables.into()
    }

    fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<Self::Answer> {
        read_answer::<Self>(hook, on_failure, kind, end)
    }

    fn pass_on(event: &mut Event, stage: Stage, reply: &Reply<Self::Answer>) -> Flow {
        rewrite::pass_on(event, stage, reply)
    }

    fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<Self::Answer>]) -> Folded {
        fold::fold(context, event, replies)
    }
}

impl CommandDialect for Llxprt {
    const ID: DialectId = DialectId::Llxprt;
    const TIMEOUT_UNIT: TimeoutUnit = TimeoutUnit::Milliseconds;

    fn compile_matcher(event: EventKind, pattern: &str, on_invalid: OnInvalid) -> Compiled {
        let names_a_tool = event.spec().matched_on(DialectId::Llxprt) == Some("tool_name");
        let scope = if names_a_tool { Scope::Anywhere } else { Scope::Whole };
        Matcher::compile(pattern, Language::GlobOrRegex, scope, on_invalid)
    }

    fn check_specific(event: EventKind, output: &mut HookOutput) -> Vec<Diagnostic> {
        specific::check(event, output)
    }
}

/// One sequential group makes the whole event sequential.
pub(crate) fn stage(matching: &[&Arc<Hook>]) -> Stage {
    let sequential = matching.iter().any(|hook| hook.order == GroupOrder::Sequential);
    if sequential { Stage::Chain } else { Stage::Parallel }
}

/// The command string alone decides whether two hooks are the same; but words that only an
/// extension's hooks are told the meaning of mean something else elsewhere.
pub(crate) fn same_work(hook: &Hook) -> Option<String> {
    let own = ["extensionPath", "workspacePath", "pathSeparator"];
    let is_relative = |command: &str| own.iter().any(|name| command.contains(name));
    let owner = hook.owner.as_ref().filter(|_| match &hook.action {
        Action::Shell(command) => is_relative(command),
        Action::Program(words) => words.iter().any(|word| is_relative(word)),
        _ => false,
    });
    let owner = owner.map(|owner| &owner.dir);
    // A worker speaks another language than a program that answers once, so neither can stand for the other.
    let life = if hook.exec.lifetime == ProcessLifetime::Worker { "worker" } else { "" };
    let terms = (hook.terms_of_its_own(), &hook.sandbox_floors);
    match &hook.action {
        Action::Shell(command) => Some(format!("{owner:?} {life} {terms:?} shell {command}")),
        Action::Program(words) => Some(format!("{owner:?} {life} {terms:?} program {words:?}")),
        _ => None,
    }
}

/// A matcher is compared with what the hook would see.
pub(crate) fn matcher_subject(event: &Event, field: &str) -> String {
    input::matched_text(event, field)
}
