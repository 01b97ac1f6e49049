//! A project with a guard of the user, and a configuration.

use std::ops::Deref;
use std::process::Command;

use hookrail_testkit::{ProgramOutput, TestProject, enabled_hooks, traceparent};
use serde_json::{Value, json};

pub(crate) struct Sandbox {
    place: TestProject,
}

impl Deref for Sandbox {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.place
    }
}

impl Sandbox {
    /// A project, and a guard of the user that denies every tool call.
    pub(crate) fn new() -> Self {
        let place = TestProject::new();
        let guard = json!({"type": "command", "name": "guard", "command": "echo 'the reason is a secret' >&2; exit 2"});
        place.write_home(".llxprt/settings.json", enabled_hooks(&json!({"BeforeTool": [{"hooks": [guard]}]})));
        Self { place }
    }

    /// The same with telemetry for this collector.
    pub(crate) fn exporting_to(endpoint: &str) -> Self {
        let sandbox = Self::new();
        sandbox.user_config(&format!("[telemetry]\nendpoint = \"{endpoint}\"\n"));
        sandbox
    }

    pub(crate) fn user_config(&self, text: &str) {
        self.write_home(".config/hookrail/config.toml", text);
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(env!("CARGO_BIN_EXE_hookrail"));
        command.args(args);
        command
    }

    /// Another program in the same environment.
    pub(crate) fn place_command(&self, program: &str) -> Command {
        self.place.command(program)
    }

    /// A server that answers one tool call and ends.
    pub(crate) fn serve(&self, args: &[&str]) -> ProgramOutput {
        self.serve_with(&mut self.command(&[&["serve", "--stdio"], args].concat()))
    }

    /// Asks a server about one tool call.
    pub(crate) fn ask(&self, command: &mut Command) -> ProgramOutput {
        ProgramOutput::with_input(command, &format!("{}\n", request()))
    }

    pub(crate) fn serve_with(&self, command: &mut Command) -> ProgramOutput {
        let served = self.ask(command);
        assert!(served.stdout.contains(r#""decision":"deny""#), "{served:?}");
        served.ends_with(0)
    }
}

/// A tool call under a trace of the host.
fn request() -> Value {
    let input = json!({"session_id": "s1", "tool_name": "write_file", "tool_call_id": "c1",
        "tool_input": {"path": "the input is a secret"}});
    json!({"type": "HOOK_EXECUTION_REQUEST",
        "payload": {"eventName": "BeforeTool", "input": input, "traceparent": traceparent()}})
}
