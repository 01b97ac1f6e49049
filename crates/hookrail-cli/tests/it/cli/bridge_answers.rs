//! `bridge`: options, limits and what is kept between the events of a session.

use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use hookrail_testkit::wait_until;
use serde_json::{Value, json};

use crate::cli::bridge::{AGENTS, after_payload, bridge, denies, guarded, recorded, write_payload};
use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A project whose one hook for an event prints an answer.
fn answering(event: &str, answer: &Value) -> Sandbox {
    let sandbox = Sandbox::with_hook(event, "cat .llxprt/answer.json");
    sandbox.write(".llxprt/answer.json", answer.to_string());
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

/// What hooks lost in an agent, by the files that the bridge keeps.
fn losses(sandbox: &Sandbox, agent: &str) -> String {
    let folder = sandbox.home.join(".local/state/hookrail/bridge").join(agent);
    let files =
        std::fs::read_dir(&folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    files.collect()
}

#[test]
fn questions_at_the_end_of_an_answer_end_after_eight() {
    let sandbox = answering("AfterAgent", &json!({"decision": "ask", "reason": "sure?"}));
    for (agent, event) in [("claude", "Stop"), ("codex", "Stop"), ("gemini", "AfterAgent")] {
        let end = recorded(&sandbox, agent, event);
        for round in 0..9 {
            let ran = bridge(&sandbox, agent, event, &end, &[]).ends_with(0);
            assert_eq!(ran.stdout.contains("sure?"), round < 8, "{agent} {round}: {ran:?}");
        }
    }
}

#[test]
fn a_denial_that_comes_after_the_exit_of_its_hook_denies_in_every_agent() {
    let late = r#"(cat >/dev/null; sleep 0.4; echo '{"decision":"deny","reason":"late"}') &"#;
    let sandbox = Sandbox::with_hook("BeforeTool", late);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    for agent in AGENTS {
        let (event, payload) = write_payload(&sandbox, agent);
        let ran = bridge(&sandbox, agent, event, &payload, &[]);
        assert!(denies(agent, &ran, "late"), "{agent}: {ran:?}");
    }
}

#[test]
fn context_before_a_tool_reaches_the_model_in_every_agent() {
    let context = json!({"hookSpecificOutput": {"hookEventName": "BeforeTool", "additionalContext": "CTX"}});
    let sandbox = answering("BeforeTool", &context);
    for (agent, member) in [("claude", "PreToolUse"), ("codex", "PreToolUse")] {
        let (event, payload) = write_payload(&sandbox, agent);
        let ran = bridge(&sandbox, agent, event, &payload, &[]).ends_with(0);
        let expected = json!({"hookSpecificOutput": {"hookEventName": member, "additionalContext": "CTX"}});
        assert_eq!(ran.json(), expected, "{agent}");
    }
    for (agent, after, name) in [
        ("gemini", "AfterTool", "AfterTool.write_file"),
        ("qwen", "PostToolUse", "PostToolUse.write_file"),
        ("copilot", "postToolUse", "postToolUse.create"),
    ] {
        let (event, payload) = write_payload(&sandbox, agent);
        let ran = bridge(&sandbox, agent, event, &payload, &[]).ends_with(0);
        assert_eq!(ran.stdout, "", "{agent}");
        assert!(losses(&sandbox, agent).contains("loss.context"), "{agent}");
        let end = recorded(&sandbox, agent, name);
        let ran = bridge(&sandbox, agent, after, &end, &[]).ends_with(0);
        assert!(ran.stdout.contains("\"additionalContext\":\"CTX\""), "{agent}: {ran:?}");
        let again = bridge(&sandbox, agent, after, &end, &[]).ends_with(0);
        assert_eq!(again.stdout, "", "it is given once: {agent}");
    }
}

/// Each call waits for the others inside its hook, so all bridges are at work when the first one ends.
#[test]
fn bridges_of_one_session_at_the_same_time_lose_nothing() {
    const CALLS: usize = 6;
    let sandbox = Sandbox::with_hook(
        "BeforeTool",
        r#"p=$(sed 's/.*"file_path": *"[^"]*\/\([^"/]*\)".*/\1/'); mkdir -p began; touch "began/$p"
        while [ "$(ls began | wc -l)" -lt 6 ]; do sleep 0.02; done
        printf '{"hookSpecificOutput":{"hookEventName":"BeforeTool","additionalContext":"about %s"}}' "$p""#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let (event, payload) = write_payload(&sandbox, "gemini");
    let of_call = |payload: &Value, call: usize| -> Value {
        serde_json::from_str(&payload.to_string().replace("a.txt", &format!("file-{call}"))).unwrap()
    };
    std::thread::scope(|scope| {
        for call in 0..CALLS {
            let payload = of_call(&payload, call);
            let sandbox = &sandbox;
            scope.spawn(move || bridge(sandbox, "gemini", event, &payload, &[]).ends_with(0));
        }
    });
    let end = recorded(&sandbox, "gemini", "AfterTool.write_file");
    for call in 0..CALLS {
        let ran = bridge(&sandbox, "gemini", "AfterTool", &of_call(&end, call), &[]).ends_with(0);
        let context = ran.json()["hookSpecificOutput"]["additionalContext"].clone();
        assert_eq!(context, json!(format!("about file-{call}")), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_payload_that_does_not_end_is_denied_at_the_deadline() {
    let sandbox = guarded();
    let (event, payload) = write_payload(&sandbox, "codex");
    for (event, text, code) in [
        (event, payload.to_string(), 2),
        (event, "{".to_owned(), 2),
        (event, String::new(), 2),
        ("PostToolUse", payload.to_string(), 0),
    ] {
        let mut command = sandbox.command(&["bridge", "codex", "--event", event, "--deadline", "200"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The pipe stays open until the process has ended.
        let mut input = child.stdin.take().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        let ended = wait_until(|| child.try_wait().unwrap().is_some(), Duration::from_secs(60));
        if !ended {
            child.kill().unwrap();
        }
        let status = child.wait().unwrap();
        drop(input);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((ended, status.code()), (true, Some(code)), "{text}: {said}");
        assert!(said.contains("did not end within 0.2 s") && said.contains("hookrail doctor codex"), "{said}");
    }
}

#[test]
fn a_late_answer_is_reported_and_says_what_happens_instead() {
    let sandbox = Sandbox::with_hooks(
        r#""AfterTool": [{"hooks": [{"type": "command", "command": "sleep 60"}]}],
        "AfterAgent": [{"hooks": [{"type": "command", "command": "sleep 60"}]}]"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    for agent in AGENTS {
        let (event, payload) = after_payload(&sandbox, agent);
        let ran = bridge(&sandbox, agent, event, &payload, &["--deadline", "800"]).ends_with(0);
        assert_eq!(ran.stdout, "", "{agent}");
        assert!(ran.stderr.contains("did not answer within 0.8 s; the agent continues without them"), "{ran:?}");
        assert!(losses(&sandbox, agent).contains("\"loss.late-answer\":1"), "{agent}");
    }
    let end = recorded(&sandbox, "codex", "Stop");
    let ran = bridge(&sandbox, "codex", "Stop", &end, &["--deadline", "800"]).ends_with(0);
    assert!(ran.stderr.contains("the agent may end its answer") && !ran.stderr.contains("denied"), "{ran:?}");
}

#[test]
fn errors_deny_unless_the_user_wants_otherwise() {
    let sandbox = guarded();
    for agent in AGENTS {
        let (event, payload) = write_payload(&sandbox, agent);
        let allow = &["bridge", agent, "--event", event, "--on-error", "allow"][..];
        let ran = sandbox.run_with_input(allow, "{").ends_with(0);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("hookrail doctor"), "{ran:?}");
        let ran = bridge(&sandbox, agent, event, &payload, &["--on-error", "allow"]);
        assert!(denies(agent, &ran, "not a.txt"), "a hook still denies: {ran:?}");
        let block = &["bridge", agent, "--event", event, "--on-error", "block"][..];
        let ran = sandbox.run_with_input(block, "{");
        assert!(ran.code == 2 || ran.stdout.contains("\"deny\""), "{ran:?}");
    }
    let unknown = &["bridge", "codex", "--event", "PreToolUse", "--on-error", "allow", "--from-the-future"][..];
    sandbox.run_with_input(unknown, "{}").ends_with(1);
}

#[test]
fn hooks_that_wait_for_trust_are_mentioned_where_the_user_can_see_it() {
    for (agent, event, name) in [
        ("claude", "SessionStart", "SessionStart.startup"),
        ("gemini", "SessionStart", "SessionStart.startup"),
        ("qwen", "SessionStart", "SessionStart.startup"),
        ("copilot", "sessionStart", "sessionStart.new"),
    ] {
        // The hook is for another event: that is when it would be too late to hear of it.
        let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
        let payload = recorded(&sandbox, agent, name);
        let ran = bridge(&sandbox, agent, event, &payload, &[]).ends_with(0);
        let answer = ran.json();
        let shown = match agent {
            "claude" | "gemini" => &answer["systemMessage"],
            "qwen" => &answer["hookSpecificOutput"]["additionalContext"],
            _ => &answer["additionalContext"],
        };
        assert!(shown.as_str().is_some_and(|text| text.contains("hookrail trust grant")), "{agent}: {ran:?}");
        assert!(ran.stderr.contains("1 hook of this project is not trusted"), "{agent}: {ran:?}");
        sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
        let ran = bridge(&sandbox, agent, event, &payload, &[]).ends_with(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{agent}");
    }
    for (agent, start, name, prompt) in [
        ("opencode", "session.created", "session.created", "chat.message"),
        ("pi", "session_start", "session_start", "before_agent_start"),
    ] {
        let sandbox = Sandbox::with_hook("SessionStart", "exit 0");
        let payload = recorded(&sandbox, agent, name);
        bridge(&sandbox, agent, start, &payload, &[]).ends_with(0);
        let payload = recorded(&sandbox, agent, prompt);
        let ran = bridge(&sandbox, agent, prompt, &payload, &[]).ends_with(0);
        assert!(ran.stdout.contains("hookrail trust grant"), "{agent}: {ran:?}");
    }
}

#[test]
fn strict_trust_denies_operations_and_not_the_end_of_an_answer() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"hooks": [{"type": "command", "command": "exit 0"}]}],
        "AfterAgent": [{"hooks": [{"type": "command", "command": "exit 0"}]}]"#,
    );
    let (event, payload) = write_payload(&sandbox, "codex");
    let ran = bridge(&sandbox, "codex", event, &payload, &["--strict-trust"]).ends_with(2);
    assert!(ran.stderr.contains("hookrail trust grant"), "{ran:?}");
    let end = recorded(&sandbox, "codex", "Stop");
    assert_eq!(bridge(&sandbox, "codex", "Stop", &end, &["--strict-trust"]).ends_with(0).stdout, "");
}

#[test]
fn events_that_name_no_session_share_no_state() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "run_shell_command", "hooks": [{"type": "command",
            "command": "echo '{\"continue\":false,\"stopReason\":\"budget\"}'"}]}],
        "AfterAgent": [{"hooks": [{"type": "command", "command": "echo '{\"decision\":\"block\",\"reason\":\"tests\"}'"}]}]"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let nameless = |payload: &Value| {
        let mut payload = payload.clone();
        for name in ["session_id", "transcript_path"] {
            payload.as_object_mut().unwrap().remove(name);
        }
        payload
    };
    let shell = nameless(&recorded(&sandbox, "codex", "PreToolUse.Bash"));
    let (event, write) = write_payload(&sandbox, "codex");
    assert!(bridge(&sandbox, "codex", event, &shell, &[]).ends_with(2).stderr.contains("budget"));
    bridge(&sandbox, "codex", event, &nameless(&write), &[]).ends_with(0);
    assert!(losses(&sandbox, "codex").contains("loss.stop"), "the loss is known without a session");
    let mut end = nameless(&recorded(&sandbox, "codex", "Stop"));
    end["stop_hook_active"] = json!(false);
    assert!(bridge(&sandbox, "codex", "Stop", &end, &[]).ends_with(0).stdout.contains("tests"));
    end["stop_hook_active"] = json!(true);
    assert_eq!(bridge(&sandbox, "codex", "Stop", &end, &[]).ends_with(0).stdout, "", "without a count once is enough");
    // A transcript names the session too.
    let mut by_transcript = nameless(&write);
    let mut shell_by_transcript = shell;
    for payload in [&mut by_transcript, &mut shell_by_transcript] {
        payload["transcript_path"] = json!("/t/one.jsonl");
    }
    bridge(&sandbox, "codex", event, &shell_by_transcript, &[]).ends_with(2);
    bridge(&sandbox, "codex", event, &by_transcript, &[]).ends_with(2);
}

