//! A server runs hooks outside of every sandbox, so it does nothing for a process that is in one, and takes no code from a caller.

#![cfg(target_os = "linux")]

use std::path::Path;

use hookrail_testkit::{ProgramOutput, RunningProgram, has_program};
use serde_json::{Value, json};

use crate::serve::support::Sandbox;

/// Asks the server of a socket to fire an event, with some variables in the caller's environment, and prints what it is told. Hooks in
/// Python have a variable that the server does not have, and one of the server's must be as it is there.
const ASKS: &str = r#"
import json, os, socket, sys
variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
caller = {"environment": dict(variables, PYTHONDONTWRITEBYTECODE="1", **json.loads(sys.argv[3]))}
asked = {"eventName": "BeforeTool", "input": {"tool_name": "x", "tool_input": {}}, "project": sys.argv[2], "caller": caller}
stream = socket.socket(socket.AF_UNIX)
stream.connect(sys.argv[1])
try:
    stream.sendall(json.dumps({"type": "HOOK_EXECUTION_REQUEST", "payload": asked}).encode() + b"\n")
    told = stream.makefile().readline()
except OSError:
    told = ""
print(json.dumps({"systemMessage": told or "nothing"}))
"#;

/// A server whose hook is run by bash and does nothing, a program that asks it, and a file that writes a mark where bash reads it.
struct Lab {
    sandbox: Sandbox,
    _server: RunningProgram,
}

impl Lab {
    fn new() -> Self {
        let sandbox = Sandbox::with_user_hook("bash -c 'cat > /dev/null'");
        let (server, _, talk) = sandbox.on_socket(&[]);
        drop(talk);
        std::fs::write(sandbox.base.join("asks.py"), ASKS).unwrap();
        std::fs::write(sandbox.base.join("startup"), format!("touch {}\n", sandbox.base.join("ran").display()))
            .unwrap();
        Self { sandbox, _server: server }
    }

    /// Runs a hook of another user setting alone, which asks the server, and returns what it was told.
    fn asked_by_hook(&self, keys: &Value, environment: &Value) -> String {
        let base = &self.sandbox.base;
        let words = [base.join("asks.py"), base.join("s"), self.sandbox.project.clone()];
        let words = words.map(|word| word.display().to_string()).join(" ");
        let mut hook = json!({"type": "command", "command": format!("python3 {words} '{environment}'")});
        hook.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        let settings = json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": [hook]}]}});
        let file = base.join("system.json");
        std::fs::write(&file, settings.to_string()).unwrap();
        let mut command = self.sandbox.command(Sandbox::program());
        command.args(["fire", "before-tool", "--json", "--tool", "x", "--project"]).arg(base.join("elsewhere"));
        std::fs::create_dir_all(base.join("elsewhere")).unwrap();
        let ran = ProgramOutput::capture(command.env("LLXPRT_SYSTEM_SETTINGS_PATH", &file));
        let outcome: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        outcome["systemMessage"].as_str().unwrap_or_else(|| panic!("{ran:?}")).to_owned()
    }

    fn startup(&self) -> Value {
        json!({"BASH_ENV": self.sandbox.base.join("startup")})
    }

    fn mark(&self) -> bool {
        Path::exists(&self.sandbox.base.join("ran"))
    }
}

#[test]
fn a_process_in_a_sandbox_is_not_served() {
    if !has_program("python3") {
        return;
    }
    let lab = Lab::new();
    assert_eq!(lab.asked_by_hook(&json!({"sandbox": {"network": true}}), &json!({})), "nothing");
    let told = lab.asked_by_hook(&json!({}), &json!({}));
    assert!(told.contains("\"success\":true"), "without a sandbox the same hook is answered: {told}");
}

#[test]
fn code_that_a_caller_names_is_not_run() {
    if !has_program("python3") {
        return;
    }
    let lab = Lab::new();
    for variables in [lab.startup(), json!({"LD_PRELOAD": "/x.so"}), json!({"BASH_FUNC_cat%%": "() { :; }"})] {
        let told = lab.asked_by_hook(&json!({}), &variables);
        assert!(told.contains("unsupported_caller"), "{variables}: {told}");
    }
    let told = lab.asked_by_hook(&json!({}), &json!({"HARMLESS": "x"}));
    assert!(told.contains("\"success\":true"), "{told}");
    assert!(!lab.mark());
}
