//! `new`, `init` and `add`: every template works, settings keep what they have, and all files are written or none.

use std::path::Path;

use hookrail::{DialectId, EventKind};
use hookrail_testkit::has_program;

use crate::cli::sandbox::Sandbox;

#[test]
fn a_hook_in_python() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["new", "protect-env", "--lang", "python"]).ends_with(0).stdout, @r"
    created  .llxprt/hooks/protect-env.py             the hook: it keeps the agent from writing `.env` files
    created  .llxprt/hooks/protect-env.hooktest.toml  its test cases
    created  .llxprt/settings.json                    one hook for BeforeTool

    next
      hookrail trust grant
      hookrail test
    ");
    insta::assert_snapshot!(sandbox.read(".llxprt/settings.json"), @r#"
    {
      // Hooks run only if a settings file enables them.
      "hooksConfig": { "enabled": true },
      "hooks": {
        "BeforeTool": [
          {
            // Compared with the tool's name: a regular expression, or a pattern such as `write_*`.
            "matcher": "^(write_file|replace)$",
            "hooks": [
              {
                "type": "command",
                "name": "protect-env",
                "description": "keeps the agent from writing `.env` files",
                "command": "python3 \"$LLXPRT_PROJECT_DIR/.llxprt/hooks/protect-env.py\"",
                // In milliseconds.
                "timeout": 5000,
                // A guard that fails must not allow everything.
                "onFailure": "block",
                // The hook can read everything, write only a private temporary folder, and has no network (enforced on Linux).
                "sandbox": "guard"
              }
            ]
          }
        ]
      }
    }
    "#);
    insta::assert_snapshot!(sandbox.read(".llxprt/hooks/protect-env.hooktest.toml"), @r#"
    # Cases for the hook `protect-env`: `hookrail test` runs them.

    [defaults]
    hook = "protect-env"
    event = "BeforeTool"
    needs = "python3"

    [[case]]
    name = "the rule applies"
    tool = "write_file"
    tool_input = { path = "config/.env" }
    expect = { decision = "deny", reason_contains = "secrets" }

    [[case]]
    name = "the rule does not apply"
    tool = "write_file"
    tool_input = { path = "notes.md" }
    expect = { silent = true, runs = 1 }
    "#);
}

/// Checks that a hook that was just written is without problems and passes its test cases.
fn check_hook(sandbox: &Sandbox, what: &str) {
    let checked = sandbox.run(&["check", "--trust-project", "--deny-warnings"]);
    assert_eq!(checked.code, 0, "{what}: {}{}", checked.stdout, checked.stderr);
    let tested = sandbox.run(&["test", "--trust-project"]);
    assert_eq!(tested.code, 0, "{what}: {}{}", tested.stdout, tested.stderr);
    assert!(tested.stdout.contains("PASS") && !tested.stdout.contains("SKIP"), "{what}: {}", tested.stdout);
}

pub(crate) fn has(program: &str) -> bool {
    let found = std::process::Command::new(program).arg("--version").output().is_ok();
    let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(found || !required, "HOOKRAIL_REQUIRE_ALL=1, and {program} is missing");
    if !found {
        println!("skipped: {program} is missing");
    }
    found
}

/// Every event of a dialect as a template in a language. Each has a project of its own.
fn check_templates(dialect: DialectId, language: &str) {
    for kind in EventKind::all() {
        let Some(column) = kind.spec().column(dialect) else { continue };
        let sandbox = Sandbox::new();
        let arguments = ["new", "sample", "--dialect", dialect.name(), "--lang", language, "--event", column.name];
        sandbox.run(&arguments).ends_with(0);
        check_hook(&sandbox, &format!("{} in {language}", column.name));
    }
}

#[test]
fn templates_of_llxprt_in_the_shell() {
    check_templates(DialectId::Llxprt, "bash");
}

#[test]
fn templates_of_llxprt_in_python() {
    if has("python3") {
        check_templates(DialectId::Llxprt, "python");
    }
}

#[test]
fn templates_of_llxprt_in_node() {
    if has("node") {
        check_templates(DialectId::Llxprt, "node");
    }
}

#[test]
fn templates_of_plugins() {
    check_templates(DialectId::Xcode, "bash");
    if has("python3") {
        check_templates(DialectId::Xcode, "python");
    }
    if has("node") {
        check_templates(DialectId::Xcode, "node");
    }
}

#[test]
fn templates_of_modules() {
    for language in ["typescript", "node"] {
        check_templates(DialectId::Xcsh, language);
    }
}

/// cli:C18
#[test]
fn an_event_may_have_the_name_that_another_agent_has_for_it() {
    let told = |arguments: &[&str]| {
        let sandbox = Sandbox::new();
        let ran = sandbox.run(&[&["new", "guard"], arguments].concat()).ends_with(0);
        check_hook(&sandbox, &format!("{arguments:?}"));
        ran.stderr
    };
    assert_eq!(
        told(&["--event", "Stop"]),
        "note: `Stop` of Claude Code, Codex CLI, Qwen Code and Droid is called `AfterAgent` here\n"
    );
    assert!(told(&["--event", "PreToolUse"]).ends_with(" is called `BeforeTool` here\n"));
    assert!(told(&["--event", "Stop", "--lang", "typescript"]).ends_with(" is called `agent_end` here\n"));
    assert!(told(&["--event", "BeforeTool", "--dialect", "xcode"]).ends_with(" is called `PreToolUse` here\n"));
    assert_eq!(told(&["--event", "before-tool"]), "");
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["new", "a", "--dialect", "xcode", "--event", "Stop"]).ends_with(1).stderr, @r"
    error: the dialect xcode has no event `Stop`
    hint: `Stop` of Claude Code, Codex CLI, Qwen Code and Droid is `AfterAgent` with `--dialect llxprt`, or `agent_end` with `--dialect xcsh`
    hint: its events are SessionStart, SessionEnd, UserPromptSubmit, TurnComplete, PreToolUse, PostToolUse, PreCompact, PostCompact, SubagentStart, SubagentStop
    ");
    assert_eq!(std::fs::read_dir(&sandbox.project).unwrap().count(), 0);
}

