//! Projects: each with its own hooks and trust, a bounded number of them, and reloads when files change.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

mod support;

use hookrail::HookSystem;
use hookrail_bus::{Bus, BusOptions};
use hookrail_testkit::write_hooks;
use serde_json::{Value, json};
use support::{Raw, Sandbox, environment, tool, within};

fn says(text: &str) -> Value {
    json!({"BeforeTool": [{"hooks": [{"type": "command", "command": format!("echo {text}")}]}]})
}

fn request(project: Option<&std::path::Path>) -> Value {
    json!({"eventName": "BeforeTool", "input": tool("x"), "project": project})
}

#[tokio::test]
async fn a_request_names_its_project_and_each_has_its_own_trust() {
    let sandbox = Sandbox::new();
    let other = sandbox.base.join("other");
    write_hooks(&sandbox.project, &says("own"));
    write_hooks(&other, &says("other"));
    std::os::unix::fs::symlink(&other, sandbox.base.join("link")).unwrap();
    let (own, home) = (sandbox.project.clone(), sandbox.base.join("home"));
    let bus = Bus::new(BusOptions::new(&sandbox.project, move |project| {
        let builder = HookSystem::builder(project).environment(environment(&home));
        if project == own { builder.trust_project() } else { builder }
    }));
    let mut client = Raw::new(&bus);
    assert_eq!(client.ask(request(None)).await["outcome"]["systemMessage"], "own");
    for name in ["other", "link"] {
        let response = client.ask(request(Some(&sandbox.base.join(name)))).await;
        assert_eq!(response["outcome"]["systemMessage"], Value::Null, "{response}");
        assert_eq!(response["outcome"]["skipped"][0]["why"], "untrusted", "{response}");
    }
    // A relative path counts from the server's own project, and a link is the directory it leads to.
    let response = client.ask(request(Some(std::path::Path::new(".")))).await;
    assert_eq!(response["outcome"]["systemMessage"], "own");
    assert_eq!(bus.open_projects(), 2);
}

#[tokio::test]
async fn the_project_that_was_idle_longest_makes_room() {
    let sandbox = Sandbox::new();
    let bus = Bus::new(sandbox.settings().most_projects(2));
    let mut client = Raw::new(&bus);
    for at in 0..6 {
        let project = sandbox.base.join(format!("p{}", at % 3));
        write_hooks(&project, &says(&format!("in-{at}")));
        let response = client.ask(request(Some(&project))).await;
        assert_eq!(response["outcome"]["systemMessage"], format!("in-{at}"));
        assert!(bus.open_projects() <= 2);
    }
    within(bus.drain()).await;
}

#[tokio::test]
async fn configuration_is_reloaded_when_it_changes_and_a_broken_file_keeps_its_last_good_version() {
    let sandbox = Sandbox::new();
    // The folder does not exist yet; the nearest one that does is watched. The user's hooks need no grant when they change.
    let home = sandbox.base.join("home");
    let bus = sandbox.bus();
    let mut client = Raw::new(&bus);
    assert_eq!(client.ask(request(None)).await["outcome"]["runs"], json!([]));
    let mut reloads = 0;
    let mut message = async |client: &mut Raw, expected: &str| {
        // A burst of changes may come as one or as several; what counts is what is in force in the end.
        loop {
            reloads += 1;
            within(bus.reloaded(reloads)).await;
            let response = client.ask(request(None)).await;
            if response["outcome"]["systemMessage"] == expected {
                return;
            }
        }
    };
    write_hooks(&home, &says("first"));
    message(&mut client, "first").await;
    write_hooks(&home, &says("second"));
    message(&mut client, "second").await;
    std::fs::write(home.join(".llxprt/settings.json"), "{ broken").unwrap();
    message(&mut client, "second").await;
    // The folder goes and comes back: another folder of the same name.
    std::fs::remove_dir_all(home.join(".llxprt")).unwrap();
    write_hooks(&home, &says("third"));
    message(&mut client, "third").await;
}
