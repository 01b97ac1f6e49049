//! `test`: which cases pass and fail, what runs without consent, and what is printed.

use std::io::{BufRead as _, BufReader};

use hookrail_testkit::{HANG, RunningProgram, Signal, wait_until};
use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

pub(crate) const GUARD: &str = "#!/bin/sh\nif grep -q '\\.env'; then echo 'no secrets' >&2; exit 2; fi\n";

/// A project with a guard that denies what names `.env`.
pub(crate) fn guarded() -> Sandbox {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "write_file", "hooks": [
            {"type": "command", "name": "guard", "command": "sh \"$LLXPRT_PROJECT_DIR/.llxprt/hooks/guard.sh\""}]}]"#,
    );
    sandbox.write(".llxprt/hooks/guard.sh", GUARD);
    sandbox
}

pub(crate) const DENIED: &str = r#"
[[case]]
name = "denied"
event = "BeforeTool"
tool = "write_file"
tool_input = { path = ".env" }
expect = { decision = "deny", reason = "no secrets", exit = 2, ends = "exited", runs = 1, max_ms = 60000 }
"#;

const ALLOWED: &str = r#"
[[case]]
name = "allowed"
event = "PreToolUse"
tool = "write_file"
tool_input = { path = "a.txt" }
expect = { silent = true, decision = "none", exit = [0], ends = ["silent"] }
"#;

pub(crate) fn report(ran: &ProgramOutput) -> Value {
    let document = serde_json::from_str(&ran.stdout);
    assert!(document.is_ok(), "{} {}", ran.stdout, ran.stderr);
    document.unwrap()
}

/// Runs the cases of the trusted project, and returns the document.
fn run_trusted(sandbox: &Sandbox, code: i32) -> Value {
    report(&sandbox.run(&["test", "--trust-project", "--format", "json"]).ends_with(code))
}

/// The keys of the expectations that do not hold in the only case.
fn failing_keys(document: &Value) -> Vec<String> {
    let failures = document["cases"][0]["failures"].as_array().cloned().unwrap_or_default();
    failures.iter().map(|failure| failure["key"].as_str().unwrap_or("setup").to_owned()).collect()
}

