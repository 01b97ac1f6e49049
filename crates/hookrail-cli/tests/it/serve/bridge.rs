//! `hookrail bridge` with a running server: the same answers as without one, and nothing of its environment anywhere.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use hookrail_testkit::{ProgramOutput, RunningProgram, Signal, Talk};
use serde_json::{Map, Value, json};

use crate::serve::manager::activated;
use crate::serve::support::Sandbox;
use crate::serve::watching::{get, metrics_address};

const AGENTS: [&str; 7] = ["claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi"];

/// Says what it finds in its environment and where it is, and which process started it.
const TELLS: &str = r#"#!/bin/sh
input=$(cat)
echo $PPID >> "$LLXPRT_PROJECT_DIR/parents"
here="$MARK in $(pwd)"
case $MODE$input in
kill*) kill -KILL $PPID ;;
stop*) kill -STOP $PPID ;;
deny*) printf '{"decision":"deny","reason":"%s"}' "$here" ;;
rewrite*content*) printf '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"content":"%s"}}}' "$here" ;;
*) printf '{"systemMessage":"%s","hookSpecificOutput":{"hookEventName":"x","additionalContext":"%s"}}' "$here" "$here" ;;
esac
"#;

const MODULE: &str = r#"
export default function (pi) {
    pi.on("tool_call", async () => process.env.MODE === "block" ? { block: true, reason: `by ${process.env.MARK}` } : undefined);
    pi.on("tool_result", async (event, ctx) => ({ content: [{ type: "text", text: `${process.env.MARK} in ${ctx.cwd}` }] }));
}
"#;

/// A project whose hooks tell what is around them, trusted by its user.
fn telling() -> Sandbox {
    let entry = json!([{"sequential": true, "hooks": [{"type": "command", "name": "tells", "command": "sh .llxprt/hooks/tells.sh"}]}]);
    let events =
        ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "PreCompress", "Notification"];
    let hooks: Map<String, Value> = events.into_iter().map(|event| (event.to_owned(), entry.clone())).collect();
    let sandbox = Sandbox::new(&Value::Object(hooks));
    // The command names its script relatively, so it runs where it is found from: in the project and below.
    for folder in [".llxprt/hooks", "sub/.llxprt/hooks"] {
        sandbox.write(&format!("{folder}/tells.sh"), TELLS);
    }
    sandbox.write(".xcsh/hooks/module.ts", MODULE);
    let (code, said) = sandbox.run(&["trust", "grant", "--yes"]);
    assert_eq!(code, Some(0), "{said}");
    sandbox
}

/// Starts a server at the usual place, as its user could have started it: elsewhere, with another environment.
fn serve(sandbox: &Sandbox, args: &[&str]) -> RunningProgram {
    let socket = sandbox.runtime_folder().join("hookrail.sock");
    let mut command = sandbox.serve(&[&["--socket", socket.to_str().unwrap()], args].concat());
    let server = RunningProgram::start(command.env("MARK", "server").env("MODE", "deny").current_dir("/"));
    drop(Talk::over(&socket));
    server
}

/// The bridge as an agent calls it, from another directory than the project's.
fn bridge(sandbox: &Sandbox, agent: &str, event: &str, mode: &str) -> Command {
    let mut command = sandbox.command(Sandbox::program());
    command.args(["bridge", agent, "--event", event]).current_dir(&sandbox.base);
    for name in ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "COPILOT_PROJECT_DIR", "HOOKRAIL_BRIDGE_PROJECT_DIR"] {
        command.env(name, &sandbox.project);
    }
    command.env("XDG_RUNTIME_DIR", sandbox.runtime_folder()).env("MARK", "bridge").env("MODE", mode);
    command
}

/// Every recorded payload of an agent, with its event.
fn payloads(sandbox: &Sandbox, agent: &str) -> Vec<(String, String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/agents/payloads");
    let text = std::fs::read_to_string(folder.join(format!("{agent}.json"))).unwrap();
    let text = text.replace("/home/user/project", sandbox.project.to_str().unwrap());
    let all: Map<String, Value> = serde_json::from_str(&text).unwrap();
    let event = |name: &str, payload: &Value| match payload["hook_event_name"].as_str() {
        Some(event) => event.to_owned(),
        None => name.split('.').next().unwrap().to_owned(),
    };
    all.into_iter().map(|(name, payload)| (event(&name, &payload), name, payload)).collect()
}

