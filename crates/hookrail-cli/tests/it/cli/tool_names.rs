//! One call, many names: what `fire`, `explain` and `check` say about tools of other agents and tools that are in no table.

use serde_json::Value;

use super::sandbox::Sandbox;

/// A project whose hook for these tools answers so, as a guard or not.
fn answering(matcher: &str, answer: &str, policy: &str) -> Sandbox {
    let sandbox = Sandbox::with_hooks(&format!(
        r#""BeforeTool": [{{"matcher": "{matcher}", "hooks": [{{"type": "command", "name": "h", "command": "cat .llxprt/answer.json", "onFailure": "{policy}"}}]}}]"#
    ));
    sandbox.write(".llxprt/answer.json", answer);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

const DENY: &str = r#"{"decision": "deny", "reason": "no"}"#;
const SHELL: &str = r#"{"command": "git push --force"}"#;

#[test]
fn a_matcher_with_another_agents_name_denies_and_is_explained() {
    let sandbox = answering("Bash", DENY, "allow");
    for tool in ["Bash", "run_shell_command", "shell", "bash"] {
        sandbox.run(&["fire", "BeforeTool", "--tool", tool, "--tool-input", SHELL]).ends_with(2);
    }
    let plan = sandbox.run(&["explain", "BeforeTool", "--tool", "run_shell_command", "--json"]).ends_with(0);
    assert!(plan.stdout.contains("matcher-elsewhere") && plan.stdout.contains("Claude Code"), "{}", plan.stdout);
    let plan = sandbox.run(&["explain", "BeforeTool", "--tool", "Bash", "--json"]).ends_with(0);
    assert!(!plan.stdout.contains("matcher-elsewhere"), "the name that was given needs no note: {}", plan.stdout);
    let found = sandbox.run(&["check", "--json"]).ends_with(0);
    assert!(
        found.stdout.contains("matcher-elsewhere") && !found.stdout.contains("matcher-no-tool"),
        "{}",
        found.stdout
    );
    // The control: a tool that is called so nowhere.
    sandbox.run(&["fire", "BeforeTool", "--tool", "deploy", "--tool-input", SHELL]).ends_with(0);
}

#[test]
fn a_guard_is_asked_about_an_unknown_tool_until_the_user_says_what_it_is() {
    let write = r#"{"path": ".env"}"#;
    let fire = ["fire", "BeforeTool", "--tool", "my_company_put", "--tool-input", write];
    let guard = answering("write_file", DENY, "block");
    guard.run(&fire).ends_with(2);
    let plan = guard.run(&[&["explain"][..], &fire[1..]].concat()).ends_with(0);
    assert!(plan.stdout.contains("my_company_put") && plan.stdout.contains("1 hook would run"), "{}", plan.stdout);
    for (said, status) in [("write", 2), ("read", 0), ("none", 0), ("run", 0)] {
        guard.write_home(".config/hookrail/config.toml", format!("[tools]\nmy_company_put = \"{said}\"\n"));
        guard.run(&fire).ends_with(status);
    }
    guard.write_home(".config/hookrail/config.toml", "[tools]\nmy_company_put = \"wirte\"\n");
    guard.run(&fire).ends_with(2);
    let found = guard.run(&["check"]).ends_with(0);
    assert!(found.stdout.contains("did you mean `write`?"), "{}", found.stdout);
    answering("write_file", DENY, "allow").run(&fire).ends_with(0);
}

#[test]
fn with_an_agent_fire_answers_as_its_bridge_and_records_nothing() {
    let sandbox = answering("run_shell_command", r#"{"decision": "ask", "reason": "really?"}"#, "allow");
    let fire = |agent: &str, status: i32| -> Value {
        let args = ["fire", "PreToolUse", "--agent", agent, "--tool", "Bash", "--tool-input", SHELL, "--json"];
        serde_json::from_str(&sandbox.run(&args).ends_with(status).stdout).unwrap()
    };
    assert_eq!(fire("claude", 4)["losses"], serde_json::json!([]));
    let codex = fire("codex", 2);
    assert_eq!((&codex["decision"], &codex["losses"][0]["what"]), (&"deny".into(), &"loss.ask".into()), "{codex}");
    assert!(!sandbox.run(&["log", "--json"]).stdout.contains("\"fired\""), "nothing is recorded");
    assert!(!sandbox.home.join(".local/state/hookrail/bridge").exists(), "no state is kept");
    let patch = r#"{"command": "*** Begin Patch\n*** Add File: .env\n+x\n*** End Patch"}"#;
    let guard = answering("write_file", DENY, "allow");
    guard.run(&["fire", "PreToolUse", "--agent", "codex", "--tool", "apply_patch", "--tool-input", patch]).ends_with(2);
    let ran = guard.run(&["fire", "PermissionRequest", "--agent", "pi"]);
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn check_tells_a_tool_of_the_users_own_from_a_typing_error() {
    let guard = answering("my_company_deploy", DENY, "block");
    let found = guard.run(&["check", "--deny-warnings"]).ends_with(0);
    assert!(found.stdout.contains("note[matcher-own-tool]"), "{}", found.stdout);
    assert!(found.stdout.contains(r#"`my_company_deploy = "write"`"#), "{}", found.stdout);
    guard.run(&["check", "--strict"]).ends_with(1);
    guard.write_home(".config/hookrail/config.toml", "[tools]\nmy_company_deploy = \"write\"\n");
    let found = guard.run(&["check", "--strict"]).ends_with(0);
    assert!(!found.stdout.contains("matcher-"), "{}", found.stdout);

    // A name that nearly is one is a warning, in the settings and in a plugin.
    let found = answering("write_flie", DENY, "block").run(&["check", "--deny-warnings"]).ends_with(1);
    assert!(found.stdout.contains("did you mean `write_file`?"), "{}", found.stdout);
    for (matcher, status) in [("writefile", 1), ("WriteFile|edit", 1), ("^writefile$", 1), ("writeFile|edit", 0)] {
        let plugin = Sandbox::new();
        let entry =
            format!(r#"{{"name": "p", "hooks": {{"PreToolUse": [{{"matcher": "{matcher}", "command": "true"}}]}}}}"#);
        plugin.write(".x-code/plugins/p/plugin.json", entry);
        let found = plugin.run(&["check", "--deny-warnings"]).ends_with(status);
        assert_eq!(found.stdout.contains("matcher-no-tool"), status == 1, "{matcher}: {}", found.stdout);
    }
}

#[test]
fn check_says_for_which_tools_a_list_of_other_agents_names_runs() {
    for (matcher, better) in
        [("Bash", "run_shell_command"), ("^Bash$", "^run_shell_command$"), ("^(Write|Edit)$", "^(write_file|replace)$")]
    {
        let found = answering(matcher, DENY, "block").run(&["check", "--deny-warnings"]).ends_with(0);
        let is_said = found.stdout.contains("note[matcher-elsewhere]") && found.stdout.contains(&format!("`{better}`"));
        assert!(is_said, "{matcher}: {}", found.stdout);
    }
    // Other patterns are compared with the names of the dialect and of the host alone.
    for matcher in ["(Write|Edit)", "^Wrote$", "^Write"] {
        let found = answering(matcher, DENY, "block").run(&["check"]).ends_with(0);
        assert!(!found.stdout.contains("matcher-elsewhere"), "{matcher}: {}", found.stdout);
    }
}

#[test]
fn the_tools_that_a_list_with_a_name_of_the_host_leaves_out_are_named() {
    let dead = |matcher: &str, agent: &str| -> Vec<String> {
        let document = answering(matcher, DENY, "block").run(&["doctor", agent, "--json"]).json();
        let checks = document["checks"].as_array().unwrap();
        let dead = checks.iter().filter(|check| check["name"] == "dead-guard");
        dead.map(|check| format!("{}; {}", check["message"], check["fix"])).collect()
    };
    let patch = r#"{"command": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}"#;
    let write = r#"{"file_path": "a", "content": "x"}"#;
    for (agent, matcher, tool, input, left_out) in [
        ("codex", "Write|Edit|Bash", "apply_patch", patch, "`apply_patch`"),
        ("droid", "Write|Edit|Bash", "Create", write, "`Create`"),
        ("droid", "^(Write|Edit)$", "Create", write, "`Create`"),
    ] {
        let fire = |matcher: &str| {
            let args = ["fire", "PreToolUse", "--agent", agent, "--tool", tool, "--tool-input", input];
            answering(matcher, DENY, "block").run(&args).code
        };
        let own =
            if matcher.starts_with('^') { "^(write_file|replace)$" } else { "write_file|replace|run_shell_command" };
        let found = dead(matcher, agent);
        let is_named = matches!(&found[..], [one] if one.contains(left_out) && one.contains(&format!("write `{own}`")));
        assert!(is_named, "{agent} {matcher}: {found:?}");
        let checked = answering(matcher, DENY, "block").run(&["check"]).ends_with(0).stdout;
        assert!(checked.contains("not for ") && checked.contains(left_out), "{agent} {matcher}: {checked}");
        // What `doctor` says to write reaches the tool, and nothing is left to say.
        assert_eq!((fire(matcher), fire(own)), (0, 2), "{agent} {matcher}");
        assert_eq!(dead(own, agent), Vec::<String>::new(), "{agent}");
    }
    // The control: an agent without these names, and one that has them all.
    for (agent, matcher) in [("copilot", "Write|Edit|Bash"), ("claude", "Write|Edit|Bash"), ("codex", "Write|Edit")] {
        assert_eq!(dead(matcher, agent), Vec::<String>::new(), "{agent} {matcher}");
    }
}
