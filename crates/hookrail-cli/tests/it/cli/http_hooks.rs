//! Hooks that a web server answers: what is sent, what the reply does, and what happens when there is none.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use hookrail_bridge::Agent;
use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

const DENY: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no pushing"}}"#;

/// A server on this machine that keeps what it is sent. The path of a request says how it is answered.
struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                answer(stream, &kept);
            }
        });
        Self { port, requests }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(stream: TcpStream, requests: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or_default() > 0 {}
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).and_then(|text| text.parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    requests.lock().unwrap().push(format!("{head}{body}"));
    let verdict = if body.contains("push") { DENY } else { "{}" };
    let whole = |status: &str, body: &str| format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let reply = match head.split(' ').nth(1).unwrap() {
        "/guard" => whole("200 OK", verdict),
        "/chunked" => {
            format!(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{verdict}\r\n0\r\n\r\n",
                verdict.len()
            )
        }
        "/moved" => format!("HTTP/1.1 302 Found\r\nLocation: /guard\r\nContent-Length: {}\r\n\r\n{{}}", 2),
        "/broken" => whole("500 Internal Server Error", "{}"),
        "/short" => "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}".to_owned(),
        "/silent" => {
            // The engine ends the process that waits for this reply, and with it the connection.
            let _ = reader.read(&mut [0]);
            return;
        }
        other => panic!("no answer for {other}"),
    };
    let _ = reader.get_mut().write_all(reply.as_bytes());
}

fn settings(entry: &Value) -> String {
    json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [entry]}]}}).to_string()
}

/// A user with one such hook, which needs no grant.
fn of_user(entry: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_home(".claude/settings.json", settings(entry));
    sandbox.run(&["enable", "claude"]).ends_with(0);
    sandbox
}

fn fire(sandbox: &Sandbox, line: &str, further: &[&str]) -> ProgramOutput {
    let input = json!({"command": line}).to_string();
    let args = [&["fire", "PreToolUse", "--tool", "Bash", "--tool-input", &input], further].concat();
    ProgramOutput::capture(sandbox.command(&args).env("GUARD_TOKEN", "t0k").env("OTHER_SECRET", "never"))
}

#[test]
fn a_projects_hook_sends_after_a_grant_and_its_server_denies() {
    let server = Server::start();
    let headers = json!({"Authorization": "Bearer $GUARD_TOKEN", "X-Other": "[${OTHER_SECRET}]", "X-Plain": "literal"});
    let entry =
        json!({"type": "http", "url": server.url("/guard"), "headers": headers, "allowedEnvVars": ["GUARD_TOKEN"]});
    let sandbox = Sandbox::new();
    sandbox.write(".claude/settings.json", settings(&entry));
    sandbox.run(&["enable", "claude"]).ends_with(0);
    fire(&sandbox, "git push", &[]).ends_with(0);
    assert_eq!(server.requests(), Vec::<String>::new(), "nothing is sent before the grant");

    let shown = sandbox.run(&["trust", "grant", "--yes"]).ends_with(0).stdout;
    let told = ["`Authorization`", "`X-Other`", "`X-Plain`", "`GUARD_TOKEN`"];
    assert!(shown.contains(&server.url("/guard")) && told.iter().all(|name| shown.contains(name)), "{shown}");
    assert!(!shown.contains("literal"), "a value can be a secret: {shown}");

    let denied = fire(&sandbox, "git push", &[]).ends_with(2);
    assert!(denied.stdout.contains("no pushing"), "{denied:?}");
    fire(&sandbox, "git status", &[]).ends_with(0);
    fire(&sandbox, "git push", &["--agent", "codex"]).ends_with(2);
    fire(&sandbox, "git status", &["--agent", "codex"]).ends_with(0);
    let requests = server.requests();
    assert_eq!(requests.len(), 4, "{requests:?}");
    let first = requests.first().unwrap();
    for expected in ["POST /guard HTTP/1.1\r\n", "Authorization: Bearer t0k\r\n", "X-Other: []\r\n", "\"PreToolUse\""] {
        assert!(first.contains(expected), "{expected}: {first}");
    }

    // Another address is another hook: the grant does not cover it.
    let moved = json!({"type": "http", "url": server.url("/chunked")});
    sandbox.write(".claude/settings.json", settings(&moved));
    fire(&sandbox, "git push", &[]);
    assert_eq!(server.requests().len(), 4, "nothing is sent to an address that was not granted");
}

#[test]
fn a_reply_in_chunks_is_an_answer() {
    let server = Server::start();
    let sandbox = of_user(&json!({"type": "http", "url": server.url("/chunked")}));
    fire(&sandbox, "git push", &[]).ends_with(2);
    fire(&sandbox, "git status", &[]).ends_with(0);
}

