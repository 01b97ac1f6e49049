//! The records that are not about a fired event: late ends, answers, losses and trust.

use std::path::Path;
use std::time::{Duration, SystemTime};

use hookrail::hook::Authority;
use hookrail::outcome::Health;
use hookrail::recorder::{
    AnsweredEntry, AskedEffect, Entry, EntryKind, HostIdentity, LateEntry, LateReason, LostEntry, PersonAnswer,
    RunEntry, TrustChange, TrustEntry,
};
use hookrail::{Decision, Effects, EndKind, Environment, EventKind, FireOptions, Hook, HookSystem, Json, NativeHook};
use hookrail_journal::{InputPolicy, Journal, JournalOptions, Record, RecordKind};

use super::{place, records};

fn record(folder: &Path, input: InputPolicy, kind: EntryKind<'_>) -> Record<'static> {
    let journal = Journal::new(JournalOptions::new(folder).input(input));
    let host = HostIdentity { name: "test".to_owned(), version: String::new() };
    let entry = Entry { at: SystemTime::UNIX_EPOCH, host: Some(&host), project: Path::new("/p"), kind };
    journal.record_blocking(&entry).unwrap();
    let record = records(&journal).pop().unwrap();
    assert_eq!((record.at.as_str(), &*record.project), ("1970-01-01T00:00:00.000Z", "/p"));
    assert_eq!(record.host.as_ref().unwrap().name, "test");
    record
}

fn late<'r>(hook: &'r Hook, event: EventKind, reason: &'r str) -> EntryKind<'r> {
    let run = RunEntry {
        hook,
        id: "9a0364b9e99bb480".to_owned(),
        fingerprint: "2c26".to_owned(),
        layer: Authority::User,
        start: Some(Duration::from_micros(214)),
        duration: Duration::from_micros(11_902),
        end: EndKind::Exited,
        health: Health::Failed,
        exit_code: Some(3),
        decision: Some(Decision::Deny),
        asked: Vec::new(),
    };
    EntryKind::Late(LateEntry {
        fire: "f-1",
        session: "s1",
        event,
        why: LateReason::Detached,
        run,
        reason: Some(reason),
        verdict: None,
    })
}

fn hook(label: &str) -> Hook {
    Hook::native(EventKind::BeforeTool, label, NativeHook::new(|_| Effects::none()))
}

#[test]
fn a_late_end_is_recorded_without_what_must_not_be_written() {
    let (_dir, folder) = place();
    let guard = hook("TOKEN=supersecretvalue1 guard");
    let reason = "the plan has password=hunter22";
    let found = record(&folder, InputPolicy::Redacted, late(&guard, EventKind::BeforeTool, reason));
    assert_eq!(
        (found.kind, found.fire.as_deref(), found.session.as_deref()),
        (RecordKind::Late, Some("f-1"), Some("s1"))
    );
    assert_eq!((found.event.as_deref(), found.why.as_deref()), (Some("before-tool"), Some("detached")));
    let run = found.runs().next().unwrap();
    assert_eq!((&*run.id, &*run.layer, &*run.end), ("9a0364b9e99bb480", "user", "exited"));
    assert_eq!((run.start, run.ms, run.decision.as_deref()), (Some(0.214), 11.902, Some("deny")));
    assert!(found.reason.as_ref().unwrap().starts_with("the plan has password=[redacted "), "{}", found.line);
    assert!(!found.line.contains("hunter22") && !found.line.contains("supersecretvalue1"), "{}", found.line);
    // A hook that was given a conversation may repeat it.
    let found = record(&folder, InputPolicy::Redacted, late(&guard, EventKind::Prompt, "you wrote: my plan"));
    assert!(found.reason.as_ref().unwrap().starts_with("[redacted "), "{}", found.line);
    let found = record(&folder, InputPolicy::Full, late(&guard, EventKind::Prompt, reason));
    assert_eq!(
        (found.reason.as_deref(), found.runs().next().map(|run| &*run.hook)),
        (Some(reason), Some(&*guard.label))
    );
    let found = record(&folder, InputPolicy::None, late(&guard, EventKind::BeforeTool, reason));
    assert!(found.reason.is_none() && !found.line.contains("supersecretvalue1"), "{}", found.line);
}

fn answered<'r>(event: EventKind, input: &'r Json, text: &'r str) -> EntryKind<'r> {
    EntryKind::Answered(AnsweredEntry {
        fire: Some("f-1"),
        session: "s1",
        event,
        operation: "shell",
        input,
        reason: Some(text),
        answer: PersonAnswer::Refused(text),
    })
}

#[test]
fn an_answer_is_recorded_without_what_must_not_be_written() {
    let (_dir, folder) = place();
    let input = Json::parse(r#"{"command":"ls","password":"hunter22"}"#).unwrap();
    let text = "because of token=abcdefgh";
    let found = record(&folder, InputPolicy::Redacted, answered(EventKind::BeforeTool, &input, text));
    assert_eq!((found.kind, found.fire.as_deref()), (RecordKind::Answered, Some("f-1")));
    assert_eq!((found.operation.as_deref(), found.answer.as_deref()), (Some("shell"), Some("refused")));
    assert!(!found.line.contains("hunter22") && !found.line.contains("abcdefgh"), "{}", found.line);
    assert!(found.line.contains(r#""command":"ls""#), "{}", found.line);
    assert_eq!((found.redacted, &found.because), (1, &found.reason));
    let plan = Json::string("my plan");
    let found = record(&folder, InputPolicy::Redacted, answered(EventKind::Prompt, &plan, "you wrote: my plan"));
    assert!(!found.line.contains("my plan") && found.redacted == 1, "{}", found.line);
    assert!(found.because.as_ref().unwrap().starts_with("[redacted "), "{}", found.line);
    let found = record(&folder, InputPolicy::Full, answered(EventKind::Prompt, &plan, text));
    assert_eq!((found.reason.as_deref(), found.input.as_ref().map(Json::text)), (Some(text), Some("\"my plan\"")));
    let found = record(&folder, InputPolicy::None, answered(EventKind::BeforeTool, &input, text));
    assert!(found.input.is_none() && found.reason.is_none() && found.because.is_none(), "{}", found.line);
    for (answer, name) in [(PersonAnswer::Granted, "granted"), (PersonAnswer::Unavailable, "unavailable")] {
        let EntryKind::Answered(entry) = answered(EventKind::BeforeTool, &input, text) else { panic!() };
        let kind = EntryKind::Answered(AnsweredEntry { answer, reason: None, fire: None, ..entry });
        let found = record(&folder, InputPolicy::Redacted, kind);
        assert_eq!((found.answer.as_deref(), found.because, found.reason), (Some(name), None, None));
    }
}

/// A verdict that came late is as complete as one that came in time, and as clean.
#[test]
fn a_late_verdict_has_everything_that_the_hook_asked_for() {
    let (_dir, folder) = place();
    let shadow = HookSystem::builder("/p").environment(Environment::new()).hook(
        Hook::native(
            EventKind::BeforeTool,
            "guard",
            NativeHook::new(|_| {
                let input = Json::parse(r#"{"command":"ls","token":"hunter22"}"#).unwrap();
                Effects::ask("sure?").and_stop("password=hunter22").with_context("more").with_tool_input(input)
            }),
        )
        .shadow(),
    );
    let system = shadow.build();
    let fired = system.fire_blocking_with(system.event(EventKind::BeforeTool), FireOptions::new().wait_for_all());
    let verdict = &fired.shadow[0];
    let entry = || {
        let EntryKind::Late(late) = late(&verdict.run.hook, EventKind::BeforeTool, "sure?") else { panic!() };
        let asked = vec![AskedEffect::Stop, AskedEffect::Rewrite, AskedEffect::Context];
        let run = RunEntry { asked, decision: Some(Decision::Ask), ..late.run };
        EntryKind::Late(LateEntry { why: LateReason::Shadow, run, verdict: Some(verdict), ..late })
    };
    let found = record(&folder, InputPolicy::Redacted, entry());
    let run = found.runs().next().unwrap();
    assert_eq!((found.decision.as_deref(), run.decision.as_deref()), (None, Some("ask")));
    assert_eq!(run.asked, ["stop", "rewrite", "context"]);
    assert!(!found.line.contains("hunter22") && found.outcome_redacted == 2, "{}", found.line);
    let said = found.outcome.unwrap().to_value()["shadow"][0].clone();
    assert_eq!((&said["stop"], &said["additionalContext"]), (&true.into(), &"more".into()), "{said}");
    assert_eq!(said["rewrite"]["toolInput"]["command"], "ls", "{said}");
    let found = record(&folder, InputPolicy::None, entry());
    assert!(found.outcome.is_none() && found.runs().next().unwrap().asked.len() == 3, "{}", found.line);
}

#[test]
fn a_loss_is_recorded() {
    let (_dir, folder) = place();
    let lost = LostEntry {
        fire: Some("f1"),
        session: "s1",
        event: EventKind::BeforeTool,
        tool: Some("shell"),
        loss: "loss.ask",
        instead: "denied",
    };
    let found = record(&folder, InputPolicy::Redacted, EntryKind::Lost(lost));
    assert_eq!(
        (found.kind, found.session.as_deref(), found.event.as_deref()),
        (RecordKind::Lost, Some("s1"), Some("before-tool"))
    );
    assert_eq!((found.loss.as_deref(), found.instead.as_deref()), (Some("loss.ask"), Some("denied")));
    let instead = "ran with token=abcdefgh";
    let lost = LostEntry {
        fire: Some("f1"),
        session: "s1",
        event: EventKind::BeforeTool,
        tool: Some("shell"),
        loss: "loss.ask",
        instead,
    };
    let found = record(&folder, InputPolicy::Redacted, EntryKind::Lost(lost));
    assert!(!found.line.contains("abcdefgh"), "{}", found.line);
}

#[test]
fn trust_is_recorded_without_secrets_in_labels() {
    let (_dir, folder) = place();
    let trust = |hook| TrustEntry {
        change: TrustChange::Revoked,
        hook: Some(hook),
        event: Some("before-tool"),
        content: Some("2c26"),
    };
    let found = record(&folder, InputPolicy::Redacted, EntryKind::Trust(trust("guard")));
    assert_eq!((found.kind, found.change.as_deref()), (RecordKind::Trust, Some("revoked")));
    assert_eq!((found.hook.as_deref(), found.content.as_deref()), (Some("guard"), Some("2c26")));
    for input in [InputPolicy::Redacted, InputPolicy::None] {
        let found = record(&folder, input, EntryKind::Trust(trust("TOKEN=supersecretvalue1 guard")));
        assert!(!found.line.contains("supersecretvalue1"), "{}", found.line);
    }
}
