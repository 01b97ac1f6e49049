//! What is removed before anything is written: conversations, what hooks say about them, and secrets in many forms.

use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use hookrail::event::Conversation;
use hookrail::{Decision, Effects, Environment, Event, EventKind, Hook, HookSystem, Json, NativeHook};
use hookrail_journal::{InputPolicy, Journal, JournalOptions, Record};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{place, records};

/// The record of an event, in which a hook says that.
fn recorded_with(folder: &Path, input: InputPolicy, event: Event, said: Effects) -> Record {
    let journal = Journal::new(JournalOptions::new(folder).input(input));
    let hook = Hook::native(event.kind(), "hook", NativeHook::new(move |_| said.clone()));
    let builder = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(hook);
    builder.recorder(journal.clone()).build().fire_blocking(event);
    records(&journal).pop().unwrap()
}

fn recorded(folder: &Path, event: Event) -> Record {
    recorded_with(folder, InputPolicy::Redacted, event, Effects::none())
}

fn call(input: &Value) -> Event {
    let event = Event::new(EventKind::BeforeTool, "/p").with_text("tool_name", "shell");
    event.with("tool_input", Json::from(input.clone()))
}

fn input_of(record: &Record) -> Value {
    serde_json::from_str(record.input.as_ref().unwrap().text()).unwrap()
}

