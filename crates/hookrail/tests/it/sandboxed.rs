//! The sandbox of a hook, with the live engine and real processes.

#![cfg(target_os = "linux")]

use std::path::PathBuf;

use crate::common::json;
use hookrail::hook::{SandboxProfile, SandboxRequirement};
use hookrail::process::{Network, Readable};
use hookrail::{Code, Environment, Event, EventKind, HookSystem, Outcome};
use hookrail_testkit::TestProject;
use serde_json::{Value, json};

/// A project, a home directory and a place for system settings.
struct Lab {
    place: TestProject,
}

impl Lab {
    /// A lab; nothing on a kernel that cannot enforce a sandbox, which is a failure if every test has to run.
    fn new() -> Option<Self> {
        let lab = Self { place: TestProject::new() };
        for folder in ["project/.llxprt", "home/.llxprt", "tmp", "project/out"] {
            std::fs::create_dir_all(lab.path(folder)).unwrap();
        }
        std::fs::write(lab.path("project/kept"), "kept").unwrap();
        let rules =
            hookrail_spawn::SandboxRules { read: Readable::Everything, write: Vec::new(), network: Network::Denied };
        let missing = hookrail_spawn::Sandbox::start(&rules, &lab.place.base).unwrap().missing().to_vec();
        if missing.is_empty() {
            return Some(lab);
        }
        let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!required, "HOOKRAIL_REQUIRE_ALL=1, and the kernel cannot enforce {missing:?}");
        eprintln!("skipped: the kernel cannot enforce {missing:?}");
        None
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.base.join(name)
    }

    fn environment(&self) -> Environment {
        let variables: Environment = self.place.variables().into_iter().collect();
        variables.with("TMPDIR", self.path("tmp"))
    }

    fn write(&self, file: &str, settings: &Value) {
        std::fs::write(self.path(file), settings.to_string()).unwrap();
    }

    fn user(&self, hooks: Value) {
        self.write("home/.llxprt/settings.json", &settings(hooks));
    }

    fn project(&self, hooks: Value) {
        self.write("project/.llxprt/settings.json", &settings(hooks));
    }

    fn system(&self) -> HookSystem {
        HookSystem::builder(self.path("project")).environment(self.environment()).trust_project().build()
    }

    fn fire(&self) -> Outcome {
        let system = self.system();
        let outcome = system.fire_blocking(call(&system));
        system.shutdown_blocking();
        outcome
    }

    /// Fires an event for one hook of the user with these keys, and gives back its exit status and what it said.
    fn run(&self, command: &str, keys: &Value) -> (Option<i32>, String) {
        self.user(json!([entry(command, keys)]));
        let outcome = self.fire();
        assert_eq!(codes(&outcome, Code::SandboxNotEnforced), 0);
        let run = &outcome.runs[0];
        (run.exit_code, format!("{}{}", run.stdout, run.stderr))
    }

    fn works(&self, command: &str, keys: &Value) {
        let (status, said) = self.run(command, keys);
        assert_eq!(status, Some(0), "`{command}`: {said}");
    }

    fn is_refused(&self, command: &str, keys: &Value) {
        let (status, said) = self.run(command, keys);
        assert_ne!(status, Some(0), "`{command}` worked: {said}");
    }

    fn is_there(&self, name: &str) -> bool {
        self.path("project").join(name).exists()
    }
}

fn settings(hooks: Value) -> Value {
    json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": hooks}]}})
}

fn entry(command: &str, keys: &Value) -> Value {
    let mut entry = json!({"type": "command", "command": command});
    entry.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    entry
}

