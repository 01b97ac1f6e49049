//! The cases in `conformance/agents`: a recorded payload, what the hooks said, and the answer that the agent honours.

use std::collections::BTreeMap;
use std::path::Path;

use hookrail::{Asker, Decision, Effects, Event, Json};
use hookrail_bridge::{
    Agent, AllowPolicy, Answer, AnswerOptions, Attendance, BridgeSession, EventResult, Incoming, Lateness, NoisyEvents,
    OnError, Pass, Reading, UnknownName, request,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Suite {
    agent: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    name: String,
    rule: String,
    payload: String,
    /// The agent whose recording it is, if it is another one.
    payload_of: Option<String>,
    /// Members of the payload that have another value than the recorded one.
    #[serde(default)]
    change: BTreeMap<String, Value>,
    /// Members of the payload that are left out.
    #[serde(default)]
    without: Vec<String>,
    event: Option<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    #[serde(default)]
    options: Options,
    #[serde(default)]
    events: Vec<BTreeMap<String, Value>>,
    passes: Option<String>,
    #[serde(default)]
    session: BridgeSession,
    session_after: Option<Value>,
    said: Vec<SaidInCase>,
    answer: ExpectedAnswer,
    losses: Vec<String>,
}

/// The options with which the user installed the bridge.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Options {
    allow_skips_prompt: bool,
    attended: bool,
    noisy: bool,
}