/// The payload in a session of its own: what a session remembers is not what is compared.
fn in_session(payload: &Value, session: &str) -> String {
    let mut payload = payload.clone();
    for name in ["session_id", "sessionId"] {
        if payload.get(name).is_some() {
            payload[name] = json!(session);
        }
    }
    payload.to_string()
}

fn parents(sandbox: &Sandbox) -> Vec<String> {
    let parents = sandbox.read("parents").lines().map(str::to_owned).collect();
    let _ = std::fs::remove_file(sandbox.project.join("parents"));
    parents
}

fn write_call(sandbox: &Sandbox) -> String {
    payloads(sandbox, "claude").into_iter().find(|(_, name, _)| name == "PreToolUse.Write").unwrap().2.to_string()
}

#[test]
fn every_agent_gets_the_same_answer_with_and_without_a_server() {
    let sandbox = telling();
    let other = Sandbox::new(&json!({"BeforeTool": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}));
    // The server's own project is another one, and everything in it is trusted.
    let server = serve(&sandbox, &["--project", other.project.to_str().unwrap(), "--trust-project"]);
    let mut on_server = 0;
    for agent in AGENTS {
        for (number, (event, name, mut payload)) in payloads(&sandbox, agent).into_iter().enumerate() {
            // Two of the modes are enough for a payload, and neighbours have others.
            for mode in [["context", "deny"], ["rewrite", "block"]][number % 2] {
                if mode == "deny" && payload.get("cwd").is_some() {
                    payload["cwd"] = json!(sandbox.project.join("sub"));
                }
                let mut alone = bridge(&sandbox, agent, &event, mode);
                let alone =
                    ProgramOutput::with_input(alone.arg("--alone"), &in_session(&payload, &format!("a{number}{mode}")));
                let parents_alone = parents(&sandbox);
                let served = bridge(&sandbox, agent, &event, mode);
                let served =
                    ProgramOutput::with_input(&mut { served }, &in_session(&payload, &format!("s{number}{mode}")));
                let of = |ran: &ProgramOutput| (ran.code, ran.stdout.clone(), ran.stderr.clone());
                assert_eq!(of(&served), of(&alone), "{agent} {name} {mode}");
                let parents_served = parents(&sandbox);
                assert_eq!(parents_served.len(), parents_alone.len(), "{agent} {name} {mode}");
                let id = server.id().to_string();
                assert!(parents_served.iter().all(|parent| *parent == id), "{agent} {name}: {parents_served:?}");
                assert!(!parents_alone.contains(&id), "{agent} {name}");
                on_server += parents_served.len();
            }
        }
    }
    assert!(on_server > 50, "the server was asked for {on_server} hooks only");
}

#[test]
fn the_environment_and_the_directory_of_a_hook_are_the_bridges() {
    let sandbox = telling();
    let _server = serve(&sandbox, &[]);
    let ran = ProgramOutput::with_input(&mut bridge(&sandbox, "claude", "PreToolUse", "deny"), &write_call(&sandbox));
    assert!(ran.stdout.contains(&format!("bridge in {}", sandbox.project.display())), "{ran:?}");
    let ran = ProgramOutput::with_input(&mut bridge(&sandbox, "claude", "PreToolUse", "block"), &write_call(&sandbox));
    assert!(ran.stdout.contains("by bridge"), "a module sees it too: {ran:?}");
}

/// The agent has its settings elsewhere, which a variable says that the server does not have.
#[test]
fn hooks_that_the_agent_reads_where_its_variable_says_are_left_to_it() {
    let sandbox = Sandbox::new(&json!({}));
    sandbox.write_home(".config/hookrail/config.toml", "[dialects]\nenabled = [\"claude\"]\n");
    let hook = json!({"type": "command", "command": "cat >/dev/null; echo $PPID >> parents"});
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}).to_string();
    sandbox.write_at("elsewhere/settings.json", settings);
    let server = serve(&sandbox, &[]);
    let ask = |agent: &str, payload: &str| {
        let mut command = bridge(&sandbox, agent, "PreToolUse", "context");
        ProgramOutput::with_input(command.env("CLAUDE_CONFIG_DIR", sandbox.path("elsewhere")), payload).ends_with(0);
        parents(&sandbox)
    };
    assert_eq!(ask("claude", &write_call(&sandbox)), Vec::<String>::new(), "Claude Code runs it itself");
    let (_, _, payload) = payloads(&sandbox, "codex").into_iter().find(|(event, ..)| event == "PreToolUse").unwrap();
    assert_eq!(ask("codex", &payload.to_string()), [server.id().to_string()], "Codex CLI does not");
}

