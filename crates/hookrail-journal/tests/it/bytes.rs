//! The bytes of records: what a program has read or verified once, it can read and verify again.

use std::path::Path;
use std::time::{Duration, SystemTime};

use hookrail::hook::Authority;
use hookrail::recorder::{
    AnsweredEntry, AskedEffect, CorrectedEntry, Entry, EntryKind, FiredEntry, HostIdentity, LateEntry, LateReason,
    LostEntry, PersonAnswer, RunEntry, TrustChange, TrustEntry,
};
use hookrail::trust::Digest;
use hookrail::{
    Decision, Effects, EndKind, Environment, Event, EventKind, FireOptions, Health, Hook, HookSystem, Json, NativeHook,
    Outcome, ShadowRun,
};
use hookrail_journal::{InputPolicy, Journal, JournalOptions};

use super::{append, journal, place, segment_files};

const EXPECTED: &str = include_str!("records.jsonl");

/// What the entries of one policy are about.
struct Scene {
    hook: Hook,
    input: Json,
    prompt: Json,
    call: Event,
    said: Event,
    denied: Outcome,
    untouched: Outcome,
    verdict: ShadowRun,
}

impl Scene {
    fn new() -> Self {
        let label = "TOKEN=supersecretvalue1 ./guard \"a\"";
        let guard =
            || Hook::native(EventKind::BeforeTool, label, NativeHook::new(|_| Effects::ask("password=hunter22")));
        let builder = HookSystem::builder("/p").environment(Environment::new()).hook(guard().shadow());
        let system = builder.build();
        let fired = system.fire_blocking_with(system.event(EventKind::BeforeTool), FireOptions::new().wait_for_all());
        let mut verdict = fired.shadow[0].clone();
        (verdict.run.start, verdict.run.duration) = (None, Duration::from_nanos(1_500_999));
        let input = Json::parse(r#"{"command":"ls \u001b","token":"hunter22","one":1.0}"#).unwrap();
        let call = Event::new(EventKind::BeforeTool, "/p/sub").session("s1").transcript("/t.jsonl");
        let mut denied = Outcome::untouched(EventKind::BeforeTool);
        denied.effects = Effects::deny("because of token=abcdefgh").and_stop("enough");
        Self {
            hook: guard(),
            prompt: Json::string("my plan"),
            call: call.with_text("tool_name", "shell").with("tool_input", input.clone()),
            said: Event::new(EventKind::Prompt, "").with_text("prompt", "my plan"),
            input,
            denied,
            untouched: Outcome::untouched(EventKind::Prompt),
            verdict,
        }
    }

    fn run(&self, end: EndKind, health: Health) -> RunEntry<'_> {
        RunEntry {
            hook: &self.hook,
            id: "9a0364b9e99bb480".to_owned(),
            fingerprint: "2c26".to_owned(),
            layer: Authority::User,
            start: (health == Health::Failed).then_some(Duration::from_micros(214)),
            duration: Duration::from_nanos(11_902_999),
            end,
            health,
            exit_code: (end == EndKind::Exited).then_some(3),
            decision: (health == Health::Failed).then_some(Decision::Deny),
            asked: Vec::new(),
        }
    }

