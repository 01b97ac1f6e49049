//! The log: its content, and that problems with standard error never affect requests.

use std::io::{BufReader, Read as _, Write as _};
use std::process::Stdio;

use hookrail_testkit::Talk;
use serde_json::{Value, json};

use crate::serve::support::Sandbox;
use crate::serve::watching::{get, metrics_address};

const DENIES: &str = "echo 'secrets stay' >&2; exit 2";

/// Requests that must work regardless of the log: an event, a reload, a hello.
fn serves(sandbox: &Sandbox, talk: &mut Talk, what: &str) {
    for _ in 0..5 {
        let answer = talk.ask("x");
        assert_eq!(answer["success"], true, "{what}: {answer}");
        assert_eq!(answer["outcome"]["reason"], "secrets stay", "{what}: {answer}");
    }
    sandbox.edit("echo edited");
    talk.until_message("edited");
    assert_eq!(talk.hello()["protocol"], 1);
}

#[test]
fn a_reader_of_the_log_that_dies_changes_nothing() {
    let sandbox = Sandbox::with_user_hook(DENIES);
    let mut command = sandbox.serve(&["--stdio", "--trust-project"]);
    let (mut server, mut talk) = Sandbox::talk_to({
        command.env("RUST_LOG", "hookrail=debug");
        command
    });
    assert_eq!(talk.ask("x")["outcome"]["decision"], "deny");
    drop(server.stderr.take());
    serves(&sandbox, &mut talk, "the reader is gone");
    talk.finish();
    server.ends_with(0);
}

/// A pipe that nothing reads any more.
fn without_reader() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn full_disk() -> Stdio {
    std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn a_log_that_was_broken_from_the_start_changes_nothing() {
    for (what, stderr) in [("a pipe without a reader", without_reader as fn() -> Stdio), ("a full disk", full_disk)] {
        for format in ["text", "json"] {
            let sandbox = Sandbox::with_user_hook(DENIES);
            // An unknown setting is reported on standard error, too.
            let folder = sandbox.base.join("home/.config/hookrail");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("config.toml"), "[bus]\nrequest = 3\n").unwrap();
            let mut command = sandbox.serve(&["--stdio", "--trust-project", "--metrics", "0", "--log-format", format]);
            command.env("RUST_LOG", "hookrail=debug").stderr(stderr());
            let (server, mut talk) = Sandbox::talk_to(command);
            serves(&sandbox, &mut talk, what);
            talk.finish();
            server.ends_with(0);
        }
    }
}

#[test]
fn a_log_that_nothing_reads_holds_nothing_up() {
    let sandbox = Sandbox::with_user_hook(DENIES);
    let mut command = sandbox.serve(&["--stdio", "--trust-project"]);
    command.env("RUST_LOG", "hookrail=trace");
    // The pipe is kept open and never read: it is full after 64 KiB, and every event logs more than 1 KiB.
    let (server, mut talk) = Sandbox::talk_to(command);
    let input = json!({"tool_name": "x", "tool_input": {"text": "y".repeat(20_000)}});
    for at in 0..20 {
        let payload = json!({"correlationId": at.to_string(), "eventName": "BeforeTool", "input": input});
        talk.say("HOOK_EXECUTION_REQUEST", &payload);
        assert_eq!(talk.next().unwrap()["payload"]["outcome"]["decision"], "deny");
    }
    serves(&sandbox, &mut talk, "nothing is read");
    talk.finish();
    server.ends_with(0);
}

/// The log of a server that was asked once about a tool in a session.
fn log_of(command: &str, level: Option<&str>, format: &str) -> (Sandbox, String) {
    let sandbox = Sandbox::with_hook(command);
    let mut serve = sandbox.serve(&["--stdio", "--trust-project", "--log-format", format]);
    if let Some(level) = level {
        serve.env("RUST_LOG", level);
    }
    let (mut server, mut talk) = Sandbox::talk_to(serve);
    let input = json!({"session_id": "session-7", "tool_name": "write_file", "tool_input": {"path": "a"}});
    talk.say("HOOK_EXECUTION_REQUEST", &json!({"correlationId": "c-1", "eventName": "BeforeTool", "input": input}));
    talk.next().unwrap();
    talk.say("HOOK_EXECUTION_REQUEST", &json!({"correlationId": "c-2", "eventName": "Nonsense", "input": {}}));
    talk.next().unwrap();
    talk.finish();
    let mut log = String::new();
    server.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    server.ends_with(0);
    (sandbox, log)
}

