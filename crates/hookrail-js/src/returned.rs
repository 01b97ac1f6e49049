//! Turns what the prelude reports about a call into what the engine receives.

use hookrail::Json;
use hookrail::host::HookFailure;
use hookrail::module::{
    EnforceExport, LoadFailure, ModuleReturn, RegisteredCommand, RegistrationKind, RegistrationMistake, Registrations,
    UnreadableResult, without_lone_surrogates,
};
use hookrail::process::{Output, RawEnd};
use serde::Deserialize;

use crate::call::{CallState, FinishedCall};
use crate::limits::RuntimeLimits;
use crate::rules::{Combine, Rule};
use crate::shared::Shared;

/// The report of the prelude.
#[derive(Debug, Default)]
pub(crate) struct CallReport {
    pub(crate) result: Option<Json>,
    pub(crate) failures: Vec<HandlerFailure>,
    pub(crate) remarks: AnswerRemarks,
}

/// What means nothing in the results of the handlers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AnswerRemarks {
    /// Members beside others that mean something.
    unknown: Vec<String>,
    /// Members of results in which no member means something.
    strangers: Vec<String>,
    /// Values that are no objects, in words.
    values: Vec<String>,
}

/// A failure of a handler.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct HandlerFailure {
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) kind: FailureKind,
    #[serde(default)]
    pub(crate) stack: String,
}

/// The kind of a thrown value, as the prelude distinguishes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum FailureKind {
    /// An error.
    #[default]
    Error,
    /// A value that is not an `Error`.
    Value,
    /// The memory limit was reached.
    Memory,
    /// The stack limit was reached.
    Stack,
    /// The result is longer than is allowed.
    Result,
    /// The file is not a module hook.
    Shape,
}

/// The message for a rejected promise without a handler.
pub(crate) fn unhandled_rejection(message: &str) -> String {
    format!("a promise was rejected and the rejection was not handled: {message}")
}

impl HandlerFailure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: FailureKind::Error, stack: String::new() }
    }
}

impl CallReport {
    pub(crate) fn read(finished: &FinishedCall) -> Self {
        let parts = [&finished.result, &finished.failures, &finished.remarks];
        let [result, failures, remarks] = parts.map(|text| text.as_deref().map(without_lone_surrogates));
        let result = result.as_deref().map(Json::parse).transpose();
        let failures = failures.as_deref().map_or_else(|| Ok(Vec::new()), serde_json::from_str);
        let remarks = remarks.as_deref().map_or_else(|| Ok(AnswerRemarks::default()), serde_json::from_str);
        let read = result.and_then(|result| Ok(Self { result, failures: failures?, remarks: remarks? }));
        read.unwrap_or_else(|error| Self::failed(HandlerFailure::new(error.to_string())))
    }

    pub(crate) fn failed(failure: HandlerFailure) -> Self {
        Self { failures: vec![failure], ..Self::default() }
    }

    /// Whether the memory limit was reached during the call.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        self.failures.iter().any(|failure| failure.kind == FailureKind::Memory)
    }
}

/// What the engine receives about a call.
pub(crate) fn call_return(shared: &mut Shared, mut call: CallState, mut report: CallReport) -> ModuleReturn {
    if let Some(message) = call.lost.take() {
        report.failures.push(HandlerFailure::new(unhandled_rejection(&message)));
    }
    for failure in &mut report.failures {
        name_callee(shared, failure);
    }
    // xcsh does not report a failed guard to its listeners either: the caller of the tool gets the error.
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
        Some(first) => {
            ModuleReturn { partial: result, ..ModuleReturn::new(end_of_failure(&shared.config.limits, first)) }
        }
        None => ModuleReturn::new(RawEnd::Returned(result)),
    };
    out.failures = failures.map(|failure| failure.message).collect();
    let AnswerRemarks { unknown, strangers, values } = report.remarks;
    out.unknown_members = unknown;
    out.unreadable = strangers.into_iter().map(UnreadableResult::Member).collect();
    out.unreadable.extend(values.into_iter().map(UnreadableResult::Value));
    out.refusals = std::mem::take(&mut shared.state_mut().refusals);
    (out.messages, out.entries) = (call.messages, call.entries);
    (out.stdout, out.stderr) = (Output::whole(call.stdout), Output::whole(call.stderr));
    out
}

