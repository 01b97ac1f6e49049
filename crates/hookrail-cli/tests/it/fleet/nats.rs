//! `hookrail fleet`: the real binary as an administrator, as machines and as an auditor, with a real server.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use hookrail_testkit::{
    HANG, NatsServerProcess, ProgramOutput, RunningProgram, Signal, free_server_ports, nats_server_program, wait_until,
};
use serde_json::{Value, json};

use crate::fleet::support::{Fleet, denying};

/// A fleet with one running server and one enrolled machine, `m1`, whose root is the folder `machine`.
struct Served {
    fleet: Fleet,
    server: NatsServerProcess,
    port: u16,
}

impl Served {
    fn start() -> Option<Self> {
        let program = nats_server_program()?;
        let fleet = Fleet::new();
        let port = free_server_ports(1)[0];
        let server = format!("n1=127.0.0.1:{port}");
        let store = fleet.path("store").display().to_string();
        let init = ["fleet", "init", "fleet", "--server", &server, "--tenant", "acme", "--store", &store];
        fleet.hookrail(&init).ends_with(0);
        let server = NatsServerProcess::start(&program, &fleet.project.join("fleet/n1.conf"), port);
        let served = Self { fleet, server, port };
        let setup =
            served.fleet.hookrail(&["fleet", "setup", "--member", &served.member("administrator")]).ends_with(0);
        assert_eq!(setup.stdout, "stream HR_AUDIT: 1 copy\nstream OBJ_bundles-stable: 1 copy\n");
        served.configure("");
        let enrolled = served.fleet.hookrail(&["fleet", "enroll", "--json"]).ends_with(0).json();
        served.admit(&enrolled, &[]);
        Some(served)
    }

    fn member(&self, role: &str) -> String {
        format!("fleet/tenants/acme/{role}.toml")
    }

    /// Writes the machine's configuration.
    fn configure(&self, audit: &str) {
        let key = self.fleet.read("key.pub").lines().last().unwrap().to_owned();
        let seed = self.fleet.path("machine/etc/hookrail/machine.seed");
        let text = format!(
            "tenant = \"acme\"\nkeys = [\"{key}\"]\nsource = \"nats\"\nmachine = \"m1\"\n[channel]\nname = \"stable\"\n\
             [nats]\nservers = [\"nats://127.0.0.1:{}\"]\nseed = \"{}\"\n[audit]\n{audit}\n",
            self.port,
            seed.display()
        );
        self.fleet.write_at("machine/etc/hookrail/fleet.toml", text);
    }

    /// Admits what `fleet enroll` has printed, and waits until the server knows it.
    fn admit(&self, enrolled: &Value, more: &[&str]) {
        let text = |name: &str| enrolled[name].as_str().unwrap().to_owned();
        let (name, key, signing) = (text("name"), text("key"), text("signingKey"));
        let args =
            ["fleet", "admit", "fleet", "--tenant", "acme", "--name", &name, "--key", &key, "--signing-key", &signing];
        self.fleet.hookrail(&[&args[..], more].concat()).ends_with(0);
        self.server.reload();
        let is_known = || self.fleet.hookrail(&["fleet", "status"]).code == 0;
        assert!(wait_until(is_known, HANG), "{}", self.fleet.hookrail(&["fleet", "status"]).stdout);
    }

    /// Fires events that are recorded.
    fn record(&self, count: usize) {
        for _ in 0..count {
            self.fleet.hookrail(&["fire", "BeforeTool", "--tool", "write_file", "--journal"]);
        }
    }

    fn ship(&self) -> ProgramOutput {
        self.fleet.hookrail(&["fleet", "ship", "--json"])
    }

    fn verify(&self, more: &[&str]) -> ProgramOutput {
        let auditor = self.member("auditor");
        self.fleet.hookrail(&[&["fleet", "verify", "--member", &auditor, "--json"], more].concat())
    }

    fn journal(&self) -> PathBuf {
        self.fleet.home.join(".local/state/hookrail/journal")
    }
}

