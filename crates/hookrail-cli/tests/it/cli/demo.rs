//! `demo`: everything goes as expected whatever the user has configured, in steps on a terminal and at once elsewhere.

use crate::cli::sandbox::{ProgramOutput, Sandbox};

#[test]
fn everything_is_shown_at_once_without_a_terminal() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["demo"]).ends_with(0);
    assert_eq!(ran.stderr, "");
    insta::assert_snapshot!(sandbox.steady(&ran.stdout), @r#"
    What hooks can do
    A hook is a script or module of yours that runs when a coding agent is about to act.
    This sample project has 7 hooks. It is temporary, and your own files and settings are not used.

    1. A hook blocks a tool call
       The agent wants to write `.env`.

       event    before-tool write_file {"path":".env","content":"TOKEN=1234"}
       ran      guard-secrets  exited 2  [TIME]
                secrets stay out of the repository; use the secret store
       skipped  spell-check  disabled by the list of disabled hooks in the project settings (.llxprt/settings.json)
       skipped  gentle-push  `^run_shell_command$` does not match tool_name `write_file`
       result   blocked: the tool does not run, and the model reads: secrets stay out of the repository; use the secret store

    2. The same hook allows another tool call
       The agent wants to write `notes.md`.

       event    before-tool write_file {"path":"notes.md","content":"hello"}
       ran      guard-secrets  silent  [TIME]
       skipped  spell-check  disabled by the list of disabled hooks in the project settings (.llxprt/settings.json)
       skipped  gentle-push  `^run_shell_command$` does not match tool_name `write_file`
       result   allowed: the agent works as if there were no hooks

    3. A hook rewrites a tool call
       The agent wants to push by force.

       event    before-tool run_shell_command {"command":"git push --force"}
       ran      gentle-push  answered  [TIME]
                {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": "git push --force-with-lease"}}}
       skipped  guard-secrets  `^(write_file|replace)$` does not match tool_name `run_shell_command`
       skipped  spell-check  disabled by the list of disabled hooks in the project settings (.llxprt/settings.json)
       result   rewritten: the tool runs with {"command":"git push --force-with-lease"}

    4. A hook tells the model something
       The agent ran the tests, and one failed.

       event    after-tool run_shell_command {"command":"make test"}
       ran      test-advice  answered  [TIME]
                {"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "test_login is known to be flaky: run it again before you change code"}}
       skipped  read-log  `^read_file$` does not match tool_name `run_shell_command`
       result   context added: the model also reads: test_login is known to be flaky: run it again before you change code

    5. A hook restricts the tools
       The agent is about to ask the model for a review.

       event    tool-selection
       ran      review-mode  answered  [TIME]
                {"hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": {"mode": "ANY", "allowedFunctionNames": ["read_file", "list_directory"]}}}
       result   restricted: the model can call only list_directory, read_file

    6. A hook stops the agent
       The model has answered, and the budget is used up.

       event    after-model
       ran      budget  answered  [TIME]
                {"continue": false, "stopReason": "the budget of this session is used up"}
       result   stopped: the agent ends its work, and the user reads: the budget of this session is used up

    7. An agent works with hooks of three hook systems
       prompt: save the token, push, and deploy
           hooks: no-sub-agents (llxprt), redact (llxprt)

       model: I will save the token first.
         tool call: write_file {"path":".env","content":"TOKEN=tok-1234"}
           hooks: guard-secrets (llxprt)
           denied: secrets stay out of the repository; use the secret store
           the model reads: denied by hook `guard-secrets`: secrets stay out of the repository; use the secret store
           hooks: no-sub-agents (llxprt), redact (llxprt)

       model: Then I push.
         tool call: run_shell_command {"command":"echo git push --force"}
           hooks: ask-before-deploy (llxprt), gentle-push.sh (xcode), no-rm.js (xcsh)
           input: {"command":"echo git push --force-with-lease"}
           output: git push --force-with-lease
           hooks: no-sub-agents (llxprt), redact (llxprt)

       model: Let me read the notes, and clean up.
         tool call: read_file {"path":"notes.md"}
           hooks: no-rm.js (xcsh), house-rules (llxprt)
           input: {"path":"notes.md"}
           output: read notes.md (30 bytes)
           the model reads: The deployment needs a token.\n\n\nHouse rule: every change needs a test.
         tool call: run_shell_command {"command":"rm -rf build"}
           hooks: ask-before-deploy (llxprt), gentle-push.sh (xcode), no-rm.js (xcsh)
           denied: rm -rf is not for agents
           the model reads: denied by hook `.xcsh/hooks/no-rm.js`: rm -rf is not for agents
         tool call: task {"agent":"helper","prompt":"help"}
           failed: the tool `task` is not available for this request
           hooks: no-sub-agents (llxprt), redact (llxprt)

       model: The token is [redacted]. I will deploy with it.
         tool call: run_shell_command {"command":"echo deploy"}
           approval required for run_shell_command {"command":"echo deploy"}: this reaches the servers (the demo approves)
           hooks: ask-before-deploy (llxprt), gentle-push.sh (xcode), no-rm.js (xcsh)
           input: {"command":"echo deploy"}
           output: deploy
           hooks: no-sub-agents (llxprt), redact (llxprt)
       stopped: the budget of this session is used up

    Everything went as expected.

    What to do next
      hookrail init                        create a first hook in your project
      hookrail docs cookbook               copy a hook that does what you need
      hookrail docs tutorial/command-hook  write a hook of your own, step by step
      hookrail demo --keep                 keep the sample projects and look at their hooks
    "#);
}

#[test]
fn the_settings_of_the_user_do_not_interfere() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.home.join(".llxprt")).unwrap();
    std::fs::write(sandbox.home.join(".llxprt/settings.json"), r#"{"hooksConfig": {"enabled": false}}"#).unwrap();
    ProgramOutput::capture(sandbox.command(&["demo"]).env("HOOKRAIL_DISABLE", "1")).ends_with(0);
}