impl Options {
    fn answer(&self) -> AnswerOptions {
        AnswerOptions {
            allow: if self.allow_skips_prompt { AllowPolicy::SkipsPrompt } else { AllowPolicy::KeepsPrompt },
            attendance: if self.attended { Attendance::Attended } else { Attendance::Unknown },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedAnswer {
    status: u8,
    stdout: Option<Value>,
    stderr: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct SaidInCase {
    decision: Option<String>,
    reason: Option<String>,
    denied_by: Option<String>,
    asked_by: Option<String>,
    stop: Option<String>,
    system_message: Option<String>,
    suppress_output: bool,
    clear_context: bool,
    additional_context: Option<String>,
    tool_input: Option<Json>,
    tool_output: Option<Json>,
    prompt: Option<String>,
    messages: Vec<Json>,
    entries: Vec<Json>,
    llm_request: Option<Json>,
    llm_response: Option<Json>,
    tool_config: Option<Json>,
}

impl SaidInCase {
    fn said(self) -> EventResult {
        let decision = self.decision.map(|name| match name.as_str() {
            "allow" => Decision::Allow,
            "ask" => Decision::Ask,
            "deny" => Decision::Deny,
            other => panic!("`{other}` is not a decision"),
        });
        let effects = Effects {
            decision,
            reason: self.reason,
            stop: self.stop.map(|reason| hookrail::Stop { reason }),
            system_message: self.system_message,
            suppress_output: self.suppress_output,
            clear_context: self.clear_context,
            additional_context: self.additional_context,
            tool_input: self.tool_input,
            tool_output: self.tool_output,
            prompt: self.prompt,
            messages: self.messages,
            entries: self.entries,
            llm_request: self.llm_request,
            llm_response: self.llm_response,
            tool_config: self.tool_config,
            result: None,
        };
        let asker = |name: String| Asker::ALL.into_iter().find(|asker| asker.name() == name);
        let asked_by = self.asked_by.map(|name| asker(name).expect("a kind of asker"));
        EventResult { effects, denied_by: self.denied_by, asked_by }
    }
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/agents")
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn value(json: &Json) -> Value {
    json.to_value()
}

#[test]
fn every_case_gets_the_answer_that_its_agent_honours() {
    let mut failures = Vec::new();
    for agent in Agent::ALL {
        let suite: Suite = read(&folder().join(format!("{agent}.json")));
        assert_eq!(suite.agent, agent.name());
        assert!(suite.cases.len() > 15, "{agent}");
        for case in suite.cases {
            let title = format!("{agent}: {} ({})", case.name, case.rule);
            failures.extend(check(agent, case).into_iter().map(|failure| format!("{title}: {failure}")));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check(agent: Agent, case: Case) -> Vec<String> {
    let recorded = case.payload_of.as_deref().unwrap_or(agent.name());
    let payloads: BTreeMap<String, Json> = read(&folder().join(format!("payloads/{recorded}.json")));
    let payload = payloads.get(&case.payload).unwrap_or_else(|| panic!("no payload `{}`", case.payload));
    let mut payload = payload.as_object().unwrap();
    case.change.into_iter().for_each(|(name, value)| payload.set(&name, Json::from(value)));
    case.without.iter().for_each(|name| drop(payload.remove(name)));
    let payload = payload.to_json();
    let variable = |name: &str| case.environment.get(name).cloned();
    let incoming = Incoming {
        agent,
        event: case.event.as_deref(),
        payload: payload.text().as_bytes(),
        variable: &variable,
        noisy: if case.options.noisy { NoisyEvents::Fired } else { NoisyEvents::Filtered },
    };
    let mut session = case.session;
    let mut failures = Vec::new();
    let answer = match request::read(&incoming) {
        Err(refused) => Answer::refusal(&refused, OnError::Block),
        Ok(Reading::Pass(pass)) => {
            let name = match &pass {
                Pass::UnknownEvent { .. } => "unknown-event",
                Pass::EmptyPrompt => "empty-prompt",
                Pass::PieceOfResponse(_) => "piece-of-response",
                Pass::RepeatedEvent => "repeated-event",
            };
            if case.passes.as_deref() != Some(name) {
                failures.push(format!("passes as `{name}`"));
            }
            Answer::passed(agent, &pass)
        }
        Ok(Reading::Fire(request)) => {
            if let Some(pass) = case.passes {
                failures.push(format!("is fired, not passed as `{pass}`"));
            }
            for (index, expected) in case.events.iter().enumerate() {
                failures.extend(
                    request
                        .events
                        .get(index)
                        .map_or(vec!["has too few events".to_owned()], |event| different_fields(event, expected)),
                );
            }
            match Answer::while_stopped(&request, &mut session) {
                Some(answer) => answer,
                None => {
                    let said: Vec<EventResult> = case.said.into_iter().map(SaidInCase::said).collect();
                    Answer::compose(&request, &said, case.options.answer(), &mut session)
                }
            }
        }
    };
    let stdout = answer.stdout.as_ref().map(value);
    if stdout != case.answer.stdout {
        failures.push(format!("stdout is {stdout:?}, not {:?}", case.answer.stdout));
    }
    if answer.stderr != case.answer.stderr || answer.status.code() != case.answer.status {
        failures.push(format!("stderr is {:?} with {}", answer.stderr, answer.status.code()));
    }
    let losses: Vec<String> = answer.losses.iter().map(hookrail_bridge::Loss::name).collect();
    if losses != case.losses {
        failures.push(format!("losses are {losses:?}, not {:?}", case.losses));
    }
    if let Some(expected) = case.session_after {
        session.losses.clear();
        let expected: BridgeSession = serde_json::from_value(expected).unwrap();
        if session != expected {
            failures.push(format!("the session is {session:?}"));
        }
    }
    failures
}

fn different_fields(event: &Event, expected: &BTreeMap<String, Value>) -> Vec<String> {
    let actual = |name: &str| match name {
        "event" => Some(Value::from(event.kind().name())),
        _ => event.field(name).map(value),
    };
    let different = expected.iter().filter(|(name, wanted)| actual(name).as_ref() != Some(wanted));
    different.map(|(name, _)| format!("`{name}` is {:?}", actual(name))).collect()
}

#[test]
fn every_field_of_a_recorded_payload_is_known() {
    for agent in Agent::ALL {
        let payloads: BTreeMap<String, Json> = read(&folder().join(format!("payloads/{agent}.json")));
        for (name, payload) in payloads {
            let event = name.split('.').next().filter(|_| agent == Agent::copilot());
            let (payload, variable, noisy) = (payload.text().as_bytes(), &|_: &str| None, NoisyEvents::Fired);
            let incoming = Incoming { agent, event, payload, variable, noisy };
            let Ok(Reading::Fire(request)) = request::read(&incoming) else { continue };
            let fields = request.unknown.iter().filter(|unknown| matches!(unknown, UnknownName::Field { .. }));
            assert_eq!(fields.count(), 0, "{agent} {name}: {:?}", request.unknown);
            assert_eq!(request.agent, agent, "{name}");
        }
    }
}

#[test]
fn a_payload_that_cannot_be_used_denies_gating_events_and_no_others() {
    for agent in Agent::ALL {
        for kind in [hookrail::EventKind::BeforeTool, hookrail::EventKind::AfterTool] {
            let Some(name) = agent.event_name(kind) else { continue };
            let whole = format!(r#"{{"hook_event_name":"{name}","session_id":"s","cwd":"/p","toolName":""}}"#);
            let broken = ["", "{", "[]", "nonsense", r#"{"a":1"#, "\u{0}", whole.as_str()];
            for text in broken {
                let incoming = Incoming {
                    agent,
                    event: Some(name),
                    payload: text.as_bytes(),
                    variable: &|_| None,
                    noisy: NoisyEvents::Filtered,
                };
                let Err(refused) = request::read(&incoming) else { panic!("{agent}: {text:?} is accepted") };
                let answer = Answer::refusal(&refused, OnError::Block);
                let reason = answer.stderr.clone().unwrap();
                assert!(reason.contains("hookrail doctor"), "{reason}");
                let denies = answer.status.code() == 2 || answer.stdout.is_some();
                assert_eq!(denies, kind == hookrail::EventKind::BeforeTool, "{agent} {name} {text:?}");
            }
        }
    }
}

/// Gemini CLI gives its calls no id, and it is not known whether their end shows the input before or after a rewrite.
#[test]
fn context_of_a_rewritten_call_reaches_its_end() {
    let payloads: BTreeMap<String, Json> = read(&folder().join("payloads/gemini.json"));
    let before = payloads["BeforeTool.write_file"].to_value();
    let fire = |payload: &Value| {
        let text = payload.to_string();
        let variable = |_: &str| None;
        let (agent, noisy) = (Agent::gemini(), NoisyEvents::Filtered);
        let incoming = Incoming { agent, event: None, payload: text.as_bytes(), variable: &variable, noisy };
        match request::read(&incoming) {
            Ok(Reading::Fire(request)) => request,
            other => panic!("{other:?}"),
        }
    };
    for end_shows_rewrite in [true, false] {
        let mut session = BridgeSession::default();
        let mut input = before["tool_input"].clone();
        input["content"] = Value::from("changed");
        let effects = Effects {
            tool_input: Some(Json::from(input.clone())),
            additional_context: Some("formatted".to_owned()),
            ..Effects::none()
        };
        let said = [EventResult { effects, ..EventResult::default() }];
        let answer = Answer::compose(&fire(&before), &said, AnswerOptions::default(), &mut session);
        assert!(answer.stdout.is_some());
        let mut after = before.clone();
        after["hook_event_name"] = Value::from("AfterTool");
        after["tool_response"] = serde_json::json!({ "llmContent": "ok", "returnDisplay": "ok" });
        if end_shows_rewrite {
            after["tool_input"] = input;
        }
        let answer = Answer::compose(&fire(&after), &[EventResult::default()], AnswerOptions::default(), &mut session);
        let context = value(&answer.stdout.unwrap())["hookSpecificOutput"]["additionalContext"].clone();
        assert_eq!(context, "formatted");
        assert_eq!(session.call_context, BTreeMap::new(), "nothing waits any longer");
    }
}

#[test]
fn the_end_of_an_answer_is_never_denied_by_a_failure_of_the_bridge() {
    for agent in Agent::ALL {
        let Some(name) = agent.event_name(hookrail::EventKind::AgentEnd) else { continue };
        let answer = Answer::denial(agent.find_event(name), "late");
        assert_eq!((answer.status.code(), answer.stdout), (0, None), "{agent}");
    }
}

/// An extension of pi cannot keep a prompt from the model. What denies the prompt has to deny the calls that follow from it.
#[test]
fn a_prompt_of_pi_that_is_denied_at_the_deadline_denies_the_calls_that_follow_from_it() {
    let payloads: BTreeMap<String, Json> = read(&folder().join("payloads/pi.json"));
    let fire = |name: &str| {
        let (payload, variable, noisy) = (payloads[name].text().as_bytes(), &|_: &str| None, NoisyEvents::Filtered);
        match request::read(&Incoming { agent: Agent::pi(), event: None, payload, variable, noisy }) {
            Ok(Reading::Fire(request)) => request,
            other => panic!("{other:?}"),
        }
    };
    let mut session = BridgeSession::default();
    let limit = std::time::Duration::from_secs(1);
    let denial = |answer: Answer| value(&answer.stdout.unwrap())["deny"].as_str().unwrap().to_owned();
    let late = |name: &str, session: &mut BridgeSession| {
        let request = fire(name);
        let answer = Answer::late(request.agent, request.event, Lateness::Deadline(limit));
        session.answered_late(&request, &answer.losses);
        denial(answer)
    };
    assert!(late("before_agent_start", &mut session).contains("within 1 s"));
    let answer = Answer::while_stopped(&fire("tool_call.write"), &mut session);
    assert!(denial(answer.unwrap()).contains("did not answer in time"));
    assert_eq!(Answer::while_stopped(&fire("before_agent_start"), &mut session), None, "the next prompt is a new one");
    assert_eq!(session.stop, None);
    // A call that is late is denied alone.
    assert!(late("tool_call.write", &mut session).contains("within 1 s"));
    assert_eq!(session.stop, None);
}

#[test]
fn a_prompt_of_copilot_under_claudes_name_is_denied_in_the_form_that_blocks() {
    let event = Agent::copilot().find_event("UserPromptSubmit");
    let answer = Answer::denial(event, "no");
    assert_eq!(answer.stdout.as_ref().map(value), Some(serde_json::json!({"decision": "block", "reason": "no"})));
}
