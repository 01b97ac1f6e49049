//! The X-Code dialect: command hooks of plugins.
//!
//! `registry` finds plugins with `manifest`, `entries` and `settings`; `variables`, `quotes` and `shell` insert variables into
//! their commands; `stdin` writes what a hook receives and `answer` reads what it prints; `breadcrumb` writes the lines of the
//! debug log.
//!
//! Hooks of decision events run one after the other, each with the modifications so far. A modification replaces the whole
//! value, so the last one is used. A deny ends the chain and drops the modifications.

mod answer;
mod assigned;
mod breadcrumb;
mod code_words;
mod entries;
mod events;
mod install;
mod load;
mod manifest;
mod places;
mod quotes;
mod registry;
mod schema;
mod settings;
mod shell;
#[cfg(all(test, unix))]
mod shell_tests;
mod stdin;
mod tool_names;
mod variables;

pub use install::{PluginError, install, preview, set_enabled, uninstall};
pub use places::PluginPlaces;
pub use registry::{Plugin, PluginScope, Survey, survey};
pub use schema::schemas;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{
    Dialect, DialectId, Flow, FoldContext, Folded, Launch, LoadContext, LoadMemory, Loaded, Protocol, Reply, text_in,
};
use crate::event::{Abilities, DialectEvent, Event, EventKind, Stage};
use crate::hook::{Hook, OnFailure};
use crate::json::Json;
use crate::matcher::Matcher;
use crate::outcome::{Decision, join};
use crate::record::breadcrumb::Breadcrumb;
use crate::run::{ChildExit, Environment, ExitMeaning, RunEnd, RunInput};
use crate::tools::ToolColumn;

use answer::{Answer, AnswerDecision};

/// The X-Code dialect.
pub(crate) struct Xcode;

impl Dialect for Xcode {
    fn column(&self, kind: EventKind) -> Option<&'static DialectEvent> {
        events::column(kind)
    }

    fn load(&self, context: &mut LoadContext<'_, '_>, _memory: &mut LoadMemory) -> Loaded {
        load::load(context)
    }

    fn owner_variable(&self) -> Option<&'static str> {
        Some("pluginDir")
    }

    fn tools(&self) -> Option<&'static ToolColumn> {
        Some(&tool_names::TOOLS)
    }

    fn folder_variables(&self) -> &'static [&'static str] {
        &["X_CODE_HOME", "XC_PLUGINS_DIR"]
    }

    fn matcher(&self, _kind: EventKind, pattern: &str) -> Matcher {
        entries::compile_matcher(pattern).matcher
    }

    fn instead_of_deny(&self, kind: EventKind) -> Option<String> {
        let replaces = self.column(kind)?.can.includes(Abilities::REPLACE_TOOL_OUTPUT);
        let hint = "print {\"decision\": \"modify\", \"output\": \"…\"} to replace what the model sees; a tool is denied in \
                    `PreToolUse`";
        replaces.then(|| hint.to_owned())
    }

    fn run_log(&self, hook: &Hook, kind: EventKind, end: &RunEnd) -> Vec<Breadcrumb> {
        breadcrumb::of_run(hook, kind, end)
    }

    fn engine_log(&self, kind: EventKind, why: &str) -> Vec<Breadcrumb> {
        vec![breadcrumb::of_engine(kind, why)]
    }

    /// The debug log, if `DEBUG_STDOUT` is `1`. Its path does not depend on the project, so no project is given.
    fn log_file(&self, environment: &Environment) -> Option<PathBuf> {
        let wanted = text_in(environment, "DEBUG_STDOUT") == Some("1");
        PluginPlaces::new(std::path::Path::new(""), environment).log.filter(|_| wanted)
    }
}

impl Protocol for Xcode {
    const ID: DialectId = DialectId::Xcode;

    type Answer = Answer;

    const GRACE: Duration = Duration::from_millis(500);

