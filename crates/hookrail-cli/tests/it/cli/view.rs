//! What `fire -v` and `try` show of every run, and what `-q`, `-v` and `--color` do.

use crate::cli::sandbox::{ProgramOutput, Sandbox};

const FIRE: [&str; 5] = ["fire", "BeforeTool", "--trust-project", "--tool", "write_file"];

fn fire(sandbox: &Sandbox, more: &[&str]) -> ProgramOutput {
    sandbox.run(&[&FIRE[..], more].concat())
}

#[test]
fn everything_about_a_command_is_shown() {
    let sandbox = Sandbox::with_hook("BeforeTool", "cat > /dev/null; echo to-out; echo to-err >&2; exit 2");
    let shown = fire(&sandbox, &["-v"]).ends_with(2).stdout;
    for part in [
        "blocked  before-tool write_file",
        "sample  exited 2  deny",
        "runs    cat > /dev/null; echo to-out; echo to-err >&2; exit 2",
        "timing  started after ",
        "stdin   {",
        "\"hook_event_name\": \"BeforeTool\"",
        "\"tool_name\": \"write_file\"",
        "stdout  to-out",
        "stderr  to-err",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let usual = fire(&sandbox, &[]).ends_with(2).stdout;
    assert!(!usual.contains("stdin") && !usual.contains("timing"), "{usual}");
}

/// A guard of the user is asked again if a hook of the project changed the input.
#[test]
fn a_hook_that_is_asked_twice_is_shown_with_both_inputs() {
    let answer = r#"{\"hookSpecificOutput\":{\"hookEventName\":\"BeforeTool\",\"tool_input\":{\"path\":\"changed\"}}}"#;
    let sandbox = Sandbox::with_hooks(&format!(
        r#""BeforeTool": [{{"hooks": [{{"type": "command", "name": "rewriter", "command": "echo '{answer}'"}}]}}]"#
    ));
    sandbox.write_home(
        ".llxprt/settings.json",
        r#"{"hooksConfig":{"enabled":true},"hooks":{"BeforeTool":[{"hooks":[{"type":"command","name":"guard","command":"exit 0","onFailure":"block"}]}]}}"#,
    );
    let shown = fire(&sandbox, &["-v", "--tool-input", r#"{"path":"original"}"#]).ends_with(0).stdout;
    let of_guard: Vec<&str> = shown.split("\n  guard  ").skip(1).collect();
    assert_eq!(of_guard.len(), 2, "{shown}");
    assert!(of_guard[0].contains("\"path\": \"original\"") && of_guard[1].contains("\"path\": \"changed\""), "{shown}");
}

#[test]
fn everything_about_a_module_is_shown() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "m.ts",
        "export default (pi) => { pi.on('tool_call', async (event) => { console.log('on the console'); \
         console.error('an error'); pi.logger.info('to the log'); return { block: true, reason: 'not ' + event.toolName }; }); };",
    );
    let shown = sandbox.run(&[&FIRE[..], &["--hook", "m.ts", "-v"]].concat()).ends_with(2).stdout;
    for part in [
        "event           {",
        "\"toolName\": \"write\"",
        "console         on the console",
        "errors, logger  an error",
        "info: to the log",
        "returned        {",
        "\"reason\": \"not write\"",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn a_document_is_the_same_with_every_verbosity() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let document = |more: &str| {
        let mut document = fire(&sandbox, &["--json", more]).ends_with(2).json();
        document["runs"][0]["durationMs"] = 0.into();
        document["runs"][0]["startedMs"] = 0.into();
        document["aggregated"]["totalDuration"] = 0.into();
        document["configuration"] = 0.into();
        document
    };
    assert_eq!(document("-v"), document("-q"));
}

#[test]
fn quiet_is_the_verdict_and_nothing_else() {
    let sandbox = Sandbox::with_hook("BeforeTool", "echo no >&2; exit 2");
    let ran = fire(&sandbox, &["-q"]).ends_with(2);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("blocked  before-tool write_file\n  reason  no\n", ""));
    assert!(sandbox.run(&["list"]).stdout.contains("hint: "));
    assert!(!sandbox.run(&["list", "-q"]).stdout.contains("hint: "));
    assert!(!sandbox.run(&["-q", "list"]).stdout.contains("hint: "));
}

#[test]
fn very_verbose_logs_what_the_engine_does() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    assert_eq!(fire(&sandbox, &["-v"]).stderr, "");
    let logged = fire(&sandbox, &["-vv"]).ends_with(2).stderr;
    assert!(logged.contains("hookrail::runner"), "{logged}");
    assert!(!logged.contains("tool_input"), "inputs are on standard output only: {logged}");
}

