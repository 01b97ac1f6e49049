//! The JSON documents that programs rely on: an outcome, a list, a plan, diagnostics. Fields may be added; none is
//! renamed or removed.

use std::sync::Arc;

use serde_json::{Value, json};

pub use crate::json::duplicate_keys::repeated_member;

use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::Origin;
use crate::dialect::snapshot::{LoadedModule, Snapshot};
use crate::dialect_id::DialectId;
use crate::firing::{CarriedCallPlan, PartPlan, Plan, PlannedHook};
use crate::hook::remote::RemoteTarget;
use crate::hook::sandbox::SandboxRequirement;
use crate::hook::{Action, Enforcement, Hook};
use crate::json::{Json, JsonKind, JsonObject};
use crate::outcome::skips::Skipped;
use crate::outcome::{ConfigurationId, Decision, Effects, HookRun, Outcome, ShadowRun, Stop};
use crate::rules::RuleMatch;
use crate::run::RegisteredCommand;
use crate::trust::HookIdentity;

/// A document is an object whose raw parts keep their bytes. Members come in the order they are added.
impl JsonObject {
    fn add(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.set(key, value.into());
        self
    }

    fn raw(self, key: &str, value: Option<&Json>) -> Self {
        self.add(key, value.cloned().unwrap_or_else(Json::null))
    }

    fn list(self, key: &str, values: impl Iterator<Item = Json>) -> Self {
        self.add(key, Json::of(&values.collect::<Vec<_>>()).unwrap_or_else(|_| Json::null()))
    }

