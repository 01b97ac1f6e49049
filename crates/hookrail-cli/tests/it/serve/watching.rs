//! Changes of files are noticed by events, by polling if the system provides no events, and for grants in any case.

use std::ffi::OsStr;
use std::io::{BufReader, Read as _, Write as _};
use std::process::Command;

use hookrail_testkit::{HANG, RunningProgram, Signal, Talk};
use serde_json::json;

use crate::serve::support::Sandbox;

/// Runs a command in a user namespace of its own in which a limit of inotify is used up. Nothing outside of it is
/// affected.
const EXHAUSTED: &str = "echo 0 > /proc/sys/user/$0 || exit 99; exec \"$@\"";

/// Whether limits can be used up here. With HOOKRAIL_REQUIRE_ALL=1 they must be.
fn can_exhaust() -> bool {
    let tried = Command::new("unshare").args(["-Ur", "sh", "-c", EXHAUSTED, "max_inotify_instances", "true"]).output();
    let can = tried.is_ok_and(|tried| tried.status.success());
    let all = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|all| all == "1");
    assert!(can || !all, "no user namespace can be made");
    if !can {
        println!("skipped: no user namespace can be made");
    }
    can
}

#[test]
fn without_inotify_configuration_is_polled_and_that_is_reported() {
    if !can_exhaust() {
        return;
    }
    for limit in ["max_inotify_instances", "max_inotify_watches"] {
        let sandbox = Sandbox::with_user_hook("echo first");
        let own = ["-Ur", "sh", "-c", EXHAUSTED, limit, Sandbox::program().to_str().unwrap()].map(OsStr::new);
        let args = ["--stdio", "--trust-project", "--metrics", "127.0.0.1:0"];
        let (mut server, mut talk) = Sandbox::talk_to(sandbox.serve_with("unshare", &own, &args));
        let mut log = BufReader::new(server.stderr.take().unwrap());
        let (address, mut told) = metrics_address(&mut log);
        assert_eq!(talk.message(), "first");
        sandbox.edit("echo second");
        talk.until_message("second");
        assert_eq!(talk.hello()["watch"], "polling", "{limit}");
        let metrics = get(&address, "/metrics");
        assert!(metrics.contains("hookrail_bus_watch{mode=\"polling\"} 1"), "{metrics}");
        assert!(
            metrics.contains("hookrail_bus_configuration_loads_total{trigger=\"change\",result=\"loaded\"} 1"),
            "{metrics}"
        );
        talk.finish();
        server.wait().unwrap();
        log.read_to_string(&mut told).unwrap();
        assert!(told.contains("WARN") && told.contains("configuration cannot be watched"), "{limit}: {told}");
    }
}

/// Where metrics are offered, and what the log says before that.
pub(crate) fn metrics_address(log: &mut impl std::io::BufRead) -> (String, String) {
    let (mut line, mut before) = (String::new(), String::new());
    while !line.starts_with("metrics at ") {
        before.push_str(&std::mem::take(&mut line));
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "no address");
    }
    let address = line.trim().strip_prefix("metrics at http://").unwrap().strip_suffix("/metrics").unwrap();
    (address.to_owned(), before)
}

