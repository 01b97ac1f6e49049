//! Plugins with real processes: detached hooks at shutdown, abort, refresh, hostile paths, the debug log.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::json;
use hookrail::host::Notification;
use hookrail::plan::SkipReason;
use hookrail::{Builder, Code, Decision, Environment, Event, EventKind, FireOptions, HookSystem, Level, Outcome};
use hookrail_testkit::TestProject;
use pretty_assertions::assert_eq;
use serde_json::{Value, json as value};

/// A home, a project, and plugins.
struct World {
    place: TestProject,
    plugins: PathBuf,
    installed: Vec<Value>,
}

impl World {
    fn new() -> Self {
        Self::with_root("home/.x-code/plugins")
    }

    fn with_root(root: &str) -> Self {
        let place = TestProject::new();
        let plugins = place.path(root);
        fs::create_dir_all(&plugins).unwrap();
        Self { place, plugins, installed: Vec::new() }
    }

    fn install(&mut self, name: &str, hooks: &Value) -> PathBuf {
        let dir = self.plugins.join(format!("cache/m/{name}/1.0.0"));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("plugin.json"), value!({"name": name, "hooks": hooks}).to_string()).unwrap();
        self.installed.push(value!({"id": format!("{name}@m"), "name": name, "marketplace": "m", "version": "1.0.0"}));
        self.write_list();
        dir
    }

    fn write_list(&self) {
        let list = value!({"schemaVersion": "1", "plugins": self.installed});
        fs::write(self.plugins.join("installed_plugins.json"), list.to_string()).unwrap();
    }

    fn environment(&self) -> Environment {
        let (home, plugins) = (self.place.home.to_str().unwrap(), self.plugins.to_str().unwrap());
        [("PATH", "/usr/bin:/bin"), ("HOME", home), ("XC_PLUGINS_DIR", plugins), ("DEBUG_STDOUT", "1")]
            .into_iter()
            .collect()
    }

    fn builder(&self) -> Builder {
        HookSystem::builder(&self.place.project).environment(self.environment())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.place.home.join(".x-code/logs/debug.log")).unwrap_or_default()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.project.join(name)
    }
}

fn hooks(event: &str, commands: &[&str]) -> Value {
    let entries: Vec<Value> = commands.iter().map(|command| value!({"command": command, "timeout": 30000})).collect();
    value!({ event: entries })
}

fn call(system: &HookSystem) -> Event {
    system.event(EventKind::BeforeTool).with_text("tool_name", "write_file").with("tool_input", json("{}"))
}

/// A coarse guard against a hang; nothing here measures.
fn within_a_hang_guard<T>(work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let result = work();
    assert!(began.elapsed() < Duration::from_secs(25), "took {:?}", began.elapsed());
    result
}

/// A named pipe, by which a hook says that it is ready.
fn pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn detached(outcome: &Outcome) {
    let ends: Vec<&str> = outcome.runs.iter().map(|run| run.end.name()).collect();
    assert!(ends.iter().all(|end| *end == "detached"), "{ends:?}");
}

#[test]
fn a_completed_round_is_delivered_even_when_the_system_is_shut_down() {
    let mut world = World::new();
    // Longer than any bounded drain: only its own timeout may end it.
    world.install("p", &hooks("TurnComplete", &["sleep 2; cat > delivered.json"]));
    let system = world.builder().build();
    let outcome = system.fire_blocking(system.event(EventKind::ModelRoundEnd).with("turn", json("3")));
    detached(&outcome);
    assert!(!world.at("delivered.json").exists(), "the event waited");
    let cut_off = within_a_hang_guard(|| system.shutdown_blocking());
    assert_eq!(cut_off, []);
    let delivered: Value = serde_json::from_str(&fs::read_to_string(world.at("delivered.json")).unwrap()).unwrap();
    assert_eq!(delivered["turn"], 3);
    assert!(world.log().contains("hooks.exec-ran p@m TurnComplete: decision=allow"), "{}", world.log());
}