    const EXIT_STATUS_HINT: Option<&'static str> =
        Some("print {\"decision\": \"deny\"} and exit with 0 to block; `failurePolicy` decides what a failure does");

    const CANCEL_GRACE: Duration = Duration::ZERO;

    /// A deny that was printed before a signal ended the process counts.
    fn exit_meaning(exit: ChildExit) -> ExitMeaning {
        match exit {
            ChildExit::Code(0) | ChildExit::Signal(_) => ExitMeaning::AnswerOnStdout,
            ChildExit::Code(_) | ChildExit::Unknown => ExitMeaning::DecidesAlone,
        }
    }

    fn drain(kind: EventKind) -> Option<Duration> {
        // A hook of a completed round may use its own timeout, even during a shutdown. Any other hook delays a shutdown only
        // briefly.
        (kind != EventKind::ModelRoundEnd).then_some(Duration::from_millis(1500))
    }

    fn launch(hook: &Hook, event: &Event) -> Launch {
        variables::launch(hook, event)
    }

    fn input(hook: &Hook, event: &Event, _before: &[Reply<Answer>]) -> RunInput {
        stdin::input(hook, event)
    }

    fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<Answer> {
        answer::read(hook, on_failure, kind, end)
    }

    fn merge_tool_input(answer: &mut Answer, merge: &dyn Fn(&Json) -> Option<Json>) {
        if let Some(merged) = answer.args.as_ref().and_then(merge) {
            answer.args = Some(merged);
        }
    }

    fn apply_answer(event: &mut Event, _stage: Stage, reply: &Reply<Answer>) -> Flow {
        let Some(column) = Self.column(event.kind()) else { return Flow::Continue };
        let Some(answer) = &reply.answer else { return Flow::Continue };
        if answer.decision == AnswerDecision::Deny && column.can.includes(Abilities::DENY) {
            return Flow::End;
        }
        if let Some(args) = &answer.args
            && column.can.includes(Abilities::REWRITE_TOOL_INPUT)
        {
            event.set("tool_input", args.clone());
        }
        if let Some(output) = &answer.output
            && column.can.includes(Abilities::REPLACE_TOOL_OUTPUT)
        {
            event.set("tool_output", output.clone());
        }
        Flow::Continue
    }

    fn changes(event: &Event, _stage: Stage, reply: &Reply<Answer>, field: &str) -> bool {
        let Some(column) = Self.column(event.kind()) else { return false };
        let Some(answer) = &reply.answer else { return false };
        match field {
            "tool_input" => answer.args.is_some() && column.can.includes(Abilities::REWRITE_TOOL_INPUT),
            // `apply_answer` does not show this change: `fold` adds the context after all hooks have answered.
            "prompt" => answer.context.is_some() && column.can.includes(Abilities::ADD_CONTEXT),
            _ => false,
        }
    }

    fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<Answer>]) -> Folded {
        let mut folded = Folded::default();
        let Some(column) = Self.column(event.kind()) else { return folded };
        let effects = &mut folded.effects;
        let mut context_text = None;
        for reply in replies {
            let Some(answer) = &reply.answer else { continue };
            effects.decision = effects.decision.max(reply.decision);
            if reply.decision == Some(Decision::Deny) {
                effects.reason = answer.reason.clone();
            }
            join(&mut context_text, answer.context.clone(), "\n\n");
        }
        if effects.decision == Some(Decision::Deny) && column.can.includes(Abilities::DENY) {
            *event = context.before.clone();
            return folded;
        }
        if column.can.includes(Abilities::REPLACE_TOOL_OUTPUT) {
            effects.tool_output = event.field("tool_output").cloned();
        }
        if let Some(text) = context_text
            && column.can.includes(Abilities::ADD_CONTEXT)
        {
            let prompt = event.text("prompt").unwrap_or_default();
            event.set("prompt", Json::string(&format!("{text}\n\n{prompt}")));
            effects.additional_context = Some(text);
        }
        folded
    }
}
