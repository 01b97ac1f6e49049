//! The journal has what an agent was told, also where no hook said it, and the same whether a server runs or not.

use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use hookrail_testkit::{HANG, RunningProgram, wait_until};
use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A project with one hook, which is trusted.
fn project(command: &str) -> Sandbox {
    let sandbox = Sandbox::with_hook("BeforeTool", command);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

/// A server where the bridge looks for it.
fn server(sandbox: &Sandbox) -> RunningProgram {
    let socket = sandbox.runtime_folder().join("hookrail.sock");
    let mut command = sandbox.command(&["serve", "--socket", socket.to_str().unwrap()]);
    let server = RunningProgram::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()));
    assert!(wait_until(|| UnixStream::connect(&socket).is_ok(), HANG), "the server does not answer");
    server
}

fn bridge(sandbox: &Sandbox, agent: &str, event: &str) -> Command {
    let mut command = sandbox.command(&["bridge", agent, "--event", event]);
    command.env("XDG_RUNTIME_DIR", sandbox.runtime_folder());
    command
}

fn call(sandbox: &Sandbox, event: &str) -> Value {
    json!({"session_id": "s1", "hook_event_name": event, "cwd": sandbox.project, "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "transcript_path": "/t", "turn_id": "t", "permission_mode": "default"})
}

/// The records with these options, and the one of a kind.
fn records(sandbox: &Sandbox, options: &[&str]) -> Vec<Value> {
    let ran = sandbox.run(&[&["log", "--json"], options].concat()).ends_with(0);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn one_of_kind<'r>(records: &'r [Value], kind: &str) -> &'r Value {
    let found: Vec<&Value> = records.iter().filter(|record| record["kind"] == kind).collect();
    assert_eq!(found.len(), 1, "{kind} in {records:#?}");
    found[0]
}

#[test]
fn a_denial_at_the_deadline_is_found_and_belongs_to_its_event() {
    for with_server in [false, true] {
        let sandbox = project("touch began; exec sleep 100");
        let _server = with_server.then(|| server(&sandbox));
        let mut command = bridge(&sandbox, "claude", "PreToolUse");
        command.args(["--deadline", "2000"]);
        let told = ProgramOutput::with_input(&mut command, &call(&sandbox, "PreToolUse").to_string());
        assert_eq!(told.code, 2, "{told:?}");
        let denied = records(&sandbox, &["--decision", "deny"]);
        let corrected = one_of_kind(&denied, "corrected");
        assert_eq!((&corrected["event"], &corrected["tool"]), (&json!("before-tool"), &json!("Bash")), "{corrected}");
        assert_eq!((&corrected["session"], denied.len()), (&json!("s1"), 1), "{denied:#?}");
        assert_eq!(corrected["reason"], "loss.late-answer: denied instead, with advice", "{corrected}");
        // A server writes the event when its hooks have ended, which is after the agent has its answer.
        let has_fired = || records(&sandbox, &["--session", "s1"]).iter().any(|record| record["kind"] == "fired");
        assert!(wait_until(has_fired, HANG), "{:#?}", records(&sandbox, &[]));
        let all = records(&sandbox, &["--session", "s1"]);
        let (fired, lost) = (one_of_kind(&all, "fired"), one_of_kind(&all, "lost"));
        assert_eq!((&fired["fire"], &lost["fire"]), (&corrected["fire"], &corrected["fire"]), "{all:#?}");
        assert_eq!((&lost["tool"], &fired["host"]["name"]), (&json!("Bash"), &json!("hookrail bridge claude")));
        assert_eq!(fired["host"], corrected["host"]);
        let text = sandbox.run(&["log", "--session", "s1"]).ends_with(0).stdout;
        assert!(text.contains(" denied    before-tool Bash  told instead\n"), "{text}");
        assert!(text.contains(" cancelled before-tool Bash ls"), "{text}");
    }
}

#[test]
fn a_denial_of_what_cannot_be_read_is_recorded_with_what_is_known() {
    let sandbox = project("true");
    let without_tool = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "cwd": sandbox.project}).to_string();
    let whole = call(&sandbox, "PreToolUse").to_string();
    let truncated = &whole[..whole.len() / 2];
    for (payload, session, reason) in
        [(without_tool.as_str(), "s1", "the payload names no tool"), (truncated, "", "the payload is not valid JSON: ")]
    {
        let mut command = bridge(&sandbox, "claude", "PreToolUse");
        command.current_dir(&sandbox.project);
        let told = ProgramOutput::with_input(&mut command, payload);
        assert_eq!(told.code, 2, "{told:?}");
        let record = records(&sandbox, &["--decision", "deny"]).pop().unwrap();
        assert_eq!((&record["kind"], &record["event"]), (&json!("corrected"), &json!("before-tool")), "{record}");
        assert_eq!(record["session"].as_str().unwrap_or_default(), session, "{record}");
        assert!(record["reason"].as_str().unwrap().starts_with(reason), "{record}");
        assert_eq!(record["host"]["name"], "hookrail bridge claude");
        assert_eq!(record["project"], json!(sandbox.project));
    }
    assert_eq!(records(&sandbox, &["--decision", "deny"]).len(), 2);
    // Told otherwise, the operation happens, and that is recorded too.
    let mut command = bridge(&sandbox, "claude", "PreToolUse");
    let told = ProgramOutput::with_input(command.args(["--on-error", "allow"]), "{");
    assert_eq!(told.code, 0, "{told:?}");
    let record = records(&sandbox, &[]).pop().unwrap();
    assert_eq!((&record["kind"], &record["decision"]), (&json!("corrected"), &Value::Null), "{record}");
    // An agent that is set up for another version.
    let mut command = bridge(&sandbox, "claude", "PreToolUse");
    let told = ProgramOutput::with_input(command.arg("--of-another-version"), &whole);
    assert_eq!(told.code, 2, "{told:?}");
    let record = records(&sandbox, &[]).pop().unwrap();
    assert_eq!((&record["decision"], &record["event"]), (&json!("deny"), &json!("before-tool")), "{record}");
}