/// Whatever the first line of the settings is, what is added is indented as the rest.
#[test]
fn settings_that_are_indented_with_tabs_get_tabs() {
    for settings in [
        "{\n\t\"theme\": \"dark\"\n}\n",
        "{ \"theme\": \"dark\",\n\t\"hooks\": {}\n}\n",
        "{ \"a\": {\n\t\t\"b\": 1\n\t}\n}\n",
        "{\n\t/* mine */ \"theme\": \"dark\"\n}\n",
        "{\n\t// nothing yet\n}\n",
    ] {
        for arguments in [&["new", "guard"][..], &["add", "secret-scan"]] {
            let sandbox = Sandbox::with_settings(settings);
            sandbox.run(arguments).ends_with(0);
            let text = sandbox.read(".llxprt/settings.json");
            assert!(!text.lines().any(|line| line.starts_with(' ')), "{arguments:?}:\n{text}");
        }
    }
}

/// cli:C18
#[test]
fn existing_settings_keep_every_byte() {
    let settings = "{\n    // mine\n    \"theme\": \"dark\", // really\n    \"hooks\": {\n        \"AfterTool\": [\n            { \"hooks\": [{ \"type\": \"command\", \"name\": \"mine\", \"command\": \"true\" }] }, // first\n        ],\n    },\n}\n";
    let sandbox = Sandbox::with_settings(settings);
    let ran = sandbox.run(&["new", "guard"]).ends_with(0);
    assert!(ran.stdout.contains("changed  .llxprt/settings.json"), "{}", ran.stdout);
    insta::assert_snapshot!(sandbox.read(".llxprt/settings.json"), @r#"
    {
        // mine
        "theme": "dark", // really
        "hooks": {
            "AfterTool": [
                { "hooks": [{ "type": "command", "name": "mine", "command": "true" }] }, // first
            ],
            "BeforeTool": [
                {
                    // Compared with the tool's name: a regular expression, or a pattern such as `write_*`.
                    "matcher": "^(write_file|replace)$",
                    "hooks": [
                        {
                            "type": "command",
                            "name": "guard",
                            "description": "keeps the agent from writing `.env` files",
                            "command": "sh \"$LLXPRT_PROJECT_DIR/.llxprt/hooks/guard.sh\"",
                            // In milliseconds.
                            "timeout": 5000,
                            // A guard that fails must not allow everything.
                            "onFailure": "block",
                            // The hook can read everything, write only a private temporary folder, and has no network (enforced on Linux).
                            "sandbox": "guard"
                        }
                    ]
                }
            ],
        },
        "hooksConfig": { "enabled": true },
    }
    "#);
    sandbox.run(&["add", "secret-scan"]).ends_with(0);
    let before = sandbox.read(".llxprt/settings.json");
    let listed = sandbox.run(&["list", "--trust-project"]).ends_with(0).stdout;
    for name in ["mine", "guard", "secret-scan"] {
        assert!(listed.contains(name), "{listed}");
    }
    // The same again changes nothing.
    sandbox.run(&["add", "secret-scan", "--force"]).ends_with(0);
    assert_eq!(sandbox.read(".llxprt/settings.json"), before);
}

/// cli:C18
#[test]
fn nothing_is_overwritten_without_force() {
    let sandbox = Sandbox::new();
    sandbox.write(".llxprt/hooks/guard.sh", "mine");
    let ran = sandbox.run(&["new", "guard"]).ends_with(1);
    insta::assert_snapshot!(ran.stderr, @r"
    error: `.llxprt/hooks/guard.sh` already exists; nothing was written
    hint: choose another name, or give `--force` to replace it
    ");
    assert_eq!(sandbox.read(".llxprt/hooks/guard.sh"), "mine");
    assert!(!sandbox.exists(".llxprt/settings.json"));
    sandbox.run(&["new", "guard", "--force"]).ends_with(0);
    assert!(sandbox.read(".llxprt/hooks/guard.sh").starts_with("#!/bin/sh\n"));
}

#[test]
fn targets_that_cannot_be_written_are_refused_before_anything_is_written() {
    let sandbox = Sandbox::new();
    sandbox.write(".llxprt/settings.json", "{\n  \"hooks\": {\n    \"BeforeTool\": [\n  }\n}\n");
    let ran = sandbox.run(&["new", "guard"]).ends_with(1);
    insta::assert_snapshot!(ran.stderr, @r"
    error: `.llxprt/settings.json` is not valid JSON, line 4: Unexpected close brace; nothing was written
     --> .llxprt/settings.json:4:3
      |
    4 |   }
      |   ^
    hint: repair the file (`hookrail check` shows every problem), then run the command again
    ");
    assert!(!sandbox.exists(".llxprt/hooks"));
    sandbox.write(".llxprt/settings.json", "{\n  \"hooks\": []\n}\n");
    let ran = sandbox.run(&["add", "notify"]).ends_with(1);
    insta::assert_snapshot!(ran.stderr, @r"
    error: `hooks` in `.llxprt/settings.json`, line 2, is not an object; nothing was written
    hint: repair the file (`hookrail check` shows every problem), then run the command again
    ");
    assert!(!sandbox.exists(".llxprt/hooks"));
}

/// A limit on the size of files kills the command while it writes: that is what an interruption in the middle leaves.
#[cfg(target_os = "linux")]
#[test]
fn an_interruption_leaves_the_old_files() {
    let settings = "{\n  // mine\n  \"theme\": \"dark\"\n}\n";
    let sandbox = Sandbox::with_settings(settings);
    sandbox.write(".llxprt/hooks/guard.sh", "mine");
    sandbox.write(".xcsh/hooks/pi.d.ts", "// written by `hookrail types`\n");
    let program = env!("CARGO_BIN_EXE_hookrail");
    for (blocks, arguments) in [(0, "new guard --force"), (1, "new guard --force"), (2, "types")] {
        let mut command = sandbox.place_command("sh");
        command.args(["-c", &format!("ulimit -f {blocks}; exec '{program}' {arguments} 2>/dev/null")]);
        let ran = crate::cli::sandbox::ProgramOutput::capture(&mut command);
        assert_ne!(ran.code, 0, "{arguments} with {blocks} blocks: {}", ran.stdout);
        assert_eq!(sandbox.read(".llxprt/settings.json"), settings, "{arguments}");
        assert_eq!(sandbox.read(".llxprt/hooks/guard.sh"), "mine", "{arguments}");
        assert_eq!(sandbox.read(".xcsh/hooks/pi.d.ts"), "// written by `hookrail types`\n", "{arguments}");
    }
    // What is left behind does not count as a hook, and the next run removes it.
    let listed = sandbox.run(&["check", "--trust-project"]).ends_with(0).stdout;
    assert!(listed.contains("0 hooks") || listed.contains("no hooks"), "{listed}");
    let hidden = |folder: &str| {
        let entries = std::fs::read_dir(sandbox.project.join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with('.')).collect::<Vec<_>>()
    };
    assert!(!hidden(".llxprt/hooks").is_empty() && !hidden(".xcsh/hooks").is_empty());
    sandbox.run(&["new", "guard", "--force"]).ends_with(0);
    sandbox.run(&["types"]).ends_with(0);
    for folder in [".llxprt", ".llxprt/hooks", ".xcsh/hooks"] {
        assert_eq!(hidden(folder), Vec::<String>::new(), "{folder}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let sandbox = Sandbox::new();
    let elsewhere = sandbox.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.project.join(".llxprt")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.project.join(".xcsh")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.project.join(".hookrail")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.project.join(".x-code")).unwrap();
    for arguments in [
        &["new", "a"][..],
        &["new", "a", "--lang", "typescript", "--force"],
        &["new", "a", "--dialect", "xcode"],
        &["init"],
        &["init", "--lang", "bash"],
        &["add", "notify"],
        &["types"],
    ] {
        let ran = sandbox.run(arguments).ends_with(1);
        assert!(ran.stderr.contains("is a symbolic link; nothing was written"), "{arguments:?}: {}", ran.stderr);
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0, "{arguments:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_a_way_out() {
    let sandbox = Sandbox::new();
    let error = |arguments: &[&str]| sandbox.run(arguments).ends_with(1).stderr;
    insta::assert_snapshot!(error(&["new", "My Guard"]), @r"
    error: `My Guard` cannot be the name of a hook: use lower-case letters, digits and dashes, beginning with a letter, at most 60
    hint: for example `hookrail new my-guard`
    ");
    insta::assert_snapshot!(error(&["new", "a", "--dialect", "xcsh", "--lang", "python"]), @r"
    error: a hook of the dialect xcsh is a JavaScript or TypeScript module
    hint: use `--lang typescript` or `--lang node`, or another dialect
    ");
    insta::assert_snapshot!(error(&["new", "a", "--dialect", "llxprt", "--lang", "typescript"]), @r"
    error: a hook of the dialect llxprt is a command, and hookrail runs TypeScript only as a module
    hint: leave out `--dialect` to write a module, or use `--lang node`
    ");
    insta::assert_snapshot!(error(&["new", "a", "--dialect", "xcode", "--event", "BeforeModel"]), @r"
    error: the dialect xcode has no event `BeforeModel`
    hint: `BeforeModel` of Gemini CLI is `BeforeModel` with `--dialect llxprt`, or `context` with `--dialect xcsh`
    hint: its events are SessionStart, SessionEnd, UserPromptSubmit, TurnComplete, PreToolUse, PostToolUse, PreCompact, PostCompact, SubagentStart, SubagentStop
    ");
    assert!(error(&["new", "a", "--event", "BeforTool"]).contains("BeforeTool"));
    assert!(error(&["add", "secret-scam"]).contains("secret-scan"));
    assert_eq!(std::fs::read_dir(&sandbox.project).unwrap().count(), 0);
}

#[test]
fn every_recipe_can_be_added_to_one_project_and_passes_its_tests() {
    let sandbox = Sandbox::new();
    let listed = sandbox.run(&["add"]).ends_with(0).stdout;
    assert_eq!(sandbox.run(&["add", "--list"]).ends_with(0).stdout, listed);
    assert_eq!(std::fs::read_dir(&sandbox.project).unwrap().count(), 0, "a list writes nothing");
    let (_, hooks) = listed.split_once("hooks of the cookbook\n").unwrap();
    let names: Vec<&str> =
        hooks.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hooks");
    let mut known: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    known.sort();
    assert_eq!(names, known, "the recipes are those of the cookbook");
    for name in &names {
        let ran = sandbox.run(&["add", name]).ends_with(0);
        assert!(ran.stdout.contains("next\n  hookrail trust grant\n  hookrail test"), "{}", ran.stdout);
    }
    let checked = sandbox.run(&["check", "--trust-project"]);
    assert!(!checked.stdout.contains("error"), "{}{}", checked.stdout, checked.stderr);
    let tested = sandbox.run(&["test", "--trust-project"]);
    assert_eq!(tested.code, 0, "{}{}", tested.stdout, tested.stderr);
    for name in names {
        assert!(tested.stdout.contains(&format!(".llxprt/hooks/{name}.hooktest.toml")), "{name}: {}", tested.stdout);
    }
}

#[test]
fn several_recipes_are_added_as_one_step() {
    let (at_once, singly) = (Sandbox::new(), Sandbox::new());
    // A name that is given twice counts once.
    let ran = at_once.run(&["add", "secret-scan", "audit-log", "commit-message", "secret-scan"]).ends_with(0);
    assert_eq!(ran.stdout.matches("the hook: it ").count(), 3, "{}", ran.stdout);
    for name in ["secret-scan", "audit-log", "commit-message"] {
        singly.run(&["add", name]).ends_with(0);
    }
    let settings = |sandbox: &Sandbox| sandbox.read(".llxprt/settings.json");
    assert_eq!(settings(&at_once), settings(&singly));
    // If one of them cannot be written, none is.
    let refused = Sandbox::new();
    refused.write(".llxprt/hooks/audit-log.py", "mine");
    let ran = refused.run(&["add", "secret-scan", "audit-log"]).ends_with(1);
    assert!(ran.stderr.contains("`.llxprt/hooks/audit-log.py` already exists"), "{}", ran.stderr);
    assert!(!refused.exists(".llxprt/hooks/secret-scan.py") && !refused.exists(".llxprt/settings.json"));
}

#[cfg(unix)]
#[test]
fn scripts_can_be_executed() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    sandbox.run(&["new", "a", "--lang", "node"]).ends_with(0);
    sandbox.run(&["add", "notify"]).ends_with(0);
    // A script that was replaced can be executed too.
    sandbox.write(".llxprt/hooks/b.py", "mine");
    sandbox.run(&["new", "b", "--lang", "python", "--force"]).ends_with(0);
    for script in ["a.mjs", "notify.sh", "b.py"] {
        let about = std::fs::metadata(sandbox.project.join(".llxprt/hooks").join(script)).unwrap();
        assert_eq!(about.permissions().mode() & 0o100, 0o100, "{script}");
    }
}

/// `cargo` for a hook that was just written, with this tree in place of its repository.
pub(super) fn cargo(sandbox: &Sandbox, manifest: &str) -> std::process::Command {
    let text = sandbox.read(manifest);
    if text.contains("hookrail-hook = ") {
        let crate_here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hookrail-hook").canonicalize().unwrap();
        let git = format!("git = \"{}\"", env!("CARGO_PKG_REPOSITORY"));
        assert!(text.contains(&git), "{text}");
        sandbox.write(manifest, text.replace(&git, &format!("path = \"{}\"", crate_here.display())));
    }
    sandbox.write_at(".cargo/config.toml", crate::rust_hooks::CARGO_CONFIG);
    let mut command = sandbox.place_command(env!("CARGO"));
    let home = std::path::PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        command.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(folder).into_os_string()));
    }
    command.args(["--quiet"]);
    command
}

#[test]
fn templates_in_rust_compile_and_run() {
    if !has_program("cargo") {
        return;
    }
    let sandbox = Sandbox::new();
    for (dialect, folder) in [(DialectId::Llxprt, ".llxprt/hooks"), (DialectId::Xcode, ".x-code/plugins")] {
        // The templates of most events of plugins differ in a name only.
        let kinds = [EventKind::SessionStart, EventKind::Prompt, EventKind::BeforeTool, EventKind::AfterTool];
        let wanted = |kind: &EventKind| dialect == DialectId::Llxprt || kinds.contains(kind);
        for column in EventKind::all().filter(wanted).filter_map(|kind| kind.spec().column(dialect)) {
            let name = format!("sample-{}", column.name.to_lowercase());
            let name =
                if dialect == DialectId::Xcode { format!("plugin-{}", column.name.to_lowercase()) } else { name };
            let arguments = ["new", &name, "--dialect", dialect.name(), "--lang", "rust", "--event", column.name];
            let ran = sandbox.run(&arguments).ends_with(0);
            let inner = if dialect == DialectId::Xcode { format!("{name}/scripts/{name}") } else { name.clone() };
            let manifest = format!("{folder}/{inner}/Cargo.toml");
            assert!(ran.stdout.contains(&format!("next\n  cargo build --release --manifest-path {manifest}\n")));
            let mut command = cargo(&sandbox, &manifest);
            command.args(["check", "--release", "--manifest-path", &manifest]);
            crate::cli::sandbox::ProgramOutput::capture(&mut command).ends_with(0);
        }
    }
    let sandbox = Sandbox::new();
    sandbox.run(&["new", "sample", "--lang", "rust"]).ends_with(0);
    let manifest = ".llxprt/hooks/sample/Cargo.toml";
    let mut command = cargo(&sandbox, manifest);
    command.args(["build", "--release", "--manifest-path", manifest]);
    crate::cli::sandbox::ProgramOutput::capture(&mut command).ends_with(0);
    check_hook(&sandbox, "sample in Rust");
    // The same program as a worker.
    let settings =
        sandbox.read(".llxprt/settings.json").replace("\"timeout\": 5000", "\"timeout\": 5000, \"mode\": \"worker\"");
    sandbox.write(".llxprt/settings.json", settings);
    check_hook(&sandbox, "sample in Rust");
}

#[test]
fn a_language_has_the_ending_of_its_files_as_another_name() {
    let sandbox = Sandbox::new();
    for (name, language, file) in
        [("a", "ts", ".xcsh/hooks/a.ts"), ("b", "py", ".llxprt/hooks/b.py"), ("c", "sh", ".llxprt/hooks/c.sh")]
    {
        sandbox.run(&["new", name, "--lang", language]).ends_with(0);
        assert!(sandbox.project.join(file).exists(), "{file}");
    }
}