#[test]
fn gemini_asks_only_if_a_user_is_there() {
    let sandbox = answering("BeforeTool", &json!({"decision": "ask", "reason": "sure?"}));
    let (event, payload) = write_payload(&sandbox, "gemini");
    let ran = bridge(&sandbox, "gemini", event, &payload, &[]).ends_with(0);
    assert_eq!((&ran.json()["decision"], &ran.json()["systemMessage"]), (&json!("deny"), &json!("sure?")));
    let ran = bridge(&sandbox, "gemini", event, &payload, &["--attended"]).ends_with(0);
    assert_eq!(ran.json(), json!({"decision": "ask", "reason": "sure?", "systemMessage": "sure?"}));
}

#[test]
fn an_allow_skips_the_prompt_only_if_the_user_wants_it() {
    let sandbox = answering("BeforeTool", &json!({"decision": "allow"}));
    for agent in ["claude", "codex", "gemini", "qwen", "copilot"] {
        let (event, payload) = write_payload(&sandbox, agent);
        assert_eq!(bridge(&sandbox, agent, event, &payload, &[]).ends_with(0).stdout, "", "{agent}");
        let ran = bridge(&sandbox, agent, event, &payload, &["--allow-skips-prompt"]).ends_with(0);
        let expected = match agent {
            "claude" => json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}),
            "copilot" => json!({"permissionDecision": "allow"}),
            _ => {
                assert_eq!(ran.stdout, "", "{agent} has no form for it");
                continue;
            }
        };
        assert_eq!(ran.json(), expected, "{agent}");
    }
}

