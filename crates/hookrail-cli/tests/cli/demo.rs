//! `demo`: everything goes as it should, whatever the user has configured.

use crate::sandbox::{Ran, Sandbox};

#[test]
fn all_went_as_it_should() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["demo"]).ends_with(0);
    assert_eq!(ran.stderr, "");
    let (scenes, tour) = ran.stdout.split_once("and an agent").unwrap();
    insta::assert_snapshot!(sandbox.steady(scenes), @r#"
    a sample project with 7 hooks:

    1. the agent wants to write `.env`
       fires        before-tool write_file {"path":".env","content":"TOKEN=1234"}
       ran          guard-secrets  exited 2  [TIME]:  secrets stay out of the repository; use the secret store
       did not run  spell-check  disabled by the list of disabled hooks in the project settings (.llxprt/settings.json)
       did not run  gentle-push  `^run_shell_command$` does not match tool_name `write_file`
       verdict      blocked
       so the host  does not run it, and tells the model: secrets stay out of the repository; use the secret store

    2. the agent wants to write `notes.md`
       fires        before-tool write_file {"path":"notes.md","content":"hello"}
       ran          guard-secrets  silent  [TIME]
       did not run  spell-check  disabled by the list of disabled hooks in the project settings (.llxprt/settings.json)
       did not run  gentle-push  `^run_shell_command$` does not match tool_name `write_file`
       verdict      allowed
       so the host  goes on as if there were no hooks

    3. the agent wants to push by force
       fires        before-tool run_shell_command {"command":"git push --force"}
       ran          gentle-push  answered  [TIME]:  {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": "git push --force-with-lease"}}}
       did not run  guard-secrets  `^(write_file|replace)$` does not match tool_name `run_shell_command`
       did not run  spell-check  disabled by the list of disabled hooks in the project settings (.llxprt/settings.json)
       verdict      allowed
       so the host  runs it with {"command":"git push --force-with-lease"} instead

    4. the agent ran the tests, and one failed
       fires        after-tool run_shell_command {"command":"make test"}
       ran          test-advice  answered  [TIME]:  {"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "test_login is known to be flaky: run it again before you change code"}}
       did not run  read-log  `^read_file$` does not match tool_name `run_shell_command`
       verdict      allowed
       so the host  adds to what the model reads: test_login is known to be flaky: run it again before you change code

    5. the agent is about to choose tools for a review
       fires        tool-selection
       ran          review-mode  answered  [TIME]:  {"hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": {"mode": "ANY", "allowedFunctionNames": ["read_file", "list_directory"]}}}
       verdict      allowed
       so the host  gives the model only these tools: {"mode":"ANY","allowedFunctionNames":["list_directory","read_file"]}

    6. the model has answered, and the money is gone
       fires        after-model
       ran          budget  answered  [TIME]:  {"continue": false, "stopReason": "the budget of this session is used up"}
       verdict      the agent must stop
       so the host  stops the agent, and tells the user: the budget of this session is used up
    "#);
    insta::assert_snapshot!(tour, @r#"
    , in a project with hooks of every dialect:

       the prompt: save the token, push, and deploy
           hooks: no-sub-agents (llxprt), redact (llxprt)
       the model: I will save the token first.
         calls write_file {"path":".env","content":"TOKEN=tok-1234"}
           hooks: guard-secrets (llxprt)
           denied: secrets stay out of the repository; use the secret store
           hooks: no-sub-agents (llxprt), redact (llxprt)
       the model: Then I push.
         calls run_shell_command {"command":"echo git push --force"}
           hooks: ask-before-deploy (llxprt), gentle-push.sh (xcode), no-rm.js (xcsh)
           ran with {"command":"echo git push --force-with-lease"}
           ran: git push --force-with-lease
           hooks: no-sub-agents (llxprt), redact (llxprt)
       the model: Let me read the notes, and clean up.
         calls read_file {"path":"notes.md"}
           hooks: no-rm.js (xcsh), house-rules (llxprt)
           ran with {"path":"notes.md"}
           ran: read notes.md (30 bytes)
           the model reads: The deployment needs a token.\n\n\nHouse rule: every change needs a test.
         calls run_shell_command {"command":"rm -rf build"}
           hooks: ask-before-deploy (llxprt), gentle-push.sh (xcode), no-rm.js (xcsh)
           denied: rm -rf is not for agents
         calls task {"agent":"helper","prompt":"help"}
           failed: the tool `task` is not available for this request
           hooks: no-sub-agents (llxprt), redact (llxprt)
       the model: The token is [redacted]. I will deploy with it.
         calls run_shell_command {"command":"echo deploy"}
           may run_shell_command run with {"command":"echo deploy"}? this reaches the servers: yes, says the visitor
           hooks: ask-before-deploy (llxprt), gentle-push.sh (xcode), no-rm.js (xcsh)
           ran with {"command":"echo deploy"}
           ran: deploy
           hooks: no-sub-agents (llxprt), redact (llxprt)
       stopped: the budget of this session is used up

    all went as it should: run `hookrail init` in a project of yours to create a first hook
    "#);
}

#[test]
fn the_settings_of_the_user_do_not_interfere() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.home.join(".llxprt")).unwrap();
    std::fs::write(sandbox.home.join(".llxprt/settings.json"), r#"{"hooksConfig": {"enabled": false}}"#).unwrap();
    Ran::of(sandbox.command(&["demo"]).env("HOOKRAIL_DISABLE", "1")).ends_with(0);
}

#[test]
fn the_sample_is_kept_only_on_request() {
    let sandbox = Sandbox::new();
    let temporary = sandbox.home.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let left = || std::fs::read_dir(&temporary).unwrap().count();
    Ran::of(sandbox.command(&["demo"]).env("TMPDIR", &temporary)).ends_with(0);
    assert_eq!(left(), 0);
    let ran = Ran::of(sandbox.command(&["demo", "--keep"]).env("TMPDIR", &temporary)).ends_with(0);
    assert_eq!(left(), 1);
    assert!(ran.stdout.contains(temporary.to_str().unwrap()), "{}", ran.stdout);
}

#[cfg(unix)]
#[test]
fn what_differs_is_a_failure() {
    let sandbox = Sandbox::new();
    // Without `grep` no hook finds what it looks for.
    let ran = Ran::of(sandbox.command(&["demo"]).env("PATH", &sandbox.home)).ends_with(1);
    assert!(ran.stdout.contains("different: "), "{}", ran.stdout);
}