/// The hash that a removed value leaves: that of its text, with the key of the journal.
fn hash_of(folder: &Path, value: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(&std::fs::read(folder.join("key")).unwrap()).unwrap();
    mac.update(value.as_bytes());
    let digest: [u8; 32] = mac.finalize().into_bytes().into();
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_removed_value_has_one_hash_and_length_wherever_it_stands() {
    let (_dir, folder) = place();
    let (short, quoted) = ("mysecret", "a \"quoted\"\nänd long secret");
    let input =
        json!({"command": format!("TOKEN={short} ls"), "token": short, "client_secret": quoted, "pin_token": 4_711});
    let kept = input_of(&recorded(&folder, call(&input)))["tool_input"].clone();
    let left = |value: &str| json!({"redacted": hash_of(&folder, value), "bytes": value.len()});
    assert_eq!(kept["token"], left(short));
    assert_eq!(kept["command"], format!("TOKEN=[redacted {} 8 bytes] ls", hash_of(&folder, short)));
    assert_eq!(kept["client_secret"], left(quoted));
    assert_eq!(kept["pin_token"], left("4711"));

    let said = Effects { decision: Some(Decision::Deny), reason: Some(quoted.to_owned()), ..Effects::none() };
    let prompt = Event::new(EventKind::Prompt, "/p").with_text("prompt", quoted);
    let record = recorded_with(&folder, InputPolicy::Redacted, prompt, said);
    assert_eq!(input_of(&record)["prompt"], left(quoted));
    let outcome: Value = serde_json::from_str(record.outcome.as_ref().unwrap().text()).unwrap();
    assert_eq!(outcome["reason"], format!("[redacted {} {} bytes]", hash_of(&folder, quoted), quoted.len()));
}

/// The table of events says which fields are conversations; none of them is written, whichever the event.
#[test]
fn no_conversation_is_written_of_any_event() {
    let (_dir, folder) = place();
    let mut seen = 0;
    for kind in EventKind::all() {
        for field in kind.spec().fields {
            let value = match field.conversation {
                Conversation::None => continue,
                Conversation::Whole => json!([{"text": "my private plan"}]),
                Conversation::Inside => json!({"name": "helper", "prompt": "my private plan"}),
            };
            seen += 1;
            let record = recorded(&folder, Event::new(kind, "/p").with(field.name, Json::from(value)));
            assert!(!record.line.contains("private plan"), "{} {}: {}", kind.name(), field.name, record.line);
            assert_eq!(record.redacted, 1, "{}", record.line);
        }
    }
    assert!(seen > 20, "{seen}");
    for (kind, field) in [
        (EventKind::Prompt, "images"),
        (EventKind::BeforeCompact, "preparation"),
        (EventKind::BeforeCompact, "branch_entries"),
        (EventKind::AfterCompact, "summary"),
        (EventKind::AfterCompact, "compaction_entry"),
        (EventKind::TurnEnd, "message"),
        (EventKind::TurnEnd, "tool_results"),
        (EventKind::SessionTree, "summary_entry"),
        (EventKind::SessionBeforeTree, "preparation"),
    ] {
        assert_eq!(kind.spec().field(field).unwrap().conversation, Conversation::Whole, "{} {field}", kind.name());
    }
}

#[test]
fn hooks_that_repeat_a_conversation_are_not_quoted() {
    let (_dir, folder) = place();
    let said = || {
        let text = || Some("you wrote: my private plan".to_owned());
        Effects {
            decision: Some(Decision::Deny),
            reason: text(),
            system_message: text(),
            additional_context: text(),
            result: Some(Json::string("my private plan")),
            ..Effects::none()
        }
    };
    let prompt = || Event::new(EventKind::Prompt, "/p").with_text("prompt", "my private plan");
    let record = recorded_with(&folder, InputPolicy::Redacted, prompt(), said());
    assert!(!record.line.contains("private plan"), "{}", record.line);
    assert_eq!(record.decision.as_deref(), Some("deny"));
    let outcome: Value = serde_json::from_str(record.outcome.as_ref().unwrap().text()).unwrap();
    // Programs that read a reason still find a text.
    let reason = outcome["reason"].as_str().unwrap();
    assert!(reason.starts_with("[redacted ") && reason.ends_with(" 26 bytes]"), "{reason}");
    assert_eq!(outcome["systemMessage"], outcome["reason"], "equal texts stay comparable");
    // In an event without a conversation a reason is what its reader needs.
    let record = recorded_with(&folder, InputPolicy::Redacted, call(&json!({"path": "x"})), said());
    assert!(record.line.contains("you wrote: my private plan"), "{}", record.line);
    let record = recorded_with(&folder, InputPolicy::Full, prompt(), said());
    assert!(record.line.contains("you wrote: my private plan"), "{}", record.line);
    let record = recorded_with(&folder, InputPolicy::None, prompt(), said());
    assert!(!record.line.contains("private plan"), "{}", record.line);
}

#[test]
fn members_with_telling_names_are_removed_whatever_they_hold() {
    let (_dir, folder) = place();
    let secrets = json!({
        "api_key": 12_345_678, "apiKey": -1.5, "credentials": {"user": "u", "value": "v"}, "client_secret": ["a", "b"],
        "password": "x", "passphrase": "y", "auth": {"user": "u"}, "basicAuth": "u:p", "pwd": "hunter", "pass": "p",
        "access_token": 42, "cookies": [{"name": "sid"}], "X-Authorization": "z",
    });
    let input = input_of(&recorded(&folder, call(&secrets)))["tool_input"].clone();
    for (name, value) in input.as_object().unwrap() {
        assert!(value["redacted"].is_string(), "{name}: {value}");
    }
    let harmless = json!({
        "max_tokens": 100, "token_estimate": 5000, "tokenCounts": {"a": 1}, "pwd": "/home/me", "author": "me", "pass": 3,
        "secret": null, "token": "", "password": false, "credentials": {}, "authors": ["me"],
    });
    let record = recorded(&folder, call(&harmless));
    assert_eq!(input_of(&record)["tool_input"], harmless);
    assert_eq!(record.redacted, 0);
}

#[test]
fn an_escaped_name_is_read_as_it_is_meant() {
    let (_dir, folder) = place();
    let escaped = Json::parse(r#"{"pass\u0077ord":"hunter22","prom\u0070t":"my plan","p\u0061th":"/x"}"#).unwrap();
    let record = recorded(&folder, call(&json!({})).with("tool_input", escaped));
    assert!(!record.line.contains("hunter22") && !record.line.contains("my plan"), "{}", record.line);
    assert!(record.line.contains(r#""p\u0061th":"/x""#), "{}", record.line);
}

#[test]
fn secrets_in_commands_are_removed_and_the_rest_stays() {
    let (_dir, folder) = place();
    let with_secret = [
        ("deploy --password hunter22 --to x", "hunter22"),
        ("deploy --token=abc12", "abc12"),
        ("deploy --api-key 'a b c d'", "a b c d"),
        ("PASSWORD=\"my long pass\" ls", "my long pass"),
        ("PASSWORD='correct horse battery' ls", "correct horse battery"),
        ("PASSWORD=\"a \\\" b \" ls", "a \\\" b "),
        ("curl -u admin:geheim https://x", "geheim"),
        ("curl -uadmin:geheim https://x", "geheim"),
        ("curl --user 'admin:ge9 heim' x", "ge9"),
        ("curl -H 'Authorization: Basic dXNlcjpw' x", "dXNlcjpw"),
        ("curl -d \"{\\\"password\\\": \\\"hunter22\\\"}\" x", "hunter22"),
        ("gpg --passphrase geheim -d f", "geheim"),
        ("SECRET_KEY=abcdefg run", "abcdefg"),
        ("MYSQL_PWD=geheim mysql", "geheim"),
        ("TOKEN=äöüäöü ls", "äöüäöü"),
        ("token: \"an unclosed value", "an unclosed value"),
    ];
    for (command, secret) in with_secret {
        let record = recorded(&folder, call(&json!({ "command": command })));
        let kept = input_of(&record)["tool_input"]["command"].as_str().unwrap().to_owned();
        let (before, after) = command.split_once(secret).unwrap();
        let is_whole =
            kept.starts_with(&format!("{before}[redacted ")) && kept.ends_with(after.trim_start_matches('\\'));
        assert!(!kept.contains(secret) && is_whole, "{command} -> {kept}");
        assert_eq!(record.redacted, 1, "{command} -> {kept}");
    }
    for command in [
        "docker login --password-stdin",
        "ask --max-tokens 100000",
        "docker run -u 1000:1000 image",
        "rsync -u host:/path/of/file .",
        "date -u +%H:%M:%S",
        "git push -u origin HEAD:main",
        "PWD=/home/me/project OLDPWD=/ ls",
        "use --token to log in",
    ] {
        let record = recorded(&folder, call(&json!({ "command": command })));
        assert_eq!(input_of(&record)["tool_input"]["command"], command);
    }
}

/// The label of a hook without a name is its command.
#[test]
fn labels_of_hooks_are_written_without_secrets() {
    let (_dir, folder) = place();
    for input in [InputPolicy::Redacted, InputPolicy::None, InputPolicy::Full] {
        let journal = Journal::new(JournalOptions::new(&folder).input(input));
        let label = "TOKEN=supersecretvalue1 ./guard";
        let hook = Hook::native(EventKind::BeforeTool, label, NativeHook::new(|_| Effects::none()));
        let builder = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(hook);
        builder.recorder(journal.clone()).build().fire_blocking(call(&json!({})));
        let record = records(&journal).pop().unwrap();
        let is_plain = input == InputPolicy::Full;
        assert_eq!(record.line.contains("supersecretvalue1"), is_plain, "{}", record.line);
        assert!(record.hooks[0].hook.ends_with(" ./guard"), "{}", record.line);
        if let Some(outcome) = &record.outcome {
            let outcome: Value = serde_json::from_str(outcome.text()).unwrap();
            assert_eq!(outcome["runs"][0]["hook"], record.hooks[0].hook, "both have the same label");
        }
    }
}
