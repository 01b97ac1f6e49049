//! What `log` and `stats` show of a long journal: limits, the pager, and forms for other programs.

use std::process::Command;

use serde_json::{Value, json};

use super::journal::write_records;
use crate::cli::pseudo_terminal::OnTerminal;
use crate::cli::sandbox::Sandbox;

/// A journal with that many events, of which every fourth was denied.
fn recorded(count: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let event = |number: usize| {
        let decision = if number % 4 == 3 { "deny" } else { "allow" };
        json!({
            "v": 1, "at": "2026-11-16T08:00:00.000Z", "kind": "fired", "machine": "m", "project": "/p",
            "session": "s", "event": "before-tool", "tool": format!("t{number}"), "decision": decision, "ms": 1.0,
            "input": {"tool_name": "x", "tool_input": {"command": "=1+1, \"x\""}},
            "hooks": [{"id": format!("h{number}"), "hook": "guard", "dialect": "llxprt", "layer": "user", "end": "answered", "ms": 1.0}],
        })
    };
    write_records(&sandbox, &(0..count).map(event).collect::<Vec<Value>>());
    sandbox
}

#[test]
fn denied_events_and_limits() {
    let sandbox = recorded(300);
    let lines = |args: &[&str]| sandbox.run(args).ends_with(0).stdout.lines().count();
    assert_eq!(lines(&["log", "--json"]), 300, "without a terminal there is no limit");
    assert_eq!(lines(&["log", "--json", "--denied"]), 75);
    assert_eq!(lines(&["log", "--json", "--decision", "allow"]), 225, "the control");
    assert_eq!(
        (lines(&["log", "--limit", "7"]), lines(&["log", "-n", "7"]), lines(&["log", "--last", "7"])),
        (7, 7, 7)
    );
    assert_eq!(lines(&["log", "--limit", "0"]), 300);
    let last = sandbox.run(&["log", "--denied", "--limit", "1"]).ends_with(0).stdout;
    assert!(last.contains("denied") && last.contains("t299"), "{last}");
    assert_eq!(lines(&["stats", "--format", "csv", "--denied", "--limit", "5"]), 6);
    sandbox.run(&["log", "--denied", "--decision", "allow"]).ends_with(1);
}

#[test]
fn comma_separated_values_have_names_and_calculate_nothing() {
    let sandbox = recorded(4);
    let text = sandbox.run(&["log", "--format", "csv", "--denied"]).ends_with(0).stdout;
    assert_eq!(
        text,
        "seq,at,kind,event,tool,about,decision,session,project,hooks,ms,reason\n\
         4,2026-11-16T08:00:00.000Z,fired,before-tool,t3,\"'=1+1, \"\"x\"\"\",deny,s,/p,guard,1.0,\n"
    );
    let stats = sandbox.run(&["stats", "--format", "csv", "-n", "1"]).ends_with(0).stdout;
    assert_eq!(stats, "id,hook,layer,runs,denied,asked,failed,p50Ms,p99Ms\nh0,guard,user,1,0,0,0,1,1\n");
    let json = sandbox.run(&["log", "--format", "json"]).ends_with(0).stdout;
    assert_eq!(json, sandbox.run(&["log", "--json"]).ends_with(0).stdout);
    sandbox.run(&["log", "--format", "csv", "--json"]).ends_with(1);
}

fn on_terminal(sandbox: &Sandbox, args: &[&str], pager: &str) -> OnTerminal {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookrail"));
    command.args(args).current_dir(&sandbox.project).env_clear().env("HOME", &sandbox.home).env("TERM", "xterm");
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("PAGER", pager).env("NO_COLOR", "1").env("LINES", "3");
    OnTerminal::of(&mut command, "")
}

#[test]
fn a_terminal_is_shown_the_last_records_and_told_of_the_others() {
    let sandbox = recorded(203);
    let shown = on_terminal(&sandbox, &["log"], "cat").everything();
    assert!(shown.contains("200 of 203 records are shown"), "{shown}");
    let events = |text: &str| text.matches(" before-tool ").count();
    assert_eq!(events(&shown), 200);
    assert!(!shown.contains(" t2 ") && shown.contains(" t3 ") && shown.contains(" t202 "), "{shown}");
    let all = on_terminal(&sandbox, &["log", "--limit", "0"], "cat").everything();
    assert!(events(&all) == 203 && !all.contains("are shown"), "the control: {all}");
}

#[test]
fn a_pager_gets_what_is_long_and_none_of_the_project_is_started() {
    let sandbox = recorded(3);
    sandbox.write("less", "#!/bin/sh\necho stolen\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(sandbox.project.join("less"), executable).unwrap();
    let through = |pager: &str| on_terminal(&sandbox, &["log"], pager).everything();
    let paged = through("sed s/before-tool/paged/");
    assert!(paged.matches(" paged ").count() == 3 && !paged.contains("before-tool"), "{paged}");
    for pager in ["", "cat", "./less", "no-such-pager"] {
        let shown = through(pager);
        assert!(shown.matches(" before-tool ").count() == 3 && !shown.contains("stolen"), "{pager}: {shown}");
    }
    assert!(on_terminal(&sandbox, &["stats"], "sed s/guard/paged/").everything().contains("paged"));
    let short = on_terminal(&sandbox, &["log", "-n", "2"], "sed s/before-tool/paged/").everything();
    assert!(short.contains("before-tool") && !short.contains("paged"), "what fits needs none: {short}");
    let nothing = on_terminal(&sandbox, &["log", "--session", "none"], "sed s/$/paged/").everything();
    assert!(!nothing.contains("paged"), "without records no pager is started: {nothing}");
}

#[test]
fn a_question_without_an_answer_is_said() {
    let sandbox = recorded(3);
    let ran = sandbox.run(&["log", "--session", "nope"]).ends_with(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.contains("no record fits these options")), ("", true), "{ran:?}");
    let ran = sandbox.run(&["log", "--session", "s"]).ends_with(0);
    assert!(ran.stderr.is_empty() && ran.stdout.lines().count() == 3, "{ran:?}");
    let ran = Sandbox::new().run(&["log"]).ends_with(0);
    assert!(ran.stderr.contains("nothing is recorded yet"), "{ran:?}");
}