#[test]
fn warnings_are_logged_by_default_with_what_they_are_about() {
    let (sandbox, log) = log_of("echo broken >&2; exit 1", None, "text");
    let line = log.lines().find(|line| line.contains("hook failed")).unwrap_or_else(|| panic!("{log}"));
    let project = sandbox.project.to_str().unwrap();
    for part in [
        "WARN",
        "correlationId=\"c-1\"",
        "session=\"session-7\"",
        project,
        "event=\"before-tool\"",
        "tool=\"write_file\"",
        "hook=",
        "end=\"exited\"",
        "exitCode=1",
        "broken",
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
    let refused = log.lines().find(|line| line.contains("c-2")).unwrap_or_else(|| panic!("{log}"));
    assert!(refused.contains("WARN") && refused.contains("unsupported_event"), "{refused}");
    // A deny is not a warning, and `off` is off.
    let (_, log) = log_of(DENIES, None, "text");
    assert!(!log.contains("c-1"), "{log}");
    assert_eq!(log_of("exit 1", Some("off"), "text").1, "");
}

#[test]
fn decisions_are_logged_as_information_and_lines_can_be_json() {
    let lines = |command: &str| -> Vec<Value> {
        let (_, log) = log_of(command, Some("hookrail::bus=info"), "json");
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
    };
    let about = |lines: &[Value], message: &str| {
        let found = lines.iter().find(|line| line["message"] == message);
        found.unwrap_or_else(|| panic!("{message} in {lines:?}")).clone()
    };
    let denied = about(&lines(DENIES), "denied");
    for (key, value) in [
        ("level", "info"),
        ("correlationId", "c-1"),
        ("session", "session-7"),
        ("tool", "write_file"),
        ("event", "before-tool"),
        ("decision", "deny"),
        ("reason", "secrets stay"),
        ("target", "hookrail::bus"),
    ] {
        assert_eq!(denied[key], value, "{denied}");
    }
    assert!(denied["hook"].as_str().is_some_and(|hook| !hook.is_empty()), "{denied}");
    assert!(denied["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')), "{denied}");
    let failed = about(&lines("echo 'no \u{9b}31m' >&2; exit 1"), "hook failed");
    assert_eq!((&failed["level"], &failed["exitCode"]), (&json!("warn"), &json!(1)), "{failed}");
    let asks = r#"printf '{"decision":"ask","reason":"sure?"}'"#;
    assert_eq!(about(&lines(asks), "approval required")["reason"], "sure?");
    let stops = r#"printf '{"continue":false,"stopReason":"enough"}'"#;
    assert_eq!(about(&lines(stops), "agent stopped")["reason"], "enough");
}

#[test]
fn every_run_of_a_hook_is_logged_for_those_who_debug() {
    let (_, log) = log_of("true", Some("hookrail::bus=debug"), "text");
    let ran = log.lines().find(|line| line.contains("hook ran")).unwrap_or_else(|| panic!("{log}"));
    for part in ["correlationId=\"c-1\"", "session=\"session-7\"", "tool=\"write_file\"", "end=\"silent\""] {
        assert!(ran.contains(part), "{part} in {ran}");
    }
}

#[test]
fn what_is_wrong_with_configuration_is_logged_once_and_health_is_offered() {
    let sandbox = Sandbox::with_hook("true");
    std::fs::write(
        sandbox.project.join(".llxprt/settings.json"),
        r#"{"hooksConfig":{"enabled":true},"hooks":{"NoSuchEvent":[]}}"#,
    )
    .unwrap();
    let (mut server, mut talk) = sandbox.on_stdio(&["--metrics", "0"]);
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let (address, _) = metrics_address(&mut log);
    for _ in 0..3 {
        talk.ask("x");
    }
    assert!(get(&address, "/healthz").starts_with("HTTP/1.1 200 "));
    let ready = get(&address, "/readyz");
    assert!(ready.starts_with("HTTP/1.1 200 ") && ready.ends_with("\r\n\r\nready\n"), "{ready}");
    talk.finish();
    server.wait().unwrap();
    let mut told = String::new();
    log.read_to_string(&mut told).unwrap();
    assert_eq!(told.matches("(unknown-event)").count(), 1, "{told}");
}

/// The backlog of a journal that is shipped is a metric; one that is not shipped has no backlog.
#[cfg(unix)]
#[test]
fn the_records_that_wait_to_be_shipped_are_a_metric() {
    use std::os::unix::fs::OpenOptionsExt as _;
    let sandbox = Sandbox::with_hook("true");
    let (mut server, mut talk) = sandbox.on_stdio(&["--metrics", "0"]);
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let (address, _) = metrics_address(&mut log);
    for _ in 0..3 {
        talk.ask("x");
    }
    assert!(!get(&address, "/metrics").contains("journal_waiting_records"));
    let position = sandbox.home.join(".local/state/hookrail/journal/shipped.json");
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(position).unwrap();
    file.write_all(br#"{"subject":"s","seq":1,"hash":"00","stream_sequence":1,"at":0}"#).unwrap();
    let measured = get(&address, "/metrics");
    assert!(measured.contains("\nhookrail_bus_journal_waiting_records 2.0\n"), "{measured}");
    talk.finish();
    server.wait().unwrap();
}

#[test]
fn nothing_is_printed_in_a_way_that_can_panic() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for name in ["hookrail", "hookrail-matcher", "hookrail-spawn", "hookrail-js", "hookrail-bus", "hookrail-cli"] {
        // The templates of `hookrail new` are texts of other programs.
        let files = rust_files(&crates.join(name).join("src"));
        for file in files.into_iter().filter(|file| !file.ends_with("cmd/new/template.rs")) {
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                for word in ["println!(", "print!("] {
                    // These are tests that say why they were skipped, or examples in comments.
                    assert!(!line.contains(word), "{}: {line}", file.display());
                }
            }
        }
    }
}

fn rust_files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
