//! `demo`: everything goes as expected whatever the user has configured, in steps on a terminal and at once elsewhere.

use crate::cli::sandbox::{ProgramOutput, Sandbox};

#[test]
fn everything_is_shown_at_once_without_a_terminal() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["demo"]).ends_with(0);
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.lines().count() <= 40, "{}", ran.stdout);
    insta::assert_snapshot!(ran.stdout, @r#"
    What hooks can do: real hooks in a temporary project. Your own files and settings are not used.

    1. Claude Code wants to write `.env`
       Claude Code sends  PreToolUse Write {"file_path":".env","content":"TOKEN=1"}
       DENIED    the model reads: denied by hook `no-env`: .env holds secrets; use the secret store: `Write` writes `.env` (rule `no-env`)

    2. Codex CLI sends a patch and Gemini CLI a shell line, and the same rule answers
       Codex CLI sends  PreToolUse apply_patch {"command":"*** Begin Patch\n*** Add File: .env\n+TOKEN=1\n*** End Patch\n"}
       DENIED    the model reads: denied by hook `no-env`: .env holds secrets; use the secret store: `apply_patch` writes `.env` (rule `no-env`)
       Gemini CLI sends  BeforeTool run_shell_command {"command":"echo TOKEN=1 | tee .env"}
       DENIED    the model reads: denied by hook `no-env`: .env holds secrets; use the secret store: `tee .env`: `tee` writes `.env` (rule `no-env`)

    3. Claude Code wants to write `notes.md`
       Claude Code sends  PreToolUse Write {"file_path":"notes.md","content":"hello"}
       ALLOWED   no hook objects

    4. The rule was switched off in its file, and its user has not reviewed that
       Claude Code sends  PreToolUse Write {"file_path":".env","content":"TOKEN=1"}
       DENIED    the model reads: denied by hook `no-env`: hook `no-env` was edited since you trusted it, so it did not run; `hookrail trust diff` shows the change

    5. An agent with hooks of three hook systems is told: save the token, push, and deploy
       write_file .env                          DENIED    .env holds secrets; use the secret store: `write_file` writes `.env` (rule `no-env`)
       run_shell_command echo git push --force  REWRITTEN echo git push --force-with-lease
       read_file notes.md                       ADDED     the model also reads: House rule: every change needs a test.
       run_shell_command rm -rf build           DENIED    rm -rf is not for agents
       task helper                              HIDDEN    the tool `task` is not available for this request
       run_shell_command echo deploy            ASKED     this reaches the servers (the demo approves)
       the next answer                          STOPPED   the budget of this session is used up

    Everything went as expected.

    What to do next
      hookrail init            create a first hook in your project; `hookrail add` lists hooks that are ready to use
      hookrail trust grant     let it run
      hookrail install claude  make Claude Code ask it; codex, gemini and others work too
      hookrail demo --keep     keep the sample project and look at its hooks
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
    use hookrail_testkit::{Signal, send_signal};

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
        // Four calls of agents, each before a question. Other keys, arrows too, do nothing.
        for (step, key) in (1..=4).zip(["\r", " ", "x\n", "\u{1b}[A "]) {
            let shown = terminal.sees_next(QUESTION);
            assert!(shown.contains(&format!("{step}. ")), "{step}: {shown}");
            assert!(!shown.contains(&format!("{}. ", step + 1)), "{step}: {shown}");
            terminal.types(key);
        }
        let rest = terminal.everything();
        assert!(rest.contains("Everything went as expected.") && rest.contains("  hookrail install "), "{rest}");
        assert!(is_removed(&sandbox));
    }

    #[test]
    fn q_quits_and_the_end_says_what_to_do_next() {
        for key in ["q", "Q", "\u{4}"] {
            let sandbox = Sandbox::new();
            let mut terminal = start(&sandbox);
            let shown = terminal.sees_next(QUESTION);
            assert!(shown.contains("1. Claude Code wants to write `.env`"), "{shown}");
            assert!(!terminal.is_as_usual(), "keys are read one by one");
            terminal.types(key);
            let rest = terminal.sees_next("hookrail demo --keep");
            assert!(rest.contains("What to do next") && !rest.contains("2. "), "{rest}");
            assert_eq!(terminal.command.wait().unwrap().code(), Some(0));
            assert!(terminal.is_as_usual() && is_removed(&sandbox), "{key:?}");
        }
    }

    #[test]
    fn a_signal_leaves_the_terminal_and_the_disk_as_they_were() {
        for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129), (Signal::QUIT, 131)] {
            let sandbox = Sandbox::new();
            let mut terminal = start(&sandbox);
            terminal.sees_next(QUESTION);
            send_signal(terminal.command.id(), signal);
            assert_eq!(terminal.command.wait().unwrap().code(), Some(code), "{signal:?}");
            assert!(terminal.is_as_usual() && is_removed(&sandbox), "{signal:?}");
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
