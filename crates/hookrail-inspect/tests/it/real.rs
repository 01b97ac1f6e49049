//! Records that the journal has written: the page shows them, and the hand-written records of the other tests are like them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use hookrail::recorder::{
    AnsweredEntry, CorrectedEntry, Entry, EntryKind, HostIdentity, LostEntry, PersonAnswer, TrustChange, TrustEntry,
};
use hookrail::{Decision, Environment, Event, EventKind, FireOptions, HookSystem, Json};
use hookrail_inspect::TesterMode;
use hookrail_journal::{Filter, InputPolicy, Journal, JournalOptions};
use hookrail_testkit::{HANG, enabled_hooks, wait_until};
use serde_json::{Value, json};

use crate::driver::Browser;
use crate::lab::Lab;
use crate::records;

fn lines(journal: &Journal) -> Vec<String> {
    journal.read(Filter::default()).unwrap().map(|record| record.unwrap().line).collect()
}

fn settings(home: &Path, hooks: &Value) {
    std::fs::create_dir_all(home.join(".llxprt")).unwrap();
    std::fs::write(home.join(".llxprt/settings.json"), enabled_hooks(hooks)).unwrap();
}

fn command(name: &str, command: &str) -> Value {
    json!({"type": "command", "name": name, "command": command})
}

fn shadow(name: &str, line: &str) -> Value {
    json!({"type": "command", "name": name, "command": line, "enforce": false})
}