#[test]
fn trust_is_judged_as_without_a_server_and_changes_are_in_force_at_once() {
    let sandbox = telling();
    let project = sandbox.project.to_str().unwrap().to_owned();
    let _server = serve(&sandbox, &["--project", &project, "--trust-project"]);
    let ask = |mode: &str| {
        ProgramOutput::with_input(&mut bridge(&sandbox, "claude", "PreToolUse", mode), &write_call(&sandbox))
    };
    assert!(ask("deny").stdout.contains("bridge in"));
    sandbox.run(&["trust", "revoke"]);
    assert_eq!(ask("deny").stdout, "", "the server's own `--trust-project` is not the bridge's");
    sandbox.run(&["trust", "grant", "--yes"]);
    assert!(ask("deny").stdout.contains("bridge in"));
    // A script that was changed is not what was trusted, and settings that are broken have no last good version.
    sandbox.write(".llxprt/hooks/tells.sh", "exit 0\n");
    let of = |ran: ProgramOutput| (ran.code, ran.stdout, ran.stderr);
    let alone = |mode: &str| {
        let mut command = bridge(&sandbox, "claude", "PreToolUse", mode);
        ProgramOutput::with_input(command.arg("--alone"), &write_call(&sandbox))
    };
    assert_eq!(of(ask("deny")), of(alone("deny")));
    sandbox.write(".llxprt/settings.json", "{ broken");
    let served = of(ask("deny"));
    assert!(served.1.contains("nothing in it is in force"), "{served:?}");
    // A session hears of it once.
    assert_eq!(of(ask("deny")), of(alone("deny")));
}

#[test]
fn a_server_in_another_home_or_without_a_socket_is_not_used() {
    let sandbox = telling();
    let mut command = sandbox.serve(&["--socket", sandbox.runtime_folder().join("hookrail.sock").to_str().unwrap()]);
    let server = RunningProgram::start(command.env("HOME", &sandbox.base));
    drop(Talk::over(&sandbox.runtime_folder().join("hookrail.sock")));
    let ask =
        || ProgramOutput::with_input(&mut bridge(&sandbox, "claude", "PreToolUse", "deny"), &write_call(&sandbox));
    assert!(ask().stdout.contains("bridge in"));
    assert!(!parents(&sandbox).contains(&server.id().to_string()));
    drop(server);
    // Its socket may be left behind, with no process that listens.
    assert!(ask().stdout.contains("bridge in"));
    assert_eq!(parents(&sandbox).len(), 1);
}

/// A process of hookrail that the kernel names to clients of a socket, and that is stopped: the test answers in its place.
struct Impostor {
    _stopped: RunningProgram,
    answers: std::thread::JoinHandle<usize>,
}

/// Answers each line of one client with what is in `answers`, and closes the connection after the last one.
fn answer_client(listener: UnixListener, answers: Vec<Option<Value>>) -> std::thread::JoinHandle<usize> {
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let mut read = 0;
        for answer in answers {
            let Some(Ok(line)) = lines.next() else { break };
            read += 1;
            let asked: Value = serde_json::from_str(&line).unwrap();
            if let Some(mut answer) = answer {
                answer["payload"]["correlationId"] = asked["payload"]["correlationId"].clone();
                writeln!(stream, "{answer}").unwrap();
            } else {
                // Silent until the client has gone.
                let _ = stream.read(&mut [0]);
            }
        }
        read
    })
}