    /// Adds the members that each dialect contributes.
    fn add_dialect_members(self, members: impl Fn(DialectId) -> Vec<(&'static str, Json)>) -> Self {
        DialectId::ORDER.into_iter().flat_map(members).fold(self, |document, (key, value)| document.add(key, value))
    }
}

/// The document of an outcome.
#[must_use]
pub fn outcome_document(outcome: &Outcome) -> Json {
    let members = outcome_members(outcome, usize::MAX, outcome.in_force.as_ref());
    members.add("configuration", outcome.in_force.as_ref().map_or_else(Json::null, configuration)).to_json()
}

/// The document of an outcome for a record, which names the versions of hooks and the configuration itself. Of the hooks that did not run only the first are listed, and `moreSkipped`
/// counts the others. With thousands of hooks every record would list them all.
#[must_use]
pub fn recorded_outcome_document(outcome: &Outcome) -> Json {
    let members = outcome_members(outcome, MOST_SKIPPED_IN_RECORD, None);
    match outcome.skipped.len().saturating_sub(MOST_SKIPPED_IN_RECORD) {
        0 => members.to_json(),
        more => members.add("moreSkipped", json!(more)).to_json(),
    }
}

/// How many hooks that did not run a record lists.
const MOST_SKIPPED_IN_RECORD: usize = 64;

fn outcome_members(outcome: &Outcome, most_skipped: usize, named: Option<&ConfigurationId>) -> JsonObject {
    // Destructured, so that a new effect cannot be forgotten here.
    let Effects {
        decision,
        reason,
        stop,
        system_message,
        suppress_output,
        clear_context,
        additional_context,
        tool_input,
        tool_output,
        prompt,
        messages,
        entries,
        llm_request,
        llm_response,
        tool_config,
        result,
    } = &outcome.effects;
    let document = JsonObject::new()
        .add("event", json!(outcome.event.name()))
        .add("decision", json!(decision.map(|decision| decision.name())))
        .add("reason", json!(reason))
        .add("stop", json!(stop.is_some()))
        .add("stopReason", json!(stop.as_ref().map(|stop| &stop.reason)))
        .add("systemMessage", json!(system_message))
        .add("suppressOutput", json!(suppress_output))
        .add("clearContext", json!(clear_context))
        .add("additionalContext", json!(additional_context))
        .raw("toolInput", tool_input.as_ref())
        .raw("toolOutput", tool_output.as_ref())
        .add("prompt", json!(prompt))
        .list("messages", messages.iter().cloned())
        .list("entries", entries.iter().cloned())
        .raw("llmRequest", llm_request.as_ref())
        .raw("llmResponse", llm_response.as_ref())
        .raw("nativeRequest", outcome.native_request.as_ref())
        .raw("nativeResponse", outcome.native_response.as_ref())
        .raw("toolConfig", tool_config.as_ref())
        .raw("result", result.as_ref())
        .add_dialect_members(|dialect| dialect.contract().outcome_members(outcome))
        .list("runs", outcome.runs.iter().map(|one| run(one, named)));
    // Only outcomes that ask have the member.
    let document = match outcome.asked_by() {
        None => document,
        Some(asker) => document.add("askedBy", json!(asker.name())),
    };
    // Only outcomes of events with such hooks have the member.
    let document = match outcome.shadow.is_empty() {
        true => document,
        false => document.list("shadow", outcome.shadow.iter().map(shadow_document)),
    };
    document
        .list("skipped", outcome.skipped.iter().take(most_skipped).map(|hook| skipped(hook).to_json()))
        .list("diagnostics", outcome.diagnostics.iter().map(diagnostic))
}

fn configuration(in_force: &ConfigurationId) -> Json {
    let ConfigurationId { digest, revision, places: _ } = in_force;
    JsonObject::new().add("digest", json!(digest.hex())).add("revision", json!(revision)).to_json()
}

/// The document of what a shadow hook would have done, as an outcome has it.
#[must_use]
pub fn shadow_document(shadow: &ShadowRun) -> Json {
    let ShadowRun { run, effects } = shadow;
    JsonObject::new()
        .add("hook", json!(&*run.hook.label))
        .add("dialect", json!(run.hook.dialect.name()))
        .add("source", source(&run.hook.origin))
        .add("end", json!(run.end.name()))
        .add("exitCode", json!(run.exit_code))
        .add("signal", json!(run.signal))
        .add("decision", json!(effects.decision.map(|decision| decision.name())))
        .add("reason", json!(effects.reason))
        .add("stop", json!(effects.stop.is_some()))
        .add("stopReason", json!(effects.stop.as_ref().map(|stop| &stop.reason)))
        .add("additionalContext", json!(effects.additional_context))
        .add("rewrite", would_be_rewrite(effects))
        .add("durationMs", Json::milliseconds(run.duration))
        .to_json()
}

/// What a shadow hook would have replaced, by the name of the outcome's member; null if nothing.
fn would_be_rewrite(effects: &Effects) -> Json {
    // `Effects::is_rewrite` knows the same members.
    let prompt = effects.prompt.as_ref().map(|prompt| Json::string(prompt));
    let replaced = [
        ("toolInput", effects.tool_input.as_ref()),
        ("toolOutput", effects.tool_output.as_ref()),
        ("prompt", prompt.as_ref()),
        ("llmRequest", effects.llm_request.as_ref()),
        ("llmResponse", effects.llm_response.as_ref()),
        ("toolConfig", effects.tool_config.as_ref()),
    ];
    let mut members = replaced.into_iter().filter_map(|(name, value)| Some((name, value?))).peekable();
    if members.peek().is_none() {
        return Json::null();
    }
    members.fold(JsonObject::new(), |document, (name, value)| document.raw(name, Some(value))).to_json()
}

/// The effects in the document of an outcome, for a program that got it from another one. Nothing if it is not the document
/// of an outcome, or has a decision that is not known here.
#[must_use]
pub fn read_effects(document: &JsonObject) -> Option<Effects> {
    let given = |name: &str| document.get(name).filter(|value| value.kind() != JsonKind::Null);
    let text = |name: &str| given(name).and_then(Json::as_str);
    let flag = |name: &str| given(name).and_then(Json::as_bool).unwrap_or(false);
    let list = |name: &str| given(name).and_then(Json::as_array).unwrap_or_default();
    document.get("event")?;
    let decision = match given("decision") {
        Some(word) => {
            let word = word.as_str()?;
            Some(*Decision::ALL.iter().find(|decision| decision.name() == word)?)
        }
        None => None,
    };
    Some(Effects {
        decision,
        reason: text("reason"),
        stop: flag("stop").then(|| Stop { reason: text("stopReason").unwrap_or_default() }),
        system_message: text("systemMessage"),
        suppress_output: flag("suppressOutput"),
        clear_context: flag("clearContext"),
        additional_context: text("additionalContext"),
        tool_input: given("toolInput").cloned(),
        tool_output: given("toolOutput").cloned(),
        prompt: text("prompt"),
        messages: list("messages"),
        entries: list("entries"),
        llm_request: given("llmRequest").cloned(),
        llm_response: given("llmResponse").cloned(),
        tool_config: given("toolConfig").cloned(),
        result: given("result").cloned(),
    })
}

/// What is configured. A module that has no handlers and offers commands or draws messages is listed among the hooks,
/// without an event.
#[must_use]
pub fn list_document(snapshot: &Snapshot) -> Json {
    let hooks = snapshot.hooks().iter().map(|hook| listed(hook));
    let without_handlers = snapshot.modules.iter().filter(|module| events_of_module(snapshot, module).is_empty());
    JsonObject::new()
        .list("hooks", hooks.chain(without_handlers.map(listed_without_handlers)))
        .list("modules", snapshot.modules.iter().map(|module| listed_module(snapshot, module)))
        .list("diagnostics", snapshot.diagnostics().iter().map(diagnostic))
        .to_json()
}

/// Diagnostics alone.
#[must_use]
pub fn diagnostics_document(diagnostics: &[Diagnostic]) -> Json {
    JsonObject::new().list("diagnostics", diagnostics.iter().map(diagnostic)).to_json()
}

/// The document of a plan.
#[must_use]
pub fn explain_document(plan: &Plan) -> Json {
    add_plan(JsonObject::new(), plan).to_json()
}

fn add_plan(document: JsonObject, plan: &Plan) -> JsonObject {
    let planned_hook = |(part, planned): (&PartPlan, &PlannedHook)| {
        let members = JsonObject::new()
            .add("hook", json!(&*planned.hook.label))
            .add("dialect", json!(part.dialect.name()))
            .add("mode", json!(part.stage.name()))
            .add("lane", lane(&planned.hook))
            .add("sandbox", sandbox(&planned.hook))
            .add("source", source(&planned.hook.origin));
        let members = with_conditions(with_remote(members, &planned.hook), &planned.hook);
        let members = match planned.is_changed() {
            true => members.add("fails", json!(Code::TrustChanged.name())),
            false => members,
        };
        members.to_json()
    };
    let document = document
        .add("event", json!(plan.event.name()))
        .add_dialect_members(|dialect| dialect.contract().plan_members(plan.stage_of(dialect)))
        .list("plan", plan.hooks().map(planned_hook));
    let document = match plan.shadow.is_empty() {
        true => document,
        false => document.list("shadow", plan.shadow_hooks().map(planned_hook)),
    };
    let document = document
        .list("skipped", plan.skipped.iter().map(|hook| with_conditions(skipped(hook), &hook.hook).to_json()))
        .list("diagnostics", plan.diagnostics.iter().map(diagnostic));
    let carried_call =
        |call: &CarriedCallPlan| add_plan(JsonObject::new().add("tool", json!(call.tool)), &call.plan).to_json();
    match plan.calls.is_empty() {
        true => document,
        false => document.list("calls", plan.calls.iter().map(carried_call)),
    }
}

/// A run, with the name and the version of its hook if its configuration is given.
fn run(run: &HookRun, in_force: Option<&ConfigurationId>) -> Json {
    let document = JsonObject::new().add("hook", json!(&*run.hook.label));
    let document = match in_force.map(|in_force| run.hook.identity(&in_force.places)) {
        Some(HookIdentity { id, fingerprint }) => document.add("id", json!(id)).add("fingerprint", json!(fingerprint)),
        None => document,
    };
    let document = document
        .add("dialect", json!(run.hook.dialect.name()))
        .add("source", source(&run.hook.origin))
        .add("end", json!(run.end.name()))
        .add("exitCode", json!(run.exit_code))
        .add("signal", json!(run.signal))
        .add("decision", json!(run.decision.map(|decision| decision.name())));
    let document = match in_force {
        Some(_) => document.add("startedMs", run.start.map_or_else(Json::null, Json::milliseconds)),
        None => document,
    };
    let document = match &run.rule {
        Some(found) => document.add("rule", rule_match(found)),
        None => document,
    };
    document
        .add("durationMs", Json::milliseconds(run.duration))
        .add("stdout", json!(run.stdout))
        .add("stderr", json!(run.stderr))
        .to_json()
}

/// Which rule matched, the key of the condition that holds, and the words and the value that made it hold.
fn rule_match(found: &RuleMatch) -> Json {
    let RuleMatch { rule, condition, explanation, .. } = found;
    Json::from(json!({ "name": &**rule, "condition": condition, "explanation": explanation }))
}

fn skipped(skipped: &Skipped) -> JsonObject {
    JsonObject::new()
        .add("hook", json!(&*skipped.hook.label))
        .add("dialect", json!(skipped.hook.dialect.name()))
        .add("why", json!(skipped.why.name()))
        .add("detail", json!(skipped.detail))
        .add("source", source(&skipped.hook.origin))
}

fn listed(hook: &Hook) -> Json {
    let event =
        hook.known_event().map(|event| event.spec().column(hook.dialect).map_or(event.name(), |column| column.name));
    let listed = JsonObject::new()
        .add("hook", json!(&*hook.label))
        .add("event", json!(event))
        .add("matcher", json!(hook.matcher.pattern()))
        .add("dialect", json!(hook.dialect.name()))
        .add("source", source(&hook.origin))
        .add("enabled", json!(hook.is_enabled()))
        .add("trusted", json!(hook.trust.allows()))
        .add("description", json!(hook.description.as_deref()))
        .add("statusMessage", json!(hook.status_message.as_deref()))
        .add("lane", lane(hook))
        .add("sandbox", sandbox(hook));
    let listed = with_remote(listed, hook);
    match hook.enforcement {
        Enforcement::Enforced => listed.to_json(),
        Enforcement::Shadow => listed.add("enforce", json!(false)).to_json(),
    }
}

/// Adds what a remote hook asks. Only such hooks have the member.
fn with_remote(members: JsonObject, hook: &Hook) -> JsonObject {
    let Action::Remote(RemoteTarget { group, retries }) = &hook.action else { return members };
    let timeout = Json::milliseconds(hook.timeout);
    let remote = JsonObject::new()
        .add("group", json!(group.as_str()))
        .add("retries", json!(retries))
        .add("timeoutMs", timeout)
        .add("onFailure", json!(hook.policy_in_force().name()));
    members.add("remote", remote.to_json())
}

/// Adds what the key `if` of a hook became, all of which must hold. Only hooks that have the key have the member.
fn with_conditions(members: JsonObject, hook: &Hook) -> JsonObject {
    let mut conditions = hook.shown_conditions().map(|condition| condition.to_json()).peekable();
    if conditions.peek().is_none() { members } else { members.list("if", conditions) }
}

/// The events that a module has handlers for, in its own words.
fn events_of_module(snapshot: &Snapshot, module: &LoadedModule) -> Vec<&'static str> {
    let is_its_own = |hook: &&Arc<Hook>| matches!(&hook.action, Action::Module(path) if *path == module.path);
    let events = snapshot.hooks().iter().filter(is_its_own).filter_map(|hook| {
        let event = hook.known_event()?;
        Some(event.spec().column(hook.dialect).map_or(event.name(), |column| column.name))
    });
    events.collect()
}

