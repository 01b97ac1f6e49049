//! Wrong usage, help, version, and the project that commands work on.

use crate::cli::sandbox::{ProgramOutput, Sandbox};

#[track_caller]
fn error(args: &[&str]) -> String {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(args).ends_with(1);
    assert_eq!(ran.stdout, "");
    sandbox.steady(&ran.stderr)
}

#[test]
fn wrong_usage_is_1_for_every_command() {
    for args in [
        &["--nonsense"][..],
        &["nonsense"],
        &[],
        &["fire"],
        &["fire", "BeforeTool", "--dialect", "cobol"],
        &["list", "--payload", "{}"],
        &["completions"],
        &["completions", "cobol"],
        &["trust", "nonsense"],
        &["check", "extra"],
        &["serve"],
        &["serve", "--stdio", "--socket", "s"],
        &["serve", "--stdio", "--limit", "0"],
        &["serve", "--stdio", "--metrics", "nonsense"],
    ] {
        let text = error(args);
        assert!(text.starts_with("error: ") || args.is_empty(), "{args:?}: {text}");
    }
}

#[test]
fn an_unknown_event() {
    insta::assert_snapshot!(error(&["fire", "BeforeTol"]), @r"
    error: `BeforeTol` is not an event
    hint: did you mean `BeforeTool`?
    ");
    insta::assert_snapshot!(error(&["explain", "pre_tool_use"]), @r"
    error: `pre_tool_use` is not an event
    hint: did you mean `PreToolUse`?
    ");
    assert!(error(&["fire", "elephant"]).contains("hint: the events are session-start, "));
    assert_eq!(error(&["fire", "BeforeTol", "--quiet"]), "error: `BeforeTol` is not an event");
}

#[test]
fn a_broken_payload() {
    insta::assert_snapshot!(error(&["fire", "BeforeTool", "--payload", "{\"a\": 1\n \"b\": 2}"]), @r#"
    error: `--payload` is not valid JSON: expected `,` or `}` at line 2 column 2
     --> --payload:2:2
      |
    2 |  "b": 2}
      |  ^
    hint: write names and strings in double quotes; in a shell, put the whole argument in single quotes
    "#);
    insta::assert_snapshot!(error(&["fire", "BeforeTool", "--tool-input", "{path: 1}"]), @r"
    error: `--tool-input` is not valid JSON: key must be a string at line 1 column 2
     --> --tool-input:1:2
      |
    1 | {path: 1}
      |  ^
    hint: write names and strings in double quotes; in a shell, put the whole argument in single quotes
    ");
    insta::assert_snapshot!(error(&["fire", "BeforeTool", "--payload", "[1]"]), @r#"
    error: the payload must be an object, not a list
    hint: give the event's fields as `{"field": value}`
    "#);
    insta::assert_snapshot!(error(&["fire", "BeforeTool", "--payload", r#"{"tool_name": 1}"#]), @r"
    error: `tool_name` must be a string, not a number
    hint: the fields of before-tool are `agent_id`, `agent_type`, `mcp_context`, `tool_call_id`, `tool_input`, `tool_name`
    ");
    insta::assert_snapshot!(error(&["fire", "BeforeTool", "--payload", "@missing.json"]), @r"
    error: the file `missing.json` cannot be read: No such file or directory (os error 2)
    hint: `--payload @FILE` expects one JSON object in UTF-8
    ");
    let sandbox = Sandbox::new();
    sandbox.write("input.json", r#"{"command": "ls"}"#);
    sandbox.run(&["fire", "BeforeTool", "--tool", "Bash", "--tool-input", "@input.json"]).ends_with(0);
    let ran = sandbox.run(&["fire", "BeforeTool", "--tool", "Bash", "--tool-input", "@missing.json"]).ends_with(1);
    assert!(ran.stderr.contains("`--tool-input @FILE` expects one JSON object"), "{ran:?}");
    let ran = sandbox.run_with_input(&["fire", "BeforeTool", "--payload", "-", "--json"], "{").ends_with(1);
    insta::assert_snapshot!(ran.stderr, @r"
    error: `standard input` is not valid JSON: EOF while parsing an object at line 1 column 1
     --> standard input:1:1
      |
    1 | {
      | ^
    hint: write names and strings in double quotes; in a shell, put the whole argument in single quotes
    ");
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_project_that_is_none() {
    for command in ["list", "check", "init", "trust"] {
        error(&[command, "--project", "missing"]);
    }
    insta::assert_snapshot!(error(&["fire", "BeforeTool", "--project", "missing"]), @r"
    error: the project directory `missing` does not exist
    hint: give the project's directory with `--project DIR`
    ");
    let sandbox = Sandbox::new();
    sandbox.write("file", "");
    let ran = sandbox.run(&["explain", "BeforeTool", "--project", "file"]).ends_with(1);
    insta::assert_snapshot!(ran.stderr, @r"
    error: the project `file` is not a directory
    hint: give the project's directory with `--project DIR`
    ");
}

#[test]
fn a_module_that_is_not_there_is_an_error_of_the_configuration() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["check", "--hook", "a.ts"]).ends_with(1);
    let shown = format!("{}{}", ran.stdout, ran.stderr);
    assert!(shown.contains("Failed to load hook: Cannot find module"), "{shown}");
    let ran = sandbox.run(&["fire", "BeforeTool", "--extension", "a.ts"]).ends_with(1);
    assert!(ran.stderr.contains("Cannot find module"), "{}", ran.stderr);
    sandbox.run(&["fire", "BeforeTool", "--extension", "a.ts", "--no-hooks"]).ends_with(0);
}

#[test]
fn the_project_option_is_taken_by_every_command() {
    let (sandbox, elsewhere) = (Sandbox::with_hook("BeforeTool", "exit 2"), Sandbox::new());
    let project = sandbox.project.to_str().unwrap();
    let run =
        |args: &[&str]| elsewhere.run(&[args, &["--project", project, "--trust-project", "--no-plugins"]].concat());
    run(&["fire", "BeforeTool"]).ends_with(2);
    assert!(run(&["explain", "BeforeTool"]).ends_with(0).stdout.starts_with("1 hook would run"));
    assert!(run(&["list"]).ends_with(0).stdout.contains("sample"));
    run(&["check"]).ends_with(0);
    run(&["trust", "status"]).ends_with(0);
    run(&["init"]).ends_with(0);
    assert!(sandbox.exists(".hookrail/rules.toml") && !elsewhere.exists(".hookrail/rules.toml"));
}

#[test]
fn every_command_finds_the_project_upwards() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.write("deep/er/script.sh", "pwd >&2; exit 2\n");
    sandbox.run(&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", "{}", "--journal"]).ends_with(2);
    let below =
        |args: &[&str]| ProgramOutput::capture(sandbox.command(args).current_dir(sandbox.project.join("deep/er")));
    below(&["fire", "BeforeTool"]).ends_with(2);
    assert!(below(&["explain", "BeforeTool"]).ends_with(0).stdout.starts_with("1 hook would run"));
    assert!(below(&["list"]).ends_with(0).stdout.contains("sample"));
    assert!(below(&["check"]).ends_with(0).stdout.contains("1 hook in 1 file"));
    assert!(below(&["trust"]).ends_with(0).stdout.contains("sample"));
    below(&["trust", "diff"]).ends_with(0);
    assert!(below(&["replay"]).ends_with(0).stdout.contains("1"));
    assert!(below(&["dev", "--once"]).ends_with(0).stdout.contains("blocked  before-tool write_file"));
    let tried = below(&["try", "script.sh"]).ends_with(2).stdout;
    assert!(tried.contains(&format!("stderr  {}\n", sandbox.project.display())), "{tried}");
    sandbox.write(".x-code/plugins/gate/.x-code-plugin/plugin.json", r#"{"name": "gate", "version": "1.0.0"}"#);
    assert!(below(&["plugin", "list"]).ends_with(0).stdout.contains("gate@local"));
    let doctor = below(&["doctor", "claude", "--json"]).stdout;
    assert!(doctor.contains("dry-fire"), "{doctor}");
    let project = sandbox.project.to_str().unwrap();
    let scoped = below(&["install", "claude", "--scope", "project", "--dry-run"]).ends_with(0).stdout;
    assert!(scoped.contains(".claude/settings.json") && !scoped.contains(&format!("{project}/deep")), "{scoped}");
}

/// The commands below a command, as its help lists them.
pub(crate) fn commands(sandbox: &Sandbox, command: &[String]) -> Vec<Vec<String>> {
    let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    let help = sandbox.run(&arguments).ends_with(0).stdout;
    // The whole program lists its commands in groups, under several headings.
    let list = help.lines().skip_while(|line| !line.starts_with("Usage:")).take_while(|line| *line != "EXAMPLES:");
    let names = list.filter_map(|line| line.strip_prefix("  ")).filter(|line| line.starts_with(char::is_lowercase));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(|name| [command, &[name.to_owned()]].concat()).collect()
}

#[test]
fn help_has_examples_and_exit_statuses_and_goes_to_standard_output() {
    let sandbox = Sandbox::new();
    let mut open = vec![Vec::new()];
    let mut seen = 0;
    while let Some(command) = open.pop() {
        open.extend(commands(&sandbox, &command));
        let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let ran = sandbox.run(&arguments).ends_with(0);
        let has_example = |by: &str| ran.stdout.contains(&format!("EXAMPLES:\n  {by}hookrail "));
        assert!(has_example("") || has_example("sudo "), "{command:?}: {}", ran.stdout);
        // Some commands explain each status on a line of its own, under a heading.
        assert!(ran.stdout.to_lowercase().contains("exit status:"), "{command:?}: {}", ran.stdout);
        for option in ["--color <WHEN>", "-v, --verbose", "-q, --quiet"] {
            assert!(ran.stdout.contains(option), "{command:?}: {option}: {}", ran.stdout);
        }
        assert_eq!(ran.stderr, "");
        seen += 1;
    }
    assert!(seen >= 25, "only {seen} commands");
}

#[test]
fn the_version() {
    let ran = Sandbox::new().run(&["--version"]).ends_with(0);
    assert_eq!(ran.stdout, format!("hookrail {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_missing_home_is_no_obstacle_to_firing() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    ProgramOutput::capture(sandbox.command(&["fire", "BeforeTool", "--trust-project"]).env_remove("HOME")).ends_with(2);
    ProgramOutput::capture(sandbox.command(&["trust", "status"]).env_remove("HOME")).ends_with(1);
}

#[test]
fn the_log_is_silent_unless_asked_for() {
    let sandbox = Sandbox::with_hook("BeforeTool", "printf 'from\\033hook'");
    let fire = ["fire", "BeforeTool", "--trust-project", "--json"];
    let log =
        |name: &str, value: &str| ProgramOutput::capture(sandbox.command(&fire).env(name, value)).ends_with(0).stderr;
    assert_eq!(log("DEBUG", "express:*"), "");
    let everything = log("DEBUG", "llxprt:core:hooks:*");
    assert!(everything.contains("hookrail::runner") && everything.contains("tool_input"), "{everything}");
    assert!(!everything.contains('\u{1b}'), "{everything:?}");
    let some = log("DEBUG", "llxprt:core:hooks:runner");
    assert!(some.contains("hookrail::runner") && !some.contains("tool_input"), "{some}");
    assert!(log("RUST_LOG", "hookrail=debug").contains("hookrail::planner"));
}