/// cli:C13
#[test]
fn cases_pass_fail_and_are_skipped() {
    let sandbox = guarded();
    sandbox.write("a.hooktest.toml", format!("{DENIED}{ALLOWED}"));
    let text = sandbox.run(&["test", "--trust-project"]).ends_with(0).stdout;
    insta::assert_snapshot!(sandbox.steady(&text), @r"
       PASS  [TIME]  a.hooktest.toml  denied
       PASS  [TIME]  a.hooktest.toml  allowed
    ────────────────────────────────────────
    Summary  [TIME]  2 cases run: 2 passed
    ");
    sandbox.write("b.hooktest.toml", DENIED.replace("deny", "ask").replace("exit = 2", "exit = 0, stop = true"));
    sandbox.write("c.hooktest.toml", ALLOWED.replace("tool =", "needs = \"no-such-program\"\ntool ="));
    let ran = sandbox.run(&["test", "--trust-project"]).ends_with(1);
    insta::assert_snapshot!(sandbox.steady(&ran.stdout), @r"
       PASS  [TIME]  a.hooktest.toml  denied
       PASS  [TIME]  a.hooktest.toml  allowed
       FAIL  [TIME]  b.hooktest.toml  denied
       SKIP            c.hooktest.toml  allowed (needs `no-such-program`)

    failed b.hooktest.toml:2  denied
      decision: expected ask, found deny
      stop: expected true, found false
      exit: expected 0, found 2
      what ran:
        guard exited 2, deny
          stderr: no secrets
    ────────────────────────────────────────
    Summary  [TIME]  3 cases run: 2 passed, 1 failed, 1 skipped
    ");
    assert_eq!(ran.stderr, "");
    let document = run_trusted(&sandbox, 1);
    assert_eq!((&document["passed"], &document["failed"], &document["skipped"]), (&json!(2), &json!(1), &json!(1)));
    let failed = document["cases"].as_array().unwrap().iter().find(|case| case["status"] == "failed").unwrap();
    assert_eq!((&failed["file"], &failed["line"]), (&json!("b.hooktest.toml"), &json!(2)));
    assert_eq!(failed["failures"][0], json!({"key": "decision", "expected": "ask", "found": "deny"}));
}

#[test]
fn every_expectation_can_fail() {
    let sandbox = guarded();
    let input = "event = \"BeforeTool\"\ntool = \"write_file\"\ntool_input = { path = \".env\" }";
    for (expect, key) in [
        ("decision = \"allow\"", "decision"),
        ("decision = \"none\"", "decision"),
        ("reason = \"no\"", "reason"),
        ("reason_contains = [\"no\", \"elephant\"]", "reason_contains"),
        ("silent = true", "silent"),
        ("stop = true", "stop"),
        ("stop_reason_contains = \"x\"", "stop_reason_contains"),
        ("rewrite = { path = \"b\" }", "rewrite"),
        ("context = \"x\"", "context"),
        ("context_contains = \"x\"", "context_contains"),
        ("message_contains = \"x\"", "message_contains"),
        ("outcome = { decision = \"ask\" }", "outcome"),
        ("runs = 2", "runs"),
        ("ends = \"answered\"", "ends"),
        ("ends = [\"exited\", \"exited\"]", "ends"),
        ("exit = 0", "exit"),
        ("stdout_contains = \"x\"", "stdout_contains"),
        ("stderr_contains = \"x\"", "stderr_contains"),
        ("max_ms = 0", "max_ms"),
        ("diagnostics = [\"bad-output\"]", "diagnostics"),
        ("commands = \"x\"", "commands"),
        ("files_contain = { a = \"x\" }", "files_contain"),
        ("files_absent = \".llxprt/settings.json\"", "files_absent"),
        ("file_count = { \".llxprt/hooks\" = 0 }", "file_count"),
        ("snapshot = true", "snapshot"),
    ] {
        sandbox.write("a.hooktest.toml", format!("[[case]]\nname = \"x\"\n{input}\nexpect = {{ {expect} }}\n"));
        let document = run_trusted(&sandbox, 1);
        assert_eq!(failing_keys(&document), [key], "{expect}: {document:#}");
    }
    let holds = "decision = \"deny\", reason = \"no secrets\", reason_contains = \"secrets\", silent = false, stop = false, \
        rewrite = false, outcome = { decision = \"deny\", stop = false }, runs = 1, ends = \"exited\", exit = 2, \
        stderr_contains = \"secrets\", files_absent = \"x\", file_count = { \".llxprt/hooks\" = 1 }";
    sandbox.write("a.hooktest.toml", format!("[[case]]\nname = \"x\"\n{input}\nexpect = {{ {holds} }}\n"));
    run_trusted(&sandbox, 0);
}

/// The hook of a case is a name, or a path to a script, a module or a plugin.
#[test]
fn all_kinds_of_hooks_are_tested() {
    let sandbox = guarded();
    sandbox.write("other/deny.py", "import sys\nprint('{\"decision\": \"deny\", \"reason\": \"python\"}')\n");
    sandbox.write_program("other/run", "#!/bin/sh\necho no >&2; exit 2\n");
    sandbox.write("other/help.ts", "export const reason = 'module';\n");
    let module = "import { reason } from './help';\n\
        export default function (pi) { pi.on('tool_call', () => ({ block: true, reason })); }\n";
    sandbox.write("other/block.ts", module);
    sandbox
        .write(".xcsh/hooks/pre/own.ts", module.replace("import { reason } from './help';", "const reason = 'own';"));
    sandbox.write(
        "other/plug/plugin.json",
        r#"{"name": "plug", "version": "1.0.0", "hooks": {"PreToolUse": [{"command": "sh ${pluginDir}/deny.sh"}]}}"#,
    );
    sandbox.write("other/plug/deny.sh", "echo '{\"decision\": \"deny\", \"reason\": \"plugin\"}'\n");
    let case = |hook: &str, reason: &str| {
        format!(
            "[[case]]\nname = \"{hook}\"\nhook = \"{hook}\"\nevent = \"BeforeTool\"\ntool = \"write_file\"\n\
             tool_input = {{ path = \".env\" }}\nexpect = {{ reason = \"{reason}\", runs = 1 }}\n"
        )
    };
    let cases = [
        case("guard", "no secrets"),
        case("../.llxprt/hooks/guard.sh", "no secrets"),
        case(".llxprt/hooks/guard.sh", "no secrets"),
        case("deny.py", "python"),
        case("run", "no"),
        case("block.ts", "module"),
        case(".xcsh/hooks/pre/own.ts", "own"),
        case("plug", "plugin"),
    ];
    sandbox.write("other/all.hooktest.toml", cases.concat());
    // A case file in the folder of hooks is not taken for one.
    sandbox.write(".xcsh/hooks/pre/own.hooktest.toml", case("own.ts", "own"));
    let document = run_trusted(&sandbox, 0);
    assert_eq!(document["passed"], 9, "{document:#}");
    let unknown = case("gard", "x");
    sandbox.write("other/all.hooktest.toml", unknown);
    let text = sandbox.run(&["test", "--trust-project", "-E", "gard"]).ends_with(1).stdout;
    assert!(text.contains("there is no hook and no file `gard`") && text.contains("did you mean `guard`?"), "{text}");
}

#[test]
fn a_case_sees_nothing_of_the_user_and_changes_nothing() {
    let sandbox = Sandbox::with_hook(
        "BeforeTool",
        "cat > received; env > env; touch \"$HOME/home\" \"$LLXPRT_PROJECT_DIR/project\" tmp-\"$TMPDIR/x\" 2>/dev/null; true",
    );
    sandbox.write_home(
        ".llxprt/settings.json",
        r#"{"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}"#,
    );
    sandbox.write(
        "a.hooktest.toml",
        r##"
[[case]]
name = "a"
event = "BeforeTool"
tool = "t"
tool_input = { at = "${project}/x" }
env = { GIVEN = "in ${home}" }
inherit_env = ["WANTED"]
files = { "a/b" = "text", "${home}/c" = "d" }
links = { l = "a" }
programs = { mine = "#!/bin/sh\necho mine\n" }
copy = { "copied/a.hooktest.toml" = "a.hooktest.toml" }

[case.expect]
decision = "none"
runs = 1
files_contain = { "l/b" = "text", received = "${project}/x", "${home}/c" = "d", "copied/a.hooktest.toml" = "[[case]]", env = "GIVEN=in ${home}\n" }
"##,
    );
    let mut command = sandbox.command(&["test", "--trust-project", "--format", "json"]);
    let ran = ProgramOutput::capture(command.env("WANTED", "w").env("SECRET", "s")).ends_with(0);
    assert_eq!(report(&ran)["passed"], 1);
    for file in ["project", "received", "env", "a/b", "copied", "../home/home", "../home/c"] {
        assert!(!sandbox.exists(file), "{file}");
    }
    // What the hook saw of the environment.
    let seen = |line: &str| {
        let expect = format!("expect = {{ stdout_contains = \"{line}\" }}");
        let hook = "hook = \"env.sh\"\nevent = \"BeforeTool\"\ninherit_env = \"WANTED\"";
        sandbox.write(
            "env.sh",
            "env >&2; env | sed 's/^/x-/' >&2; printf '{\"systemMessage\": \"%s\"}' \"$(env | tr '\\n' ' ')\"",
        );
        sandbox.write("a.hooktest.toml", format!("[[case]]\nname = \"a\"\n{hook}\n{expect}\n"));
        let mut command = sandbox.command(&["test", "--trust-project"]);
        ProgramOutput::capture(command.env("WANTED", "w").env("SECRET", "s")).code
    };
    assert_eq!((seen("WANTED=w"), seen("SECRET=s")), (0, 1));
    assert_eq!(seen(&format!("HOME={}", sandbox.home.display())), 1);
}

#[test]
fn a_malformed_case_is_shown_and_nothing_runs() {
    let sandbox = Sandbox::with_hook("BeforeTool", "touch \"$TMPDIR/../../ran\"");
    let shown = |text: &str| {
        sandbox.write("a.hooktest.toml", text);
        let ran = sandbox.run(&["test", "--trust-project"]).ends_with(1);
        assert_eq!(ran.stdout, "");
        ran.stderr
    };
    insta::assert_snapshot!(
        shown("[[case]]\nname = \"a\"\nevent = \"BeforTool\"\nexpct = {}\nexpect = { decison = \"deny\", runs = \"1\" }\n"),
        @r#"
    error[case-invalid]: `BeforTool` is not an event
     --> a.hooktest.toml:3:9
      |
    3 | event = "BeforTool"
      |         ^^^^^^^^^^^
      |
      = help: did you mean `BeforeTool`?

    error[case-invalid]: `expct` is not a key of a case
     --> a.hooktest.toml:4:1
      |
    4 | expct = {}
      | ^^^^^
      |
      = help: did you mean `expect`?

    error[case-invalid]: `decison` is not a key of `expect`
     --> a.hooktest.toml:5:12
      |
    5 | expect = { decison = "deny", runs = "1" }
      |            ^^^^^^^
      |
      = help: did you mean `decision`?

    error[case-invalid]: `runs` must be a whole number, not text
     --> a.hooktest.toml:5:37
      |
    5 | expect = { decison = "deny", runs = "1" }
      |                                     ^^^
      |
      = help: write for example `runs = 1`: how many hooks ran

    error: no case was run: 1 case file cannot be used
    hint: `hookrail reference test-cases` lists the keys
    "#
    );
    insta::assert_snapshot!(shown("[[case]\nname = 1\n"), @r"
    error[file-syntax]: invalid TOML: unclosed array table, expected `]`
     --> a.hooktest.toml:1:8
      |
    1 | [[case]
      |        ^
      |
      = help: `hookrail docs how-to/test` has examples

    error: no case was run: 1 case file cannot be used
    hint: `hookrail reference test-cases` lists the keys
    ");
    insta::assert_snapshot!(
        shown("[defaults]\nname = \"x\"\n[[case]]\nevent = \"BeforeTool\"\nfiles = { \"../a\" = \"\" }\n\
            payload = { tool_inptu = {} }\nexpect = { decision = \"denied\", diagnostics = \"bad-otput\" }\n"),
        @r#"
    error[case-invalid]: `name` cannot be a default
     --> a.hooktest.toml:2:1
      |
    2 | name = "x"
      | ^^^^
      |
      = help: write it in each case

    error[case-invalid]: the case has no `name`
     --> a.hooktest.toml:3:1
      |
    3 | [[case]]
      | ^^^^^^^^
      |
      = help: add `name = "…"`, which says what is tested

    error[case-invalid]: `../a` leads out of the case's own directory
     --> a.hooktest.toml:5:11
      |
    5 | files = { "../a" = "" }
      |           ^^^^^^
      |
      = help: write a path below the project, or one that begins with `${home}/`

    error[case-invalid]: `tool_inptu` is not a field of before-tool
     --> a.hooktest.toml:6:13
      |
    6 | payload = { tool_inptu = {} }
      |             ^^^^^^^^^^
      |
      = help: did you mean `tool_input`?

    error[case-invalid]: `decision` must be "allow", "ask", "deny" or "none"
     --> a.hooktest.toml:7:23
      |
    7 | expect = { decision = "denied", diagnostics = "bad-otput" }
      |                       ^^^^^^^^
      |
      = help: write one of `allow`, `ask`, `deny`, `none`

    error[case-invalid]: `bad-otput` is not the code of a diagnostic
     --> a.hooktest.toml:7:47
      |
    7 | expect = { decision = "denied", diagnostics = "bad-otput" }
      |                                               ^^^^^^^^^^^
      |
      = help: did you mean `bad-output`?

    error: no case was run: 1 case file cannot be used
    hint: `hookrail reference test-cases` lists the keys
    "#
    );
    for (text, message) in [
        ("", "the file has no cases"),
        ("case = 1\n", "`case` is a list of tables, not a number"),
        ("case = []\n", "the file has no cases"),
        ("case = [1]\n", "a case is a table, not a number"),
        ("cases = []\n", "`cases` is not a key of a case file"),
        ("[[case]]\n", "the case has no `name`"),
        ("[[case]]\nname = \"a\"\nexpect = { runs = 1 }\n", "the case has no `event`"),
        ("[[case]]\nname = \"a\"\nevent = \"BeforeTool\"\n", "the case expects nothing"),
        ("[[case]]\nname = \"a\"\nevent = \"BeforeTool\"\nexpect = {}\n", "the case expects nothing"),
        (
            "[[case]]\nname = \"a\"\nevent = \"BeforeTool\"\npayload = \"[1]\"\nexpect = { runs = 1 }\n",
            "`payload` must be a table, or text with a JSON object",
        ),
        (
            "[[case]]\nname = \"a\"\nevent = \"BeforeTool\"\npayload = { tool_input = 1 }\nexpect = { runs = 1 }\n",
            "`tool_input` must be an object",
        ),
        (
            "[[case]]\nname = \"a\"\nevent = \"BeforeTool\"\nagent = \"cloude\"\nexpect = { runs = 1 }\n",
            "`cloude` is not an agent",
        ),
        (
            "[[case]]\nname = \"a\"\nevent = \"BeforeTool\"\nprograms = { \"a/b\" = \"\" }\nexpect = { runs = 1 }\n",
            "`a/b` is a path; a program has a name",
        ),
        ("[[case]]\nname = \"a\"\nevent = \"BeforeTool\"\nexpect = { runs = -1 }\n", "`runs` must be a whole number"),
        (
            "[[case]]\nname = \"a\"\nevent = \"BeforeTool\"\nexpect = { max_ms = 2026-01-01 }\n",
            "a date has no place in an event",
        ),
    ] {
        let stderr = shown(text);
        assert!(stderr.contains(message), "{text}: {stderr}");
        assert!(stderr.contains("--> a.hooktest.toml") && stderr.contains("= help: "), "{text}: {stderr}");
    }
    let two = DENIED.repeat(2);
    assert!(shown(&two).contains("two cases are called `denied`"));
    // A good file beside it is not run either.
    sandbox.write("b.hooktest.toml", ALLOWED);
    assert!(shown("x").contains("no case was run: 1 case file cannot be used"));
    std::fs::remove_file(sandbox.project.join("a.hooktest.toml")).unwrap();
    sandbox.write("a.hooktest.json", "{\"case\": [{\"name\": \"a\", \"name\": \"b\"}]}");
    assert!(sandbox.run(&["test"]).ends_with(1).stderr.contains("duplicate key `name`"));
    assert!(!sandbox.path("ran").exists());
}

#[test]
fn json_has_the_same_shape() {
    let sandbox = guarded();
    let case = json!({"name": "a", "hook": "guard", "event": "BeforeTool", "tool": "write_file",
        "tool_input": {"path": "a"}, "expect": {"decision": null, "exit": 0}});
    let text = json!({"$schema": "x", "case": [case]}).to_string();
    sandbox.write("a.hooktest.json", format!("// A comment.\n{text}"));
    assert_eq!(run_trusted(&sandbox, 0)["passed"], 1);
}

#[test]
fn no_cases_is_an_error() {
    let sandbox = guarded();
    insta::assert_snapshot!(sandbox.steady(&sandbox.run(&["test"]).ends_with(1).stderr), @r"
    error: there are no case files in `[PROJECT]`
    hint: write `NAME.hooktest.toml` beside a hook; `hookrail docs how-to/test` shows how
    hint: `hookrail record` writes cases from events that were recorded
    ");
    sandbox.write("a.hooktest.toml", DENIED);
    insta::assert_snapshot!(sandbox.run(&["test", "-E", "elephant"]).ends_with(1).stderr, @r"
    error: no case is selected of 1 case
    hint: `hookrail test --list` lists the cases
    ");
    let ran = sandbox.run(&["test", ".llxprt/settings.json"]).ends_with(1);
    assert!(ran.stderr.contains("is not a case file"), "{}", ran.stderr);
    assert!(sandbox.run(&["test", "missing"]).ends_with(1).stderr.contains("cannot be read"));
    // A misspelt ending is not found, and so does not pass.
    sandbox.write("only/a.hooktests.toml", DENIED);
    assert!(sandbox.run(&["test", "only"]).ends_with(1).stderr.contains("there are no case files"));
}

#[test]
fn cases_are_listed_and_selected() {
    let sandbox = guarded();
    sandbox.write("a.hooktest.toml", format!("{DENIED}{ALLOWED}"));
    sandbox.write("sub/b.hooktest.toml", DENIED);
    assert_eq!(
        sandbox.run(&["test", "--list"]).ends_with(0).stdout,
        "a.hooktest.toml: denied\na.hooktest.toml: allowed\nsub/b.hooktest.toml: denied\n"
    );
    let selected = |arguments: &[&str]| {
        sandbox.run(&[&["test", "--list"], arguments].concat()).ends_with(0).stdout.lines().count()
    };
    assert_eq!(selected(&["-E", "allowed"]), 1);
    assert_eq!(selected(&["-E", "name:denied", "-E", "!file:sub"]), 1);
    assert_eq!(selected(&["--filter", "event:PreToolUse"]), 1);
    assert_eq!(selected(&["sub"]), 1);
    assert_eq!(selected(&["sub", "a.hooktest.toml"]), 3);
}

#[test]
fn the_first_failure_may_end_the_run() {
    let sandbox = guarded();
    let failing = |name: &str| DENIED.replace("\"denied\"", &format!("\"{name}\"")).replace("exit = 2", "exit = 0");
    sandbox.write("a.hooktest.toml", (0..20).map(|at| failing(&at.to_string())).collect::<String>());
    let arguments = ["test", "--trust-project", "--fail-fast", "--jobs", "1", "--format", "json"];
    let document = report(&sandbox.run(&arguments).ends_with(1));
    assert_eq!((&document["failed"], &document["notRun"]), (&json!(1), &json!(19)));
}

#[test]
fn results_for_other_programs() {
    let sandbox = guarded();
    sandbox.write(
        "a,b.hooktest.toml",
        format!(
            "{}{ALLOWED}",
            DENIED.replace("\"deny\"", "\"ask\"").replace("name = \"denied\"", "name = 'a <b> & \"c\"'")
        ),
    );
    let junit = sandbox.run(&["test", "--trust-project", "--format", "junit"]).ends_with(1).stdout;
    insta::assert_snapshot!(sandbox.steady(&without_times(&junit)), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="hookrail" tests="2" failures="1" errors="0" skipped="0" time="N">
      <testsuite name="a,b.hooktest.toml" tests="2" failures="1" errors="0" skipped="0" time="N">
        <testcase name="a &lt;b&gt; &amp; &quot;c&quot;" classname="a,b.hooktest.toml" file="a,b.hooktest.toml" line="2" time="N"><failure message="decision: expected ask, found deny">decision: expected ask, found deny&#10;what ran:&#10;  guard exited 2, deny&#10;    stderr: no secrets</failure></testcase>
        <testcase name="allowed" classname="a,b.hooktest.toml" file="a,b.hooktest.toml" line="9" time="N"/>
      </testsuite>
    </testsuites>
    "#);
    let github = sandbox.run(&["test", "--trust-project", "--format", "github"]).ends_with(1).stdout;
    let command = github.lines().find(|line| line.starts_with("::error ")).unwrap();
    assert!(
        command.starts_with("::error file=a%2Cb.hooktest.toml,line=2,col=1,title=hookrail test%3A a <b>"),
        "{command}"
    );
    assert!(command.contains("decision: expected ask, found deny%0A"), "{command}");
}

fn without_times(xml: &str) -> String {
    let mut parts = xml.split(" time=\"");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(" time=\"N");
        text.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
    }
    text
}

#[test]
fn outcomes_are_stored_and_compared() {
    let sandbox = guarded();
    let case = DENIED.replace("runs = 1", "snapshot = true");
    sandbox.write("a.hooktest.toml", &case);
    assert_eq!(failing_keys(&run_trusted(&sandbox, 1)), ["snapshot"]);
    assert!(!sandbox.exists("snapshots"), "nothing is written without `--accept`");
    let text = sandbox.run(&["test", "--trust-project", "--accept"]).ends_with(0).stdout;
    assert!(text.contains("denied (snapshot written)"), "{text}");
    insta::assert_snapshot!(sandbox.read("snapshots/a.denied.json"), @r#"
    {
      "clearContext": false,
      "decision": "deny",
      "event": "before-tool",
      "reason": "no secrets",
      "runs": [
        {
          "decision": "deny",
          "dialect": "llxprt",
          "end": "exited",
          "exitCode": 2,
          "hook": "guard",
          "stderr": "no secrets\n"
        }
      ],
      "stop": false,
      "suppressOutput": false
    }
    "#);
    run_trusted(&sandbox, 0);
    sandbox.write(".llxprt/hooks/guard.sh", GUARD.replace("no secrets", "no secrets in ${LLXPRT_PROJECT_DIR}"));
    sandbox.write("a.hooktest.toml", case.replace("reason = \"no secrets\", ", ""));
    let text = sandbox.run(&["test", "--trust-project"]).ends_with(1).stdout;
    assert!(text.contains("-  \"reason\": \"no secrets\","), "{text}");
    sandbox.run(&["test", "--trust-project", "--accept"]).ends_with(0);
    run_trusted(&sandbox, 0);
    std::fs::write(sandbox.project.join("snapshots/a.denied.json"), "{").unwrap();
    assert_eq!(failing_keys(&run_trusted(&sandbox, 1)), ["snapshot"]);
}

#[test]
fn a_saved_hook_is_tested_again() {
    let sandbox = guarded();
    sandbox.write("a.hooktest.toml", DENIED);
    let mut program = RunningProgram::start(&mut sandbox.command(&["test", "--trust-project", "--watch"]));
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut next = |wanted: &str| {
        let found = lines.find(|line| line.contains(wanted));
        assert!(found.is_some(), "no line with `{wanted}`");
    };
    next("1 passed");
    next("waiting for a change");
    sandbox.write(".llxprt/hooks/guard.sh", "exit 0\n");
    next("1 failed");
    next("waiting for a change");
    // A case file that is half written is reported, and the next save is run.
    sandbox.write("a.hooktest.toml", "[[case");
    next("waiting for a change");
    sandbox.write("a.hooktest.toml", DENIED.replace("expect", "# expect") + "expect = { runs = 1 }\n");
    next("1 passed");
    next("waiting for a change");
    program.signal(Signal::INT);
    assert_eq!(program.exit_status(), Some(130));
}

#[test]
fn a_signal_ends_the_hooks_that_run() {
    let sandbox = Sandbox::with_hook("BeforeTool", "touch \"$TMPDIR/../../started\"; sleep 600");
    sandbox.write("a.hooktest.toml", "[[case]]\nname = \"a\"\nevent = \"BeforeTool\"\nexpect = { runs = 1 }\n");
    let folder = sandbox.path("tmp");
    std::fs::create_dir(&folder).unwrap();
    let mut command = sandbox.command(&["test", "--trust-project"]);
    let mut program = RunningProgram::start(command.env("TMPDIR", &folder));
    assert!(wait_until(|| folder.join("started").exists(), HANG));
    program.signal(Signal::INT);
    assert_eq!(program.exit_status(), Some(130));
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["started"], "the directories of cases are removed");
}