fn listen(sandbox: &Sandbox) -> UnixListener {
    let path = sandbox.runtime_folder().join("hookrail.sock");
    let listener = UnixListener::bind(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    listener
}

fn impostor(sandbox: &Sandbox, answers: Vec<Option<Value>>) -> Impostor {
    let listener = listen(sandbox);
    let path = sandbox.runtime_folder().join("hookrail.sock");
    let passed = listener.try_clone().unwrap();
    let stopped = RunningProgram::start(&mut activated(sandbox, passed, "1", &path));
    // It listens itself when it answers.
    Talk::over(&path).hello();
    stopped.signal(Signal::STOP);
    // The flag that the server set is one of both descriptors.
    listener.set_nonblocking(false).unwrap();
    Impostor { _stopped: stopped, answers: answer_client(listener, answers) }
}

fn welcome(version: &str) -> Value {
    let payload = json!({
        "protocol": 1, "server": format!("hookrail {version}"), "capabilities": ["caller"],
        "lineLimit": 1_000_000, "inFlightLimit": 10,
    });
    json!({"type": "hello", "payload": payload})
}

/// A program of the same user that answers on the socket as hookrail would, and lets everything pass.
#[test]
fn a_stranger_on_the_socket_is_not_asked_and_the_bridge_records_what_it_answers() {
    let own = env!("CARGO_PKG_VERSION");
    let allowed = json!({"type": "HOOK_EXECUTION_RESPONSE", "payload": {
        "success": true, "output": {"decision": "allow", "runs": [], "skipped": [], "diagnostics": []},
    }});
    let sandbox = telling();
    let stranger = answer_client(listen(&sandbox), vec![Some(welcome(own)), Some(allowed)]);
    let ran = ProgramOutput::with_input(&mut bridge(&sandbox, "claude", "PreToolUse", "deny"), &write_call(&sandbox));
    assert!(ran.stdout.contains("bridge in") && ran.stdout.contains("\"deny\""), "{ran:?}");
    let said = format!("is not served by this program, but by process {}", std::process::id());
    assert!(ran.stderr.contains(&said) && ran.stderr.contains("runs the hooks itself"), "{ran:?}");
    assert_eq!(parents(&sandbox).len(), 1);
    assert_eq!(stranger.join().unwrap(), 0, "it is not told anything");
    assert_eq!(recorded(&sandbox), [("fired".to_owned(), json!("deny"))]);
    // The control: hookrail itself is asked, and the event is recorded once.
    std::fs::remove_file(sandbox.runtime_folder().join("hookrail.sock")).unwrap();
    let server = serve(&sandbox, &[]);
    let ran = ProgramOutput::with_input(&mut bridge(&sandbox, "claude", "PreToolUse", "deny"), &write_call(&sandbox));
    assert!(ran.stdout.contains("bridge in") && ran.stderr.is_empty(), "{ran:?}");
    assert_eq!(parents(&sandbox), [server.id().to_string()]);
    assert_eq!(recorded(&sandbox).len(), 2);
}

/// The kind and the decision of every record of an event.
fn recorded(sandbox: &Sandbox) -> Vec<(String, Value)> {
    let (_, log) = sandbox.run(&["log", "--json"]);
    let records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let records = records.filter(|record| record["kind"] != "trust");
    records.map(|record| (record["kind"].as_str().unwrap().to_owned(), record["decision"].clone())).collect()
}

/// What root wants does not depend on a process of the user.
#[test]
fn with_a_system_layer_the_bridge_works_alone() {
    let sandbox = telling();
    let server = serve(&sandbox, &[]);
    let system = sandbox.base.join("system.json");
    let ask = || {
        let mut command = bridge(&sandbox, "claude", "PreToolUse", "context");
        command.env("LLXPRT_SYSTEM_SETTINGS_PATH", &system);
        ProgramOutput::with_input(&mut command, &write_call(&sandbox))
    };
    ask().ends_with(0);
    assert_eq!(parents(&sandbox), [server.id().to_string()], "there is none yet");
    let guard = json!({"hooks": [{"type": "command", "command": "echo root says no >&2; exit 2"}]});
    let settings = json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [guard]}});
    std::fs::write(&system, settings.to_string()).unwrap();
    let ran = ask();
    assert!(ran.stdout.contains("root says no"), "{ran:?}");
    assert!(!parents(&sandbox).contains(&server.id().to_string()));
    std::fs::write(&system, "{}").unwrap();
    assert_eq!(ask().stderr, "", "an empty layer is one too, and nothing has to be said");
    assert!(!parents(&sandbox).contains(&server.id().to_string()));
}

/// The machine's files of every dialect make a system layer, below a root that a variable names too.
#[test]
fn with_rules_or_managed_settings_of_the_machine_the_bridge_works_alone() {
    let sandbox = telling();
    let server = serve(&sandbox, &[]);
    let served = || {
        let mut command = bridge(&sandbox, "claude", "PreToolUse", "context");
        command.env("HOOKRAIL_FLEET_ROOT", sandbox.base.join("root"));
        ProgramOutput::with_input(&mut command, &write_call(&sandbox)).ends_with(0);
        let parents = parents(&sandbox);
        assert_eq!(parents.len(), 1, "the hook runs once");
        parents == [server.id().to_string()]
    };
    assert!(served(), "there is none yet");
    for (file, text) in [
        ("hookrail/rules.toml", "# none"),
        ("hookrail/programs.toml", "# none"),
        ("codex/hooks.json", "{}"),
        ("gemini-cli/settings.json", "{}"),
        ("claude-code/managed-settings.json", "{}"),
    ] {
        let file = sandbox.base.join("root/etc").join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        assert!(!served(), "{}", file.display());
        std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
    }
    assert!(served(), "it is gone");
}