#[test]
fn what_an_agent_cannot_be_told_is_recorded_as_it_was_told() {
    for (agent, event) in [("gemini", "BeforeTool"), ("codex", "PreToolUse")] {
        for with_server in [false, true] {
            let sandbox = project(r#"cat >/dev/null; echo '{"decision":"ask","reason":"sure?"}'"#);
            let _server = with_server.then(|| server(&sandbox));
            let _ = ProgramOutput::with_input(&mut bridge(&sandbox, agent, event), &call(&sandbox, event).to_string());
            let all = records(&sandbox, &["--session", "s1"]);
            let (fired, corrected) = (one_of_kind(&all, "fired"), one_of_kind(&all, "corrected"));
            assert_eq!((&fired["decision"], &corrected["decision"]), (&json!("ask"), &json!("deny")), "{agent}");
            let lost = one_of_kind(&all, "lost");
            assert_eq!((&lost["loss"], &lost["fire"]), (&json!("loss.ask"), &fired["fire"]), "{agent}");
            assert_eq!((&corrected["fire"], &corrected["tool"]), (&fired["fire"], &fired["tool"]), "{agent}");
            assert_eq!(records(&sandbox, &["--decision", "deny"]), std::slice::from_ref(corrected), "{agent}");
            for record in &all {
                assert_eq!(record["host"]["name"], format!("hookrail bridge {agent}"), "{record}");
            }
        }
    }
}

/// The bridge itself keeps the agent from going on, without asking a hook.
#[test]
fn denials_after_a_stop_and_of_a_bridge_that_fails_are_recorded() {
    let sandbox = project(r#"cat >/dev/null; echo '{"continue":false,"stopReason":"enough"}'"#);
    let payload = call(&sandbox, "PreToolUse").to_string();
    for count in 1..=2 {
        ProgramOutput::with_input(&mut bridge(&sandbox, "codex", "PreToolUse"), &payload).ends_with(2);
        assert_eq!(records(&sandbox, &["--decision", "deny"]).len(), count, "{:#?}", records(&sandbox, &[]));
    }
    let last = records(&sandbox, &[]).pop().unwrap();
    assert_eq!(last["reason"], "a hook stopped the agent before", "{last}");
    let sandbox = project("true");
    let state = sandbox.home.join(".local/state/hookrail/bridge");
    std::fs::create_dir_all(state.parent().unwrap()).unwrap();
    std::fs::write(&state, "no folder").unwrap();
    let told = ProgramOutput::with_input(&mut bridge(&sandbox, "claude", "PreToolUse"), &payload).ends_with(2);
    let record = records(&sandbox, &["--decision", "deny"]).pop().unwrap_or_else(|| panic!("{told:?}"));
    assert_eq!((&record["session"], &record["tool"]), (&json!("s1"), &json!("Bash")), "{record}");
    assert!(record["reason"].as_str().unwrap().starts_with("the state of the session cannot be used"), "{record}");
}

/// The user's own file says where the journal is, for what is recorded without a request and for what is read.
#[test]
fn a_refusal_is_recorded_and_found_where_the_user_wants_the_journal() {
    for (setting, count) in [("directory = \"DIR\"", 1), ("directory = \"DIR\"\nrecord = \"never\"", 0)] {
        let sandbox = project("true");
        let folder = sandbox.base.join("elsewhere");
        let text = format!("[journal]\n{}\n", setting.replace("DIR", folder.to_str().unwrap()));
        std::fs::create_dir_all(sandbox.home.join(".config/hookrail")).unwrap();
        std::fs::write(sandbox.home.join(".config/hookrail/config.toml"), text).unwrap();
        let mut command = bridge(&sandbox, "claude", "PreToolUse");
        ProgramOutput::with_input(command.current_dir(&sandbox.project), "{").ends_with(2);
        assert_eq!(records(&sandbox, &["--decision", "deny"]).len(), count, "{setting}");
        assert_eq!(folder.join("key").exists(), count == 1, "{setting}");
    }
}