fn listed_without_handlers(module: &LoadedModule) -> Json {
    JsonObject::new()
        .add("hook", json!(module.path.to_string_lossy()))
        .add("event", Json::null())
        .add("matcher", Json::null())
        .add("dialect", json!(module.dialect.name()))
        .add("source", source(&module.origin))
        .add("enabled", json!(true))
        .add("trusted", json!(module.trust.allows()))
        .add("description", Json::null())
        .add("lane", json!({}))
        .add("sandbox", Json::null())
        .list("commands", module.commands.iter().map(command))
        .to_json()
}

/// A module that offers more than handlers.
fn listed_module(snapshot: &Snapshot, module: &LoadedModule) -> Json {
    JsonObject::new()
        .add("module", json!(module.path.to_string_lossy()))
        .add("events", json!(events_of_module(snapshot, module)))
        .list("commands", module.commands.iter().map(command))
        .add("renderers", json!(&module.renderers))
        .add("source", source(&module.origin))
        .to_json()
}

fn command(command: &RegisteredCommand) -> Json {
    JsonObject::new().add("name", json!(&command.name)).add("description", json!(&command.description)).to_json()
}

/// The sandbox profile of a hook; null for a hook without a sandbox.
fn sandbox(hook: &Hook) -> Value {
    if hook.sandbox.is_none() && hook.sandbox_floors.is_empty() {
        return Value::Null;
    }
    json!({
        "profile": hook.sandbox.as_ref().map(|profile| profile.to_json()),
        "floors": hook.sandbox_floors.iter().map(|floor| floor.to_json()).collect::<Vec<_>>(),
        "required": hook.sandbox_requirement == SandboxRequirement::Required,
    })
}

