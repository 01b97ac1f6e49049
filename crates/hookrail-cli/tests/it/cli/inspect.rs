//! `inspect`: the address it prints, the page that it serves from the journal, the tester, and the file that it exports.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::ChildStdout;

use hookrail_testkit::{RunningProgram, Signal, send_signal};
use serde_json::{Value, json};

use crate::cli::sandbox::Sandbox;

const DENIES: &str = r#"cat > /dev/null; echo '{"decision":"deny","reason":"not today"}'"#;

fn denying() -> Sandbox {
    let sandbox = Sandbox::with_hook("BeforeTool", DENIES);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

fn fire(sandbox: &Sandbox, path: &str) {
    let input = json!({ "path": path }).to_string();
    sandbox.run(&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", &input, "--journal"]).ends_with(2);
}

/// A running inspector, and the session of its page.
struct Inspector {
    program: RunningProgram,
    _output: BufReader<ChildStdout>,
    address: String,
    api: String,
    cookie: String,
}

impl Inspector {
    fn start(sandbox: &Sandbox, options: &[&str]) -> Self {
        let mut program = RunningProgram::start(&mut sandbox.command(&[&["inspect"], options].concat()));
        let mut output = BufReader::new(program.stdout.take().unwrap());
        let mut url = String::new();
        output.read_line(&mut url).unwrap();
        let (address, token) = url.trim().strip_prefix("http://").unwrap().split_once("/#token=").unwrap();
        let mut made =
            Self { program, _output: output, address: address.to_owned(), api: String::new(), cookie: String::new() };
        let (head, body) = made.send("POST", "/session", &json!({ "token": token }).to_string());
        made.api = serde_json::from_str::<Value>(&body).unwrap()["api"].as_str().unwrap().to_owned();
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        made.cookie = cookie.split(';').next().unwrap().to_owned();
        made
    }

    fn send(&self, method: &str, path: &str, body: &str) -> (String, String) {
        let Self { address, cookie, .. } = self;
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nCookie: {cookie}\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> Value {
        serde_json::from_str(&self.send("GET", &format!("{}{path}", self.api), "").1).unwrap()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        serde_json::from_str(&self.send("POST", &format!("{}{path}", self.api), &body.to_string()).1).unwrap()
    }

    /// The rows of denied events, once there are this many.
    fn denied(&self, count: usize) -> Vec<Value> {
        self.rows(count, |row| row["decision"] == "deny")
    }

    /// The row of the only record of a kind.
    fn row_of_kind(&self, kind: &str) -> Value {
        self.rows(1, |row| row["kind"] == kind).remove(0)
    }

    /// The rows that are wanted, once there are this many. The page looks for new records on its own.
    fn rows(&self, count: usize, is_wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        loop {
            let page = self.get("rows/0");
            let rows = page["rows"].as_array().unwrap().iter().filter(|row| is_wanted(row));
            let rows = Vec::from_iter(rows.cloned());
            if rows.len() == count {
                return rows;
            }
            assert!(std::time::Instant::now() < deadline, "{page}");
            std::thread::yield_now();
        }
    }
}

#[test]
fn the_page_shows_what_other_processes_record_before_and_after_it_was_opened() {
    let sandbox = denying();
    fire(&sandbox, "before.env");
    let inspector = Inspector::start(&sandbox, &[]);
    let rows = inspector.denied(1);
    let (row, number) = (&rows[0], rows[0]["n"].as_u64().unwrap());
    assert_eq!(
        (&row["event"], &row["tool"], &row["text"]),
        (&json!("before-tool"), &json!("write_file"), &json!("before.env"))
    );
    assert_eq!((&row["hooks"][0][1], &row["hooks"][0][4]), (&json!("sample"), &json!("deny")));
    let record = inspector.get(&format!("record/{number}"));
    assert_eq!((&record["outcome"]["reason"], &record["host"]["name"]), (&json!("not today"), &json!("hookrail fire")));
    fire(&sandbox, "after.env");
    assert_eq!(inspector.denied(2)[1]["text"], "after.env");
}

#[test]
fn the_page_shows_hooks_and_trust_and_explains_without_running() {
    let sandbox = Sandbox::with_hook("BeforeTool", "touch ran; exit 0");
    let inspector = Inspector::start(&sandbox, &["--no-open"]);
    let hooks = inspector.get("hooks");
    assert_eq!(hooks["list"]["hooks"][0]["hook"], "sample");
    assert_eq!(hooks["trust"]["trusted"], false);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    assert_eq!(inspector.get("hooks")["trust"]["hooks"][0]["state"], "granted", "a grant is seen at once");
    let trial = json!({"event": "PreToolUse", "payload": {"tool_name": "write_file", "tool_input": {}}});
    let plan = inspector.post("explain", &trial);
    assert_eq!(plan["plan"][0]["hook"], "sample", "{plan}");
    assert_eq!(
        inspector.post("explain", &json!({"event": "no", "payload": {}})),
        json!({"error": "`no` is not an event"})
    );
    let refused = inspector.post("fire", &trial);
    assert!(refused["error"].as_str().unwrap().contains("--allow-run"), "{refused}");
    assert!(!sandbox.exists("ran"));
}

#[test]
fn with_permission_the_page_fires_events() {
    let sandbox = denying();
    let inspector = Inspector::start(&sandbox, &["--allow-run"]);
    let outcome = inspector
        .post("fire", &json!({"event": "before-tool", "payload": {"tool_name": "write_file", "tool_input": {}}}));
    assert_eq!((&outcome["decision"], &outcome["reason"]), (&json!("deny"), &json!("not today")), "{outcome}");
}

#[test]
fn an_export_is_one_file_for_its_owner() {
    let sandbox = denying();
    fire(&sandbox, "</script><b>.env");
    let ran = sandbox.run(&["inspect", "--export", "all.html"]).ends_with(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("written: all.html\n", ""));
    let html = sandbox.read("all.html");
    assert!(
        html.starts_with("<!DOCTYPE html>") && html.contains("not today") && html.contains("Content-Security-Policy")
    );
    assert!(!html.contains("</script><b>") && !html.contains("src=\"/"), "records stay text, and nothing is loaded");
    let mode = std::fs::metadata(sandbox.project.join("all.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let ran = sandbox.run(&["inspect", "--export", "missing/all.html"]).ends_with(1);
    assert!(ran.stderr.starts_with("error: `missing/all.html` cannot be written: "), "{}", ran.stderr);
}

#[test]
fn a_port_that_is_taken_is_an_error_with_a_way_out() {
    let sandbox = Sandbox::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = sandbox.run(&["inspect", "--no-open", "--port", &port]).ends_with(1);
    assert!(ran.stderr.contains("cannot be used") && ran.stderr.contains("hint: choose another one"), "{}", ran.stderr);
}

#[test]
fn an_interrupt_closes_the_page() {
    let sandbox = Sandbox::new();
    let mut inspector = Inspector::start(&sandbox, &[]);
    inspector.program.signal(Signal::INT);
    assert_eq!(inspector.program.exit_status(), Some(0));
    assert!(TcpStream::connect(&inspector.address).is_err());
}

#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_the_browser_gets_a_private_file_and_not_the_address() {
    use crate::cli::pseudo_terminal::OnTerminal;
    let sandbox = Sandbox::new();
    let opener = "#!/bin/sh\nstat -c '%a' \"$1\" > seen; echo \"$*\" >> seen; cat \"$1\" >> seen; mv seen opened\n";
    let opener = sandbox.write_program_at("bin/xdg-open", opener);
    let path = format!("{}:{}", opener.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = sandbox.command(&["inspect"]);
    let mut terminal = OnTerminal::of(command.env("PATH", path), "");
    let printed = terminal.sees_next("#token=");
    let address = printed.trim().strip_suffix("#token=").unwrap();
    let is_opened = || sandbox.exists("opened");
    assert!(hookrail_testkit::wait_until(is_opened, std::time::Duration::from_secs(60)), "no browser was opened");
    let opened = sandbox.read("opened");
    let lines = Vec::from_iter(opened.lines());
    assert_eq!(lines[0], "600", "only this user can read the file");
    assert!(!lines[1].contains("token") && !lines[1].contains("127.0.0.1"), "{}", lines[1]);
    assert!(lines[2].contains(&format!("url={address}#token=")), "{}", lines[2]);
    send_signal(terminal.command.id(), Signal::INT);
    assert_eq!(terminal.command.wait().unwrap().code(), Some(0));
    assert!(!std::path::Path::new(lines[1]).exists(), "the file is removed at the end");
}

/// A project with a module that denies the tool `bash`, and one call of that tool by an agent.
fn denied_by_a_module() -> Sandbox {
    let sandbox = Sandbox::new();
    let module = "export default function(pi){ pi.on('tool_call', (e) => e.toolName === 'bash' ? { block: true, reason: 'no shell' } : undefined); }";
    sandbox.write(".xcsh/hooks/pre/guard.mjs", module);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let call = json!({"hook_event_name": "PreToolUse", "session_id": "agent-7", "cwd": sandbox.project, "tool_name": "Bash",
        "tool_input": {"command": "rm -rf /x"}});
    let ran = sandbox.run_with_input(&["bridge", "claude"], &call.to_string());
    assert!(ran.stdout.contains("no shell"), "{ran:?}");
    sandbox
}

#[test]
fn an_event_of_a_bridge_is_tried_as_the_bridge_had_fired_it() {
    let sandbox = denied_by_a_module();
    let inspector = Inspector::start(&sandbox, &["--allow-run"]);
    let number = inspector.denied(1)[0]["n"].clone();
    let record = inspector.get(&format!("record/{number}"));
    let trial = json!({"event": record["event"], "payload": record["input"], "record": number});
    let outcome = inspector.post("fire", &trial);
    assert_eq!((&outcome["decision"], &outcome["reason"]), (&json!("deny"), &json!("no shell")), "{outcome}");
    let plan = inspector.post("explain", &trial);
    assert!(plan["plan"][0]["hook"].as_str().unwrap().ends_with("guard.mjs"), "{plan}");
    // The same call gets the same answer without the record: the table of tools knows the agent's name.
    let typed = inspector.post("fire", &json!({"event": record["event"], "payload": record["input"]}));
    assert_eq!(typed["decision"], json!("deny"), "{typed}");
    let gone = inspector.post("fire", &json!({"event": record["event"], "payload": {}, "record": 1_000}));
    assert_eq!(gone, json!({"error": "this record is not kept any more"}));
}

#[test]
fn a_recorded_event_is_tried_with_its_session_and_its_directory() {
    let shows = r#"read -r line; printf '%s' "$line" > seen.json"#;
    let sandbox = Sandbox::with_hook("BeforeTool", shows);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let input = ["--tool", "write_file", "--tool-input", "{}", "--session-id", "s-9"];
    sandbox.run(&[&["fire", "BeforeTool", "--journal"], &input[..]].concat()).ends_with(0);
    let recorded: Value = serde_json::from_str(&sandbox.read("seen.json")).unwrap();
    let inspector = Inspector::start(&sandbox, &["--allow-run"]);
    let row = inspector.row_of_kind("fired");
    let record = inspector.get(&format!("record/{}", row["n"]));
    inspector.post("fire", &json!({"event": "before-tool", "payload": record["input"], "record": row["n"]}));
    let tried: Value = serde_json::from_str(&sandbox.read("seen.json")).unwrap();
    for member in ["session_id", "cwd", "tool_name"] {
        assert_eq!(tried[member], recorded[member], "{member}");
    }
    assert_eq!((&tried["session_id"], &tried["timestamp"]), (&json!("s-9"), &record["at"]));
}

#[test]
fn exactly_the_last_records_are_shown() {
    let sandbox = denying();
    (0..12).for_each(|number| fire(&sandbox, &format!("{number}.env")));
    for last in [3, 8, 10] {
        let inspector = Inspector::start(&sandbox, &["--last", &last.to_string()]);
        inspector.rows(1, |row| row["text"] == "11.env");
        let page = inspector.get("rows/0");
        assert_eq!(page["rows"].as_array().unwrap().len(), last, "{page}");
    }
}

#[test]
fn an_export_takes_the_place_of_a_file_that_others_could_read() {
    let sandbox = denying();
    fire(&sandbox, "a.env");
    sandbox.write("all.html", "old");
    let file = sandbox.project.join("all.html");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink("elsewhere.html", sandbox.project.join("link.html")).unwrap();
    sandbox.write("elsewhere.html", "kept");
    for name in ["all.html", "link.html"] {
        sandbox.run(&["inspect", "--export", name]).ends_with(0);
        let data = std::fs::symlink_metadata(sandbox.project.join(name)).unwrap();
        assert!(data.is_file() && data.permissions().mode() & 0o777 == 0o600, "{name}: {data:?}");
        assert!(sandbox.read(name).contains("not today"), "{name}");
    }
    assert_eq!(sandbox.read("elsewhere.html"), "kept");
    let ran = sandbox.run(&["inspect", "--export", "/dev/stdout"]).ends_with(0);
    assert!(ran.stdout.starts_with("<!DOCTYPE html>"), "a stream takes the file too");
}

/// A journal that is deleted while a page shows it is not the end of what is shown.
#[test]
fn the_page_goes_on_in_a_journal_that_was_made_anew() {
    let sandbox = denying();
    fire(&sandbox, "before.env");
    let inspector = Inspector::start(&sandbox, &[]);
    inspector.denied(1);
    let is_notice = |row: &Value| row.to_string().contains("was deleted and made anew");
    assert!(inspector.rows(0, is_notice).is_empty(), "the control");
    std::fs::remove_dir_all(sandbox.home.join(".local/state/hookrail/journal")).unwrap();
    fire(&sandbox, "after.env");
    assert_eq!(inspector.denied(2)[1]["text"], "after.env");
    assert_eq!(inspector.rows(1, is_notice)[0]["kind"], "unreadable");
}

/// The hooks of other agents stand on the page like every hook.
#[test]
fn the_page_shows_and_asks_hooks_of_other_agents() {
    let sandbox = Sandbox::new();
    for (dialect, file, event) in [
        ("claude", ".claude/settings.json", "PreToolUse"),
        ("gemini", ".gemini/settings.json", "BeforeTool"),
        ("codex", ".codex/hooks.json", "PreToolUse"),
    ] {
        sandbox.run(&["enable", dialect]).ends_with(0);
        let hook = json!({"type": "command", "command": format!("echo by {dialect} >&2; exit 2")});
        sandbox.write(file, json!({"hooks": {event: [{"hooks": [hook]}]}}).to_string());
    }
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    fire(&sandbox, "before.env");
    let inspector = Inspector::start(&sandbox, &["--allow-run"]);
    let row = inspector.denied(1).remove(0);
    let listed = inspector.get("hooks");
    let outcome = inspector.post(
        "fire",
        &json!({"event": "before-tool", "payload": {"tool_name": "write_file", "tool_input": {"file_path": "a"}}}),
    );
    for dialect in ["claude", "gemini", "codex"] {
        let has = |hooks: &Value| hooks.as_array().unwrap().iter().any(|hook| hook["dialect"] == dialect);
        assert!(has(&listed["list"]["hooks"]), "{listed}");
    }
    assert_eq!(outcome["decision"], "deny", "{outcome}");
    assert!(row["hooks"].to_string().contains("by gemini") && outcome["reason"] == "by gemini", "{row} {outcome}");
}