fn call(system: &HookSystem) -> Event {
    system
        .event(EventKind::BeforeTool)
        .session("s")
        .with_text("tool_name", "write_file")
        .with("tool_input", json(r#"{"path":"a"}"#))
}

fn codes(outcome: &Outcome, code: Code) -> usize {
    outcome.diagnostics.iter().filter(|finding| finding.code == code).count()
}

fn guard() -> Value {
    json!({"sandbox": "guard"})
}

#[test]
fn a_guard_reads_everything_and_writes_its_temporary_folder_only() {
    let Some(lab) = Lab::new() else { return };
    lab.works("cat kept /etc/passwd >/dev/null && cat >/dev/null", &guard());
    lab.works("echo x > \"$TMPDIR/x\" && cat \"$TMPDIR/x\" && f=$(mktemp) && echo y > \"$f\"", &guard());
    lab.works("test \"$TMPDIR\" = \"$TMP\" && test \"$TMPDIR\" = \"$TEMP\"", &guard());
    for command in ["echo x > kept", "echo x > new", "rm kept", "mkdir new", "echo x > \"$HOME/new\"", "chmod 777 kept"]
    {
        lab.is_refused(command, &guard());
    }
    assert_eq!(std::fs::read_to_string(lab.path("project/kept")).unwrap(), "kept");
    assert!(!lab.is_there("new") && !lab.path("home/new").exists());
    lab.works("echo x > new", &json!({"sandbox": "none"}));
    assert!(lab.is_there("new"), "without a sandbox the same works");
    let left: Vec<_> = std::fs::read_dir(lab.path("tmp")).unwrap().collect();
    assert!(left.is_empty(), "temporary folders go with the engine: {left:?}");
}

#[test]
fn named_paths_count_from_the_project_and_from_home() {
    let Some(lab) = Lab::new() else { return };
    std::fs::create_dir(lab.path("home/cache")).unwrap();
    std::os::unix::fs::symlink(lab.path("home"), lab.path("project/link")).unwrap();
    let writes = |path: &str| json!({"sandbox": {"write": [path]}});
    lab.works("echo x > out/a && rm out/a", &writes("out"));
    lab.works("echo x > ~/cache/a", &writes("~/cache"));
    lab.works("echo x > out/a", &writes(lab.path("project/out").to_str().unwrap()));
    lab.is_refused("echo x > new", &writes("out"));
    lab.is_refused("echo x > ~/new", &writes("link"));
    lab.is_refused("echo x > ../new", &writes(".."));
    assert!(!lab.path("home/new").exists() && !lab.path("new").exists());
}

#[test]
fn reading_can_be_limited() {
    let Some(lab) = Lab::new() else { return };
    let only = json!({"sandbox": {"read": ["out"]}});
    std::fs::write(lab.path("project/out/shown"), "shown").unwrap();
    lab.works("cat out/shown >/dev/null", &only);
    lab.is_refused("cat kept", &only);
    lab.is_refused("ls ~", &only);
}

#[test]
fn there_is_no_network_unless_it_is_asked_for() {
    let Some(lab) = Lab::new() else { return };
    if !hookrail_testkit::has_program("python3") {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'");
    lab.is_refused(&connect, &guard());
    lab.works(&connect, &json!({"sandbox": {"network": true}}));
}

#[test]
fn processes_that_are_kept_are_restricted_too() {
    let Some(lab) = Lab::new() else { return };
    let worker = "echo x > new; while read -r line; do id=${line#*:}; echo \"{\\\"id\\\":${id%%,*},\\\"output\\\":{\\\"systemMessage\\\":\\\"$TMPDIR\\\"}}\"; done";
    let (_, said) = lab.run(worker, &json!({"sandbox": "guard", "mode": "worker"}));
    assert!(said.contains("hookrail-"), "{said}");
    assert!(!lab.is_there("new"));
}

#[test]
fn a_changed_sandbox_reaches_a_worker_with_the_next_event() {
    let Some(lab) = Lab::new() else { return };
    let worker = "while read -r line; do echo x > new; id=${line#*:}; echo \"{\\\"id\\\":${id%%,*}}\"; done";
    lab.user(json!([entry(worker, &json!({"mode": "worker"}))]));
    let system = lab.system();
    system.fire_blocking(call(&system));
    assert!(lab.is_there("new"));
    std::fs::remove_file(lab.path("project/new")).unwrap();
    lab.user(json!([entry(worker, &json!({"mode": "worker", "sandbox": "guard"}))]));
    system.reload();
    system.fire_blocking(call(&system));
    assert!(!lab.is_there("new"), "the old worker does not answer any more");
    system.shutdown_blocking();
}

#[test]
fn a_folder_that_appears_or_is_replaced_can_be_written() {
    let Some(lab) = Lab::new() else { return };
    lab.user(json!([entry("echo x > later/new", &json!({"sandbox": {"write": ["later"]}}))]));
    let system = lab.system();
    assert_ne!(system.fire_blocking(call(&system)).runs[0].exit_code, Some(0));
    for _ in 0..2 {
        std::fs::create_dir(lab.path("project/later")).unwrap();
        let outcome = system.fire_blocking(call(&system));
        assert_eq!(outcome.runs[0].exit_code, Some(0), "{}", outcome.runs[0].stderr);
        std::fs::remove_dir_all(lab.path("project/later")).unwrap();
    }
    system.shutdown_blocking();
}

#[test]
fn a_malformed_sandbox_is_read_as_guard_and_reported() {
    let Some(lab) = Lab::new() else { return };
    for wrong in [
        json!("gaurd"),
        json!(true),
        json!(["out"]),
        json!({"write": "out"}),
        json!({"write": [1]}),
        json!({"write": [""]}),
        json!({"read": "some"}),
        json!({"network": "no"}),
        json!({"writes": ["."]}),
    ] {
        lab.user(json!([entry("echo x > new", &json!({"sandbox": wrong}))]));
        let system = lab.system();
        let snapshot = system.snapshot();
        let found: Vec<_> = snapshot.diagnostics().iter().filter(|f| f.code == Code::SandboxInvalid).collect();
        assert_eq!(found.len(), 1, "{wrong}");
        assert!(found[0].hint.is_some() && found[0].location.is_some(), "{wrong}");
        assert_eq!(snapshot.hooks()[0].sandbox.as_deref(), Some(&SandboxProfile::guard()), "{wrong}");
        let outcome = system.fire_blocking(call(&system));
        assert_ne!(outcome.runs[0].exit_code, Some(0), "{wrong}");
        system.shutdown_blocking();
    }
    assert!(!lab.is_there("new"));
}

#[test]
fn a_malformed_sandbox_that_is_required_makes_the_hook_unusable() {
    let Some(lab) = Lab::new() else { return };
    let keys = json!({"sandbox": "gaurd", "sandboxRequired": true, "onFailure": "block"});
    lab.user(json!([entry("true", &keys)]));
    let outcome = lab.fire();
    assert!(outcome.is_denied());
    assert_eq!(outcome.runs[0].end.name(), "unusable");
    // A requirement that cannot be read is one, and a requirement alone is one for `guard`.
    for keys in [json!({"sandboxRequired": "yes", "sandbox": "guard"}), json!({"sandboxRequired": true})] {
        lab.user(json!([entry("echo x > new", &keys)]));
        let system = lab.system();
        let snapshot = system.snapshot();
        assert_eq!(snapshot.hooks()[0].sandbox_requirement, SandboxRequirement::Required);
        assert_eq!(snapshot.hooks()[0].sandbox.as_deref(), Some(&SandboxProfile::guard()));
        assert_eq!(snapshot.diagnostics().len(), 1, "{:?}", snapshot.diagnostics());
    }
}

/// The kernel has 16 rule sets for one thread, so on a thread with all of them no sandbox can be enforced in full.
fn fire_where_nothing_more_can_be_enforced(lab: &Lab) -> Outcome {
    let system = lab.system();
    let firing = move || {
        restrict_this_thread_until_no_more();
        let outcome = system.fire_blocking(call(&system));
        system.shutdown_blocking();
        outcome
    };
    std::thread::spawn(firing).join().unwrap()
}

#[test]
fn what_cannot_be_enforced_is_reported_and_a_required_sandbox_is_a_failure() {
    let Some(lab) = Lab::new() else { return };
    lab.user(json!([entry("true", &json!({"sandbox": "guard", "onFailure": "block"}))]));
    let outcome = fire_where_nothing_more_can_be_enforced(&lab);
    assert_eq!(outcome.runs[0].exit_code, Some(0));
    assert_eq!(codes(&outcome, Code::SandboxNotEnforced), 1, "{:?}", outcome.diagnostics);
    assert!(!outcome.is_denied());
    let required = json!({"sandbox": "guard", "sandboxRequired": true, "onFailure": "block"});
    lab.user(json!([entry("echo x > new", &required)]));
    let outcome = fire_where_nothing_more_can_be_enforced(&lab);
    assert_eq!(outcome.runs[0].end.name(), "spawn-failed");
    assert!(outcome.is_denied() && !lab.is_there("new"), "{:?}", outcome.diagnostics);
}

fn restrict_this_thread_until_no_more() {
    use landlock::{AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _};
    for _ in 0..16 {
        let execute = AccessFs::Execute;
        let all = PathBeneath::new(PathFd::new("/").unwrap(), execute);
        let made = Ruleset::default().handle_access(execute).unwrap().create().unwrap().add_rule(all).unwrap();
        made.restrict_self().unwrap();
    }
}

#[test]
fn a_floor_of_the_system_layer_holds_for_the_user_and_the_project_and_not_for_itself() {
    let Some(lab) = Lab::new() else { return };
    let floor = json!({"sandbox": {"write": ["out"]}, "enabled": true});
    let hooks = |name: &str| json!({"BeforeTool": [{"hooks": [entry(&format!("echo x > {name}; echo x > out/{name}"), &json!({}))]}]});
    lab.write("system.json", &json!({"hooksConfig": floor, "hooks": hooks("system")}));
    lab.write("home/.llxprt/settings.json", &json!({"hooks": hooks("user")}));
    // Its own entry asks for more than the floor leaves.
    let wide = entry("echo x > project; echo x > out/project", &json!({"sandbox": {"write": ["."], "network": true}}));
    lab.project(json!([wide]));
    assert_eq!(lab.fire().runs.len(), 3);
    assert!(lab.is_there("system") && !lab.is_there("user") && !lab.is_there("project"));
    for name in ["system", "user", "project"] {
        assert!(lab.is_there(&format!("out/{name}")), "{name}");
    }
}

#[test]
fn a_floor_of_the_user_holds_for_the_project_alone() {
    let Some(lab) = Lab::new() else { return };
    let floor = SandboxProfile::guard();
    lab.user(json!([entry("echo x > user", &json!({}))]));
    lab.project(json!([entry("echo x > project", &json!({"sandbox": "none"}))]));
    let builder = HookSystem::builder(lab.path("project")).environment(lab.environment()).trust_project();
    let system = builder.sandbox_floor(floor).build();
    assert_eq!(system.fire_blocking(call(&system)).runs.len(), 2);
    system.shutdown_blocking();
    assert!(lab.is_there("user") && !lab.is_there("project"));
    // Settings of the user say the same; those of a project say nothing about others.
    std::fs::remove_file(lab.path("project/user")).unwrap();
    let mut own = settings(json!([entry("echo x > user", &json!({}))]));
    own["hooksConfig"]["sandbox"] = json!("guard");
    lab.write("home/.llxprt/settings.json", &own);
    lab.fire();
    assert!(lab.is_there("user") && !lab.is_there("project"));
}

#[test]
fn a_floor_that_cannot_be_read_is_guard() {
    let Some(lab) = Lab::new() else { return };
    lab.write("system.json", &json!({"hooksConfig": {"sandbox": {"wirte": ["."]}}}));
    lab.user(json!([entry("echo x > new", &json!({}))]));
    lab.fire();
    assert!(!lab.is_there("new"));
}

#[test]
fn entries_with_the_same_command_and_other_sandboxes_are_no_duplicates() {
    let Some(lab) = Lab::new() else { return };
    lab.user(json!([entry("echo x >> out/new", &json!({"sandbox": "guard"})), entry("echo x >> out/new", &json!({}))]));
    let outcome = lab.fire();
    assert_eq!(outcome.runs.len(), 2);
    assert!(lab.is_there("out/new"), "the one without a sandbox ran as itself");
}

#[test]
fn plugins_have_the_same_keys() {
    let Some(lab) = Lab::new() else { return };
    let plugins = lab.path("home/.x-code/plugins");
    let dir = plugins.join("cache/m/sample/1.0.0");
    std::fs::create_dir_all(&dir).unwrap();
    let hooks = json!({"PreToolUse": [
        {"command": "echo x > guarded; echo x > \"$TMPDIR/x\" && echo x > out/not", "sandbox": "guard"},
        {"command": "echo x > broken", "sandbox": 1},
        {"command": "echo x > free"},
    ]});
    std::fs::write(dir.join("plugin.json"), json!({"name": "sample", "hooks": hooks}).to_string()).unwrap();
    let installed = json!([{"id": "sample@m", "name": "sample", "marketplace": "m", "version": "1.0.0"}]);
    let list = json!({"schemaVersion": "1", "plugins": installed});
    std::fs::write(plugins.join("installed_plugins.json"), list.to_string()).unwrap();
    let system = lab.system();
    let found = |code| system.snapshot().diagnostics().iter().filter(|finding| finding.code == code).count();
    assert_eq!((found(Code::SandboxInvalid), found(Code::UnknownKey)), (1, 0));
    let outcome = system.fire_blocking(call(&system));
    assert_eq!(outcome.runs.len(), 3, "{:?}", outcome.skipped);
    system.shutdown_blocking();
    assert!(lab.is_there("free") && !lab.is_there("guarded") && !lab.is_there("broken") && !lab.is_there("out/not"));
}
