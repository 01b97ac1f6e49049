//! The journal: which commands record, what `log`, `stats` and `journal` print, and what its settings do.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

const DENIES: &str = r#"cat > /dev/null; echo '{"decision":"deny","reason":"not today"}'"#;

/// A project whose hook denies, and which is trusted.
fn denying() -> Sandbox {
    let sandbox = Sandbox::with_hook("BeforeTool", DENIES);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

fn configure(sandbox: &Sandbox, text: &str) {
    let file = sandbox.home.join(".config/hookrail/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.home.join(".local/state/hookrail/journal")
}

fn segment(sandbox: &Sandbox) -> PathBuf {
    let mut entries = std::fs::read_dir(folder(sandbox)).unwrap().map(|entry| entry.unwrap().path());
    entries.find(|path| path.extension().is_some_and(|ending| ending == "jsonl")).unwrap()
}

/// The records, as `log --json` prints them.
fn records(sandbox: &Sandbox, options: &[&str]) -> Vec<Value> {
    let ran = sandbox.run(&[&["log", "--json"], options].concat()).ends_with(0);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const FIRE: [&str; 7] = [
    "fire",
    "BeforeTool",
    "--tool",
    "write_file",
    "--tool-input",
    r#"{"path":".env","token":"hunter2222"}"#,
    "--journal",
];

#[test]
fn fire_records_only_if_it_is_asked_to() {
    let sandbox = denying();
    let grants = records(&sandbox, &[]);
    assert_eq!(grants.iter().map(|record| record["kind"].as_str().unwrap()).collect::<Vec<_>>(), ["trust", "trust"]);
    sandbox.run(&FIRE[..6]).ends_with(2);
    assert_eq!(records(&sandbox, &["--event", "before-tool", "--decision", "deny"]).len(), 0);
    sandbox.run(&FIRE).ends_with(2);
    let fired = records(&sandbox, &["--event", "PreToolUse", "--decision", "deny"]);
    assert_eq!(fired.len(), 1);
    let record = &fired[0];
    assert_eq!(record["host"]["name"], "hookrail fire");
    assert_eq!((&record["hooks"][0]["hook"], &record["hooks"][0]["layer"]), (&json!("sample"), &json!("project")));
    // What was granted is what ran.
    let granted = grants.iter().find(|record| record["hook"] == "sample").unwrap();
    assert_eq!(record["hooks"][0]["fingerprint"], granted["content"]);
    assert_eq!(record["input"]["tool_input"]["path"], ".env");
    assert_eq!(record["input"]["tool_input"]["token"]["bytes"], 10);
    let mode = std::fs::metadata(segment(&sandbox)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    configure(&sandbox, "[journal]\nrecord = \"always\"\n");
    sandbox.run(&FIRE[..6]).ends_with(2);
    assert_eq!(records(&sandbox, &["--hook", "sample", "--decision", "deny"]).len(), 2);
    configure(&sandbox, "[journal]\nrecord = \"never\"\n");
    sandbox.run(&FIRE).ends_with(2);
    assert_eq!(records(&sandbox, &["--hook", "sample", "--decision", "deny"]).len(), 2);
}

/// A command hook repeats the prompt in every place that an outcome has for it, and its label holds a secret.
#[test]
fn a_prompt_that_a_hook_repeats_is_not_recorded() {
    let answer = r#"{"decision":"block","reason":"R my plan","systemMessage":"S my plan","hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"C my plan"}}"#;
    let hook = json!({"type": "command", "command": "TOKEN=supersecretvalue1 sh ./hook.sh"});
    let sandbox = Sandbox::with_hooks(&format!(r#""BeforeAgent": [{{"hooks": [{hook}]}}]"#));
    sandbox.write("hook.sh", format!("cat > /dev/null; echo 'E my plan' >&2; echo '{answer}'"));
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.run(&["fire", "BeforeAgent", "--prompt", "my plan", "--journal"]).ends_with(2);
    let text = std::fs::read_to_string(segment(&sandbox)).unwrap();
    assert!(!text.contains("my plan") && !text.contains("supersecretvalue1"), "{text}");
    let fired = records(&sandbox, &["--event", "BeforeAgent", "--decision", "deny"]);
    assert!(fired[0]["outcome"]["reason"].as_str().unwrap().starts_with("[redacted "), "{}", fired[0]);
    assert_eq!(fired[0]["outcome"]["runs"][0]["hook"], fired[0]["hooks"][0]["hook"]);
    let timeline = sandbox.run(&["log"]).ends_with(0).stdout;
    assert!(!timeline.contains("my plan") && !timeline.contains("supersecretvalue1"), "{timeline}");
}

#[test]
fn a_timeline_for_people() {
    let sandbox = denying();
    sandbox.run(&FIRE).ends_with(2);
    sandbox.run(&["fire", "AfterTool", "--tool", "x", "--journal"]).ends_with(0);
    sandbox.run(&["trust", "revoke"]).ends_with(0);
    let text = sandbox.run(&["log"]).ends_with(0).stdout;
    let without_time = |line: &str| match line.starts_with('2') {
        true => line.get(24..).unwrap_or_default().to_owned(),
        false => line.to_owned(),
    };
    let steady: Vec<String> = sandbox.steady(&text).lines().map(without_time).collect();
    insta::assert_snapshot!(steady.join("\n"), @r"
    granted   the project in [PROJECT]
    granted   before-tool sample in [PROJECT]
    denied    before-tool write_file .env  [TIME]
          not today
          sample answered, deny  [TIME]
    revoked   the project in [PROJECT]
    revoked   before-tool sample in [PROJECT]
    ");
    let last = sandbox.run(&["log", "-n", "1"]).ends_with(0).stdout;
    assert!(last.contains("revoked") && last.lines().count() == 1, "{last}");
    assert_eq!(sandbox.run(&["log", "--since", "2999-01-01"]).ends_with(0).stdout, "");
    assert!(sandbox.run(&["log", "--since", "yesterday"]).ends_with(1).stderr.contains("is not a time"));
    assert!(sandbox.run(&["log", "--event", "BeforTool"]).ends_with(1).stderr.contains("is not an event"));
}

#[test]
fn what_a_terminal_would_act_on_is_written_out() {
    let sandbox = Sandbox::with_hook("BeforeTool", r"cat >/dev/null; printf 'a\033[31mb\033]0;title\007' >&2; exit 2");
    sandbox.run(&["fire", "BeforeTool", "--tool", "\u{1b}[2Jx\u{202e}", "--trust-project", "--journal"]).ends_with(2);
    for arguments in
        [&["log"][..], &["log", "--json"], &["log", "--format", "csv"], &["stats"], &["journal", "export", "--fixture"]]
    {
        let text = sandbox.run(arguments).ends_with(0).stdout;
        assert!(
            !text.chars().any(|letter| letter != '\n' && (letter.is_control() || letter == '\u{202e}')),
            "{text:?}"
        );
    }
}

/// Replaces the journal by one with these members, in a chain that holds.
pub(super) fn write_records(sandbox: &Sandbox, records: &[Value]) {
    let mut text = String::new();
    let mut prev = "0".repeat(64);
    for (number, record) in records.iter().enumerate() {
        let members = record.to_string();
        let hashed = format!(r#"{{"seq":{},"prev":"{prev}",{}"#, number + 1, &members[1..members.len() - 1]);
        prev = hookrail::trust::Digest::of(hashed.as_bytes()).hex();
        text.push_str(&format!("{hashed},\"hash\":\"{prev}\"}}\n"));
    }
    let _ = std::fs::remove_dir_all(folder(sandbox));
    std::fs::create_dir_all(folder(sandbox)).unwrap();
    std::fs::set_permissions(folder(sandbox), std::fs::Permissions::from_mode(0o700)).unwrap();
    let file = folder(sandbox).join("00000001-2026-11-16.jsonl");
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// Who can write a journal must not be able to make a terminal act.
#[test]
fn no_member_of_a_record_reaches_the_terminal_as_it_is() {
    let sandbox = Sandbox::new();
    let evil = "\u{1b}[31mred\u{1b}]0;title\u{7}";
    let run = json!({"id": evil, "hook": evil, "layer": evil, "end": evil, "decision": evil, "asked": [evil], "dialect": evil});
    let all = |kind: &str| {
        json!({"v": 1, "at": evil, "kind": kind, "event": evil, "tool": evil, "decision": evil, "answer": evil,
        "change": evil, "operation": evil, "because": evil, "reason": evil, "loss": evil, "instead": evil, "hook": evil,
        "project": evil, "why": "shadow", "hooks": [run], "shadow": [run]})
    };
    let kinds = ["fired", "late", "answered", "corrected", "lost", "trust", "later"];
    write_records(&sandbox, &kinds.map(all));
    sandbox.run(&["journal", "verify"]).ends_with(0);
    let commands: [&[&str]; 5] = [&["log"], &["log", "-v"], &["log", "--shadow"], &["stats"], &["log", "--json"]];
    for arguments in commands {
        let text = sandbox.run(&[arguments, &["--color", "always"]].concat()).ends_with(0).stdout;
        assert!(!text.contains("\u{1b}[31mred") && !text.contains('\u{7}'), "{arguments:?}: {text:?}");
    }
}

#[test]
fn a_timeline_says_why_an_agent_was_stopped_and_why_a_user_refused() {
    let sandbox = Sandbox::with_hook(
        "BeforeTool",
        r#"cat >/dev/null; echo '{"continue":false,"stopReason":"enough for today"}'"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.run(&FIRE);
    let text = sandbox.run(&["log", "-n", "1"]).ends_with(0).stdout;
    assert!(
        text.contains(" stopped   before-tool write_file .env") && text.contains("      enough for today\n"),
        "{text}"
    );
    configure(&sandbox, "[journal]\ninput = \"none\"\n");
    sandbox.run(&FIRE);
    let text = sandbox.run(&["log", "-n", "1"]).ends_with(0).stdout;
    assert!(text.contains(" stopped   before-tool write_file"), "{text}");
    let answered = json!({"kind": "answered", "answer": "refused", "operation": "shell", "because": "", "reason": "is it needed?"});
    write_records(&sandbox, &[answered]);
    let text = sandbox.run(&["log"]).ends_with(0).stdout;
    assert!(text.contains("refused") && text.contains("      is it needed?\n"), "{text}");
}

#[test]
fn statistics_for_each_hook() {
    let sandbox = denying();
    assert_eq!(sandbox.run(&["stats"]).ends_with(0).stdout, "no hook has run in these records\n");
    for _ in 0..3 {
        sandbox.run(&FIRE).ends_with(2);
    }
    let document = sandbox.run(&["stats", "--json"]).ends_with(0).json();
    let hook = &document["hooks"][0];
    assert_eq!((&hook["hook"], &hook["runs"], &hook["denied"]), (&json!("sample"), &json!(3), &json!(3)));
    assert_eq!(hook["failed"], 0);
    assert!(hook["p99Ms"].as_f64().unwrap() >= hook["p50Ms"].as_f64().unwrap());
    let text = sandbox.run(&["stats"]).ends_with(0).stdout;
    assert!(text.starts_with("hook") && text.contains("sample") && text.contains('█'), "{text}");
}

#[test]
fn a_head_is_kept_and_a_chain_is_verified() {
    let sandbox = denying();
    sandbox.run(&FIRE).ends_with(2);
    let head = sandbox.run(&["journal", "head"]).ends_with(0).stdout;
    let (seq, hash) = head.trim().split_once(' ').unwrap();
    assert_eq!((seq, hash.len()), ("3", 64));
    sandbox.run(&FIRE).ends_with(2);
    let ran = sandbox.run(&["journal", "verify", "--head", hash]).ends_with(0);
    assert!(ran.stdout.starts_with("the chain holds: 4 records in 1 segment, 1 to 4\n"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("the given head is record 3\n"), "{}", ran.stdout);
    let document = sandbox.run(&["journal", "verify", "--json"]).ends_with(0).json();
    assert_eq!((&document["sound"], &document["records"]), (&json!(true), &json!(4)));
    // The end is cut off: the chain alone does not show that.
    let file = segment(&sandbox);
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&file, format!("{}\n{}\n", lines[0], lines[1])).unwrap();
    sandbox.run(&["journal", "verify"]).ends_with(0);
    let ran = sandbox.run(&["journal", "verify", "--head", hash]).ends_with(1);
    assert!(ran.stdout.contains("cut off or replaced: the given head is not in the journal"), "{}", ran.stdout);
    // A record is changed.
    std::fs::write(&file, text.replacen("write_file", "read_file", 1)).unwrap();
    let ran = sandbox.run(&["journal", "verify"]).ends_with(1);
    assert!(ran.stdout.contains(":3: record 3 was changed: its hash is not that of its bytes"), "{}", ran.stdout);
    assert!(sandbox.run(&["journal", "verify", "--head", "abc"]).ends_with(1).stderr.contains("64 hexadecimal digits"));
}

#[test]
fn an_empty_journal_is_no_error() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["log"]).ends_with(0).stdout, "");
    assert_eq!(sandbox.run(&["journal", "head"]).ends_with(0).stdout, "the journal is empty\n");
    assert_eq!(sandbox.run(&["journal", "verify"]).ends_with(0).stdout, "no records in 0 segments\n");
    assert!(!folder(&sandbox).exists(), "reading makes nothing");
}

/// The cases that `journal export --fixture` printed.
fn exported(ran: &ProgramOutput) -> Vec<Value> {
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    document["case"].as_array().unwrap().clone()
}

#[test]
fn recorded_events_become_test_cases() {
    let sandbox = denying();
    sandbox.run(&FIRE).ends_with(2);
    let ran = sandbox.run(&["journal", "export", "--fixture"]).ends_with(0);
    assert_eq!(ran.stdout, "", "an input from which something was removed is no test case");
    assert!(ran.stderr.contains("1 event left out"), "{}", ran.stderr);
    let plain = ["fire", "BeforeTool", "--tool", "shell", "--tool-input", r#"{"command":"ls"}"#, "--journal"];
    sandbox.run(&plain).ends_with(2);
    let ran = sandbox.run(&["journal", "export", "--fixture"]).ends_with(0);
    let case = exported(&ran)[0].clone();
    assert_eq!((&case["event"], &case["expect"]["decision"]), (&json!("before-tool"), &json!("deny")));
    assert_eq!(case["payload"]["tool_input"], json!({"command": "ls"}));
    // The payload is one that `fire` takes.
    let again = sandbox.run(&["fire", "before-tool", "--payload", &case["payload"].to_string(), "--json"]).ends_with(2);
    assert_eq!(again.json()["reason"], case["expect"]["reason"]);
}

/// Everything that is exported passes as long as nothing changes; what a case cannot repeat is left out, with the reason.
#[test]
fn what_is_exported_is_a_case_file_that_passes() {
    let command = |name: &str, command: &str| json!({"type": "command", "name": name, "command": format!("cat >/dev/null; {command}")});
    let group = |matcher: &str, hook: Value| json!([{"matcher": matcher, "hooks": [hook]}]);
    let settings =
        |hooks: &Value| json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": hooks}}).to_string();
    let sandbox = Sandbox::with_settings(&settings(&group("write_file", command("guard", "echo no >&2; exit 2"))));
    std::fs::create_dir_all(sandbox.home.join(".llxprt")).unwrap();
    let of_user = settings(&group("shell", command("mine", "echo mine >&2; exit 2")));
    std::fs::write(sandbox.home.join(".llxprt/settings.json"), of_user).unwrap();
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let other = sandbox.base.join("other");
    std::fs::create_dir_all(other.join(".llxprt")).unwrap();
    std::fs::write(other.join(".llxprt/settings.json"), settings(&group("read_file", command("theirs", "exit 2"))))
        .unwrap();
    let fire = |tool: &str, options: &[&str]| {
        let _ = sandbox.run(
            &[&["fire", "BeforeTool", "--tool", tool, "--tool-input", r#"{"path":"a"}"#, "--journal"], options]
                .concat(),
        );
    };
    fire("write_file", &[]);
    fire("read_file", &[]);
    fire("shell", &[]);
    fire("read_file", &["--project", other.to_str().unwrap(), "--trust-project"]);
    configure(&sandbox, "[journal]\ninput = \"none\"\n");
    fire("write_file", &[]);
    let ran = sandbox.run(&["journal", "export", "--fixture"]).ends_with(0);
    assert_eq!(exported(&ran).len(), 2, "{}", ran.stdout);
    let notes: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(
        notes,
        [
            "note: 1 event left out: the record has no input; see `input` in `[journal]`",
            "note: 1 event left out: hooks from outside of the project took part, which a case does not run",
            "note: 1 event left out: of another project; see `--project`",
        ]
    );
    sandbox.write("recorded.hooktest.json", &ran.stdout);
    let tested = sandbox.run(&["test"]).ends_with(0).stdout;
    assert!(tested.contains("2 cases run: 2 passed"), "{tested}");
    // What is damaged is not passed over in silence.
    let text = std::fs::read_to_string(segment(&sandbox)).unwrap();
    std::fs::write(segment(&sandbox), text.replacen("\"kind\":\"fired\"", "\"kind\":\"fired", 1)).unwrap();
    let ran = sandbox.run(&["journal", "export", "--fixture"]).ends_with(0);
    assert!(ran.stderr.contains("run `hookrail journal verify`"), "{}", ran.stderr);
}

/// What was removed from an outcome is counted, and is no expectation: it would not hold.
#[test]
fn an_outcome_from_which_something_was_removed_is_no_test_case() {
    let answer = r#"{"hookSpecificOutput":{"tool_input":{"command":"TOKEN=abcdefghij ls"}}}"#;
    let sandbox = Sandbox::with_hook("BeforeTool", &format!("cat > /dev/null; echo '{answer}'"));
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let plain = ["fire", "BeforeTool", "--tool", "shell", "--tool-input", r#"{"command":"ls"}"#, "--journal"];
    sandbox.run(&plain).ends_with(0);
    let record = records(&sandbox, &[]).pop().unwrap();
    assert!(record["outcomeRedacted"].as_u64().unwrap() > 0 && record["redacted"].is_null(), "{record}");
    let ran = sandbox.run(&["journal", "export", "--fixture"]).ends_with(0);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("1 event left out"), "{}", ran.stderr);
    // Where nothing was removed, what a hook wrote is what it is, whatever it looks like.
    configure(&sandbox, "[journal]\ninput = \"full\"\n");
    sandbox.write(
        ".llxprt/settings.json",
        std::fs::read_to_string(sandbox.project.join(".llxprt/settings.json"))
            .unwrap()
            .replace("TOKEN=abcdefghij ls", "echo [redacted 00 9 bytes]"),
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.run(&plain).ends_with(0);
    assert!(records(&sandbox, &[]).pop().unwrap()["outcomeRedacted"].is_null());
    let case = exported(&sandbox.run(&["journal", "export", "--fixture"]).ends_with(0))[0].clone();
    assert_eq!(case["expect"]["rewrite"]["command"], "echo [redacted 00 9 bytes]");
}

/// The bridge records by default, with what the agent cannot be made to do.
#[test]
fn the_bridge_records() {
    let sandbox = Sandbox::with_hook("BeforeTool", r#"cat >/dev/null; echo '{"decision":"ask","reason":"sure?"}'"#);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let payload = json!({
        "session_id": "s1", "hook_event_name": "PreToolUse", "cwd": sandbox.project, "turn_id": "t",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "model": "m", "permission_mode": "default",
    });
    let mut command = sandbox.command(&["bridge", "codex", "--event", "PreToolUse"]);
    let ran = ProgramOutput::with_input(&mut command, &payload.to_string());
    let fired = records(&sandbox, &["--session", "s1", "--decision", "ask"]);
    assert_eq!(fired.len(), 1, "{} {}", ran.stdout, ran.stderr);
    assert_eq!(fired[0]["host"]["name"], "hookrail bridge codex");
    let lost = records(&sandbox, &["--session", "s1"]);
    assert!(lost.iter().any(|record| record["loss"] == "loss.ask"), "{lost:?}");
}

#[test]
fn a_journal_that_cannot_be_written_is_decided_not_discovered() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    std::fs::remove_dir_all(folder(&sandbox)).unwrap();
    std::fs::write(folder(&sandbox), "no folder").unwrap();
    let arguments = [&FIRE[..], &["--json"]].concat();
    let outcome = sandbox.run(&arguments).ends_with(0).json();
    assert_eq!(outcome["decision"], Value::Null);
    assert_eq!(outcome["diagnostics"][0]["code"], "record-failed");
    configure(&sandbox, "[journal]\non_failure = \"block\"\n");
    let outcome = sandbox.run(&arguments).ends_with(2).json();
    assert!(outcome["reason"].as_str().unwrap().starts_with("the event was not recorded: "), "{outcome}");
    assert_eq!(outcome["aggregated"]["finalOutput"]["decision"], "deny");
    let failed = sandbox.run(&["log"]).ends_with(1).stderr;
    assert!(failed.contains("the journal cannot be read"), "{failed}");
}

/// Where nothing shows diagnostics of an outcome, a line on standard error says that an event was not recorded.
#[test]
fn a_journal_that_cannot_be_written_is_told() {
    let sandbox = denying();
    let payload = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "cwd": sandbox.project, "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "transcript_path": "/t"});
    sandbox.write(".llxprt/settings.json", "{}");
    let bridge = || sandbox.run_with_input(&["bridge", "claude"], &payload.to_string()).ends_with(0).stderr;
    assert_eq!(bridge(), "");
    std::fs::remove_dir_all(folder(&sandbox)).unwrap();
    std::fs::write(folder(&sandbox), "no folder").unwrap();
    let told = bridge();
    assert!(told.starts_with("hookrail: the event was not recorded: ") && told.lines().count() == 1, "{told}");
    // A user without a home has no journal.
    let mut homeless = sandbox.command(&["fire", "BeforeTool", "--tool", "shell", "--journal"]);
    homeless.env_remove("HOME").env_remove("XDG_STATE_HOME");
    let told = ProgramOutput::capture(&mut homeless).ends_with(0).stderr;
    assert!(told.contains("warning: nothing is recorded: the journal has no place"), "{told}");
}

/// A limit on the size of files does not end the command: the record fails, and the policy decides.
#[test]
fn a_limit_on_the_size_of_files_is_survived() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let program = env!("CARGO_BIN_EXE_hookrail");
    let mut shell = sandbox.place_command("sh");
    shell.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\"", program]).args(FIRE).arg("--json");
    let outcome = ProgramOutput::capture(&mut shell).ends_with(0).json();
    assert_eq!(outcome["diagnostics"][0]["code"], "record-failed", "{outcome}");
}

#[test]
fn a_mistake_in_the_settings_never_records_more_than_was_meant() {
    let sandbox = denying();
    configure(&sandbox, "[journal]\ninput = \"redact\"\ndirectory = \"relative\"\non_failure = 3\n");
    let text = sandbox.run(&["check"]).ends_with(1).stdout;
    assert!(text.contains("`input` must be \"redacted\", \"full\" or \"none\"; it is read as \"none\""), "{text}");
    assert!(text.contains("`directory` must be an absolute path"), "{text}");
    assert!(text.contains("it is read as \"block\""), "{text}");
    sandbox.run(&FIRE).ends_with(2);
    let record = &records(&sandbox, &["--decision", "deny"])[0];
    assert!(record["input"].is_null() && record["outcome"].is_null(), "{record}");
}

/// What a file that is not TOML was meant to restrict is not known, so the strictest is in force.
#[test]
fn a_broken_file_lifts_no_restriction_of_the_journal() {
    let sandbox = denying();
    configure(&sandbox, "[journal]\ninput = \"none\"\non_failure = \"block\"\n[x\n");
    let payload = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "cwd": sandbox.project, "tool_name": "Bash",
        "tool_input": {"command": "echo private"}, "transcript_path": "/t"});
    sandbox.run_with_input(&["bridge", "claude"], &payload.to_string());
    let fired = records(&sandbox, &["--session", "s1"]);
    assert_eq!(fired.len(), 1, "{fired:?}");
    assert!(!fired[0].to_string().contains("private"), "{}", fired[0]);
    assert!(fired[0]["input"].is_null() && fired[0]["outcome"].is_null(), "{}", fired[0]);
    std::fs::remove_dir_all(folder(&sandbox)).unwrap();
    std::fs::write(folder(&sandbox), "no folder").unwrap();
    let reads = ["fire", "BeforeTool", "--tool", "read_file", "--no-hooks", "--journal", "--json"];
    let outcome = sandbox.run(&reads).ends_with(2).json();
    assert!(outcome["reason"].as_str().unwrap().starts_with("the event was not recorded: "), "{outcome}");
    let text = sandbox.run(&["check"]).ends_with(1).stdout;
    assert!(text.contains("the journal keeps neither inputs nor texts"), "{text}");
}

/// A spelling with `-` is the one with `_`. Of two the strictest holds.
#[test]
fn a_spelling_of_a_key_lifts_no_restriction_of_the_journal() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    std::fs::remove_dir_all(folder(&sandbox)).unwrap();
    std::fs::write(folder(&sandbox), "no folder").unwrap();
    for spelling in ["on_failure", "on-failure"] {
        configure(
            &sandbox,
            &format!("[journal]\n{spelling} = \"warn\"\nsegment_mib = 1\nretain_days = 3\nretain-mib = 5\n"),
        );
        sandbox.run(&FIRE).ends_with(0);
        configure(
            &sandbox,
            &format!("[journal]\n{spelling} = \"block\"\nsegment_mib = 1\nretain_days = 3\nretain-mib = 5\n"),
        );
        sandbox.run(&FIRE).ends_with(2);
        let found = sandbox.run(&["check"]).stdout;
        assert!(!found.contains("unknown-key") && !found.contains("has no setting"), "{found}");
    }
    configure(&sandbox, "[journal]\non-failure = \"warn\"\non_failure = \"warn\"\n");
    sandbox.run(&FIRE).ends_with(2);
    let found = sandbox.run(&["check"]).ends_with(0).stdout;
    assert!(found.contains("`on_failure` is set twice, in two spellings; neither is used"), "{found}");
}

#[test]
fn a_project_cannot_change_the_journal() {
    let sandbox = denying();
    sandbox.write(".hookrail/config.toml", "[journal]\nrecord = \"never\"\n");
    let text = sandbox.run(&["check"]).stdout;
    assert!(text.contains("`record` can only be set in the user configuration"), "{text}");
    sandbox.run(&FIRE).ends_with(2);
    assert_eq!(records(&sandbox, &["--decision", "deny"]).len(), 1);
}

/// A timeline goes on with what is recorded, and ends with its reader.
#[test]
fn a_timeline_is_followed_until_its_reader_is_gone() {
    use std::io::{BufRead as _, BufReader};
    let sandbox = denying();
    let mut child = sandbox.command(&["log", "--follow", "--json", "--decision", "deny"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..2 {
        sandbox.run(&FIRE).ends_with(2);
        let record: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(record["decision"], "deny");
    }
    drop(lines);
    sandbox.run(&FIRE).ends_with(2);
    assert!(child.wait().unwrap().success());
}

/// A journal that is deleted while it is followed is not the end of what is shown.
#[test]
fn a_timeline_goes_on_in_a_journal_that_was_made_anew() {
    use std::io::{BufRead as _, BufReader};
    let sandbox = denying();
    let mut command = sandbox.command(&["log", "--follow", "--json", "--decision", "deny"]);
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let (line, lines) = std::sync::mpsc::channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || stdout.lines().try_for_each(|read| line.send(read.unwrap())));
    let seq = || {
        sandbox.run(&FIRE).ends_with(2);
        let shown = lines.recv_timeout(std::time::Duration::from_secs(60)).expect("the timeline does not go on");
        serde_json::from_str::<Value>(&shown).unwrap()["seq"].as_u64().unwrap()
    };
    let first = seq();
    assert_eq!(seq(), first + 1, "the control: it is the same journal");
    std::fs::remove_dir_all(folder(&sandbox)).unwrap();
    assert_eq!((seq(), seq()), (1, 2));
    child.kill().unwrap();
    let told = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(told.matches("the journal was deleted and made anew").count(), 1, "{told}");
    child.wait().unwrap();
}