/// Fires events with hooks that rewrite, deny, ask, fail and have no effect, and returns the lines of the journal: of fired
/// events, a late verdict, two answers, a correction, a loss and a grant.
fn recorded(input: InputPolicy) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    let (home, project) = (place.path().join("home"), place.path().join("project"));
    let rewrite = r#"cat > /dev/null; echo '{"hookSpecificOutput":{"tool_input":{"command":"ls -l"}}}'"#;
    let slow =
        format!("while [ ! -e {}/go ]; do sleep 0.02; done; echo 'too late' >&2; exit 2", place.path().display());
    let deny = json!({"matcher": "shell", "hooks": [
        command("audit", "cat > /dev/null"),
        command("guard", "cat > /dev/null; echo 'not here' >&2; exit 2"), shadow("new", r#"cat > /dev/null; echo '{"decision":"deny","reason":"new"}'"#),
    ]});
    let ask = json!({"matcher": "edit", "hooks": [command("format", rewrite), command("asks", r#"cat > /dev/null; echo '{"decision":"ask","reason":"sure?"}'"#),
        command("fails", "exit 3"), shadow("newer", rewrite)]});
    let late = json!({"matcher": "late", "hooks": [shadow("slow", &slow)]});
    settings(&home, &json!({"BeforeTool": [deny, ask, late]}));
    settings(&project, &json!({"BeforeTool": [{"hooks": [command("foreign", "true")]}]}));
    let journal = Journal::new(JournalOptions::new(place.path().join("journal")).input(input));
    let environment = Environment::new().with("HOME", &home).with("PATH", std::env::var_os("PATH").unwrap_or_default());
    let system = HookSystem::builder(&project)
        .environment(environment)
        .host_identity("test host", "1.2")
        .recorder(journal.clone())
        .build();
    let call = |tool: &str| {
        let input = json!({"command": "ls"}).to_string();
        Event::new(EventKind::BeforeTool, &project)
            .session("s1")
            .transcript("/t")
            .with_text("tool_name", tool)
            .with("tool_input", Json::parse(&input).unwrap())
    };
    for tool in ["shell", "edit"] {
        system.fire_blocking_with(call(tool), FireOptions::new().wait_for_all());
    }
    system.fire_blocking(call("late"));
    std::fs::write(place.path().join("go"), "").unwrap();
    assert!(wait_until(|| lines(&journal).iter().any(|line| line.contains(r#""kind":"late""#)), HANG));
    for (event, input) in [(EventKind::BeforeTool, json!({"command": "ls"})), (EventKind::Prompt, json!("my plan"))] {
        let answered = AnsweredEntry {
            fire: Some("f-1"),
            session: "s1",
            event,
            operation: "shell",
            input: &Json::parse(&input.to_string()).unwrap(),
            reason: Some("a guard asks"),
            answer: PersonAnswer::Refused("not on a Friday"),
        };
        let kind = EntryKind::Answered(answered);
        journal.record_blocking(&Entry { at: SystemTime::now(), host: None, project: &project, kind }).unwrap();
    }
    let (session, event) = ("s1", EventKind::BeforeTool);
    let (tool, decision, reason) = (Some("shell"), Some(Decision::Deny), "the disk is full");
    let host = HostIdentity { name: "test host".to_owned(), version: "1.2".to_owned() };
    for kind in [
        EntryKind::Corrected(CorrectedEntry { fire: Some("f-1"), session, event: Some(event), tool, decision, reason }),
        EntryKind::Lost(LostEntry {
            fire: Some("f-1"),
            session,
            event,
            tool,
            loss: "loss.ask",
            instead: "it was denied",
        }),
        EntryKind::Trust(TrustEntry {
            change: TrustChange::Granted,
            hook: Some("guard"),
            event: Some("before-tool"),
            content: Some("2c26"),
        }),
    ] {
        journal.record_blocking(&Entry { at: SystemTime::now(), host: Some(&host), project: &project, kind }).unwrap();
    }
    system.shutdown_blocking();
    lines(&journal)
}

/// What values of one place look like: the kinds of JSON, and the members or elements.
#[derive(Default)]
struct Shape {
    kinds: BTreeSet<&'static str>,
    members: BTreeMap<String, Self>,
    /// In how many objects.
    objects: usize,
    /// For each member, in how many objects it is.
    present: BTreeMap<String, usize>,
    elements: Option<Box<Self>>,
}

/// Members that hold whatever a host or a hook put there.
const OPEN: [&str; 4] = ["tool_input", "toolInput", "input", "aggregated"];

impl Shape {
    fn add(&mut self, value: &Value) {
        self.kinds.insert(match value {
            Value::Null => return,
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        });
        match value {
            Value::Array(values) => {
                let elements = self.elements.get_or_insert_default();
                values.iter().for_each(|value| elements.add(value));
            }
            Value::Object(members) => {
                self.objects += 1;
                for (key, value) in members {
                    *self.present.entry(key.clone()).or_default() += 1;
                    let member = self.members.entry(key.clone()).or_default();
                    if !OPEN.contains(&key.as_str()) {
                        member.add(value);
                    }
                }
            }
            _ => {}
        }
    }

    /// Says where these hand-written values are not like the real ones.
    fn differences(&self, real: &Self, path: &str, found: &mut Vec<String>) {
        for kind in self.kinds.difference(&real.kinds) {
            // Of a member that is always null in the real records nothing is known.
            if !real.kinds.is_empty() {
                found.push(format!("{path} is never a {kind}, but {:?}", real.kinds));
            }
        }
        for (key, member) in &self.members {
            match real.members.get(key) {
                Some(of_real) => member.differences(of_real, &format!("{path}.{key}"), found),
                None => found.push(format!("no real record has {path}.{key}")),
            }
        }
        let always = real.present.iter().filter(|(_, count)| **count == real.objects).map(|(key, _)| key);
        for key in always.filter(|key| self.objects > 0 && self.present.get(*key) != Some(&self.objects)) {
            found.push(format!("every real record has {path}.{key}"));
        }
        if let (Some(own), Some(of_real)) = (&self.elements, &real.elements) {
            own.differences(of_real, &format!("{path}[]"), found);
        }
    }
}

/// The other tests of the inspector use hand-written records. What the journal writes must not look different.
#[test]
fn hand_written_records_are_like_those_of_the_journal() {
    let real: Vec<Value> =
        recorded(InputPolicy::Redacted).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let written = Vec::from_iter((1..=90).map(records::fired).chain(records::others(91, 1)));
    for kind in ["fired", "late", "answered", "corrected", "lost", "trust"] {
        let shape = |records: &[Value]| {
            let mut shape = Shape::default();
            records.iter().filter(|record| record["kind"] == kind).for_each(|record| shape.add(record));
            shape
        };
        let mut found = Vec::new();
        shape(&written).differences(&shape(&real), kind, &mut found);
        assert_eq!(found, [""; 0]);
    }
}

/// The rows of these lines.
fn rows(lines: &[String]) -> Vec<Value> {
    let lab = Lab::with_events(0);
    lines.iter().for_each(|line| lab.append_line(Ok(line.clone())));
    let session = lab.sign_in();
    let count = lines.len() as u64;
    lab.wait_for_rows(&session, count);
    let answer = lab.get(&format!("{}rows/0", session.api), std::slice::from_ref(&session.header)).json();
    answer["rows"].as_array().unwrap().clone()
}

#[test]
fn every_record_of_the_journal_has_a_row() {
    for input in [InputPolicy::Full, InputPolicy::Redacted, InputPolicy::None] {
        let rows = rows(&recorded(input));
        let kinds: Vec<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
        let expected = ["fired", "fired", "fired", "late", "answered", "answered", "corrected", "lost", "trust"];
        assert_eq!(kinds, expected, "{input:?} {rows:?}");
        // A deny by exit status is a verdict, also of a hook that was late, and where the record has no exit status.
        let failed: Vec<(&str, bool)> = rows
            .iter()
            .flat_map(|row| row["hooks"].as_array().unwrap())
            .map(|run| (run[1].as_str().unwrap(), run[6] == 1))
            .collect();
        let expected =
            [("audit", false), ("guard", false), ("format", false), ("asks", false), ("fails", true), ("slow", false)];
        assert_eq!(failed, expected, "{input:?} {rows:?}");
    }
}

#[test]
fn the_page_shows_every_record_of_the_journal() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::new(TesterMode::Explain);
    let lines = recorded(InputPolicy::Full);
    lines.iter().for_each(|line| lab.append_line(Ok(line.clone())));
    browser.open(&lab.url);
    browser.wait("document.getElementById('count').textContent === '9 events'");
    let shown = |number: usize| {
        browser.run(&format!("location.hash = '#/event/{number}'"));
        browser.wait(&format!("document.querySelector('.row.selected')?.dataset.n === '{number}'"));
        // The record before it is shown until this one has come.
        let seq = number + 1;
        browser.wait(&format!("document.querySelector('#detail h2')?.textContent.includes('#{seq}')"));
        browser.run("return document.querySelector('#detail').innerText").as_str().unwrap().to_owned()
    };
    let denied = shown(0);
    for expected in ["deny", "not here", "audit", "guard", "foreign"] {
        assert!(denied.contains(expected), "{expected} is not in:\n{denied}");
    }
    assert!(!denied.contains(" failed"), "{denied}");
    let asked = shown(1);
    assert!(asked.contains("The tool's input: rewritten") && asked.contains(" failed"), "{asked}");
    let late = shown(3);
    assert!(late.contains("too late") && !late.contains(" failed"), "{late}");
    assert!(late.contains("after the outcome") && !late.contains("in time"), "{late}");
    for (number, expected) in [(5, "not on a Friday"), (6, "the disk is full"), (7, "it was denied"), (8, "granted")] {
        let text = shown(number);
        assert!(text.contains(expected), "{expected} is not in:\n{text}");
    }
    assert_eq!(browser.console(), [""; 0]);
}