/// A server that a service manager started is hookrail too, although the manager made the socket.
#[test]
fn a_server_that_took_its_socket_over_is_asked() {
    let sandbox = telling();
    let path = sandbox.runtime_folder().join("hookrail.sock");
    let server = RunningProgram::start(&mut activated(&sandbox, listen(&sandbox), "1", &path));
    Talk::over(&path).hello();
    let ran = ProgramOutput::with_input(&mut bridge(&sandbox, "claude", "PreToolUse", "deny"), &write_call(&sandbox));
    assert!(ran.stdout.contains("bridge in") && ran.stderr.is_empty(), "{ran:?}");
    assert_eq!(parents(&sandbox), [server.id().to_string()]);
}

#[test]
fn before_the_request_everything_wrong_with_a_server_means_that_the_bridge_works_alone() {
    let own = env!("CARGO_PKG_VERSION");
    for (what, answers) in [
        ("it closes the connection", vec![]),
        ("it does not answer", vec![None]),
        ("its answer comes from another process", vec![Some(welcome(own))]),
    ] {
        let sandbox = telling();
        let _server = impostor(&sandbox, answers);
        let ran =
            ProgramOutput::with_input(&mut bridge(&sandbox, "claude", "PreToolUse", "deny"), &write_call(&sandbox));
        assert!(ran.stdout.contains("bridge in"), "{what}: {ran:?}");
        assert_eq!(parents(&sandbox).len(), 1, "{what}");
    }
}

#[test]
fn a_server_that_is_lost_after_the_request_denies_and_no_hook_runs_a_second_time() {
    // The hook ends or stops the server that runs it.
    for (mode, text) in [("kill", "gave no answer"), ("stop", "did not answer within 5 s")] {
        let sandbox = telling();
        let server = serve(&sandbox, &[]);
        let mut command = bridge(&sandbox, "claude", "PreToolUse", mode);
        let ran = ProgramOutput::with_input(command.args(["--deadline", "5000"]), &write_call(&sandbox));
        assert!(ran.code == 2 && ran.stderr.contains(text), "{ran:?}");
        assert_eq!(parents(&sandbox), [server.id().to_string()]);
        assert_eq!(recorded(&sandbox).iter().filter(|(kind, _)| kind == "corrected").count(), 1, "{mode}");
    }
}

/// A process that listens can become hookrail and leave its socket to another one, which then lets everything pass.
#[cfg(target_os = "linux")]
#[test]
fn what_another_process_than_the_one_that_listens_answers_is_not_believed() {
    let allowed = json!({"type": "HOOK_EXECUTION_RESPONSE", "payload": {"success": true, "output": {},
        "outcome": {"event": "before-tool", "decision": null, "runs": [], "skipped": [], "diagnostics": []}}});
    let sandbox = telling();
    let impostor = impostor(&sandbox, vec![Some(welcome(env!("CARGO_PKG_VERSION"))), Some(allowed)]);
    let ran = ProgramOutput::with_input(&mut bridge(&sandbox, "claude", "PreToolUse", "deny"), &write_call(&sandbox));
    assert!(ran.stdout.contains("bridge in") && ran.stdout.contains("\"deny\""), "{ran:?}");
    assert!(ran.stderr.contains("is answered by another process than the one that listens"), "{ran:?}");
    assert_eq!(impostor.answers.join().unwrap(), 1, "it is not told what the agent wants to do");
    assert_eq!(recorded(&sandbox), [("fired".to_owned(), json!("deny"))]);
}