/// The execution options of a hook; an empty object for most.
fn lane(hook: &Hook) -> Json {
    hook.lifetime
        .configured()
        .into_iter()
        .fold(JsonObject::new(), |members, (key, value)| members.add(key, json!(value)))
        .to_json()
}

fn source(origin: &Origin) -> Json {
    JsonObject::new()
        .add("kind", json!(origin.kind.name()))
        .add("file", json!(origin.location.file.to_string_lossy()))
        .add("line", json!(origin.location.line))
        .to_json()
}

fn diagnostic(diagnostic: &Diagnostic) -> Json {
    let mut members = JsonObject::new()
        .add("level", json!(diagnostic.level.name()))
        .add("code", json!(diagnostic.code.name()))
        .add("message", json!(diagnostic.message));
    if let Some(place) = &diagnostic.location {
        members = members
            .add("file", json!(place.file.to_string_lossy()))
            .add("line", json!(place.line))
            .add("column", json!(place.column));
    }
    if let Some(hint) = &diagnostic.hint {
        members = members.add("hint", json!(hint));
    }
    members.to_json()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventKind;

    #[test]
    fn the_effects_of_a_document_are_those_of_its_outcome() {
        let json = |text: &str| Json::parse(text).unwrap();
        let all = Effects {
            decision: Some(Decision::Ask),
            reason: Some("why".to_owned()),
            stop: Some(Stop { reason: "enough".to_owned() }),
            system_message: Some("hear".to_owned()),
            suppress_output: true,
            clear_context: true,
            additional_context: Some("more".to_owned()),
            tool_input: Some(json(r#"{"a":1.0}"#)),
            tool_output: Some(json("[1]")),
            prompt: Some("p".to_owned()),
            messages: vec![json(r#"{"m":1}"#)],
            entries: vec![json(r#"{"e":1}"#)],
            llm_request: Some(json(r#"{"q":1}"#)),
            llm_response: Some(json(r#"{"r":1}"#)),
            tool_config: Some(json(r#"{"t":1}"#)),
            result: Some(json(r#"{"cancel":true}"#)),
        };
        for effects in [all, Effects::none(), Effects::deny("no")] {
            let mut outcome = Outcome::untouched(EventKind::BeforeTool);
            outcome.effects = effects.clone();
            let document = outcome_document(&outcome).as_object().unwrap();
            assert_eq!(read_effects(&document), Some(effects));
            let mut unknown = document.clone();
            unknown.set("decision", Json::string("perhaps"));
            assert_eq!(read_effects(&unknown), None);
        }
        assert_eq!(read_effects(&JsonObject::new()), None);
    }
}
