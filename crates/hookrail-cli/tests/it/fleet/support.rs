//! A publisher and a machine in a temporary folder.

use std::fs;
use std::ops::Deref;
use std::process::Command;

pub(crate) use hookrail_testkit::ProgramOutput;
use hookrail_testkit::{TestProject, enabled_hooks};
use serde_json::{Value, json};

pub(crate) struct Fleet {
    place: TestProject,
}

impl Deref for Fleet {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.place
    }
}

/// Settings with one guard for tool calls that runs this command.
pub(crate) fn settings(command: &str) -> String {
    enabled_hooks(&json!({"BeforeTool": [{"hooks": [{"type": "command", "name": "policy", "command": command}]}]}))
}

/// Settings with one guard that denies for this reason.
pub(crate) fn denying(reason: &str) -> String {
    settings(&format!("echo '{reason}' >&2; exit 2"))
}

impl Fleet {
    /// A publisher with a key, and a machine whose root is the folder `machine`.
    pub(crate) fn new() -> Self {
        let fleet = Self { place: TestProject::new() };
        fleet.hookrail(&["bundle", "keygen", "key", "--no-password"]).ends_with(0);
        fleet.enrol("machine/etc/hookrail", "");
        fleet
    }

    /// Writes a configuration into a folder.
    pub(crate) fn enrol(&self, folder: &str, channel: &str) {
        let key = self.read("key.pub").lines().last().unwrap().to_owned();
        let source = self.project.join("dist").display().to_string();
        let text = format!(
            "tenant = \"acme\"\nkeys = [\"{key}\"]\nsource = \"{source}\"\nmachine = \"m1\"\n\n[channel]\nname = \"stable\"\n{channel}"
        );
        self.write_at(&format!("{folder}/fleet.toml"), text);
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(env!("CARGO_BIN_EXE_hookrail"));
        command.args(args).env("HOOKRAIL_FLEET_ROOT", self.path("machine"));
        command
    }

    /// Another program in the same environment.
    pub(crate) fn place_command(&self, program: &str) -> Command {
        self.place.command(program)
    }

    pub(crate) fn hookrail(&self, args: &[&str]) -> ProgramOutput {
        ProgramOutput::capture(&mut self.command(args))
    }

    /// Builds what is in the folder `policy`.
    pub(crate) fn build(&self, more: &[&str]) -> ProgramOutput {
        let args = ["bundle", "build", "policy", "--out", "dist", "--tenant", "acme", "--channel", "stable", "--json"];
        self.hookrail(&[&args[..], more].concat())
    }

    /// Builds and signs a bundle with these settings. Returns its manifest.
    pub(crate) fn publish(&self, settings: &str, more: &[&str]) -> Value {
        let _ = fs::remove_dir_all(self.project.join("policy"));
        self.write("policy/settings.json", settings);
        let built = self.build(more).ends_with(0).json();
        self.sign();
        built["manifest"].clone()
    }

    pub(crate) fn sign(&self) {
        self.hookrail(&["bundle", "sign", "dist", "--key", "key.key"]).ends_with(0);
    }

    /// Applies the newest bundle. Returns how that ended.
    pub(crate) fn apply(&self) -> String {
        let document = self.hookrail(&["bundle", "apply", "--json"]).json();
        document["reason"].as_str().or(document["end"].as_str()).unwrap().to_owned()
    }

    /// Fires a tool call. Returns the exit status and the outcome.
    pub(crate) fn fire(&self) -> (i32, Value) {
        let ran = self.hookrail(&["fire", "BeforeTool", "--tool", "write_file", "--json"]);
        (ran.code, ran.json())
    }

    pub(crate) fn status(&self) -> Value {
        self.hookrail(&["bundle", "status", "--json"]).json()
    }
}

/// Whether an outcome has a diagnostic of this code.
pub(crate) fn says(outcome: &Value, code: &str) -> bool {
    outcome["diagnostics"].as_array().unwrap().iter().any(|finding| finding["code"] == code)
}