/// Adds the name of the function to the message "not a function", from the source at the place of the error. The
/// JavaScript engine leaves it out, and a module that uses an unsupported part of Node or of the agent's package would
/// not say which.
fn name_callee(shared: &mut Shared, failure: &mut HandlerFailure) {
    let member = member_of_undefined(&failure.message);
    if failure.message != "not a function" && member.is_none() {
        return;
    }
    let member = member.map(str::to_owned);
    let sources = &shared.state_mut().sources;
    // A failure inside the prelude begins with a frame that is in no file of the module.
    let place = failure.stack.lines().next().and_then(|frame| sources.maps.first_place(frame));
    let name = place.and_then(|place| {
        let bytes = sources.version.bytes(&place.file)?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let line = text.lines().nth(usize::try_from(place.line).ok()?.checked_sub(1)?)?;
        if let Some(member) = &member {
            return owner_of(line, member);
        }
        callee_at(line, usize::try_from(place.column).ok()?.checked_sub(1)?)
    });
    match (name, member) {
        (Some(owner), Some(_)) => failure.message.push_str(&format!(": {owner} is not there")),
        (Some(name), None) => failure.message = format!("{name} is not a function"),
        (None, _) => {}
    }
}

/// The member that a module wanted of something that is undefined.
fn member_of_undefined(message: &str) -> Option<&str> {
    message.strip_prefix("cannot read property '")?.strip_suffix("' of undefined")
}

/// What stands before a member in a line, if it is the same everywhere.
fn owner_of(line: &str, member: &str) -> Option<String> {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '.' | '#');
    let sought = format!(".{member}");
    let owners = line.match_indices(&sought).filter_map(|(at, found)| {
        let after = line.get(at + found.len()..)?.chars().next();
        if after.is_some_and(|next| next.is_alphanumeric() || next == '_') {
            return None;
        }
        line.get(..at)?.rsplit(|character| !is_part(character)).next().filter(|owner| !owner.is_empty())
    });
    let mut owners: Vec<&str> = owners.collect();
    owners.dedup();
    match owners.as_slice() {
        [owner] => Some((*owner).to_owned()),
        _ => None,
    }
}

/// The name that is called at a column of a line, with the objects that it is a member of. The column counts UTF-16
/// units from zero.
fn callee_at(line: &str, column: usize) -> Option<String> {
    let units: Vec<u16> = line.encode_utf16().collect();
    let text = |units: &[u16]| String::from_utf16_lossy(units);
    let (before, after) = (text(units.get(..column)?), text(units.get(column..)?));
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '.' | '#');
    let owner = before.trim_end_matches('?').rsplit(|character| !is_part(character)).next().unwrap_or_default();
    let member = after.split(|character| !is_part(character)).next().unwrap_or_default();
    let name = format!("{owner}{member}");
    let name = name.trim_matches('.');
    (!member.is_empty()).then(|| name.to_owned())
}

fn end_of_failure(limits: &RuntimeLimits, failure: HandlerFailure) -> RawEnd {
    match failure.kind {
        FailureKind::Memory => RawEnd::OverLimit(limits.of_memory()),
        FailureKind::Stack => RawEnd::OverLimit(limits.of_stack()),
        FailureKind::Result => RawEnd::OverLimit(format!("result limit of {} KiB", limits.result >> 10)),
        FailureKind::Error | FailureKind::Value | FailureKind::Shape => RawEnd::Threw(failure.message),
    }
}