pub(crate) fn get(address: &str, path: &str) -> String {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_revoked_grant_is_gone_for_the_next_event_also_without_watching() {
    for watching in [&["--no-watch"][..], &[][..]] {
        let sandbox = Sandbox::with_hook("echo granted");
        let grant = || sandbox.run(&["trust", "grant", "--yes"]);
        assert_eq!(grant().0, Some(0));
        let (_server, mut talk) = sandbox.on_stdio_as_granted(watching);
        assert_eq!(talk.message(), "granted");
        for _ in 0..3 {
            assert_eq!(sandbox.run(&["trust", "revoke"]).0, Some(0));
            // The change applies to the very next event, without a wait.
            let answer = talk.ask("x");
            assert_eq!(answer["outcome"]["skipped"][0]["why"], "untrusted", "{watching:?}: {answer}");
            assert_eq!(grant().0, Some(0));
            assert_eq!(talk.message(), "granted", "{watching:?}");
        }
    }
}

#[test]
fn without_watching_a_changed_file_changes_nothing() {
    let sandbox = Sandbox::with_user_hook("echo first");
    let (_server, mut talk): (RunningProgram, Talk) = sandbox.on_stdio(&["--no-watch"]);
    assert_eq!(talk.message(), "first");
    sandbox.edit("echo second");
    for _ in 0..5 {
        assert_eq!(talk.message(), "first");
    }
}

/// A file of the sandbox, written in place.
fn write(sandbox: &Sandbox, file: &str, text: &str) {
    sandbox.write_at(file, text);
}

fn hooks(command: &str) -> String {
    let hook = json!({"type": "command", "command": command});
    json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": [hook]}]}}).to_string()
}

fn denying(reason: &str) -> String {
    format!("export default (pi) => pi.on('tool_call', () => ({{ block: true, reason: '{reason}' }}));\n")
}

/// Sends requests until the reason of a deny contains this.
fn until_reason(talk: &mut Talk, expected: &str) {
    let mut last = serde_json::Value::Null;
    let said = || {
        last = talk.ask("x");
        last["outcome"]["reason"].as_str().is_some_and(|reason| reason.contains(expected))
    };
    assert!(hookrail_testkit::wait_until(said, HANG), "expected {expected}, not {last}");
}

fn manifest(reason: &str) -> String {
    let answer = json!({"decision": "deny", "reason": reason});
    json!({"name": "gate", "hooks": {"PreToolUse": [{"command": format!("printf '%s' '{answer}'")}]}}).to_string()
}

#[test]
fn an_edit_of_everything_that_was_read_is_noticed() {
    let denies = |reason: &str| hooks(&format!("echo {reason} >&2; exit 2"));
    let imported = |reason: &str| format!("export const reason = '{reason}';\n");
    // A settings file behind a link, a plugin's manifest, a module, and a module's import: the user's own, which need no
    // grant when they change.
    type Content<'c> = &'c dyn Fn(&str) -> String;
    let sources: [(&str, Content<'_>); 4] = [
        ("elsewhere/settings.json", &denies),
        ("home/.x-code/plugins/cache/m/gate/1.0.0/plugin.json", &manifest),
        ("home/.xcsh/agent/hooks/pre/guard.mjs", &denying),
        ("home/.xcsh/agent/hooks/lib/reason.mjs", &imported),
    ];
    for (file, text) in sources {
        let sandbox = Sandbox::new(&json!({}));
        write(&sandbox, file, &text("before-edit"));
        if file.starts_with("elsewhere") {
            let settings = sandbox.base.join("home/.llxprt/settings.json");
            std::fs::create_dir(sandbox.base.join("home/.llxprt")).unwrap();
            std::os::unix::fs::symlink(sandbox.base.join(file), &settings).unwrap();
        }
        if file.ends_with("plugin.json") {
            let installed =
                json!({"plugins": [{"id": "gate@m", "name": "gate", "marketplace": "m", "version": "1.0.0"}]});
            write(&sandbox, "home/.x-code/plugins/installed_plugins.json", &installed.to_string());
        }
        if file.ends_with("reason.mjs") {
            let module = "import { reason } from '../lib/reason.mjs';\n\
                          export default (pi) => pi.on('tool_call', () => ({ block: true, reason }));\n";
            write(&sandbox, "home/.xcsh/agent/hooks/pre/guard.mjs", module);
        }
        let (_server, mut talk) = sandbox.on_stdio(&[]);
        until_reason(&mut talk, "before-edit");
        write(&sandbox, file, &text("after-edit"));
        until_reason(&mut talk, "after-edit");
    }
}

#[test]
fn what_becomes_useless_while_a_server_runs_stays_in_force_and_every_answer_says_so() {
    let module = "import { reason } from '../lib/reason.mjs';\n\
                  export default (pi) => pi.on('tool_call', () => ({ block: true, reason }));\n";
    let denies = hooks("echo guarded >&2; exit 2");
    let events = serde_json::from_str::<serde_json::Value>(&denies).unwrap()["hooks"].take();
    let extension = json!({"name": "e", "version": "1", "hooks": events}).to_string();
    // The source, and what else there is.
    let second = "home/.config/llxprt-code/settings.json";
    let sources = [
        (second, denies.as_str(), ("elsewhere/unused", "")),
        ("home/.config/hookrail/config.toml", "[guard]\non_load_failure = \"block\"\n", (second, denies.as_str())),
        (
            "home/.llxprt/extensions/extension-enablement.json",
            r#"{"e": {"overrides": []}}"#,
            ("home/.llxprt/extensions/e/llxprt-extension.json", extension.as_str()),
        ),
        (
            "home/.xcsh/agent/hooks/lib/reason.mjs",
            "export const reason = 'guarded';\n",
            ("home/.xcsh/agent/hooks/pre/guard.mjs", module),
        ),
    ];
    for (source, good, (other, text)) in sources {
        for useless in [Some(""), Some(" \n"), Some("{{ broken"), None] {
            let sandbox = Sandbox::new(&json!({}));
            write(&sandbox, source, good);
            write(&sandbox, other, text);
            let (_server, mut talk) = sandbox.on_stdio(&[]);
            until_reason(&mut talk, "guarded");
            match useless {
                Some(useless) => write(&sandbox, source, useless),
                None => std::fs::remove_file(sandbox.base.join(source)).unwrap(),
            }
            let mut last = serde_json::Value::Null;
            let told = || {
                last = talk.ask("x");
                assert_eq!(last["outcome"]["decision"], "deny", "{source} {useless:?}: {last}");
                let findings = last["outcome"]["diagnostics"].to_string();
                findings.contains("kept-last-good") || findings.contains("source-removed")
            };
            assert!(hookrail_testkit::wait_until(told, HANG), "{source} {useless:?}: {last}");
        }
    }
}

#[test]
fn a_source_that_is_removed_stays_in_force_until_that_is_accepted() {
    let sandbox = Sandbox::with_hook("echo guarded >&2; exit 2");
    let (server, _path, mut talk) = sandbox.on_socket(&[]);
    until_reason(&mut talk, "guarded");
    std::fs::remove_file(sandbox.project.join(".llxprt/settings.json")).unwrap();
    let told = || talk.hello()["kept"].to_string().contains("settings.json");
    assert!(hookrail_testkit::wait_until(told, HANG), "the removal is not noticed");
    until_reason(&mut talk, "guarded");
    server.signal(Signal::HUP);
    let gone = || talk.ask("x")["outcome"]["decision"].is_null();
    assert!(hookrail_testkit::wait_until(gone, HANG), "the removal is not accepted");
    assert_eq!(talk.hello()["kept"], json!([]));
}

#[test]
fn a_system_layer_that_cannot_be_used_is_no_success_and_not_ready() {
    let sandbox = Sandbox::with_hook("true");
    write(&sandbox, "system.json", "{ broken");
    let (mut server, mut talk) = sandbox.on_stdio(&["--metrics", "0"]);
    let (address, _) = metrics_address(&mut BufReader::new(server.stderr.take().unwrap()));
    talk.ask_for("c", "x");
    assert_eq!(talk.next_error(), "system_unusable");
    assert_eq!(talk.hello()["systemUnusable"], true);
    assert!(get(&address, "/readyz").starts_with("HTTP/1.1 503 "));
    assert!(get(&address, "/metrics").contains("hookrail_bus_system_unusable{"));
}
