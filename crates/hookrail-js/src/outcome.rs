//! From what the prelude says about a call to what the engine is told.

use std::sync::Arc;

use hookrail::{HookFailure, How, Json, LoadFailure, ModuleReturn, Output, RegisteredCommand, Registrations};
use serde::Deserialize;

use crate::limits::Limits;
use crate::rules::{Combine, Rule};
use crate::shared::{CallState, Finished, Shared};

/// What the prelude says.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) result: Option<Json>,
    pub(crate) failures: Vec<Failure>,
}

/// Something that was thrown.
#[derive(Debug, Deserialize)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// `error`, `value`, `memory`, `stack`, `result` or `shape`.
    #[serde(default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) stack: String,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: "error".to_owned(), stack: String::new() }
    }
}

impl Report {
    pub(crate) fn read(finished: &Finished) -> Self {
        let result = finished.result.as_deref().map(Json::parse).transpose();
        let failures = finished.failures.as_deref().map_or_else(|| Ok(Vec::new()), serde_json::from_str);
        let read = result.and_then(|result| Ok(Self { result, failures: failures? }));
        read.unwrap_or_else(|error| Self::failed(Failure::new(error.to_string())))
    }

    pub(crate) fn failed(failure: Failure) -> Self {
        Self { result: None, failures: vec![failure] }
    }

    /// Whether memory ran out on the way.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        self.failures.iter().any(|failure| failure.kind == "memory")
    }
}

/// What the engine is told about a call.
pub(crate) fn returned(shared: &Shared, limits: &Limits, mut call: CallState, mut report: Report) -> ModuleReturn {
    if let Some(message) = call.lost.take() {
        report.failures.push(Failure::new(format!("a promise was rejected and nobody handled it: {message}")));
    }
    for failure in &report.failures {
        let stack = shared.maps.lock().stack(&failure.stack);
        let text = format!("{}{}{stack}\n", failure.message, if stack.is_empty() { "" } else { "\n" });
        call.stderr.extend(text.bytes());
        // The original does not tell its listeners of a guard that failed: whoever called the tool hears of it.
        if Rule::of_event(&call.event).is_none_or(|rule| rule.combine != Combine::Block) {
            let heard = HookFailure::new(shared.module.to_string_lossy(), &call.event, &failure.message);
            Arc::clone(&call.host).hook_failed(&heard);
        }
    }
    let result = report.result.filter(|result| result.text() != "null");
    let mut failures = report.failures.into_iter();
    let mut out = match failures.next() {
        Some(first) => {
            let mut out = ModuleReturn::new(how(limits, first));
            out.partial = result;
            out
        }
        None => ModuleReturn::new(How::Returned(result)),
    };
    out.failures = failures.map(|failure| failure.message).collect();
    (out.messages, out.entries) = (call.messages, call.entries);
    (out.stdout, out.stderr) = (Output::whole(call.stdout), Output::whole(call.stderr));
    out
}

fn how(limits: &Limits, failure: Failure) -> How {
    match failure.kind.as_str() {
        "memory" => How::OverLimit(format!("memory limit of {} MiB", limits.memory >> 20)),
        "stack" => How::OverLimit(format!("stack limit of {} KiB", limits.own_stack() >> 10)),
        "result" => How::OverLimit(format!("result limit of {} KiB", limits.result >> 10)),
        _ => How::Threw(failure.message),
    }
}

/// What a module registered, or why it cannot be loaded.
pub(crate) fn loaded(
    shared: &Shared,
    limits: &Limits,
    report: &Report,
    lost: Option<String>,
) -> Result<Registrations, LoadFailure> {
    let lost = lost.map(|message| Failure::new(format!("a promise was rejected and nobody handled it: {message}")));
    if let Some(failure) = report.failures.first().or(lost.as_ref()) {
        return Err(load_failure(shared, limits, failure));
    }
    let members = report.result.as_ref().and_then(Json::as_object).unwrap_or_default();
    let names = |key: &str| members.get(key).and_then(Json::decode::<Vec<String>>).unwrap_or_default();
    let commands = members.get("commands").and_then(Json::decode::<Vec<Offer>>).unwrap_or_default();
    let commands = commands.into_iter().map(|offer| RegisteredCommand::new(offer.name, offer.description)).collect();
    Ok(Registrations::new(names("events"), commands, names("renderers")))
}

#[derive(Deserialize)]
struct Offer {
    name: String,
    description: Option<String>,
}

fn load_failure(shared: &Shared, limits: &Limits, failure: &Failure) -> LoadFailure {
    if failure.kind == "shape" {
        return LoadFailure::new(failure.message.clone());
    }
    let message = match failure.kind.as_str() {
        "memory" => format!("it went over its memory limit of {} MiB", limits.memory >> 20),
        "stack" => format!("it went over its stack limit of {} KiB", limits.own_stack() >> 10),
        _ => explained(&failure.message),
    };
    let mut out = LoadFailure::new(format!("Failed to load hook: {message}"));
    // A failure that the module caught, on the way to another one, has nothing to say about that.
    if let Some(known) = shared.load_failure.take().filter(|known| known.message == failure.message) {
        out.place = known.place;
    }
    if out.place.is_none()
        && let Some(place) = shared.maps.lock().first_place(&failure.stack)
    {
        out = out.at(place.file, place.line, place.column);
    }
    out
}

/// What a missing import of a built-in module means, and what a module of the older kind has to be.
fn explained(message: &str) -> String {
    match message {
        "require is not defined" => return format!("{message}: module hooks are ES modules; use `import`"),
        "module is not defined" | "exports is not defined" => {
            return format!("{message}: module hooks are ES modules; use `export default`");
        }
        _ => {}
    }
    if !message.starts_with("Could not find export") {
        return message.to_owned();
    }
    let inner = [("hookrail:agent", "the agent's package"), ("hookrail:ai", "pi-ai"), ("hookrail:tui", "pi-tui")];
    let named = inner.iter().fold(message.to_owned(), |text, (name, shown)| text.replace(name, shown));
    if named == message && !message.contains("'node:") {
        return named;
    }
    format!("{named}: it is not available to module hooks; docs/modules.md lists what there is")
}