    fn fired<'r>(&'r self, event: &'r Event, outcome: &'r Outcome, runs: Vec<RunEntry<'r>>) -> EntryKind<'r> {
        let is_call = event.kind() == EventKind::BeforeTool;
        let asked = vec![AskedEffect::Stop, AskedEffect::Context];
        let shadow = RunEntry { asked, ..self.run(EndKind::Answered, Health::Well) };
        EntryKind::Fired(Box::new(FiredEntry {
            fire: "f-1",
            event,
            trace: is_call.then(|| "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned()),
            configuration: Digest::of(b"configuration"),
            outcome,
            runs,
            shadow: if is_call { vec![shadow] } else { Vec::new() },
            duration: Duration::from_micros(12_410),
        }))
    }

    fn late<'r>(&'r self, why: LateReason, event: EventKind, reason: Option<&'r str>) -> EntryKind<'r> {
        let verdict = (why == LateReason::Shadow).then_some(&self.verdict);
        let run = self.run(EndKind::Exited, Health::Failed);
        EntryKind::Late(LateEntry { fire: "f-1", session: "", event, why, run, reason, verdict })
    }

    fn answered<'r>(&'r self, event: EventKind, input: &'r Json, answer: PersonAnswer<'r>) -> EntryKind<'r> {
        let is_call = event == EventKind::BeforeTool;
        let reason = is_call.then_some("password=hunter22");
        let fire = Some(if is_call { "f-1" } else { "" });
        EntryKind::Answered(AnsweredEntry { fire, session: "s1", event, operation: "shell", input, reason, answer })
    }

    fn entries(&self) -> Vec<EntryKind<'_>> {
        use EventKind::{BeforeTool, Prompt};
        let secret = "ran with token=abcdefgh";
        let runs = vec![self.run(EndKind::Exited, Health::Failed), self.run(EndKind::Answered, Health::Well)];
        let corrected = |fire, session, event, tool, decision| {
            EntryKind::Corrected(CorrectedEntry { fire, session, event, tool, decision, reason: secret })
        };
        let lost = |fire, tool| {
            EntryKind::Lost(LostEntry { fire, session: "", event: BeforeTool, tool, loss: "loss.ask", instead: secret })
        };
        let trust = |change, hook, event, content| EntryKind::Trust(TrustEntry { change, hook, event, content });
        vec![
            self.fired(&self.call, &self.denied, runs),
            self.fired(&self.said, &self.untouched, Vec::new()),
            self.late(LateReason::Detached, BeforeTool, Some(secret)),
            self.late(LateReason::Detached, Prompt, Some("you wrote: my plan")),
            self.late(LateReason::Detached, Prompt, Some("")),
            self.late(LateReason::Shadow, BeforeTool, None),
            self.answered(BeforeTool, &self.input, PersonAnswer::Refused(secret)),
            self.answered(Prompt, &self.prompt, PersonAnswer::Refused("")),
            self.answered(BeforeTool, &self.input, PersonAnswer::Granted),
            self.answered(Prompt, &self.prompt, PersonAnswer::Unavailable),
            corrected(Some("f-1"), "s1", Some(BeforeTool), Some("shell"), Some(Decision::Deny)),
            corrected(None, "", None, Some(""), None),
            lost(Some("f-1"), Some("shell")),
            lost(None, None),
            trust(TrustChange::Granted, Some(&*self.hook.label), Some("before-tool"), Some("2c26")),
            trust(TrustChange::Revoked, None, None, None),
        ]
    }
}

/// The members of a line that do not depend on the machine: without the chain, the machine and the user.
fn same_everywhere(line: &str) -> String {
    let (_, members) = line.split_once("\"v\":").unwrap();
    let (members, _) = members.rsplit_once(",\"hash\":").unwrap();
    let (before, rest) = members.split_once("\"machine\":").unwrap();
    let after = rest.find("\"host\":").or_else(|| rest.find("\"project\":")).unwrap();
    format!("{{\"v\":{before}{}}}\n", &rest[after..])
}

#[test]
fn records_of_every_kind_keep_their_bytes() {
    let (_dir, folder) = place();
    append(&journal(&folder), "the folder and its key are made").unwrap();
    std::fs::write(folder.join("key"), [7; 32]).unwrap();
    let scene = Scene::new();
    for input in [InputPolicy::Redacted, InputPolicy::Full, InputPolicy::None] {
        let journal = Journal::new(JournalOptions::new(&folder).input(input));
        for (place, kind) in scene.entries().into_iter().enumerate() {
            let host = HostIdentity { name: "test".to_owned(), version: ["", "1.2"][place % 2].to_owned() };
            let host = (place % 3 > 0).then_some(&host);
            let entry = Entry { at: SystemTime::UNIX_EPOCH, host, project: Path::new("/p"), kind };
            journal.record_blocking(&entry).unwrap();
        }
    }
    let lines: String = segment_files(&folder).iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let written: String = lines.lines().skip(1).map(same_everywhere).collect();
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/records.jsonl");
        return std::fs::write(file, written).unwrap();
    }
    for (written, expected) in written.lines().zip(EXPECTED.lines()) {
        assert_eq!(written, expected);
    }
    assert_eq!(written.lines().count(), EXPECTED.lines().count());
}