#[test]
fn the_sample_is_kept_only_on_request() {
    let sandbox = Sandbox::new();
    let temporary = sandbox.home.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let left = || std::fs::read_dir(&temporary).unwrap().count();
    ProgramOutput::capture(sandbox.command(&["demo"]).env("TMPDIR", &temporary)).ends_with(0);
    assert_eq!(left(), 0);
    let ran = ProgramOutput::capture(sandbox.command(&["demo", "--keep"]).env("TMPDIR", &temporary)).ends_with(0);
    assert_eq!(left(), 1);
    assert!(ran.stdout.contains(temporary.to_str().unwrap()), "{}", ran.stdout);
}

#[cfg(unix)]
#[test]
fn what_differs_is_a_failure() {
    let sandbox = Sandbox::new();
    // Without `grep` no hook finds what it looks for.
    let ran = ProgramOutput::capture(sandbox.command(&["demo"]).env("PATH", &sandbox.home)).ends_with(1);
    assert!(ran.stdout.contains("different: "), "{}", ran.stdout);
}

#[cfg(target_os = "linux")]
mod on_a_terminal {
    use std::process::Command;

    use crate::cli::pseudo_terminal::OnTerminal;
    use crate::cli::sandbox::Sandbox;

    const QUESTION: &str = "Enter: next step   q: quit ";

    /// The demonstration on a terminal, with a folder of its own for what is temporary.
    fn start(sandbox: &Sandbox) -> OnTerminal {
        let temporary = sandbox.home.join("tmp");
        std::fs::create_dir_all(&temporary).unwrap();
        let mut command = sandbox.command(&["demo"]);
        command.env("TERM", "xterm").env("NO_COLOR", "1").env("TMPDIR", temporary);
        OnTerminal::of(&mut command, "")
    }

    fn is_removed(sandbox: &Sandbox) -> bool {
        std::fs::read_dir(sandbox.home.join("tmp")).unwrap().count() == 0
    }

    #[test]
    fn each_step_waits_for_enter_or_space() {
        let sandbox = Sandbox::new();
        let mut terminal = start(&sandbox);
        let before = terminal.sees_next(QUESTION);
        assert!(before.contains("This sample project has 7 hooks") && !before.contains("1. "), "{before}");
        // Six events, then five pages of the agent. Other keys, arrows too, do nothing.
        for (step, key) in (1..=11).zip(["\r", " ", "x\n", "\u{1b}[A "].into_iter().cycle()) {
            terminal.types(key);
            if step == 11 {
                break;
            }
            let shown = terminal.sees_next(QUESTION);
            if step <= 7 {
                assert!(shown.contains(&format!("{step}. ")), "{step}: {shown}");
                assert!(!shown.contains(&format!("{}. ", step + 1)), "{step}: {shown}");
            }
        }
        let rest = terminal.everything();
        assert!(rest.contains("Everything went as expected.") && rest.contains("  hookrail init "), "{rest}");
        assert!(is_removed(&sandbox));
    }

    #[test]
    fn q_quits_and_the_end_says_what_to_do_next() {
        for key in ["q", "Q", "\u{4}"] {
            let sandbox = Sandbox::new();
            let mut terminal = start(&sandbox);
            terminal.sees_next(QUESTION);
            assert!(!terminal.is_as_usual(), "keys are read one by one");
            terminal.types(" ");
            let shown = terminal.sees_next(QUESTION);
            assert!(shown.contains("1. A hook blocks a tool call"), "{shown}");
            terminal.types(key);
            let rest = terminal.sees_next("hookrail demo --keep");
            assert!(rest.contains("What to do next") && !rest.contains("2. "), "{rest}");
            assert_eq!(terminal.command.wait().unwrap().code(), Some(0));
            assert!(terminal.is_as_usual() && is_removed(&sandbox), "{key:?}");
        }
    }

    #[test]
    fn a_signal_leaves_the_terminal_and_the_disk_as_they_were() {
        for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129), ("-QUIT", 131)] {
            let sandbox = Sandbox::new();
            let mut terminal = start(&sandbox);
            terminal.sees_next(QUESTION);
            let sent = Command::new("kill").args([signal, &terminal.command.id().to_string()]).status().unwrap();
            assert!(sent.success());
            assert_eq!(terminal.command.wait().unwrap().code(), Some(code), "{signal}");
            assert!(terminal.is_as_usual() && is_removed(&sandbox), "{signal}");
        }
    }

    #[test]
    fn a_terminal_that_cannot_erase_a_line_gets_everything_at_once() {
        let sandbox = Sandbox::new();
        let mut command = sandbox.command(&["demo"]);
        let shown = OnTerminal::of(command.env("TERM", "dumb"), "").everything();
        assert!(!shown.contains(QUESTION) && shown.contains("Everything went as expected."), "{shown}");
    }
}