#[test]
fn the_option_for_colour_wins_over_the_environment() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let has_colour = |args: &[&str], variables: &[(&str, &str)]| {
        let ran = ProgramOutput::capture(sandbox.command(args).envs(variables.iter().copied()));
        format!("{}{}", ran.stdout, ran.stderr).contains('\u{1b}')
    };
    for args in
        [&["list"][..], &["check"], &["explain", "BeforeTool"], &["--help"], &["fire", "nonsense"], &["--wrong"]]
    {
        let with = |when: &'static str| [args, &["--color", when]].concat();
        assert!(has_colour(&with("always"), &[]), "{args:?}");
        assert!(has_colour(&with("always"), &[("NO_COLOR", "1")]), "{args:?}");
        assert!(!has_colour(&with("never"), &[("CLICOLOR_FORCE", "1")]), "{args:?}");
        assert!(!has_colour(&with("auto"), &[]) && has_colour(&with("auto"), &[("CLICOLOR_FORCE", "1")]), "{args:?}");
    }
}

#[test]
fn a_wrong_matcher_is_shown_with_its_fix() {
    for (matcher, fix) in
        [("Write_File", "fix: did you mean `write_file`?"), ("write_file, replace", "fix: write `write_file|replace`")]
    {
        let sandbox = Sandbox::with_hooks(&format!(
            r#""BeforeTool": [{{"matcher": "{matcher}", "hooks": [{{"type": "command", "name": "guard", "command": "exit 2"}}]}}]"#
        ));
        let shown = fire(&sandbox, &[]).ends_with(0).stdout;
        assert!(shown.contains(fix), "{matcher}: {shown}");
        let document = fire(&sandbox, &["--json"]).ends_with(0).json();
        assert!(!document.to_string().contains("did you mean"), "{document}");
    }
    // The name that another agent has for the tool selects it.
    let elsewhere = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "Write", "hooks": [{"type": "command", "name": "guard", "command": "exit 2"}]}]"#,
    );
    fire(&elsewhere, &[]).ends_with(2);
    let right = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "replace", "hooks": [{"type": "command", "name": "guard", "command": "exit 2"}]}]"#,
    );
    assert!(!fire(&right, &[]).ends_with(0).stdout.contains("fix: "));
}

#[test]
fn an_event_of_another_agent_is_named_with_its_name_here() {
    for (written, fired, better) in [("PreToolUse", "BeforeTool", "BeforeTool"), ("Stop", "AfterAgent", "AfterAgent")] {
        let sandbox = Sandbox::with_hook(written, "exit 2");
        let shown = sandbox.run(&["fire", fired, "--trust-project"]).ends_with(0).stdout;
        let expected = format!(".llxprt/settings.json:4: the hooks of `{written}` do not run: write `{better}`");
        assert!(shown.contains(&expected), "{shown}");
    }
    let other = Sandbox::with_hook("PreToolUse", "exit 2");
    let shown = other.run(&["fire", "SessionStart", "--trust-project"]).ends_with(0).stdout;
    assert!(!shown.contains("do not run: write"), "{shown}");
}

#[test]
fn lists_show_more_too() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 0");
    assert!(sandbox.run(&["list", "-v"]).ends_with(0).stdout.contains("\n      exit 0\n"));
    fire(&sandbox, &["--journal"]).ends_with(0);
    assert!(!sandbox.run(&["log"]).stdout.contains("sample silent"));
    assert!(sandbox.run(&["log", "-v"]).stdout.contains("sample silent"));
}
