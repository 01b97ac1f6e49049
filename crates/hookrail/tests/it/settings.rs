//! Loading settings: every layer, every kind of damage, and the place of everything.

use std::path::{Path, PathBuf};

use hookrail::plan::Snapshot;
use hookrail::{Environment, Event, EventKind, HookSystem};
use hookrail_testkit::TestProject;
use pretty_assertions::assert_eq;

/// A home, a project and a system file.
struct World {
    place: TestProject,
}

impl World {
    fn new() -> Self {
        let place = TestProject::new();
        for folder in ["home/.llxprt", "project/.llxprt"] {
            std::fs::create_dir(place.path(folder)).unwrap();
        }
        Self { place }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path(name)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        self.place.write_at(name, text);
        self
    }

    fn user(&self, text: &str) -> &Self {
        self.write("home/.llxprt/settings.json", text)
    }

    fn project(&self, text: &str) -> &Self {
        self.write("project/.llxprt/settings.json", text)
    }

    fn system(&self, text: &str) -> &Self {
        self.write("system.json", text)
    }

    fn environment(&self) -> Environment {
        self.place.variables().into_iter().collect()
    }

    fn build(&self) -> HookSystem {
        HookSystem::builder(self.path("project")).environment(self.environment()).trust_project().build()
    }

    fn snapshot(&self) -> std::sync::Arc<Snapshot> {
        self.build().snapshot()
    }

    /// Level, code and place of every finding.
    fn findings(&self) -> Vec<String> {
        let root = self.place.base.clone();
        self.snapshot().diagnostics().iter().map(|found| describe(&root, found)).collect()
    }

    fn hooks(&self) -> Vec<String> {
        self.snapshot()
            .hooks()
            .iter()
            .map(|hook| format!("{}:{} {} {}", hook.origin.kind, hook.origin.location.line, hook.event, hook.label))
            .collect()
    }
}

fn describe(root: &Path, found: &hookrail::Diagnostic) -> String {
    let place = found.location.as_ref().unwrap();
    let file = place.file.strip_prefix(root).unwrap_or(&place.file).display().to_string();
    let hint = found.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{} {} {file}:{}:{}{hint}", found.level.name(), found.code.name(), place.line, place.column)
}

#[test]
fn every_layer_is_loaded_in_order_with_the_line_of_each_entry() {
    let world = World::new();
    let entry = |name: &str| {
        format!(
            "{{\n// a comment\n\"enableHooks\": true, \"hooks\": {{\"BeforeTool\": [\n{{\"hooks\": [{{\"type\":\"command\",\"command\":\"{name}\"}},]}},]}}}}"
        )
    };
    world.user(&entry("u")).project(&entry("p")).system(&entry("s"));
    world.write("home/.llxprt/extensions/x/llxprt-extension.json", &entry("x"));
    assert_eq!(
        world.hooks(),
        ["project:4 before-tool p", "user:4 before-tool u", "system:4 before-tool s", "extension:4 before-tool x"]
    );
    assert_eq!(world.findings(), Vec::<String>::new());
}

#[test]
fn one_bad_entry_never_takes_its_neighbours_down() {
    let world = World::new();
    world.user(
        r#"{ "enableHooks": true,
  "hooks": {
    "BeforTool": [],
    "AfterTool": "x",
    "BeforeTool": [
      7,
      {"matcher": 7, "hooks": [{"type": "command", "command": "lost"}]},
      {"hooks": "x"},
      {"hoks": []},
      {"matcher": "(", "sequential": "yes", "hooks": [
        "x",
        {"type": "comand", "command": "lost"},
        {"command": "lost"},
        {"type": "command"},
        {"type": "command", "command": ""},
        {"type": "command", "command": 1},
        {"type": "command", "command": "a", "timeout": 0, "nmae": "x"},
        {"type": "command", "command": "b", "timeout": "5s"},
        {"type": "plugin", "name": "p"},
        {"type": "command", "command": "guard", "args": [1], "onFailure": "block"},
        {"type": "command", "command": "kept"}
      ]}
    ]
  }
}"#,
    );
    assert_eq!(
        world.hooks(),
        [
            "user:17 before-tool a",
            "user:18 before-tool b",
            "user:19 before-tool p",
            "user:20 before-tool guard",
            "user:21 before-tool kept"
        ]
    );
    let file = "home/.llxprt/settings.json";
    assert_eq!(
        world.findings(),
        [
            format!("warning unknown-event {file}:3:5 (did you mean `BeforeTool`?)"),
            format!("error event-shape {file}:4:18"),
            format!("error group-shape {file}:6:7"),
            format!("error matcher-type {file}:7:19 (write the names in one string, as in `\"write_file|replace\"`)"),
            format!("error group-shape {file}:8:17"),
            format!("warning unknown-key {file}:9:8 (did you mean `hooks`?)"),
            format!(
                "error group-shape {file}:9:7 (write `{{\"hooks\": [{{\"type\": \"command\", \"command\": …}}]}}`)"
            ),
            format!("warning matcher-invalid {file}:10:19"),
            format!("error setting-type {file}:10:38"),
            format!("error hook-shape {file}:11:9"),
            format!("error hook-type {file}:12:18 (did you mean `command`?)"),
            format!("error hook-type {file}:13:9 (add `\"type\": \"command\"`)"),
            format!("error hook-command {file}:14:9"),
            format!("error hook-command {file}:15:40"),
            format!("error hook-command {file}:16:40"),
            format!("warning unknown-key {file}:17:59 (did you mean `name`?)"),
            format!("warning timeout-invalid {file}:17:56 (write a positive number, as in `\"timeout\": 60000`)"),
            format!("warning timeout-invalid {file}:18:56 (write a positive number, as in `\"timeout\": 60000`)"),
            format!("warning not-executable {file}:19:18"),
            format!("error hook-command {file}:20:57"),
            format!("error guard-unusable {file}:20:9"),
        ]
    );
}