#[test]
fn from_servers_to_a_verified_audit() {
    let Some(served) = Served::start() else { return };
    let fleet = &served.fleet;
    served.record(3);
    let status = fleet.hookrail(&["fleet", "status", "--json"]).ends_with(0).json();
    assert_eq!((&status["backlog"], &status["shipped"], &status["member"]), (&json!(3), &json!(null), &json!("m1")));
    assert_eq!(served.ship().ends_with(0).json()["shipped"]["records"], 3);
    let again = fleet.hookrail(&["fleet", "ship"]).ends_with(0);
    assert_eq!(again.stdout, "shipped: 0 records; the journal is stored up to record 3\n");
    let shown = fleet.hookrail(&["fleet", "status", "--offline"]).ends_with(0).stdout;
    assert!(shown.contains("shipped up to record 3 of 3") && shown.contains("backlog: 0 records"), "{shown}");
    let verified = served.verify(&["--fleet", "fleet", "--silence", "1h"]).ends_with(0).json();
    assert_eq!(verified["machines"][0]["machine"], "m1");
    assert_eq!((&verified["sound"], &verified["machines"][0]["records"]), (&json!(true), &json!(3)));
    let auditor = served.member("auditor");
    let shown = fleet.hookrail(&["fleet", "verify", "--member", &auditor]).ends_with(0).stdout;
    assert!(shown.starts_with("holds: m1: 3 records, 1 to 3, last shipped at "), "{shown}");
    // The machine's key is replaced, and the chain goes on.
    let rotated = fleet.hookrail(&["fleet", "enroll", "--rotate", "--json"]).ends_with(0).json();
    served.admit(&rotated, &["--replace"]);
    served.record(2);
    served.ship().ends_with(0);
    let verified = served.verify(&[]).ends_with(0).json();
    assert_eq!(
        (&verified["machines"][0]["records"], &verified["machines"][0]["key"]),
        (&json!(5), &rotated["signingKey"])
    );
}

#[test]
fn an_alarm_has_an_exit_status_of_its_own() {
    let Some(served) = Served::start() else { return };
    served.record(3);
    served.ship().ends_with(0);
    // The journal is removed, as if nothing had happened.
    fs::remove_dir_all(served.journal()).unwrap();
    served.record(1);
    let alarm = served.ship().ends_with(2).json();
    assert_eq!(alarm["reason"], "forked", "{alarm}");
    let shown = served.fleet.hookrail(&["fleet", "ship"]).ends_with(2);
    assert!(shown.stderr.starts_with("error: alarm: the stream holds record 3 of this machine"), "{}", shown.stderr);
    served.verify(&[]).ends_with(0);
    // The auditor does not know the key that signed the first slice.
    let members = served.fleet.project.join("fleet/tenants/acme/members.toml");
    let other = served.fleet.hookrail(&["fleet", "enroll", "--rotate", "--json"]).ends_with(0).json();
    let text = fs::read_to_string(&members).unwrap();
    let known = text.lines().find(|line| line.starts_with("signing_key")).unwrap().to_owned();
    fs::write(&members, text.replace(&known, &format!("signing_key = {}", other["signingKey"]))).unwrap();
    let verified = served.verify(&["--fleet", "fleet"]).ends_with(2).json();
    assert_eq!(verified["machines"][0]["problems"][0]["problem"], "unknown-key", "{verified}");
}

#[test]
fn a_backlog_over_its_limit_is_reported_and_blocks_where_a_failure_does() {
    let Some(served) = Served::start() else { return };
    served.configure("backlog_limit = 3");
    let fleet = &served.fleet;
    fleet.publish(&super::support::settings("exit 0"), &[]);
    fleet.hookrail(&["bundle", "apply", &fleet.project.join("dist").display().to_string()]).ends_with(0);
    served.record(1);
    served.ship().ends_with(0);
    served.record(3);
    let fire = || fleet.hookrail(&["fire", "BeforeTool", "--tool", "write_file", "--journal", "--json"]);
    let outcome = fire().ends_with(0).json();
    assert_eq!(outcome["diagnostics"][0]["code"], "record-failed", "{outcome}");
    assert_eq!(fleet.hookrail(&["fleet", "status", "--json"]).ends_with(1).json()["backlog"], 4);
    fleet.write_home(".config/hookrail/config.toml", "[journal]\non_failure = \"block\"\n");
    fire().ends_with(2);
    // Nothing was lost, and shipping ends it.
    assert_eq!(served.ship().ends_with(0).json()["shipped"]["records"], 5);
    fire().ends_with(0);
}

/// `fleet watch` or `fleet ship --follow` in the background.
fn service(served: &Served, args: &[&str]) -> RunningProgram {
    RunningProgram::start(served.fleet.command(args).stderr(Stdio::null()))
}

#[test]
fn an_announced_bundle_is_in_force_without_waiting() {
    let Some(served) = Served::start() else { return };
    let fleet = &served.fleet;
    let mut service = service(&served, &["fleet", "watch", "--jitter", "10ms", "--json"]);
    let mut looks = BufReader::new(service.stdout.take().unwrap());
    let mut next_look = || {
        let mut text = String::new();
        loop {
            assert!(looks.read_line(&mut text).unwrap() > 0, "the watch has ended: {text}");
            if let Ok(look) = serde_json::from_str::<Value>(&text) {
                return look;
            }
        }
    };
    assert_eq!(next_look()["cause"], "started");
    let publisher = served.member("publisher");
    for number in 1..=2 {
        fleet.publish(&denying(&format!("policy number {number}")), &[]);
        fleet.hookrail(&["bundle", "publish", "dist", "--member", &publisher]).ends_with(0);
        let mut look = next_look();
        while look["end"] != "switched" {
            look = next_look();
        }
        assert_eq!(look["manifest"]["version"], number, "{look}");
        assert_eq!(fleet.fire().1["reason"], format!("policy number {number}"));
    }
    service.signal(Signal::TERM);
    service.ends_with(0);
    // Without the watch, a timer or a person looks.
    fleet.publish(&denying("policy number 3"), &[]);
    fleet.hookrail(&["bundle", "publish", "dist", "--member", &publisher]).ends_with(0);
    assert_eq!(fleet.apply(), "switched");
    let refused = fleet.hookrail(&["bundle", "publish", "policy", "--member", &publisher]).ends_with(1);
    assert!(refused.stderr.contains("manifest.json"), "{}", refused.stderr);
}

