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
fn recorded_with(folder: &Path, input: InputPolicy, event: Event, said: Effects) -> Record<'static> {
    let journal = Journal::new(JournalOptions::new(folder).input(input));
    let hook = Hook::native(event.kind(), "hook", NativeHook::new(move |_| said.clone()));
    let builder = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(hook);
    builder.recorder(journal.clone()).build().fire_blocking(event);
    records(&journal).pop().unwrap()
}

fn recorded(folder: &Path, event: Event) -> Record<'static> {
    recorded_with(folder, InputPolicy::Redacted, event, Effects::none())
}

fn call(input: &Value) -> Event {
    let event = Event::new(EventKind::BeforeTool, "/p").with_text("tool_name", "shell");
    event.with("tool_input", Json::from(input.clone()))
}

fn input_of(record: &Record<'_>) -> Value {
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
fn members_with_telling_names_are_removed_unless_they_hold_a_reference() {
    let (_dir, folder) = place();
    let secrets = json!({
        "api_key": 12_345_678, "apiKey": -1.5, "credentials": {"user": "u", "value": "v"}, "client_secret": ["a", "b"],
        "password": "x", "passphrase": "y", "auth": {"user": "u"}, "basicAuth": "u:p", "pwd": "hunter", "pass": "p",
        "access_token": 42, "cookies": [{"name": "sid"}], "X-Authorization": "z", "accessKey": "k", "accountKey": "k",
        "passcode": "1234", "userPass": "p", "DB_PASS": "p", "access_tokens": ["t"], "OPENAI_KEY": "k", "encryptionKey": "k",
        "secretValue": "v", "Authorization": "Custom abc", "token": "/Qz7Xk9Lm2Np4Rt6Vw8Yb1Cd3Ef5Gh/x",
    });
    let input = input_of(&recorded(&folder, call(&secrets)))["tool_input"].clone();
    for (name, value) in input.as_object().unwrap() {
        assert!(value["redacted"].is_string(), "{name}: {value}");
    }
    let harmless = json!({
        "max_tokens": 100, "token_estimate": 5000, "tokenCounts": {"a": 1}, "pwd": "/home/me", "author": "me", "pass": 3,
        "secret": null, "token": "", "password": false, "credentials": {}, "authors": ["me"], "token_file": "/run/token",
        "secretPath": "kv/app", "cookie_jar": "/tmp/jar", "tokenizer": "bert", "secretName": "app", "token": "$TOKEN",
        "apiKey": "${{ secrets.KEY }}", "client_secret": "$(cat f)", "private_key": "/etc/ssl/key.pem", "passphrase": "string",
        "auth_token": "~/.token", "Authorization": "Bearer $TOKEN", "publicKey": "k", "sort_key": "k", "compass": "north",
    });
    let record = recorded(&folder, call(&harmless));
    assert_eq!(input_of(&record)["tool_input"], harmless);
    assert_eq!(record.redacted, 0);
}

#[test]
fn the_value_beside_a_telling_name_is_removed() {
    let (_dir, folder) = place();
    let env = json!({"env": [
        {"name": "DB_PASSWORD", "value": "geheim"}, {"value": "geheim", "name": "DB_PASSWORD"}, {"key": "X-Api-Key", "x": {}, "value": "geheim"},
        {"name": "PATH", "value": "/bin"}, {"name": "DB_PASSWORD", "value": "$PASSWORD"}, {"name": "TOKEN_FILE", "value": "f"},
    ]});
    let record = recorded(&folder, call(&env));
    let env = input_of(&record)["tool_input"]["env"].clone();
    let left = json!({"redacted": hash_of(&folder, "geheim"), "bytes": 6});
    assert_eq!([&env[0]["value"], &env[1]["value"], &env[2]["value"]], [&left, &left, &left]);
    assert_eq!(env[3]["value"], "/bin");
    assert_eq!(env[4]["value"], "$PASSWORD");
    assert_eq!(record.redacted, 3);
    // What was removed is not removed again.
    let again = recorded(&folder, call(&json!({ "env": env })));
    assert_eq!((&input_of(&again)["tool_input"]["env"], again.redacted), (&env, 0));
}

#[test]
fn an_escaped_name_is_read_as_it_is_meant() {
    let (_dir, folder) = place();
    let escaped = Json::parse(r#"{"pass\u0077ord":"hunter22","prom\u0070t":"my plan","p\u0061th":"/x"}"#).unwrap();
    let record = recorded(&folder, call(&json!({})).with("tool_input", escaped));
    assert!(!record.line.contains("hunter22") && !record.line.contains("my plan"), "{}", record.line);
    assert!(record.line.contains(r#""p\u0061th":"/x""#), "{}", record.line);
}

/// What is removed and what stays, form by form. An example of what is removed is what stands before the secret, the secret,
/// and what stands behind it.
#[derive(serde::Deserialize)]
struct FormExamples {
    form: String,
    removed: Vec<[String; 3]>,
    kept: Vec<String>,
}

/// The examples of `secret_forms.json`. The random part of a token is put in here, so that nothing in the file is one.
fn examples() -> Vec<FormExamples> {
    let text = include_str!("secret_forms.json");
    let text = text.replace("{R}", "Qz7Xk9Lm2Np4Rt6Vw8Yb1Cd3Ef5Gh").replace("{CAPITALS}", "QZ7XK9LM2NP4RT6VW8YB");
    let text =
        text.replace("{HEX}", "0123456789abcdef0123456789abcdef").replace("{LETTERS}", "QzXkLmNpRtVwYbCdEfGhJkPq");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn secrets_in_texts_are_removed_and_the_rest_stays() {
    let (_dir, folder) = place();
    let mut wrong = Vec::new();
    for FormExamples { form, removed, kept } in examples() {
        for [before, secret, behind] in removed {
            let text = format!("{before}{secret}{behind}");
            let record = recorded(&folder, call(&json!({ "text": text })));
            let left = input_of(&record)["tool_input"]["text"].as_str().unwrap().to_owned();
            // What is in JSON is hashed as it is meant.
            let marks =
                if secret.contains("\\\"") { vec![secret.replace("\\\"", "\""), secret.clone()] } else { vec![secret] };
            let expected = marks.iter().map(|secret| {
                format!("{before}[redacted {} {} bytes]{behind}", hash_of(&folder, secret), secret.len())
            });
            if !expected.collect::<Vec<_>>().contains(&left) || record.redacted != 1 {
                wrong.push(format!("{form}: {text} -> {left}"));
            }
        }
        for text in kept {
            let record = recorded(&folder, call(&json!({ "text": text })));
            let left = input_of(&record)["tool_input"]["text"].as_str().unwrap().to_owned();
            if left != text || record.redacted != 0 {
                wrong.push(format!("{form} stays: {text} -> {left}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_user_of_an_address_with_a_password_may_be_a_token() {
    let (_dir, folder) = place();
    let address = "https://ghp_Qz7Xk9Lm2Np4Rt6Vw8Yb1Cd3Ef5Gh:x-oauth-basic@github.com/o/r";
    let record = recorded(&folder, call(&json!({ "command": format!("git clone {address}") })));
    let left = input_of(&record)["tool_input"]["command"].as_str().unwrap().to_owned();
    assert!(!left.contains("ghp_") && !left.contains("oauth") && left.ends_with("@github.com/o/r"), "{left}");
    assert_eq!(record.redacted, 2);
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
        let hook = &record.runs().next().unwrap().hook;
        assert!(hook.ends_with(" ./guard"), "{}", record.line);
        if let Some(outcome) = &record.outcome {
            let outcome: Value = serde_json::from_str(outcome.text()).unwrap();
            assert_eq!(outcome["runs"][0]["hook"], **hook, "both have the same label");
        }
    }
}

/// Texts made of parts of examples: what is between the marks stays as it was and where it was.
mod any_text {
    use proptest::prelude::*;

    use super::{call, examples, hash_of, input_of, place, recorded};
    use serde_json::{Value, json};

    /// The text, with what was removed put back by its hash.
    fn is_reported(folder: &std::path::Path, before: &str, left: &str) -> bool {
        let Some((kept, rest)) = left.split_once("[redacted ") else { return before == left };
        let Some(before) = before.strip_prefix(kept) else { return false };
        let hash = rest.get(..32).unwrap_or_default();
        let behind = rest.split_once(" bytes]").map_or("", |(_, behind)| behind);
        // The secret ends where its hash says, as it stands or as JSON means it.
        (1..=before.len()).filter(|end| before.is_char_boundary(*end)).any(|end| {
            let (secret, rest) = before.split_at(end);
            let mut meant = vec![secret.to_owned()];
            while let Some(text) = meant.last().and_then(|last| serde_json::from_str(&format!("\"{last}\"")).ok()) {
                if meant.contains(&text) {
                    break;
                }
                meant.push(text);
            }
            meant.iter().any(|meant| hash_of(folder, meant) == hash) && is_reported(folder, rest, behind)
        })
    }

    fn parts() -> Vec<String> {
        let mut parts: Vec<String> = [
            " ",
            "\n",
            "\\n",
            "\"",
            "'",
            "\\\"",
            "`",
            "$",
            "$(",
            ")",
            "${",
            "}",
            "{{",
            "://",
            "@",
            ":",
            "=",
            ",",
            ";",
            "/",
            "-",
            "--",
            "-u ",
            "ä",
            "key",
            "token",
            "PASSWORD",
            "Authorization: ",
            "Cookie: ",
            "value: ",
            "name: ",
            "a",
            "1",
            "login me password ",
            "[redacted 0123456789abcdef0123456789abcdef 8 bytes]",
            "[redacted ",
            "-----BEGIN ",
            "PRIVATE KEY-----",
            "curl ",
        ]
        .map(str::to_owned)
        .to_vec();
        for form in examples() {
            parts.extend(form.removed.into_iter().flatten());
            parts.extend(form.kept);
        }
        parts.sort();
        parts.dedup();
        parts
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn keeps_what_is_not_reported_and_is_redacted_once(
            chosen in prop::collection::vec(prop_oneof![4 => prop::sample::select(parts()), 1 => ".{0,6}"], 0..12),
        ) {
            let (_dir, folder) = place();
            let text = chosen.concat();
            let record = recorded(&folder, call(&json!({ "text": text })));
            let left: Value = input_of(&record)["tool_input"].clone();
            let left_text = left["text"].as_str().unwrap();
            prop_assert!(text.contains("[redacted ") || is_reported(&folder, &text, left_text), "{text:?} -> {left_text:?}");
            let again = recorded(&folder, call(&left));
            prop_assert_eq!(&input_of(&again)["tool_input"], &left, "{:?}", text);
        }
    }
}
