//! `try`: one script or module, without settings and without a grant.

use crate::cli::sandbox::Sandbox;

const DENY: &str = "#!/bin/sh\ncat > input.json\necho no >&2\nexit 2\n";

#[test]
fn a_script_is_run_once_with_a_sample() {
    let sandbox = Sandbox::new();
    sandbox.write_program("guard.sh", DENY);
    let shown = sandbox.run(&["try", "./guard.sh", "--event", "BeforeTool"]).ends_with(2).stdout;
    for part in
        ["blocked  before-tool write_file", "./guard.sh  exited 2  deny", "stderr  no", "\"tool_name\": \"write_file\""]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let input: serde_json::Value = serde_json::from_str(&sandbox.read("input.json")).unwrap();
    assert_eq!(input["hook_event_name"], "BeforeTool");
    assert_eq!(input["cwd"], sandbox.project.to_str().unwrap());
}

#[test]
fn the_event_can_be_described() {
    let sandbox = Sandbox::new();
    sandbox.write_program("guard.sh", DENY);
    let args = ["try", "guard.sh", "--tool", "run_shell_command", "--input", r#"{"command":"rm"}"#];
    sandbox.run(&args).ends_with(2);
    let input: serde_json::Value = serde_json::from_str(&sandbox.read("input.json")).unwrap();
    assert_eq!((&input["tool_name"], &input["tool_input"]["command"]), (&"run_shell_command".into(), &"rm".into()));
    sandbox.run(&["try", "guard.sh", "--event", "PreToolUse", "--dialect", "xcode"]);
    let input: serde_json::Value = serde_json::from_str(&sandbox.read("input.json")).unwrap();
    assert_eq!((&input["event"], &input["plugin"]["id"]), (&"PreToolUse".into(), &"try@local".into()));
    let ran = sandbox.run(&["try", "guard.sh", "--payload", r#"{"tool_name":"x","tool_input":{},"bogus":1}"#]);
    assert!(ran.stdout.contains("`bogus` is not a field of before-tool"), "{}", ran.stdout);
}

/// cli:C19
#[test]
fn the_hooks_of_settings_do_not_run_and_stay_untrusted() {
    let sandbox = Sandbox::with_hook("BeforeTool", "touch project-ran; exit 2");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let user = r#"{"hooksConfig":{"enabled":true},"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"touch user-ran"}]}]}}"#;
    sandbox.write_home(".llxprt/settings.json", user);
    sandbox.write_home(
        ".xcsh/agent/hooks/m.ts",
        "import { writeFileSync } from 'fs'; writeFileSync('module-ran', ''); export default () => {};",
    );
    sandbox.write_program("fine.sh", "#!/bin/sh\nexit 0\n");
    let shown = sandbox.run(&["try", "fine.sh"]).ends_with(0).stdout;
    assert!(shown.contains("fine.sh  silent") && !shown.contains("did not run"), "{shown}");
    for file in ["project-ran", "user-ran", "module-ran"] {
        assert!(!sandbox.exists(file), "{file}");
    }
    assert!(!sandbox.run(&["trust", "status", "--json"]).stdout.contains("fine.sh"));
}

#[test]
fn a_module_is_run_and_says_which_events_it_handles() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "m.ts",
        "export default (pi) => { pi.on('tool_call', (event) => { console.log(event.toolName); return { block: true, reason: 'no' }; }); };",
    );
    let shown = sandbox.run(&["try", "m.ts", "--event", "tool_call", "--tool", "bash"]).ends_with(2).stdout;
    assert!(shown.contains("console         bash") && shown.contains("returned        {"), "{shown}");
    let other = sandbox.run(&["try", "m.ts", "--event", "SessionStart"]).ends_with(0).stdout;
    assert!(other.contains("it has no handler for `session_start`, only for `tool_call`"), "{other}");
    sandbox.write("broken.ts", "export default (pi) => {");
    let broken = sandbox.run(&["try", "broken.ts"]).ends_with(1);
    assert!(broken.stderr.contains("broken.ts` cannot be used"), "{}", broken.stderr);
}

#[test]
fn a_script_that_is_not_executable_is_run_by_its_interpreter_or_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("guard.sh", "echo no >&2; exit 2\n");
    sandbox.run(&["try", "guard.sh"]).ends_with(2);
    sandbox.write("guard", "exit 2\n");
    let refused = sandbox.run(&["try", "guard"]).ends_with(1);
    assert!(
        refused.stderr.contains("is not executable") && refused.stderr.contains("chmod +x guard"),
        "{}",
        refused.stderr
    );
    let missing = sandbox.run(&["try", "nowhere.sh"]).ends_with(1);
    assert!(missing.stderr.contains("`nowhere.sh` cannot be read"), "{}", missing.stderr);
    sandbox.run(&["try", "."]).ends_with(1);
    let event = sandbox.run(&["try", "guard.sh", "--event", "BeforTool"]).ends_with(1);
    assert!(event.stderr.contains("did you mean `BeforeTool`?"), "{}", event.stderr);
    let none = sandbox.run(&["try", "guard.sh", "--event", "turn_start"]).ends_with(1);
    assert!(none.stderr.contains("hooks of llxprt have no event turn-start"), "{}", none.stderr);
}

#[test]
fn a_module_with_a_first_line_for_an_interpreter_is_a_script() {
    let sandbox = Sandbox::new();
    sandbox.write_program("guard.mjs", "#!/bin/sh\nexit 2\n");
    sandbox.run(&["try", "guard.mjs"]).ends_with(2);
}

#[test]
fn an_event_that_the_dialect_does_not_have_names_those_that_have_it() {
    let sandbox = Sandbox::new();
    sandbox.write_program("a.sh", "#!/bin/sh\n");
    let ran = sandbox.run(&["try", "a.sh", "--dialect", "xcode", "--event", "AfterAgent"]).ends_with(1);
    assert_eq!(
        ran.stderr,
        "error: hooks of xcode have no event agent-end\nhint: it is `AfterAgent` with `--dialect llxprt`, or `AfterAgent` with \
         `--dialect gemini`, or `Stop` with `--dialect claude`, or `Stop` with `--dialect codex`, or `agent_end` with \
         `--dialect xcsh`; `hookrail reference events` lists all\n"
    );
}

/// A script in the format of one agent, asked as another agent's bridge asks it.
#[test]
fn a_script_of_one_agent_is_asked_about_the_tools_of_another() {
    let sandbox = Sandbox::new();
    sandbox.write_program("guard.sh", DENY);
    for (agent, tool) in [("copilot", "bash"), ("gemini", "run_shell_command"), ("codex", "Bash")] {
        let args = ["try", "guard.sh", "--dialect", "claude", "--agent", agent, "--tool", tool];
        let shown = sandbox.run(&args).ends_with(2).stdout;
        let input: serde_json::Value = serde_json::from_str(&sandbox.read("input.json")).unwrap();
        assert_eq!((&input["tool_name"], &input["hook_event_name"]), (&"Bash".into(), &"PreToolUse".into()), "{shown}");
        assert_eq!(input["tool_input"]["command"], "git status", "{shown}");
    }
    // A payload of the agent is read as its bridge reads it.
    let payload = r#"{"hook_event_name":"PreToolUse","permission_mode":"default","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    sandbox
        .run(&["try", "guard.sh", "--event", "PreToolUse", "--dialect", "gemini", "--payload", payload])
        .ends_with(2);
    let input: serde_json::Value = serde_json::from_str(&sandbox.read("input.json")).unwrap();
    assert_eq!((&input["tool_name"], &input["tool_input"]["command"]), (&"run_shell_command".into(), &"ls".into()));
}
