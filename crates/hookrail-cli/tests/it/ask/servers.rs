//! Which servers are asked, and what servers permit.

use std::net::TcpListener;

use hookrail_testkit::{ProgramOutput, TestProject};
use serde_json::json;

use crate::ask::support::{Net, remote};

#[test]
fn a_project_cannot_choose_servers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("nats://{}", listener.local_addr().unwrap());
    let place = TestProject::new();
    let member =
        format!("tenant = \"acme\"\nmember = \"m\"\n\n[nats]\nservers = [\"{url}\"]\nseed = \"member.seed\"\n");
    for folder in [".hookrail", ".config/hookrail", "etc/hookrail", "."] {
        place.write(&format!("{folder}/member.toml"), &member);
        place.write(&format!("{folder}/fleet.toml"), &member);
        let key = hookrail_fleet::nats::MemberKey::generate().unwrap();
        key.write_new(&place.project.join(folder).join("member.seed")).unwrap();
    }
    place.write(".hookrail/config.toml", format!("[nats]\nservers = [\"{url}\"]\n"));
    let hook = remote(&json!({"servers": [url], "nats": url, "url": url}));
    let settings = json!({
        "hooksConfig": {"enabled": true},
        "nats": {"servers": [url]},
        "hooks": {"BeforeTool": [{"hooks": [hook]}]},
    });
    place.write(".llxprt/settings.json", settings.to_string());
    let mut command = place.command(env!("CARGO_BIN_EXE_hookrail"));
    command.args(["fire", "BeforeTool", "--tool", "write_file", "--trust-project", "--json"]);
    let outcome = ProgramOutput::capture(&mut command).json();
    assert_eq!(outcome["runs"][0]["end"], "spawn-failed", "{outcome}");
    assert_eq!(outcome["decision"], "deny", "and its policy applies");
    let connected = listener.accept().map_err(|error| error.kind());
    assert_eq!(
        connected.map(|_| ()),
        Err(std::io::ErrorKind::WouldBlock),
        "the server of the project was connected to"
    );
}

#[test]
fn an_untrusted_project_asks_nothing() {
    let Some(net) = Net::start() else { return };
    let _worker = net.worker("touch asked; exit 2", &[]);
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [remote(&json!({}))]}]}});
    net.desk.write(".llxprt/settings.json", settings.to_string());
    net.desk.write_home(".llxprt/settings.json", json!({"hooksConfig": {"enabled": true}}).to_string());
    let outcome = net.fire(&[]);
    assert_eq!((&outcome["runs"], &outcome["skipped"][0]["why"]), (&json!([]), &json!("untrusted")), "{outcome}");
    assert!(!net.guard.exists("asked"));
    let outcome = net.fire(&["--trust-project"]);
    assert_eq!(outcome["decision"], "deny", "{outcome}");
    assert!(net.guard.exists("asked"));
}

#[test]
fn a_worker_that_may_not_answer_a_group_says_so_and_ends() {
    let Some(net) = Net::start() else { return };
    net.guard_with("exit 0");
    let mut command = net.worker_command(&net.addresses, &[]);
    // The file of the other member, which may only ask.
    command.arg("--member").arg(net.desk.path("home/.config/hookrail/member.toml"));
    let ended = ProgramOutput::capture(&mut command).ends_with(1);
    assert!(ended.stderr.contains("do not permit"), "{}", ended.stderr);
}

#[test]
fn a_worker_needs_a_key_and_a_server() {
    let Some(net) = Net::start() else { return };
    net.guard_with("exit 0");
    let mut command = net.worker_command("nats://127.0.0.1:1", &[]);
    let ended = ProgramOutput::capture(&mut command).ends_with(1);
    assert!(ended.stderr.contains("can be reached"), "{}", ended.stderr);
    let place = TestProject::new();
    let mut command = place.command(env!("CARGO_BIN_EXE_hookrail"));
    command.args(["serve", "--nats", "nats://127.0.0.1:1", "--group", "guards"]);
    let ended = ProgramOutput::capture(&mut command).ends_with(1);
    assert!(ended.stderr.contains("--member"), "{}", ended.stderr);
    let mut command = place.command(env!("CARGO_BIN_EXE_hookrail"));
    command.args(["serve", "--nats", "nats://127.0.0.1:1"]);
    assert!(ProgramOutput::capture(&mut command).ends_with(1).stderr.contains("--group"));
}
