//! A guard that was edited after its grant: everyone who is concerned learns that, and where to look.

use serde_json::json;

use crate::cli::bridge::{bridge, denies, write_payload};
use crate::cli::sandbox::Sandbox;

/// What everyone is told.
const EDITED: &str = "was edited since you trusted it";
const NEXT: &str = "`hookrail trust diff`";

const GUARD: &str = r#""BeforeTool": [{"hooks": [
    {"type": "command", "name": "guard", "command": "sh guard.sh", "onFailure": "block"}]}]"#;

/// A guard of each dialect: the files of its project, and the one that is edited.
fn guards() -> [(&'static str, Sandbox, &'static str); 3] {
    let settings = Sandbox::with_hooks(GUARD);
    settings.write("guard.sh", "true\n");
    let plugin = Sandbox::new();
    let hooks = json!({"PreToolUse": [{"command": "sh ${pluginDir}/run.sh", "failurePolicy": "block"}]});
    let manifest = json!({"name": "gate", "version": "1.0.0", "hooks": hooks});
    plugin.write(".x-code/plugins/gate/plugin.json", manifest.to_string());
    plugin.write(".x-code/plugins/gate/run.sh", "true\n");
    let module = Sandbox::new();
    module.write(".xcsh/hooks/pre/gate.js", "export default (pi) => { pi.on(\"tool_call\", () => undefined); };\n");
    [
        ("settings", settings, "guard.sh"),
        ("plugin", plugin, ".x-code/plugins/gate/run.sh"),
        ("module", module, ".xcsh/hooks/pre/gate.js"),
    ]
}

fn append(sandbox: &Sandbox, file: &str, text: &str) {
    let before = std::fs::read_to_string(sandbox.project.join(file)).unwrap();
    sandbox.write(file, before + text);
}

#[test]
fn the_model_and_the_user_learn_that_a_guard_was_edited() {
    const FIRE: [&str; 5] = ["BeforeTool", "--tool", "write_file", "--tool-input", r#"{"file_path": "a.txt"}"#];
    for (kind, sandbox, file) in guards() {
        let call = json!({"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "x"}}]});
        sandbox.write("talk.jsonl", format!("{call}\n{}\n", json!({"text": "done"})));
        let agent = ["agent", "--script", "talk.jsonl", "--prompt", "write"];
        sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
        let (event, payload) = write_payload(&sandbox, "claude");
        let passed = bridge(&sandbox, "claude", event, &payload, &[]).ends_with(0);
        assert_eq!(passed.stdout, "", "{kind}: {passed:?}");
        for command in [vec!["list"], [&["explain"][..], &FIRE].concat(), vec!["doctor", "claude"], agent.to_vec()] {
            let ran = sandbox.run(&command);
            assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(EDITED), "{kind} {command:?}: {ran:?}");
        }

        append(&sandbox, file, if kind == "module" { "// edited\n" } else { "# edited\n" });
        let denied = bridge(&sandbox, "claude", event, &payload, &[]);
        assert!(denies("claude", &denied, EDITED) && denies("claude", &denied, NEXT), "{kind}: {denied:?}");
        // A grant is not for the model to give, and how the engine calls the end of the run helps no one.
        assert!(!denied.stdout.contains("trust grant") && !denied.stdout.contains("unusable"), "{kind}: {denied:?}");
        let fired = sandbox.run(&[&["fire"][..], &FIRE].concat()).ends_with(2);
        assert!(fired.stdout.contains(EDITED) && fired.stdout.contains(NEXT), "{kind}: {fired:?}");
        let document = sandbox.run(&[&["fire", "--json"][..], &FIRE].concat()).ends_with(2).json();
        assert!(document["reason"].as_str().unwrap().contains(EDITED), "{kind}: {document}");
        for command in [vec!["list"], [&["explain"][..], &FIRE].concat(), vec!["trust", "status"], agent.to_vec()] {
            let ran = sandbox.run(&command);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(said.contains(EDITED) && said.contains(NEXT), "{kind} {command:?}: {ran:?}");
        }
        let examined = sandbox.run(&["doctor", "claude"]).ends_with(1).stdout;
        assert!(
            examined.contains(EDITED) && examined.contains("`hookrail trust diff --project "),
            "{kind}: {examined}"
        );
    }
}

/// A new hook where a granted guard was is denied like an edited one, but it was never trusted.
#[test]
fn a_hook_that_was_never_granted_is_not_called_edited() {
    let sandbox = Sandbox::with_hooks(GUARD);
    sandbox.write("guard.sh", "true\n");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let settings = std::fs::read_to_string(sandbox.project.join(".llxprt/settings.json")).unwrap();
    let settings = settings.replace("\"guard\"", "\"another\"").replace("sh guard.sh", "true");
    sandbox.write(".llxprt/settings.json", settings);
    let place = "takes the place of `guard`, which you trusted";
    for command in [&["trust", "grant"][..], &["trust", "diff"], &["list"], &["fire", "BeforeTool"]] {
        let ran = sandbox.run(command);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(place), "{command:?}: {ran:?}");
        assert!(!said.contains("edited since") && !said.contains("changed since"), "{command:?}: {ran:?}");
    }
    // Under its old name it is the hook that was trusted, with another command.
    let settings = std::fs::read_to_string(sandbox.project.join(".llxprt/settings.json")).unwrap();
    sandbox.write(".llxprt/settings.json", settings.replace("\"another\"", "\"guard\""));
    let ran = sandbox.run(&["trust", "grant"]).ends_with(1);
    assert!(ran.stdout.contains(&format!("guard  {EDITED}")), "{ran:?}");
}
