//! Dialects: how one agent family writes hooks down, what it puts on a hook's standard input, how a hook answers,
//! and how several answers combine.
//!
//! Wire shapes live here and nowhere else. A dialect is a folder with a type that implements the traits of `contract`, and a
//! line in `dialect_id`; the compiler names everything that is missing. It neither starts processes nor knows when or
//! where its hooks run, nor any other dialect.

mod answer_words;
pub mod claude;
pub(crate) mod codex;
mod columns;
mod command_hooks;
mod condition_key;
mod contract;
mod enforcement;
pub(crate) mod enrolment;
mod extension_enablement;
pub(crate) mod gemini;
pub mod llxprt;
mod load;
mod machine_files;
mod native;
mod rules;
mod sandbox;
pub(crate) mod snapshot;
mod strict_answer;
// It lies beside the tests, and the registry has its line while tests are compiled.
#[cfg(test)]
#[path = "../../tests/a_new_dialect/mod.rs"]
mod test_dialect;
mod tool_choice;
pub mod xcode;
pub(crate) mod xcsh;

pub use crate::dialect_id::DialectId;
pub(crate) use columns::event_named;
pub use columns::find_event;

pub(crate) use contract::{
    Dialect, Flow, FoldContext, Folded, Launch, OutcomeDetail, Protocol, ProtocolVisitor, Reply,
};
pub(crate) use load::{
    Bundles, ConfiguredHooks, Inspector, LoadContext, LoadMemory, Loaded, Loader, Plugins, Sources, path_in, text_in,
};
pub(crate) use machine_files::{MachineFile, SettingsReach, machine_files};

use std::path::{Path, PathBuf};

use crate::config::is_absence;
use crate::event::EventKind;
use crate::hook::{Hook, OnFailure};
use crate::outcome::{Decision, Effects, EndKind};
use crate::record::breadcrumb::Breadcrumb;
use crate::run::sentences::failure_reason;
use crate::run::{Environment, RawEnd};

/// The file in which each dialect keeps its log, where the environment asks for that.
pub(crate) fn log_files(environment: &Environment) -> Vec<(DialectId, PathBuf)> {
    let file = |dialect: DialectId| Some((dialect, dialect.contract().log_file(environment)?));
    DialectId::ORDER.into_iter().filter_map(file).collect()
}

/// Whether the machine has a system layer: a file of any dialect, or an enrolment in a fleet. What cannot be looked at counts.
#[must_use]
pub fn has_system_layer(environment: &Environment) -> bool {
    let is_there = |path: &Path| !path.symlink_metadata().is_err_and(|error| is_absence(&error));
    let mut places = DialectId::ORDER.into_iter().flat_map(|dialect| dialect.contract().machine_places(environment));
    let is_any = |place: PathBuf| {
        let named = place.to_str().and_then(|place| machine_files::below_named_root(place, environment));
        is_there(&place) || named.is_some_and(|named| is_there(&named))
    };
    places.any(is_any) || enrolment::is_machine_enrolled(environment)
}

/// What an error of the engine itself leaves in the logs.
pub(crate) fn engine_log(kind: EventKind, why: &str) -> Vec<Breadcrumb> {
    DialectId::ORDER.into_iter().flat_map(|dialect| dialect.contract().engine_log(kind, why)).collect()
}

/// A field's neutral name as dialects that are written in JavaScript spell it: `message_count` as `messageCount`.
pub(crate) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut text, word| {
        let mut letters = word.chars();
        text.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        text.push_str(letters.as_str());
        text
    })
}

/// What a failure does under the hook's own policy, as a decision.
pub(crate) fn failure_decision(on_failure: OnFailure) -> Option<Decision> {
    match on_failure {
        OnFailure::Allow => None,
        OnFailure::Ask => Some(Decision::Ask),
        OnFailure::Block => Some(Decision::Deny),
    }
}

/// What a failure does under the hook's own policy, as effects.
fn failure_effects(hook: &Hook, on_failure: OnFailure, end: EndKind, how: &RawEnd) -> Option<Effects> {
    let decision = failure_decision(on_failure)?;
    Some(Effects {
        decision: Some(decision),
        reason: Some(failure_reason(hook, on_failure, end, how)),
        ..Effects::default()
    })
}
