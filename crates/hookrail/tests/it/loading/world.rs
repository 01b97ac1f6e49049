//! A home, a project and the system's settings, in which every kind of source can hold a guard.

use std::fs;
use std::path::{Path, PathBuf};

use hookrail::hook::Trust;
use hookrail::{Builder, Code, Environment, Event, EventKind, HookSystem, Outcome};
use hookrail_testkit::TestProject;
use serde_json::{Value, json};

pub(crate) struct World {
    place: TestProject,
}

/// A command that denies.
pub(crate) const DENY: &str = "echo no >&2; exit 2";

/// Settings with one guard for tool calls.
pub(crate) fn settings(command: &str) -> String {
    let hooks = json!({"BeforeTool": [{"hooks": [{"type": "command", "command": command}]}]});
    json!({"tools": {"enableHooks": true}, "hooks": hooks}).to_string()
}

/// The hooks of a plugin: one guard for tool calls.
pub(crate) fn plugin_hooks() -> Value {
    json!({"PreToolUse": [{"command": "echo '{\"decision\":\"deny\",\"reason\":\"no\"}'"}]})
}

impl World {
    pub(crate) fn new() -> Self {
        Self { place: TestProject::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.place.write_at(name, text);
    }

    pub(crate) fn environment(&self) -> Environment {
        self.place.variables().into_iter().collect()
    }

    pub(crate) fn builder(&self) -> Builder {
        HookSystem::builder(self.path("project")).environment(self.environment())
    }

    pub(crate) fn build(&self) -> HookSystem {
        self.builder().build()
    }

    /// Fires a tool call.
    pub(crate) fn fire(&self, system: &HookSystem) -> Outcome {
        system.fire_blocking(Event::new(EventKind::BeforeTool, self.path("project")).with_text("tool_name", "t"))
    }

    /// Installs a plugin of the user's with one guard.
    pub(crate) fn install_plugin(&self) {
        let dir = "home/.x-code/plugins/cache/m/p/1.0.0";
        self.write(&format!("{dir}/plugin.json"), &json!({"name": "p"}).to_string());
        self.write(&format!("{dir}/hooks/hooks.json"), &plugin_hooks().to_string());
        let record = json!({"id": "p@m", "name": "p", "marketplace": "m", "version": "1.0.0"});
        self.write("home/.x-code/plugins/installed_plugins.json", &json!({"plugins": [record]}).to_string());
    }

    /// Installs an extension of the user's with one guard.
    pub(crate) fn install_extension(&self) {
        let dir = "home/.llxprt/extensions/e";
        self.write(&format!("{dir}/llxprt-extension.json"), &json!({"name": "e", "version": "1.0.0"}).to_string());
        let hooks: Value = serde_json::from_str(&settings(DENY)).unwrap();
        self.write(&format!("{dir}/hooks/hooks.json"), &json!({"hooks": hooks["hooks"]}).to_string());
        self.write("home/.llxprt/settings.json", r#"{"tools":{"enableHooks":true}}"#);
    }

    /// Puts a guard into the project and grants it.
    pub(crate) fn grant_project_guard(&self) {
        use std::os::unix::fs::PermissionsExt;
        let entry = json!({"type": "command", "command": "./guard.sh", "onFailure": "block"});
        let hooks = json!({"BeforeTool": [{"hooks": [entry]}]});
        self.write(
            "project/.llxprt/settings.json",
            &json!({"tools": {"enableHooks": true}, "hooks": hooks}).to_string(),
        );
        self.write("project/guard.sh", "#!/bin/sh\necho no >&2; exit 2\n");
        fs::set_permissions(self.path("project/guard.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        let snapshot = self.build().snapshot();
        let store = hookrail::trust::FileTrustStore::new(self.store());
        store
            .change(&self.path("project"), |grants| {
                grants.project = true;
                for hook in snapshot.hooks() {
                    if let Trust::Never(fingerprint) = &hook.trust {
                        assert!(grants.grant(hook, fingerprint));
                    }
                }
            })
            .unwrap();
    }

    /// Where grants are kept.
    pub(crate) fn store(&self) -> PathBuf {
        self.path("home/.local/state/hookrail/trust.json")
    }
}

/// Whether an outcome says this.
pub(crate) fn says(outcome: &Outcome, code: Code) -> bool {
    outcome.diagnostics.iter().any(|finding| finding.code == code)
}

/// The ways in which a file becomes useless, apart from being removed.
pub(crate) fn spoil(path: &Path, how: &str) {
    match how {
        "folder" => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }
        "dangling" => {
            fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink("nowhere", path).unwrap();
        }
        text => fs::write(path, text).unwrap(),
    }
}

pub(crate) const WAYS_TO_SPOIL: [&str; 7] = ["", " \n\t ", "{{{", "null", "[]", "folder", "dangling"];
