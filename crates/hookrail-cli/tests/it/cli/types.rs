//! `types`: what is written, and that compilers accept it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::sandbox::{ProgramOutput, Sandbox};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A tool that `scripts/module-types` installs; none if it is missing, which is said, unless all tools are required.
fn tool(name: &str) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_BIN_EXE_hookrail")).ancestors().nth(2).unwrap();
    let found = target.join("client-types").join(name);
    if found.exists() {
        return Some(found);
    }
    let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required, "HOOKRAIL_REQUIRE_ALL=1, and {} is missing: run scripts/module-types", found.display());
    println!("skipped: {} is missing; scripts/module-types installs it", found.display());
    None
}

fn modules_in(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|ending| ending == "ts")).collect()
}

#[test]
fn the_compiler_accepts_every_example_module_and_every_template() {
    let Some(tsc) = tool("node/node_modules/.bin/tsc") else { return };
    let sandbox = Sandbox::new();
    sandbox.run(&["types"]).ends_with(0);
    let hooks = sandbox.project.join(".xcsh/hooks");
    let mut count = 0;
    for folder in ["examples/modules", "crates/hookrail-testkit/hooks/xcsh/.xcsh/hooks"] {
        for file in modules_in(&repository().join(folder)) {
            std::fs::copy(&file, hooks.join(file.file_name().unwrap())).unwrap();
            count += 1;
        }
    }
    assert!(count >= 12, "only {count} modules");
    let events = hookrail::EventKind::all().filter_map(|kind| kind.spec().column(hookrail::DialectId::Xcsh));
    for (at, event) in events.map(|column| column.name).enumerate() {
        let name = format!("template-{at}");
        let language = if at % 2 == 0 { "typescript" } else { "node" };
        sandbox.run(&["new", &name, "--dialect", "xcsh", "--lang", language, "--event", event]).ends_with(0);
    }
    let ran = ProgramOutput::capture(sandbox.place_command(tsc.to_str().unwrap()).arg("--project").arg(&hooks));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    // The types find mistakes, too.
    sandbox.write(
        ".xcsh/hooks/wrong.ts",
        "import type { HookAPI } from \"@any/xcsh/hooks\";\n\
         export default function (pi: HookAPI): void {\n\
         \tpi.on(\"tool_cal\", () => {});\n\
         \tpi.on(\"tool_call\", (event) => ({ block: event.toolNam === \"x\" }));\n\
         \tpi.on(\"tool_call\", () => ({ block: \"yes\" }));\n\
         \tpi.on(\"tool_call\", () => ({ blocked: true }));\n\
         }\n",
    );
    let ran = ProgramOutput::capture(sandbox.place_command(tsc.to_str().unwrap()).arg("--project").arg(&hooks));
    assert_eq!(ran.stdout.matches("wrong.ts(").count(), 4, "{}", ran.stdout);
}

#[test]
fn the_compiler_accepts_a_typed_hook_in_javascript() {
    let Some(tsc) = tool("node/node_modules/.bin/tsc") else { return };
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["types", "--lang", "node"]).ends_with(0);
    assert_eq!(ran.stdout, "created  .llxprt/hooks/hook-types.d.ts\n");
    let hook = |decision: &str, field: &str| {
        format!(
            "/**\n * @param {{import(\"./hook-types\").BeforeToolInput}} event\n\
             * @returns {{import(\"./hook-types\").BeforeToolAnswer | undefined}}\n */\n\
             export function decide(event) {{\n\
             \tif (String(event.tool_input.path).endsWith(\".env\")) return {{ decision: \"{decision}\", reason: event.{field} }};\n\
             \tif (event.agent_id) return {{ hookSpecificOutput: {{ tool_input: {{ path: \"x\" }} }} }};\n}}\n"
        )
    };
    let check = || {
        let mut command = sandbox.place_command(tsc.to_str().unwrap());
        command.args(["--noEmit", "--strict", "--allowJs", "--checkJs", "--target", "es2023", "--module", "preserve"]);
        ProgramOutput::capture(command.args([".llxprt/hooks/hook.mjs", ".llxprt/hooks/hook-types.d.ts"]))
    };
    sandbox.write(".llxprt/hooks/hook.mjs", hook("deny", "tool_name"));
    let ran = check();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    sandbox.write(".llxprt/hooks/hook.mjs", hook("never", "toolName"));
    let ran = check();
    assert_eq!(ran.stdout.matches("hook.mjs(").count(), 2, "{}", ran.stdout);
}