#[test]
fn the_end_of_a_session_does_not_hold_up_the_host() {
    let mut world = World::new();
    world.install("p", &hooks("SessionEnd", &["echo $$ > quick; exit 0", "echo $$ > pid; sleep 30; touch never"]));
    let system = world.builder().build();
    detached(&system.fire_blocking(system.event(EventKind::SessionEnd)));
    let written = |name: &str| fs::read_to_string(world.at(name)).is_ok_and(|text| text.ends_with('\n'));
    assert!(hookrail_testkit::wait_until(|| written("quick") && written("pid"), Duration::from_secs(20)));
    let cut_off = within_a_hang_guard(|| system.shutdown_blocking());
    let codes: Vec<Code> = cut_off.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::HookCancelled]);
    assert_eq!(cut_off[0].level, Level::Warning, "a host shows it");
    assert!(cut_off[0].message.contains("sleep 30"), "{}", cut_off[0].message);
    assert!(world.at("quick").exists() && !world.at("never").exists());
    let pid: u32 = fs::read_to_string(world.at("pid")).unwrap().trim().parse().unwrap();
    assert_eq!(hookrail_testkit::process_state(pid), None, "nothing of it is left");
    assert!(world.log().contains("hooks.exec-error p@m SessionEnd: cancelled"), "{}", world.log());
}

#[test]
fn the_detached_runs_of_a_plugin_follow_each_other_event_by_event() {
    let mut world = World::new();
    // An earlier round takes longer than a later one, so without an order the later one would be first.
    let slow = "turn=$(sed 's/.*\"turn\":\\([0-9]*\\).*/\\1/'); sleep 0.$((6 - turn)); echo $turn >> order";
    let both = value!({"SessionStart": [{"command": "sleep 0.5; echo start >> order"}],
        "TurnComplete": [{"command": slow, "timeout": 30000}],
        "SessionEnd": [{"command": "echo end >> order"}]});
    world.install("p", &both);
    let system = world.builder().build();
    detached(&system.fire_blocking(system.event(EventKind::SessionStart)));
    for turn in ["1", "2", "3"] {
        detached(&system.fire_blocking(system.event(EventKind::ModelRoundEnd).with("turn", json(turn))));
    }
    let order = || fs::read_to_string(world.at("order")).unwrap_or_default();
    assert!(hookrail_testkit::wait_until(|| order().contains('3'), Duration::from_secs(20)));
    detached(&system.fire_blocking(system.event(EventKind::SessionEnd)));
    assert_eq!(within_a_hang_guard(|| system.shutdown_blocking()), []);
    assert_eq!(order(), "start\n1\n2\n3\nend\n");
}

#[test]
fn the_hooks_of_one_detached_event_and_those_of_other_plugins_run_side_by_side() {
    let mut world = World::new();
    for name in ["a", "b", "c", "d"] {
        pipe(&world.at(name));
    }
    // Each pair needs the other one to be there at the same time.
    world.install("p", &hooks("TurnComplete", &["echo x > a; cat b", "cat a; echo x > b; cat d"]));
    world.install("q", &hooks("TurnComplete", &["echo x > d; touch met"]));
    let system = world.builder().build();
    detached(&system.fire_blocking(system.event(EventKind::ModelRoundEnd)));
    assert_eq!(within_a_hang_guard(|| system.shutdown_blocking()), []);
    assert!(world.at("met").exists());
}

#[test]
fn at_shutdown_the_queue_of_a_plugin_shares_one_timeout() {
    let mut world = World::new();
    let entry = value!({"command": "echo x >> rounds; sleep 1.5", "timeout": 2000});
    world.install("p", &value!({"TurnComplete": [entry]}));
    let system = world.builder().build();
    for _ in 0..6 {
        detached(&system.fire_blocking(system.event(EventKind::ModelRoundEnd)));
    }
    let began = Instant::now();
    let cut_off = system.shutdown_blocking();
    // One after the other, each with its own time, they would take nine seconds.
    assert!(began.elapsed() < Duration::from_secs(6), "took {:?}", began.elapsed());
    assert!(cut_off.iter().all(|finding| finding.level == Level::Warning) && !cut_off.is_empty(), "{cut_off:?}");
    assert!(fs::read_to_string(world.at("rounds")).unwrap().lines().count() < 6);
}

