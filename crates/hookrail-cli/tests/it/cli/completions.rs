//! What a shell completes: commands, options, and the names of events, tools, hooks, plugins, agents, schemas and topics.

use std::process::Command;

use hookrail_testkit::has_program;

use crate::cli::sandbox::{ProgramOutput, Sandbox};

fn project() -> Sandbox {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"hooks": [{"type": "command", "name": "guard-secrets", "command": "touch ran; exit 2"}]}]"#,
    );
    sandbox
        .write(".x-code/plugins/lint-gate/.x-code-plugin/plugin.json", r#"{"name": "lint-gate", "version": "1.0.0"}"#);
    sandbox.write(
        ".xcsh/hooks/m.ts",
        "import { writeFileSync } from 'fs'; writeFileSync('ran', ''); export default () => {};",
    );
    sandbox
}

/// What a shell gets for a line whose last word is being written.
fn asked(sandbox: &Sandbox, shell: &str, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let mut command = sandbox.command(&["--"]);
    command.args(&words).env("HOOKRAIL_COMPLETE", shell).env("_CLAP_IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
    let ran = ProgramOutput::capture(&mut command).ends_with(0);
    assert_eq!(ran.stderr, "");
    ran.stdout.lines().map(str::to_owned).collect()
}

const LINES: [(&str, &str); 19] = [
    ("hookrail exp", "explain"),
    ("hookrail fire --col", "--color"),
    ("hookrail fire Before", "BeforeTool"),
    ("hookrail fire tool_", "tool_call"),
    ("hookrail explain BeforeTool --tool write_", "write_file"),
    ("hookrail dev guard", "guard-secrets"),
    ("hookrail trust grant guard", "guard-secrets"),
    ("hookrail log --hook guard", "guard-secrets"),
    ("hookrail try x.sh --event Pre", "PreToolUse"),
    ("hookrail plugin disable lint", "lint-gate@local"),
    ("hookrail install cla", "claude"),
    ("hookrail schema BeforeTool.", "BeforeTool.stdin"),
    ("hookrail docs how-to/rec", "how-to/recipes"),
    ("hookrail completions z", "zsh"),
    ("hookrail add secret", "secret-scan"),
    ("hookrail new guard --lang ty", "typescript"),
    ("hookrail new guard --event AfterT", "AfterTool"),
    ("hookrail init --dialect x", "xcsh"),
    ("hookrail types --lang py", "python"),
];

#[test]
fn every_kind_of_name_is_completed_for_every_shell() {
    let sandbox = project();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let lines = if shell == "bash" { &LINES[..] } else { &LINES[..3] };
        for (line, expected) in lines {
            let found = asked(&sandbox, shell, line);
            assert!(found.iter().any(|found| found.contains(expected)), "{shell}: {line}: {found:?}");
        }
    }
    assert!(!sandbox.exists("ran"), "completing runs no hook and loads no module");
}

#[test]
fn the_scripts_ask_this_program() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.run(&["completions", shell]).ends_with(0).stdout;
        assert!(script.contains("HOOKRAIL_COMPLETE") && script.contains("hookrail"), "{shell}: {script}");
    }
}

/// A program that has the variable in its environment by accident must still get the verdict of its hooks.
#[test]
fn the_variable_alone_changes_nothing() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let with = |args: &[&str]| ProgramOutput::capture(sandbox.command(args).env("HOOKRAIL_COMPLETE", "bash"));
    with(&["fire", "BeforeTool", "--trust-project"]).ends_with(2);
    with(&["fire", "BeforeTool", "--trust-project", "--", "more"]).ends_with(1);
    with(&["bridge", "nonsense"]).ends_with(2);
    sandbox.run(&["--", "hookrail", "fire"]).ends_with(1);
}

#[test]
fn a_real_bash_completes() {
    if !has_program("bash") {
        println!("skipped: there is no bash");
        return;
    }
    let sandbox = project();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hookrail"), sandbox.project.join("hookrail")).unwrap();
    for (line, expected) in LINES {
        let words = line.split(' ').map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let script = format!(
            "eval \"$(hookrail completions bash)\"; COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); \
             COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_TYPE=9; \
             _clap_complete_hookrail hookrail \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut bash: Command = sandbox.place_command("bash");
        let path = format!("{}:{}", sandbox.project.display(), std::env::var("PATH").unwrap());
        let ran = ProgramOutput::capture(bash.args(["--norc", "-c", &script]).env("PATH", path));
        assert!(ran.stdout.lines().any(|found| found.trim_end() == expected), "{line}: {} {}", ran.stdout, ran.stderr);
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let sandbox = Sandbox::new();
    let told = sandbox.run(&["man", "pages/man1"]).ends_with(0).stdout;
    let mut open = vec![Vec::<String>::new()];
    let mut count = 0;
    while let Some(command) = open.pop() {
        open.extend(crate::cli::usage::commands(&sandbox, &command));
        let name = ["hookrail".to_owned()].into_iter().chain(command.clone()).collect::<Vec<_>>().join("-");
        let page = sandbox.read(&format!("pages/man1/{name}.1"));
        assert!(page.contains(".TH") && page.contains("EXAMPLES"), "{name}: {page}");
        count += 1;
    }
    assert_eq!(told, format!("{count} manual pages in pages/man1\n"));
    sandbox.write("file", "");
    let refused = sandbox.run(&["man", "file/below"]).ends_with(1);
    assert!(refused.stderr.contains("cannot be written"), "{}", refused.stderr);
}