/// The folders of the journals that a server and a bridge were configured with, told apart by a change in between.
#[test]
fn the_bridge_itself_records_what_a_server_decides_and_nothing_is_recorded_twice() {
    let sandbox = telling();
    let configure = |name: &str| {
        let folder = sandbox.base.join(name);
        let text = format!("[journal]\ndirectory = {:?}\n", folder.to_str().unwrap());
        std::fs::create_dir_all(sandbox.base.join("home/.config/hookrail")).unwrap();
        std::fs::write(sandbox.base.join("home/.config/hookrail/config.toml"), text).unwrap();
    };
    configure("journal-of-the-server");
    let server = serve(&sandbox, &["--project", sandbox.project.to_str().unwrap()]);
    configure("journal-of-the-bridge");
    let calls = 8;
    let all: Vec<_> = (0..calls)
        .map(|number| {
            let mode = if number % 2 == 0 { "deny" } else { "context" };
            let (mut command, call) = (bridge(&sandbox, "claude", "PreToolUse", mode), write_call(&sandbox));
            std::thread::spawn(move || ProgramOutput::with_input(&mut command, &call))
        })
        .collect();
    for answer in all {
        answer.join().unwrap().ends_with(0);
    }
    assert_eq!(parents(&sandbox), vec![server.id().to_string(); calls], "the server runs the hooks");
    let records = recorded(&sandbox);
    let denied = records.iter().filter(|(_, decision)| decision == "deny").count();
    assert!(records.iter().all(|(kind, _)| kind == "fired"), "{records:?}");
    assert_eq!((records.len(), denied), (calls, calls / 2), "{records:?}");
    let (code, said) = sandbox.run(&["journal", "verify"]);
    assert_eq!(code, Some(0), "{said}");
    configure("journal-of-the-server");
    assert_eq!(recorded(&sandbox), [], "the server writes no record of its own");
}

/// What is not recorded does not happen, if the user wants it so, also where a server runs the hooks.
#[test]
fn an_answer_of_a_server_that_the_bridge_cannot_record_follows_the_users_policy() {
    for (policy, denies) in [("block", true), ("warn", false)] {
        let sandbox = telling();
        let server = serve(&sandbox, &[]);
        let file = sandbox.base.join("no-folder");
        std::fs::write(&file, "").unwrap();
        let text = format!("[journal]\ndirectory = {:?}\non_failure = {policy:?}\n", file.to_str().unwrap());
        std::fs::create_dir_all(sandbox.base.join("home/.config/hookrail")).unwrap();
        std::fs::write(sandbox.base.join("home/.config/hookrail/config.toml"), text).unwrap();
        let mut command = bridge(&sandbox, "claude", "PreToolUse", "context");
        let ran = ProgramOutput::with_input(&mut command, &write_call(&sandbox));
        assert_eq!(parents(&sandbox), [server.id().to_string()]);
        assert_eq!(ran.stdout.contains("\"deny\""), denies, "{policy}: {ran:?}");
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains("was not recorded"), "{policy}: {ran:?}");
    }
}

#[test]
fn no_value_of_the_environment_is_logged_or_measured() {
    let sandbox = telling();
    sandbox.write(
        ".llxprt/hooks/tells.sh",
        "[ \"$SECRET\" = 'top-secret-value' ] && echo '{\"decision\":\"deny\",\"reason\":\"seen\"}'\n",
    );
    sandbox.run(&["trust", "grant", "--yes"]);
    let socket = sandbox.runtime_folder().join("hookrail.sock");
    let mut command = sandbox.serve(&["--socket", socket.to_str().unwrap(), "--metrics", "0", "--log-format", "json"]);
    let mut server = RunningProgram::start(command.env("RUST_LOG", "trace"));
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let (address, mut told) = metrics_address(&mut log);
    drop(Talk::over(&socket));
    let mut command = bridge(&sandbox, "claude", "PreToolUse", "context");
    let ran = ProgramOutput::with_input(command.env("SECRET", "top-secret-value"), &write_call(&sandbox));
    assert!(ran.stdout.contains("seen"), "{ran:?}");
    // A request that cannot be read is refused without a word of what it held.
    let mut talk = Talk::over(&socket);
    let caller = json!({"environment": {"SECRET": ["top-secret-value"]}});
    talk.say("HOOK_EXECUTION_REQUEST", &json!({"eventName": "BeforeTool", "input": {}, "caller": caller}));
    let refused = talk.next().unwrap();
    assert_eq!(refused["payload"]["error"]["code"], "invalid_request", "{refused}");
    let measured = get(&address, "/metrics");
    drop(talk);
    server.signal(Signal::TERM);
    server.ends_with(0);
    log.read_to_string(&mut told).unwrap();
    assert!(told.contains("before-tool") && told.contains("invalid_request"), "the log holds the requests: {told}");
    for text in [told, measured, refused.to_string()] {
        assert!(!text.contains("top-secret-value"), "{text}");
    }
}