#[test]
fn a_detached_hook_that_fails_is_reported() {
    let mut world = World::new();
    world.install("p", &hooks("TurnComplete", &["echo broken >&2; exit 3"]));
    let system = world.builder().build();
    let mut told = system.subscribe();
    detached(&system.fire_blocking(system.event(EventKind::ModelRoundEnd)));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ended = runtime.block_on(async {
        loop {
            if let Some(Notification::Ended { findings, .. }) = told.next().await {
                return findings;
            }
        }
    });
    let mut findings = Vec::new();
    assert!(hookrail_testkit::wait_until(
        || {
            findings.extend(runtime.block_on(system.detached_findings()));
            !findings.is_empty()
        },
        Duration::from_secs(20)
    ));
    assert_eq!((findings[0].code, findings[0].level), (Code::HookExited, Level::Warning));
    assert!(findings[0].message.contains("status 3: broken"), "{}", findings[0].message);
    assert_eq!(ended, findings, "a listener is told at once, and the same");
    assert_eq!(system.shutdown_blocking(), [], "what was taken is not told again");
    let again = world.builder().build();
    detached(&again.fire_blocking(again.event(EventKind::ModelRoundEnd)));
    assert_eq!(again.shutdown_blocking().len(), 1);
}

#[test]
fn the_first_prompt_waits_for_the_hooks_that_start_the_session() {
    let mut world = World::new();
    let both = value!({"SessionStart": [{"command": "sleep 0.4; touch prepared"}],
        "UserPromptSubmit": [{"command": "test -e prepared || echo '{\"decision\":\"deny\",\"reason\":\"too early\"}'"}]});
    world.install("p", &both);
    let system = world.builder().build();
    detached(&system.fire_blocking(system.event(EventKind::SessionStart)));
    let outcome = system.fire_blocking(system.event(EventKind::Prompt).with_text("prompt", "p"));
    assert_eq!(outcome.effects.reason, None);
    system.shutdown_blocking();
}

#[test]
fn the_first_prompt_waits_for_a_moment_only() {
    let mut world = World::new();
    let both = value!({"SessionStart": [{"command": "sleep 20", "timeout": 30000}], "UserPromptSubmit": [{"command": "true"}]});
    world.install("p", &both);
    let system = world.builder().build();
    detached(&system.fire_blocking(system.event(EventKind::SessionStart)));
    let began = Instant::now();
    for _ in 0..3 {
        let _ = system.fire_blocking(system.event(EventKind::Prompt).with_text("prompt", "p"));
    }
    assert!(began.elapsed() < Duration::from_secs(6), "took {:?}", began.elapsed());
    system.shutdown_blocking();
}

#[test]
fn the_model_of_a_guard_reaches_every_event() {
    let mut world = World::new();
    let write = |name: &str| value!([{"command": format!("cat > {name}.json")}]);
    world.install("p", &value!({"UserPromptSubmit": write("prompt"), "PreToolUse": write("tool")}));
    let system = world.builder().build();
    let guard = hookrail::guard::Guard::new(system.clone(), "s").model_id("m-1");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let model =
        |name: &str| json(&fs::read_to_string(world.at(name)).unwrap()).to_value()["session"]["modelId"].clone();
    let _ = runtime.block_on(guard.prompt("p"));
    assert_eq!(model("prompt.json"), "m-1");
    guard.set_model_id("m-2");
    let call = hookrail::guard::ToolCall::new("call-1", "write_file", json("{}"));
    let _ = runtime.block_on(guard.tool_call(call, |_| async { Ok(hookrail::guard::ToolOutput::text("ran")) }));
    assert_eq!(model("tool.json"), "m-2");
    system.shutdown_blocking();
}