/// What a module registered, or why it cannot be loaded.
pub(crate) fn load_result(
    shared: &mut Shared,
    report: &CallReport,
    lost: Option<String>,
) -> Result<Registrations, LoadFailure> {
    let lost = lost.map(|message| HandlerFailure::new(unhandled_rejection(&message)));
    if let Some(mut failure) = report.failures.first().cloned().or(lost) {
        name_callee(shared, &mut failure);
        return Err(load_failure(shared, &failure));
    }
    let members = report.result.as_ref().and_then(Json::as_object).unwrap_or_default();
    let names = |key: &str| members.get(key).and_then(Json::decode::<Vec<String>>).unwrap_or_default();
    let commands = members.get("commands").and_then(Json::decode::<Vec<CommandEntry>>).unwrap_or_default();
    let mistakes = members.get("mistakes").and_then(Json::decode::<Vec<MistakeEntry>>).unwrap_or_default();
    let commands = commands
        .into_iter()
        .map(|entry| RegisteredCommand { name: entry.name, description: entry.description })
        .collect();
    Ok(Registrations {
        events: names("events"),
        commands,
        renderers: names("renderers"),
        unsettled: None,
        unsupported: names("unsupported"),
        mistakes: mistakes.into_iter().map(MistakeEntry::read).collect(),
        enforce: match members.get("enforce").and_then(Json::as_str).as_deref() {
            Some("shadow") => EnforceExport::Shadow,
            Some("not-boolean") => EnforceExport::NotBoolean,
            Some(_) | None => EnforceExport::Enforced,
        },
        condition: members.get("condition").and_then(Json::as_str),
    })
}

#[derive(Deserialize)]
struct CommandEntry {
    name: String,
    description: Option<String>,
}

#[derive(Deserialize)]
struct MistakeEntry {
    kind: MistakenKind,
    name: String,
    given: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MistakenKind {
    Handler,
    Command,
    Renderer,
}

impl MistakeEntry {
    fn read(self) -> RegistrationMistake {
        let kind = match self.kind {
            MistakenKind::Handler => RegistrationKind::Handler,
            MistakenKind::Command => RegistrationKind::Command,
            MistakenKind::Renderer => RegistrationKind::Renderer,
        };
        RegistrationMistake { kind, name: self.name, given: self.given }
    }
}

fn load_failure(shared: &mut Shared, failure: &HandlerFailure) -> LoadFailure {
    let limits = &shared.config.limits;
    let message = match failure.kind {
        FailureKind::Shape => return LoadFailure::new(failure.message.clone()),
        FailureKind::Memory => format!("it went over its {}", limits.of_memory()),
        FailureKind::Stack => format!("it went over its {}", limits.of_stack()),
        FailureKind::Error | FailureKind::Value | FailureKind::Result => explain_load_error(&failure.message),
    };
    let mut out = LoadFailure::new(format!("Failed to load hook: {message}"));
    let sources = &mut shared.state_mut().sources;
    // An earlier failure that the module caught is not the reason of this one.
    let known = sources.failure.take().filter(|known| known.message == failure.message);
    out.place = known.and_then(|known| known.place).or_else(|| sources.maps.first_place(&failure.stack));
    out
}

/// The advice for an import that is missing in a built-in module, and for a file that is a CommonJS module.
fn explain_load_error(message: &str) -> String {
    match message {
        "module is not defined" | "exports is not defined" => {
            return format!("{message}: a file with `import` or `export` is an ES module; use `export default`");
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
    format!("{named}: it is not available to module hooks; `hookrail docs reference/modules` lists what there is")
}

#[cfg(test)]
mod tests {
    use super::{callee_at, owner_of};

    #[test]
    fn the_callee_is_named_with_its_owner() {
        let named = |line: &str, at: &str| callee_at(line, line.find(at).unwrap_or_default());
        assert_eq!(named("  await fs.opendirSync(1);", "opendirSync").as_deref(), Some("fs.opendirSync"));
        assert_eq!(named("new process.Foo(1)", "process").as_deref(), Some("process.Foo"));
        assert_eq!(named("[1].frob(2)", "frob").as_deref(), Some("frob"));
        assert_eq!(named("x();", "x").as_deref(), Some("x"));
        assert_eq!(named("(a, b)(1)", "(1)"), None);
        assert_eq!(callee_at("x", 9), None);
        assert_eq!(owner_of("f(path.win32.join('a'))", "join").as_deref(), Some("path.win32"));
        assert_eq!(owner_of("f(a.x.join, b.joined, b.join)", "join"), None);
    }
}
