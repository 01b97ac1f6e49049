//! Projects: each with its own hooks and trust, a bounded number of them, and reloads when files change.

#![cfg(unix)]

use crate::support::{Raw, Sandbox, environment, tool, within};
use hookrail::HookSystem;
use hookrail_bus::{Bus, BusOptions};
use hookrail_testkit::write_hooks;
use serde_json::{Value, json};

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

fn for_caller(project: &std::path::Path, session: &str) -> Value {
    let caller = json!({"environment": {"PATH": std::env::var("PATH").unwrap(), "SESSION": session}});
    json!({"eventName": "BeforeTool", "input": tool("x"), "project": project, "caller": caller})
}

#[tokio::test]
async fn a_caller_gets_its_own_environment_and_nothing_that_the_server_remembers() {
    let sandbox = Sandbox::new();
    write_hooks(&sandbox.project, &says("$SESSION"));
    let settings = BusOptions::new(&sandbox.project, |project| HookSystem::builder(project).trust_project());
    let bus = Bus::new(settings.callers(|project, caller| {
        let builder = HookSystem::builder(project).environment(caller.environment());
        Ok(caller.tools().iter().cloned().fold(builder, hookrail::Builder::tool).trust_project())
    }));
    let mut client = Raw::new(&bus);
    for round in 0..2 {
        for session in 0..9 {
            let response = client.ask(for_caller(&sandbox.project, &format!("s{session}"))).await;
            assert_eq!(response["outcome"]["systemMessage"], format!("s{session}"), "{round}: {response}");
        }
    }
    assert!(bus.open_projects() <= 4, "sessions come and go: {}", bus.open_projects());
    // Alone a caller would know of no version before the one that is there.
    std::fs::write(sandbox.project.join(".llxprt/settings.json"), "{ broken").unwrap();
    let response = client.ask(for_caller(&sandbox.project, "s8")).await;
    assert_eq!(response["outcome"]["runs"], json!([]), "{response}");
    write_hooks(&sandbox.project, &says("mended"));
    let response = client.ask(for_caller(&sandbox.project, "s8")).await;
    assert_eq!(response["outcome"]["systemMessage"], "mended");
    within(bus.drain()).await;
}

#[tokio::test]
async fn a_system_that_is_replaced_while_it_is_in_use_answers_first() {
    let sandbox = Sandbox::new();
    let wait = "echo started > started; while [ ! -e go ]; do sleep 0.01; done; echo first";
    let hooks = json!({"BeforeTool": [{"hooks": [{"type": "command", "command": wait}]}]});
    write_hooks(&sandbox.project, &hooks);
    let settings = BusOptions::new(&sandbox.project, |project| HookSystem::builder(project));
    let bus =
        Bus::new(settings.callers(|project, caller| {
            Ok(HookSystem::builder(project).environment(caller.environment()).trust_project())
        }));
    let mut slow = Raw::new(&bus);
    slow.request(for_caller(&sandbox.project, "s")).await;
    let started = sandbox.project.join("started");
    let is_started = move || hookrail_testkit::wait_until(|| started.exists(), hookrail_testkit::HANG);
    assert!(tokio::task::spawn_blocking(is_started).await.unwrap());
    write_hooks(&sandbox.project, &says("second"));
    let mut client = Raw::new(&bus);
    for _ in 0..2 {
        let response = client.ask(for_caller(&sandbox.project, "s")).await;
        assert_eq!(response["outcome"]["systemMessage"], "second");
    }
    std::fs::write(sandbox.project.join("go"), "").unwrap();
    assert_eq!(slow.response().await["outcome"]["systemMessage"], "first");
    within(bus.drain()).await;
}

#[tokio::test]
async fn a_bus_that_serves_no_callers_says_so_before_any_hook_runs() {
    let sandbox = Sandbox::with_hook("BeforeTool", "touch ran");
    let bus = sandbox.bus();
    let response = Raw::new(&bus).ask(for_caller(&sandbox.project, "s")).await;
    assert_eq!(crate::support::code(&response), "unsupported_caller", "{response}");
    assert!(!sandbox.project.join("ran").exists());
}