#[test]
fn a_plugin_whose_hooks_cannot_run_is_not_installed() {
    let world = World::new();
    let environment = std::sync::Arc::new(world.environment());
    let places = hookrail::dialect::xcode::PluginPlaces::new(&world.place.project, &environment);
    let install = |name: &str, hooks: &Value| {
        let dir = world.place.path(name);
        fs::create_dir_all(dir.join("hooks")).unwrap();
        fs::write(dir.join("plugin.json"), value!({"name": name}).to_string()).unwrap();
        fs::write(dir.join("hooks/hooks.json"), hooks.to_string()).unwrap();
        hookrail::dialect::xcode::install(&dir, &places, &environment)
    };
    let nested =
        value!({"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "x"}]}]}});
    let broken = value!({"PreToolUse": [{"command": ""}]});
    let unknown = value!({"BeforeTool": [{"command": "true"}]});
    for (name, hooks) in [("nested", nested), ("broken", broken), ("unknown", unknown)] {
        let error = install(name, &hooks).unwrap_err().to_string();
        assert!(error.contains("cannot run"), "{error}");
    }
    assert!(!world.plugins.join("installed_plugins.json").exists(), "nothing was written");
    let partly = value!({"PreToolUse": [{"command": ""}, {"command": "true"}]});
    assert!(install("partly", &partly).is_ok(), "one bad entry does not take its neighbours away");
}

#[test]
fn fully_fired_the_end_of_a_session_is_waited_for() {
    let mut world = World::new();
    world.install("p", &hooks("SessionEnd", &["sleep 2; touch done"]));
    let system = world.builder().build();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let outcome =
        runtime.block_on(system.fire_with(system.event(EventKind::SessionEnd), FireOptions::new().wait_for_all()));
    assert_eq!(outcome.runs[0].end.name(), "silent");
    assert!(world.at("done").exists());
}

#[test]
fn an_abort_kills_the_group_at_once_without_asking() {
    let mut world = World::new();
    pipe(&world.at("ready"));
    world.install("p", &hooks("PreToolUse", &["trap ': > asked' TERM; (sleep 60) & echo x > ready; wait"]));
    let system = world.builder().build();
    let fire = system.fire(call(&system));
    fs::read(world.at("ready")).unwrap();
    fire.cancel();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let outcome = within_a_hang_guard(|| runtime.block_on(fire));
    assert_eq!(outcome.runs[0].end.name(), "cancelled");
    within_a_hang_guard(|| system.shutdown_blocking());
    assert!(!world.at("asked").exists(), "a killed hook is not asked first");
}

#[test]
fn a_timeout_asks_before_it_kills() {
    let mut world = World::new();
    let entry = value!({"command": "trap ': > asked; exit 0' TERM; sleep 60 & wait", "timeout": 2000});
    world.install("p", &value!({"PreToolUse": [entry]}));
    let system = world.builder().build();
    let outcome = system.fire_blocking(call(&system));
    assert_eq!(outcome.runs[0].end.name(), "timed-out");
    within_a_hang_guard(|| system.shutdown_blocking());
    assert!(world.at("asked").exists());
}

#[test]
fn refresh_sees_what_was_installed_and_removed_and_keeps_what_broke() {
    let mut world = World::new();
    let system = world.builder().build();
    assert_eq!(system.fire_blocking(call(&system)).runs.len(), 0);
    let dir = world.install("p", &hooks("PreToolUse", &["echo '{\"decision\":\"deny\",\"reason\":\"p\"}'"]));
    assert_eq!(system.fire_blocking(call(&system)).runs.len(), 0, "nothing changes before the refresh");
    system.reload();
    assert_eq!(system.fire_blocking(call(&system)).effects.decision, Some(Decision::Deny));
    fs::write(dir.join("plugin.json"), "{").unwrap();
    let found = system.reload();
    assert!(found.iter().any(|finding| finding.code == Code::KeptLastGood), "{found:?}");
    assert_eq!(system.fire_blocking(call(&system)).effects.decision, Some(Decision::Deny), "a guard does not vanish");
    world.installed.clear();
    world.write_list();
    system.reload();
    assert_eq!(system.fire_blocking(call(&system)).runs.len(), 0);
}

#[test]
fn a_refresh_does_not_undo_no_hooks() {
    let mut world = World::new();
    let off = world.builder().hooks_off("`--no-hooks` was given").build();
    world.install("p", &hooks("PreToolUse", &["touch ran"]));
    off.reload();
    assert!(!off.has_hooks_for(EventKind::BeforeTool));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let outcome = runtime.block_on(off.fire_with(call(&off), FireOptions::new().wait_for_all()));
    assert_eq!(outcome.skipped.iter().next().unwrap().why, SkipReason::HooksOff);
    assert_eq!(off.snapshot().hooks().len(), 1, "plugins still load");
    assert!(!world.at("ran").exists());
}

#[test]
fn without_plugins_a_refresh_loads_none() {
    let mut world = World::new();
    let without = world.builder().no_plugins().build();
    world.install("p", &hooks("PreToolUse", &["touch ran"]));
    without.reload();
    assert_eq!(without.snapshot().hooks().len(), 0);
}

#[test]
fn a_sub_agent_inherits_the_hooks_but_has_no_session() {
    let mut world = World::new();
    let all = value!({
        "PreToolUse": [{"command": "echo tool >> seen"}],
        "SessionStart": [{"command": "echo start >> seen"}],
        "SessionEnd": [{"command": "echo end >> seen"}],
    });
    world.install("p", &all);
    let system = world.builder().build();
    let sub_agent = system.for_sub_agent();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for kind in [EventKind::SessionStart, EventKind::SessionEnd] {
        assert!(system.has_hooks_for(kind) && !sub_agent.has_hooks_for(kind));
        assert_eq!(
            runtime.block_on(sub_agent.fire_with(sub_agent.event(kind), FireOptions::new().wait_for_all())).runs.len(),
            0
        );
    }
    assert_eq!(sub_agent.fire_blocking(call(&sub_agent)).runs.len(), 1);
    sub_agent.shutdown_blocking();
    assert_eq!(system.fire_blocking(call(&system)).runs.len(), 1, "the session goes on");
    system.shutdown_blocking();
    assert_eq!(fs::read_to_string(world.at("seen")).unwrap(), "tool\ntool\n");
}

#[test]
fn detached_hooks_keep_to_the_limit_of_processes() {
    let mut world = World::new();
    let one = "mkdir busy || touch overlap; sleep 0.1; rmdir busy; echo x >> count";
    world.install("p", &hooks("SessionStart", &[one, one, one, one]));
    let system = world.builder().most_processes(1).build();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let outcome =
        runtime.block_on(system.fire_with(system.event(EventKind::SessionStart), FireOptions::new().wait_for_all()));
    assert_eq!(outcome.runs.len(), 4);
    assert_eq!(fs::read_to_string(world.at("count")).unwrap(), "x\nx\nx\nx\n");
    assert!(!world.at("overlap").exists());
}

#[test]
fn a_hostile_path_is_only_a_path() {
    let mut world = World::with_root("a b/$(touch no)/`touch no`/\"q\"/'s'/\\/*\nx/plugins");
    let dir = world.install(
        "p",
        &value!({"PreToolUse": [
            {"command": "${pluginDir}/run.sh one ${pluginDataDir}"},
            {"command": "\"${pluginDir}/run.sh\" two \"${pluginDataDir}\""},
            {"command": "'${pluginDir}/run.sh' three '${pluginDataDir}'"},
            {"command": "sh -c '${pluginDir}/run.sh four ${pluginDataDir}'"},
        ]}),
    );
    let script = dir.join("run.sh");
    fs::write(&script, "#!/bin/sh\nprintf '%s|%s|%s\\n' \"$1\" \"$0\" \"$2\" >> \"$HOOKRAIL_PLUGIN_DATA_DIR/seen\"\n")
        .unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let system = world.builder().build();
    let outcome = system.fire_blocking(call(&system));
    let ends: Vec<&str> = outcome.runs.iter().map(|run| run.end.name()).collect();
    assert_eq!(ends, ["silent"; 4], "{:?}", outcome.diagnostics);
    let data = world.plugins.join("data/p@m");
    let line = |name: &str| format!("{name}|{}|{}\n", script.display(), data.display());
    let expected: String = ["one", "two", "three", "four"].into_iter().map(line).collect();
    assert_eq!(fs::read_to_string(data.join("seen")).unwrap(), expected);
    assert!(!world.at("no").exists());
}
