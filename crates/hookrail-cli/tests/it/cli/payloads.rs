//! What `fire` and `explain` take as an event, and where they find the project.

use crate::cli::sandbox::Sandbox;

const GUARD: &str = r#"grep -q '"tool_name":"write_file".*\.env' && echo '{"decision":"deny","reason":"no secrets"}'"#;

#[test]
fn an_event_is_taken_as_a_hook_of_any_dialect_receives_it() {
    let sandbox = Sandbox::with_hook("BeforeTool", GUARD);
    for payload in [
        r#"{"tool_name":"write_file","tool_input":{"path":".env"}}"#,
        r#"{"session_id":"s","transcript_path":"","cwd":"","hook_event_name":"BeforeTool","timestamp":"2025-01-01T00:00:00Z","tool_name":"write_file","tool_input":{"path":".env"}}"#,
        r#"{"event":"PreToolUse","session":{"cwd":"","modelId":"m"},"plugin":{"id":"p","dir":"/d"},"tool":{"name":"write_file","args":{"path":".env"},"callId":"1"}}"#,
        r#"{"type":"tool_call","toolName":"write_file","toolCallId":"1","input":{"path":".env"}}"#,
    ] {
        let ran = sandbox.run(&["fire", "BeforeTool", "--trust-project", "--json", "--payload", payload]).ends_with(2);
        assert_eq!(ran.json()["diagnostics"], serde_json::json!([]), "{payload}");
    }
}

#[test]
fn odd_fields_of_a_payload_are_reported() {
    let sandbox = Sandbox::with_hook("BeforeTool", GUARD);
    let report = |payload: &str| {
        let ran = sandbox.run(&["explain", "BeforeTool", "--json", "--payload", payload]).ends_with(0).json();
        let findings = ran["diagnostics"].as_array().unwrap().clone();
        findings.iter().map(|finding| finding["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let unknown = report(r#"{"toolName":"x","tool_input":{}}"#);
    assert!(
        unknown[0].contains("`toolName` is not a field") && unknown[1].contains("`tool_name` is missing"),
        "{unknown:?}"
    );
    assert!(report(r#"{"tool_name":"","tool_input":{}}"#)[0].contains("is empty"));
}

#[test]
fn the_project_is_found_upwards() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let below = sandbox.project.join("src/deep");
    std::fs::create_dir_all(&below).unwrap();
    let mut command = sandbox.command(&["fire", "BeforeTool", "--trust-project"]);
    command.current_dir(&below);
    crate::cli::sandbox::ProgramOutput::capture(&mut command).ends_with(2);
}

#[test]
fn problems_of_the_configuration_are_counted_in_one_line() {
    let sandbox = Sandbox::with_hooks(r#""BeforTool": [], "Other": [], "BeforeTool": []"#);
    let text = sandbox.run(&["fire", "BeforeTool", "--tool", "x"]).ends_with(0).stdout;
    assert!(text.contains("configuration: 2 warnings; run `hookrail check`"), "{text}");
    assert!(!text.contains("BeforTool"), "{text}");
}

#[test]
fn a_response_in_place_of_the_model_is_not_called_allowed() {
    let answer = r#"{"hookSpecificOutput":{"hookEventName":"BeforeModel","llm_response":{"text":"from a hook"}}}"#;
    let sandbox = Sandbox::with_hook("BeforeModel", &format!("echo '{answer}'"));
    let payload = r#"{"llm_request":{"model":"m","messages":[]}}"#;
    let text = sandbox.run(&["fire", "BeforeModel", "--trust-project", "--payload", payload]).ends_with(0).stdout;
    assert!(text.starts_with("answered by a hook; the model is not called  before-model"), "{text}");
}

#[test]
fn a_session_end_hook_that_a_host_would_end_is_warned_about() {
    // A settings file's hook takes the time it needs: an agent waits for it.
    let sandbox = Sandbox::with_hook("SessionEnd", "sleep 1.7");
    let plugin = sandbox.project.join(".x-code/plugins/slow");
    std::fs::create_dir_all(&plugin).unwrap();
    let manifest = r#"{"name":"slow","version":"1.0.0","hooks":{"SessionEnd":[{"command":"sleep 1.7"}]}}"#;
    std::fs::write(plugin.join("plugin.json"), manifest).unwrap();
    let outcome = sandbox.run(&["fire", "SessionEnd", "--trust-project", "--json"]).ends_with(0).json();
    let warnings = outcome["diagnostics"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{outcome}");
    assert!(warnings[0]["message"].as_str().unwrap().contains("an agent that ends waits 1500 ms"), "{outcome}");
}

#[test]
fn a_module_that_is_missing_is_an_error_of_the_command() {
    let ran = Sandbox::new().run(&["fire", "tool_call", "--tool", "x", "--hook", "missing.ts"]).ends_with(1);
    assert!(ran.stderr.contains("missing.ts"), "{ran:?}");
}

#[test]
fn a_process_that_a_module_leaves_running_is_reported_when_it_is_cut_off() {
    let sandbox = Sandbox::with_hooks("");
    let module = sandbox.project.join("sound.js");
    let text = r#"export default (pi) => { pi.on("agent_end", () => { pi.exec("sleep", ["600"]); }); };"#;
    std::fs::write(&module, text).unwrap();
    let ran = sandbox.run(&["fire", "agent_end", "--hook", "sound.js", "--json"]).ends_with(0);
    assert_eq!(ran.json()["diagnostics"], serde_json::json!([]), "the event itself went well");
    assert!(
        ran.stderr.contains("its process `sleep` was still running 1500 ms after the shutdown began"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_a_hook_of_one_dialect_received_lacks_nothing() {
    let sandbox = Sandbox::new();
    for (event, payload) in [
        (
            "SessionStart",
            r#"{"event":"SessionStart","session":{"cwd":"","modelId":"m"},"plugin":{"id":"p","dir":"/d"}}"#,
        ),
        (
            "session_before_compact",
            r#"{"type":"session_before_compact","preparation":{},"branchEntries":[],"signal":{}}"#,
        ),
    ] {
        let outcome = sandbox.run(&["fire", event, "--json", "--payload", payload]).ends_with(0).json();
        assert_eq!(outcome["diagnostics"], serde_json::json!([]), "{payload}");
    }
    let neutral = sandbox.run(&["fire", "SessionStart", "--json", "--payload", r#"{"source":""}"#]).ends_with(0).json();
    assert!(neutral["diagnostics"][0]["message"].as_str().unwrap().contains("`source` is empty"), "{neutral}");
}