#[test]
fn a_broken_file_is_reported_with_its_place_and_the_others_still_load() {
    let world = World::new();
    world
        .user("{\n  \"hooks\": }")
        .project(r#"{"enableHooks":true,"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"p"}]}]}}"#);
    assert_eq!(world.hooks(), ["project:1 before-tool p"]);
    assert_eq!(world.findings(), ["error file-syntax home/.llxprt/settings.json:2:12"]);
    world.user("[1]");
    assert_eq!(world.findings(), ["error file-shape home/.llxprt/settings.json:1:1"]);
    std::fs::write(world.path("home/.llxprt/settings.json"), b"{\"a\":\"\xff\"}").unwrap();
    assert_eq!(world.findings(), ["error file-unreadable home/.llxprt/settings.json:1:1"]);
    std::fs::remove_file(world.path("home/.llxprt/settings.json")).unwrap();
    std::fs::create_dir(world.path("home/.llxprt/settings.json")).unwrap();
    assert_eq!(world.findings(), ["error file-unreadable home/.llxprt/settings.json:1:1"]);
}

#[test]
fn a_broken_file_keeps_its_last_good_version_in_force_on_reload() {
    let world = World::new();
    let good = r#"{"tools":{"enableHooks":true},"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"echo x >&2; exit 2"}]}]}}"#;
    world.user(good);
    let system = world.build();
    let event = || Event::new(EventKind::BeforeTool, world.path("project")).with_text("tool_name", "t");
    assert!(system.fire_blocking(event()).is_denied());
    world.user("{ broken");
    let found: Vec<&str> = system.reload().iter().map(|found| found.code.name()).collect();
    assert_eq!(found, ["file-syntax", "kept-last-good"]);
    assert!(system.fire_blocking(event()).is_denied(), "the guard stays");
    world.user("{}");
    assert!(system.reload().is_empty());
    assert!(!system.fire_blocking(event()).is_denied());
    assert!(!system.has_hooks_for(EventKind::BeforeTool));
}

/// The layers' switches, and which layers' hooks then take part.
#[test]
fn switches_act_downwards_and_a_project_acts_on_itself_only() {
    let on = Some(true);
    let off = Some(false);
    for (project, user, system, expected) in [
        (None, None, None, ""),
        (on, None, None, "project user system extension"),
        (None, on, None, "project user system extension"),
        (None, None, on, "project user system extension"),
        (off, on, None, "user system extension"),
        (on, off, None, "system"),
        (on, on, off, ""),
        (None, off, on, "system"),
        (off, None, None, ""),
    ] {
        let world = World::new();
        let settings = |name: &str, switch: Option<bool>| {
            let switch = switch.map(|on| format!("\"tools\":{{\"enableHooks\":{on}}},")).unwrap_or_default();
            format!(
                "{{{switch}\"hooks\":{{\"BeforeTool\":[{{\"hooks\":[{{\"type\":\"command\",\"command\":\"{name}\"}}]}}]}}}}"
            )
        };
        world.project(&settings("project", project)).user(&settings("user", user)).system(&settings("system", system));
        world.write("home/.llxprt/extensions/x/llxprt-extension.json", &settings("extension", None));
        let snapshot = world.snapshot();
        let active: Vec<&str> =
            snapshot.hooks().iter().filter(|hook| hook.is_enabled()).map(|hook| &*hook.label).collect();
        assert_eq!(active.join(" "), expected, "project {project:?}, user {user:?}, system {system:?}");
    }
}

#[test]
fn the_home_directory_as_a_project_is_the_users_own_file_once() {
    let world = World::new();
    world.user(
        r#"{"tools":{"enableHooks":true},"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"u"}]}]}}"#,
    );
    let system = HookSystem::builder(world.path("home")).environment(world.environment()).build();
    let snapshot = system.snapshot();
    assert_eq!(snapshot.hooks().len(), 1);
    assert_eq!(snapshot.hooks()[0].origin.kind.name(), "user");
}

#[test]
fn a_strangers_settings_do_not_take_for_ever() {
    let world = World::new();
    let began = std::time::Instant::now();
    world.project(&format!("{{\"hooks\":{{\"BeforeTool\":[{}1]}}}}", "1,".repeat(50_000)));
    assert_eq!(world.findings().len(), 50_001);
    let hook = r#"{"type":"command","command":"c"},"#;
    world.project(&format!("{{\"hooks\":{{\"BeforeTool\":[{{\"hooks\":[{}]}}]}}}}", hook.repeat(20_000)));
    assert_eq!(world.snapshot().hooks().len(), 20_000);
    assert!(began.elapsed() < std::time::Duration::from_secs(60), "a hang guard: {:?}", began.elapsed());
}

#[test]
fn a_pipe_in_the_place_of_settings_is_not_waited_for() {
    let world = World::new();
    let pipe = world.path("project/.llxprt/settings.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(world.findings(), ["error file-unreadable project/.llxprt/settings.json:1:1"]);
}

#[test]
fn a_relative_home_is_no_home() {
    let world = World::new();
    world.project(
        r#"{"tools":{"enableHooks":true},"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"p"}]}]}}"#,
    );
    let environment = world.environment().with("HOME", ".");
    let system = HookSystem::builder(world.path("project")).environment(environment).build();
    let snapshot = system.snapshot();
    assert!(snapshot.hooks().iter().all(|hook| hook.origin.kind.name() == "project" && !hook.trust.allows()));
}

#[tokio::test]
async fn every_event_has_a_typed_method_that_fills_its_fields() {
    let world = World::new();
    let logging = |(event, _): &(&str, &[&str])| {
        let command = format!("cat > {event}.json");
        (event.to_string(), serde_json::json!([{"hooks": [{"type": "command", "command": command}]}]))
    };
    let events: [(&str, &[&str]); 11] = [
        ("BeforeTool", &["tool_name", "tool_input"]),
        ("AfterTool", &["tool_name", "tool_input", "tool_response"]),
        ("BeforeAgent", &["prompt"]),
        ("AfterAgent", &["prompt", "prompt_response", "stop_hook_active"]),
        ("BeforeModel", &["llm_request"]),
        ("AfterModel", &["llm_request", "llm_response"]),
        ("BeforeToolSelection", &["llm_request"]),
        ("SessionStart", &["source"]),
        ("SessionEnd", &["reason"]),
        ("PreCompress", &["trigger"]),
        ("Notification", &["notification_type", "message", "details"]),
    ];
    let hooks: serde_json::Map<_, _> = events.iter().map(logging).collect();
    world.user(&serde_json::json!({"tools": {"enableHooks": true}, "hooks": hooks}).to_string());
    let system = world.build();
    let object = || hookrail::Json::parse(r#"{"a": 1}"#).unwrap();
    let fires = [
        system.fire_before_tool("write_file", object()),
        system.fire_after_tool("write_file", object(), object()),
        system.fire_prompt("hello"),
        system.fire_agent_end("hello", "done", false),
        system.fire_before_model(object()),
        system.fire_after_model(object(), object()),
        system.fire_tool_selection(object()),
        system.fire_session_start("startup"),
        system.fire_session_end("exit"),
        system.fire_before_compact("manual"),
        system.fire_notification("ToolPermission", "look", object()),
    ];
    for (fire, (event, fields)) in fires.into_iter().zip(events) {
        let outcome = fire.await;
        assert!(!outcome.diagnostics.iter().any(|found| found.code == hookrail::Code::FieldMissing), "{event}");
        let told = std::fs::read_to_string(world.path(&format!("project/{event}.json"))).unwrap();
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["hook_event_name"], event);
        assert!(fields.iter().all(|field| !told[field].is_null()), "{event}: {told}");
    }
}