#[test]
fn shipping_that_is_killed_at_any_moment_stores_every_record_once() {
    kill_shipping(12);
}

#[test]
#[ignore = "takes minutes; run by scripts/fleet-chaos.sh"]
fn shipping_that_is_killed_200_times_stores_every_record_once() {
    kill_shipping(200);
}

fn kill_shipping(rounds: u64) {
    let Some(served) = Served::start() else { return };
    served.configure("slice_records = 2");
    let mut random = hookrail_testkit::Random::new(22);
    for round in 0..rounds {
        let mut service = service(&served, &["fleet", "ship", "--follow", "--interval", "5ms"]);
        served.record(3);
        if round % 3 == 0 {
            // Killed while it reads, sends, or waits for an acknowledgement.
            std::thread::sleep(Duration::from_millis(random.below(40)));
        }
        service.kill();
    }
    served.ship().ends_with(0);
    let verified = served.verify(&[]).ends_with(0).json();
    let machine = &verified["machines"][0];
    let records = rounds * 3;
    assert_eq!((&machine["records"], &machine["last"]), (&json!(records), &json!(records)), "{verified}");
    println!("chaos: the shipper was killed {rounds} times during {records} records: 0 missing, 0 twice");
}

#[test]
fn what_cannot_work_says_why() {
    let Some(mut served) = Served::start() else { return };
    let fleet = &served.fleet;
    let refused = |args: &[&str], why: &str| {
        let ran = fleet.hookrail(args).ends_with(1);
        assert!(ran.stderr.contains(why), "{args:?}: {}", ran.stderr);
    };
    refused(&["fleet", "init", "fleet", "--server", "n1=127.0.0.1:4222", "--tenant", "acme"], "exists already");
    refused(&["fleet", "init", "f2", "--server", "n1=n1.example.com:4222", "--tenant", "acme"], "--tls");
    refused(&["fleet", "init", "f2", "--server", "n1", "--tenant", "acme"], "NAME=HOST:PORT");
    refused(&["fleet", "enroll"], "exists already");
    refused(&["fleet", "revoke", "fleet", "--tenant", "acme", "--name", "m7"], "there is no member `m7`");
    refused(&["fleet", "revoke", "fleet", "--tenant", "globex", "--name", "m7"], "no tenant `globex`");
    refused(&["fleet", "setup", "--member", &served.member("auditor")], "not permit");
    fleet.hookrail(&["fleet", "revoke", "fleet", "--tenant", "acme", "--name", "m1"]).ends_with(0);
    served.server.reload();
    let is_refused = || fleet.hookrail(&["fleet", "ship"]).stderr.contains("do not accept key");
    assert!(wait_until(is_refused, HANG));
    served.server.kill();
    let unreachable = served.fleet.hookrail(&["fleet", "status", "--json"]).ends_with(1).json();
    assert_eq!(unreachable["servers"]["reason"], "unreachable", "{unreachable}");
}

#[test]
fn the_command_lines_of_the_units_are_accepted() {
    let fleet = Fleet::new();
    for unit in ["hookrail-watch.service", "hookrail-ship.service"] {
        let path = format!("{}/../../packaging/systemd/{unit}", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/hookrail ")).unwrap();
        let ran = fleet.hookrail(&line.split(' ').collect::<Vec<_>>()).ends_with(1);
        // The machine of this test names no servers, and the file of the member does not exist.
        assert!(ran.stderr.contains("[nats]") || ran.stderr.contains("member.toml"), "{unit}: {}", ran.stderr);
    }
}

#[test]
fn every_command_of_the_fleet_has_examples_and_completions() {
    let fleet = Fleet::new();
    let commands = ["", "init", "setup", "enroll", "admit", "revoke", "ship", "verify", "watch", "status"];
    for command in commands {
        let args: Vec<&str> = ["fleet", command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let help = fleet.hookrail(&args).ends_with(0).stdout;
        assert!(help.contains("EXAMPLES:\n") && help.contains("Exit status:"), "{command}: {help}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let mut asked = fleet.command(&["--", "hookrail", "fleet", "veri"]);
        asked.env("HOOKRAIL_COMPLETE", shell).env("_CLAP_IFS", "\n").env("_CLAP_COMPLETE_INDEX", "2");
        let answer = ProgramOutput::capture(&mut asked).ends_with(0).stdout;
        assert!(answer.contains("verify"), "{shell}: {answer}");
    }
}