#[test]
fn the_type_checker_accepts_a_typed_hook_in_python() {
    let Some(mypy) = tool("python/bin/mypy") else { return };
    let sandbox = Sandbox::new();
    sandbox.run(&["types", "--lang", "python"]).ends_with(0);
    sandbox.write(".llxprt/hooks/hook.py", include_str!("typed_hook.py"));
    let check = |file: &str| {
        let mut command = sandbox.place_command(mypy.to_str().unwrap());
        command.current_dir(sandbox.project.join(".llxprt/hooks"));
        ProgramOutput::capture(command.args(["--strict", "--cache-dir", "/dev/null", file, "hook_types.pyi"]))
    };
    let ran = check("hook.py");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let wrong = "from hook_types import BeforeToolAnswer\n\na: BeforeToolAnswer = {\"decison\": \"deny\"}\n\
                 b: BeforeToolAnswer = {\"decision\": \"never\"}\n";
    sandbox.write(".llxprt/hooks/wrong.py", wrong);
    let ran = check("wrong.py");
    assert!(ran.stdout.contains("Found 2 errors"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn the_python_types_are_python() {
    let sandbox = Sandbox::new();
    sandbox.run(&["types", "--lang", "python"]).ends_with(0);
    let python = |code: &str| {
        let mut command = sandbox.place_command("python3");
        command.current_dir(sandbox.project.join(".llxprt/hooks"));
        ProgramOutput::capture(command.args(["-c", code]))
    };
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: python3 is missing");
        return;
    }
    // Python itself does not read a stub.
    let types = sandbox.project.join(".llxprt/hooks/hook_types");
    std::fs::rename(types.with_extension("pyi"), types.with_extension("py")).unwrap();
    let code = "import hook_types, typing; hints = typing.get_type_hints(hook_types.BeforeToolInput); \
                print(sorted(hints)); print(sorted(hook_types.BeforeToolAnswer.__optional_keys__))";
    let ran = python(code).ends_with(0);
    insta::assert_snapshot!(ran.stdout, @r"
    ['agent_id', 'agent_type', 'cwd', 'hook_event_name', 'mcp_context', 'previous_outputs', 'session_id', 'timestamp', 'tool_input', 'tool_name', 'transcript_path']
    ['continue', 'decision', 'hookSpecificOutput', 'reason', 'stopReason', 'suppressOutput', 'systemMessage']
    ");
}

/// cli:C18
#[test]
fn generated_files_are_replaced_and_others_are_not() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["types"]).ends_with(0).stdout, @r"
    created  .xcsh/hooks/pi.d.ts
    created  .xcsh/hooks/world.d.ts
    created  .xcsh/hooks/tsconfig.json
    ");
    sandbox.write(".xcsh/hooks/tsconfig.json", "{}");
    sandbox.write(".xcsh/hooks/pi.d.ts", "// Types, written by `hookrail types` (hookrail 0.0.1).\n");
    insta::assert_snapshot!(sandbox.run(&["types"]).ends_with(0).stdout, @r"
    changed  .xcsh/hooks/pi.d.ts
    kept     .xcsh/hooks/world.d.ts
    kept     .xcsh/hooks/tsconfig.json
    ");
    sandbox.write(".xcsh/hooks/pi.d.ts", "// mine\n");
    let ran = sandbox.run(&["types"]).ends_with(1);
    insta::assert_snapshot!(ran.stderr, @r"
    error: `.xcsh/hooks/pi.d.ts` was not written by `hookrail types`; nothing was written
    hint: move it away, choose another directory with `--out`, or give `--force` to replace it
    ");
    assert_eq!(sandbox.read(".xcsh/hooks/pi.d.ts"), "// mine\n");
    sandbox.run(&["types", "--force"]).ends_with(0);
    assert!(sandbox.read(".xcsh/hooks/pi.d.ts").contains("interface HookAPI"));
    let ran = sandbox.run(&["types", "--lang", "python", "--out", "a/b"]).ends_with(0);
    assert_eq!(ran.stdout, "created  a/b/hook_types.pyi\n");
    let ran = sandbox.run(&["types", "--out", ".xcsh/hooks/pi.d.ts"]).ends_with(1);
    assert!(ran.stderr.starts_with("error: the directory `.xcsh/hooks/pi.d.ts` cannot be used: "), "{}", ran.stderr);
}

#[test]
fn types_do_not_count_as_hooks() {
    let sandbox = Sandbox::new();
    sandbox.run(&["types"]).ends_with(0);
    let ran = sandbox.run(&["check", "--trust-project", "--deny-warnings"]).ends_with(0);
    assert!(!ran.stdout.contains("1 hook"), "{}", ran.stdout);
}

#[test]
fn types_are_written_for_the_languages_of_the_hooks() {
    let hooks = |commands: &[&str]| {
        let entries: Vec<String> =
            commands.iter().map(|command| format!(r#"{{"type": "command", "command": "{command}"}}"#)).collect();
        Sandbox::with_hooks(&format!(r#""BeforeTool": [{{"hooks": [{}]}}]"#, entries.join(", ")))
    };
    let written = |sandbox: &Sandbox| sandbox.run(&["types"]).ends_with(0).stdout.replace("created  ", "");
    assert_eq!(written(&hooks(&["python3 .llxprt/hooks/a.py", "sh a.sh"])), ".llxprt/hooks/hook_types.pyi\n");
    assert_eq!(written(&hooks(&["node hooks/a.mjs"])), ".llxprt/hooks/hook-types.d.ts\n");
    let both = ".llxprt/hooks/hook-types.d.ts\n.llxprt/hooks/hook_types.pyi\n";
    assert_eq!(written(&hooks(&["node a.js", "'$LLXPRT_PROJECT_DIR'/b.py"])), both);
    assert!(written(&hooks(&["sh a.sh"])).starts_with(".xcsh/hooks/pi.d.ts\n"));
    let sandbox = hooks(&["python3 a.py"]);
    sandbox.write(".xcsh/hooks/pre/a.ts", "export default () => {};\n");
    let all = written(&sandbox);
    assert!(all.contains("pi.d.ts") && all.contains("hook_types.pyi") && !all.contains("hook-types"), "{all}");
}

#[test]
fn types_never_make_a_granted_guard_deny() {
    for (program, command, text) in [
        ("python3", "python3 .llxprt/hooks/guard.py", "import sys\nsys.stdin.read()\n"),
        ("node", "node .llxprt/hooks/guard.js", "require('fs').readFileSync(0);\n"),
        ("node", "node .xcsh/hooks/guard.cjs", "require('fs').readFileSync(0);\n"),
    ] {
        if !hookrail_testkit::has_program(program) {
            continue;
        }
        let sandbox = Sandbox::with_hooks(&format!(
            r#""BeforeTool": [{{"hooks": [{{"type": "command", "command": "{command}", "onFailure": "block"}}]}}]"#
        ));
        sandbox.write(command.split(' ').next_back().unwrap(), text);
        sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
        let fire = || sandbox.run(&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", "{}"]).code;
        assert_eq!(fire(), 0, "{command}");
        for language in ["python", "node", "typescript"] {
            sandbox.run(&["types", "--lang", language]).ends_with(0);
            assert_eq!(fire(), 0, "{command} after `types --lang {language}`");
        }
        // The control: any other file beside the guard is a change.
        let folder = command.split(' ').next_back().unwrap().rsplit_once('/').unwrap().0;
        sandbox.write(&format!("{folder}/json.py"), "");
        assert_eq!(fire(), 2, "{command} after another file");
    }
}
