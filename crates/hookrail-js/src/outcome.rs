//! From what the prelude says about a call to what the engine is told.

use hookrail::Json;
use hookrail::host::HookFailure;
use hookrail::module::{LoadFailure, ModuleReturn, RegisteredCommand, Registrations};
use hookrail::process::{How, Output};
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
    #[serde(default)]
    pub(crate) kind: FailureKind,
    #[serde(default)]
    pub(crate) stack: String,
}

/// What was thrown, as the prelude tells it apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum FailureKind {
    /// An error.
    #[default]
    Error,
    /// A value that is no error.
    Value,
    /// There was no memory left.
    Memory,
    /// There was no stack left.
    Stack,
    /// The result is too long.
    Result,
    /// The module is not what a module hook has to be.
    Shape,
}

/// What is said about a rejected promise that no handler took.
pub(crate) fn unhandled(message: &str) -> String {
    format!("a promise was rejected and the rejection was not handled: {message}")
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: FailureKind::Error, stack: String::new() }
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
        self.failures.iter().any(|failure| failure.kind == FailureKind::Memory)
    }
}

/// What the engine is told about a call.
pub(crate) fn returned(shared: &mut Shared, mut call: CallState, mut report: Report) -> ModuleReturn {
    if let Some(message) = call.lost.take() {
        report.failures.push(Failure::new(unhandled(&message)));
    }
    // The original does not tell its listeners of a guard that failed: the caller of the tool gets the error.
    let is_guard = |event: &String| Rule::of_event(event).is_some_and(|rule| rule.combine == Combine::Block);
    let heard = call.event.filter(|event| !is_guard(event));
    for failure in &report.failures {
        let stack = shared.state_mut().sources.maps.stack(&failure.stack);
        let text = format!("{}{}{stack}\n", failure.message, if stack.is_empty() { "" } else { "\n" });
        call.stderr.extend(text.bytes());
        if let Some(event) = &heard {
            let module = shared.config.module.to_string_lossy();
            call.host.hook_failed(&HookFailure::new(module, event, &failure.message));
        }
    }
    let result = report.result.filter(|result| result.text() != "null");
    let mut failures = report.failures.into_iter();
    let mut out = match failures.next() {
        Some(first) => ModuleReturn { partial: result, ..ModuleReturn::new(how(&shared.config.limits, first)) },
        None => ModuleReturn::new(How::Returned(result)),
    };
    out.failures = failures.map(|failure| failure.message).collect();
    (out.messages, out.entries) = (call.messages, call.entries);
    (out.stdout, out.stderr) = (Output::whole(call.stdout), Output::whole(call.stderr));
    out
}

fn how(limits: &Limits, failure: Failure) -> How {
    match failure.kind {
        FailureKind::Memory => How::OverLimit(limits.of_memory()),
        FailureKind::Stack => How::OverLimit(limits.of_stack()),
        FailureKind::Result => How::OverLimit(format!("result limit of {} KiB", limits.result >> 10)),
        FailureKind::Error | FailureKind::Value | FailureKind::Shape => How::Threw(failure.message),
    }
}

/// What a module registered, or why it cannot be loaded.
pub(crate) fn loaded(shared: &mut Shared, report: &Report, lost: Option<String>) -> Result<Registrations, LoadFailure> {
    let lost = lost.map(|message| Failure::new(unhandled(&message)));
    if let Some(failure) = report.failures.first().or(lost.as_ref()) {
        return Err(load_failure(shared, failure));
    }
    let members = report.result.as_ref().and_then(Json::as_object).unwrap_or_default();
    let names = |key: &str| members.get(key).and_then(Json::decode::<Vec<String>>).unwrap_or_default();
    let commands = members.get("commands").and_then(Json::decode::<Vec<Offer>>).unwrap_or_default();
    let commands = commands
        .into_iter()
        .map(|offer| RegisteredCommand { name: offer.name, description: offer.description })
        .collect();
    Ok(Registrations { events: names("events"), commands, renderers: names("renderers") })
}

#[derive(Deserialize)]
struct Offer {
    name: String,
    description: Option<String>,
}

fn load_failure(shared: &mut Shared, failure: &Failure) -> LoadFailure {
    let limits = &shared.config.limits;
    let message = match failure.kind {
        FailureKind::Shape => return LoadFailure::new(failure.message.clone()),
        FailureKind::Memory => format!("it went over its {}", limits.of_memory()),
        FailureKind::Stack => format!("it went over its {}", limits.of_stack()),
        FailureKind::Error | FailureKind::Value | FailureKind::Result => explained(&failure.message),
    };
    let mut out = LoadFailure::new(format!("Failed to load hook: {message}"));
    let sources = &mut shared.state_mut().sources;
    // A failure that the module caught, on the way to another one, has nothing to say about that.
    let known = sources.failure.take().filter(|known| known.message == failure.message);
    out.place = known.and_then(|known| known.place).or_else(|| sources.maps.first_place(&failure.stack));
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
    format!("{named}: it is not available to module hooks; `hookrail docs modules` lists what there is")
}