#[test]
fn noisy_events_are_fired_only_if_the_user_wants_them() {
    let sandbox = Sandbox::with_hooks(
        r#""PreCompress": [{"hooks": [{"type": "command", "command": "echo compress >> fired"}]}],
        "AfterModel": [{"hooks": [{"type": "command", "command": "echo model >> fired"}]}]"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let compress = recorded(&sandbox, "gemini", "PreCompress.auto");
    let mut piece = recorded(&sandbox, "gemini", "AfterModel");
    piece["llm_response"]["candidates"][0].as_object_mut().unwrap().remove("finishReason");
    let fired = || std::fs::read_to_string(sandbox.project.join("fired")).unwrap_or_default();
    for (more, expected) in [(&[][..], ""), (&["--noisy"][..], "compress\nmodel\n")] {
        bridge(&sandbox, "gemini", "PreCompress", &compress, more).ends_with(0);
        bridge(&sandbox, "gemini", "AfterModel", &piece, more).ends_with(0);
        assert_eq!(fired(), expected, "{more:?}");
    }
}

/// The payload of one piece of a response.
fn piece(sandbox: &Sandbox, text: &str, last: bool) -> Value {
    let mut payload = recorded(sandbox, "gemini", "AfterModel");
    payload["llm_response"]["text"] = json!(text);
    payload["llm_response"]["candidates"][0]["content"]["parts"] = json!([text]);
    if !last {
        payload["llm_response"]["candidates"][0].as_object_mut().unwrap().remove("finishReason");
    }
    payload
}

#[test]
fn hooks_judge_the_whole_of_a_response_that_is_streamed_in_pieces() {
    let sandbox = Sandbox::with_hook("AfterModel", "cat > seen; cat answer.js*");
    let replaced = |text: &str| {
        let response = json!({"candidates": [{"content": {"role": "model", "parts": [text]}, "finishReason": "STOP"}]});
        json!({"hookSpecificOutput": {"hookEventName": "AfterModel", "llm_response": response}}).to_string()
    };
    sandbox.write("answer.json", replaced("the [redacted] is out"));
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let send = |text: &str, last: bool| {
        let ran = bridge(&sandbox, "gemini", "AfterModel", &piece(&sandbox, text, last), &[]).ends_with(0);
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let part = &answer["hookSpecificOutput"]["llm_response"]["candidates"][0]["content"]["parts"][0];
        part.as_str().unwrap_or_default().to_owned()
    };
    assert_eq!((send("the SEC", false), send("RET is", false)), (String::new(), String::new()));
    assert!(!sandbox.project.join("seen").exists(), "no hook is asked about a part");
    let last = send(" out", true);
    let seen: Value = serde_json::from_str(&std::fs::read_to_string(sandbox.project.join("seen")).unwrap()).unwrap();
    assert_eq!(seen["llm_response"]["text"], "the SECRET is out", "{seen}");
    assert!(last.ends_with("the [redacted] is out") && last.contains("a hook replaces this response"), "{last}");
    assert!(losses(&sandbox, "gemini").contains("\"loss.model-response\":1"));
    // The earlier pieces of a response are used once, and what changes the last one alone is honoured.
    sandbox.write("answer.json", replaced("all is [redacted]"));
    assert_eq!((send("all is ", false), send("well", true)), (String::new(), "[redacted]".to_owned()));
    assert!(losses(&sandbox, "gemini").contains("\"loss.model-response\":1"), "nothing was lost");
    assert_eq!(send("in one piece", true), "all is [redacted]");
    for args in [&["explain", "AfterModel", "--agent", "gemini"][..], &["doctor", "gemini"][..]] {
        let shown = sandbox.run(args).stdout;
        assert!(shown.contains("model-response") && shown.contains("shown already"), "{args:?}: {shown}");
    }
}

#[test]
fn the_environment_and_the_payload_overrule_the_command_line() {
    let sandbox = guarded();
    for (named, event, real) in
        [("claude", "PreToolUse", "gemini"), ("gemini", "BeforeTool", "claude"), ("claude", "PreToolUse", "codex")]
    {
        let (_, payload) = write_payload(&sandbox, real);
        let mut command = sandbox.command(&["bridge", named, "--event", event]);
        command.env("CLAUDE_PROJECT_DIR", &sandbox.project).env("GEMINI_PROJECT_DIR", &sandbox.project);
        if real == "gemini" {
            command.env("GEMINI_SESSION_ID", "x");
        }
        let ran = ProgramOutput::with_input(&mut command, &payload.to_string());
        assert!(denies(real, &ran, "not a.txt"), "{named} for {real}: {ran:?}");
    }
}

#[test]
fn a_prompt_that_is_not_a_text_is_refused() {
    let sandbox = answering("BeforeAgent", &json!({"decision": "deny", "reason": "no"}));
    let mut payload = recorded(&sandbox, "claude", "UserPromptSubmit");
    for prompt in [json!([{"type": "text", "text": "hi"}]), json!(5), Value::Null] {
        payload["prompt"] = prompt;
        let ran = bridge(&sandbox, "claude", "UserPromptSubmit", &payload, &[]).ends_with(2);
        assert!(ran.stderr.contains("the prompt is not a text"), "{ran:?}");
    }
}