#[test]
fn what_is_no_success_is_a_failure_under_the_policy_of_the_hook() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::start();
    let unreachable = format!("http://127.0.0.1:{closed}/guard");
    for (url, said) in [
        (server.url("/moved"), "redirects with status 302"),
        (server.url("/broken"), "status 500"),
        (server.url("/short"), "breaks off"),
        (unreachable, "no reply"),
    ] {
        let before = server.requests().len();
        let guard = of_user(&json!({"type": "http", "url": url, "onFailure": "block"}));
        let blocked = fire(&guard, "git status", &["--json"]).ends_with(2);
        assert!(blocked.stdout.contains(said), "{url}: {blocked:?}");
        assert!(server.requests().len() <= before + 1, "{url} is asked once, and no other address");
        let other = of_user(&json!({"type": "http", "url": url}));
        fire(&other, "git status", &[]).ends_with(0);
    }
    // The control: the same guard, with a server that answers.
    let guard = of_user(&json!({"type": "http", "url": server.url("/guard"), "onFailure": "block"}));
    fire(&guard, "git status", &[]).ends_with(0);
}

#[test]
fn a_server_that_says_nothing_costs_the_time_of_the_hook() {
    let server = Server::start();
    let entry = |policy: &str| json!({"type": "http", "url": server.url("/silent"), "timeout": 1, "onFailure": policy});
    let blocked = fire(&of_user(&entry("block")), "git status", &["--json"]).ends_with(2);
    assert!(blocked.stdout.contains("hook-timed-out"), "{blocked:?}");
    fire(&of_user(&entry("allow")), "git status", &[]).ends_with(0);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn an_entry_without_a_usable_address_is_reported_and_its_guard_blocks() {
    for entry in [
        json!({"type": "http", "onFailure": "block"}),
        json!({"type": "http", "url": "ftp://guard.example/", "onFailure": "block"}),
        json!({"type": "http", "url": "http://a b/", "onFailure": "block"}),
        json!({"type": "http", "url": "http://guard.example/", "headers": {"X Y": "a"}, "onFailure": "block"}),
        json!({"type": "http", "url": "http://guard.example/", "allowedEnvVars": "A", "onFailure": "block"}),
    ] {
        let guard = of_user(&entry);
        fire(&guard, "git status", &[]).ends_with(2);
        let found = guard.run(&["check"]);
        assert!(found.stdout.contains("hook-command"), "{entry}: {found:?}");
    }
}

#[cfg(not(any(feature = "fleet", feature = "otel")))]
#[test]
fn without_tls_the_failure_names_what_has_it() {
    let guard = of_user(&json!({"type": "http", "url": "https://127.0.0.1:9/", "onFailure": "block"}));
    let blocked = fire(&guard, "git status", &["--json"]).ends_with(2);
    assert!(blocked.stdout.contains("--features otel"), "{blocked:?}");
}

/// Whether the agent runs a shell line, which leaves a trace when it does.
fn runs_in_agent(sandbox: &Sandbox, line: &str) -> bool {
    let trace = sandbox.project.join("trace");
    let _ = std::fs::remove_file(&trace);
    let call = json!({"name": "run_shell_command", "args": {"command": format!("echo {line} > trace")}});
    sandbox.write_home("script.json", json!({"turns": [{"calls": [call]}, {"text": "done"}]}).to_string());
    let script = sandbox.home.join("script.json");
    let args = ["agent", "--headless", "--prompt", "go", "--script", script.to_str().unwrap()];
    let ran = sandbox.run(&args).ends_with(0);
    assert!(ran.stdout.contains("done"), "{ran:?}");
    trace.exists()
}

/// Whether Codex is told to run a shell line, by the command that an installation wrote into its settings.
fn passes_installed_bridge(sandbox: &Sandbox, line: &str) -> bool {
    let text = std::fs::read_to_string(sandbox.home.join(".codex/hooks.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let (_, payload) = Agent::codex().tool_event(&sandbox.project, "Bash", &json!({"command": line}));
    let ran = ProgramOutput::with_input(sandbox.place_command("sh").args(["-c", &command]), &payload);
    assert!(ran.code == 2 && !ran.stderr.is_empty() || ran.code == 0 && ran.stdout.is_empty(), "{ran:?}");
    ran.code == 0
}

#[test]
fn the_agent_and_an_installed_bridge_ask_the_server_and_obey_the_policy() {
    let server = Server::start();
    for (path, policy, passes_push, passes_status) in [
        ("/guard", "allow", false, true),
        ("/guard", "block", false, true),
        ("/broken", "block", false, false),
        ("/broken", "allow", true, true),
        ("/silent", "block", false, false),
        ("/silent", "allow", true, true),
    ] {
        // A hook that waits for a reply has one second, and any other the usual time.
        let mut entry = json!({"type": "http", "url": server.url(path), "onFailure": policy});
        if path == "/silent" {
            entry["timeout"] = json!(1);
        }
        let sandbox = of_user(&entry);
        sandbox.run(&["install", "codex", "--trust", "--yes"]).ends_with(0);
        let before = server.requests().len();
        for (line, passes) in [("git push", passes_push), ("git status", passes_status)] {
            assert_eq!(runs_in_agent(&sandbox, line), passes, "agent, {path}, {policy}: {line}");
            assert_eq!(passes_installed_bridge(&sandbox, line), passes, "bridge, {path}, {policy}: {line}");
        }
        assert_eq!(server.requests().len(), before + 4, "{path}, {policy}: the server is asked each time");
    }
}
