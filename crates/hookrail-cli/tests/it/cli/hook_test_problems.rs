//! What `test` prints for programs if no case can be run, and case files that have mistakes.

use serde_json::{Value, json};

use crate::cli::hook_tests::{DENIED, guarded, report};
use crate::cli::sandbox::Sandbox;

/// A case file with a misspelt key in its third line.
const MISSPELT: &str = "[[case]]\nname = \"x\"\nevnt = \"BeforeTool\"\nexpect = { runs = 1 }\n";

fn stdout(sandbox: &Sandbox, arguments: &[&str]) -> String {
    sandbox.run(&[&["test"], arguments].concat()).ends_with(1).stdout
}

fn document(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    report(&sandbox.run(&[&["test", "--format", "json"], arguments].concat()).ends_with(1))
}

/// cli:C13, cli:C14
#[test]
fn a_malformed_case_file_is_in_every_document() {
    let sandbox = guarded();
    sandbox.write("a.hooktest.toml", MISSPELT);
    sandbox.write("b.hooktest.toml", DENIED);
    let found = document(&sandbox, &["--trust-project"]);
    let problem = json!({
        "code": "case-invalid", "message": "`evnt` is not a key of a case", "hint": "did you mean `event`?",
        "file": "a.hooktest.toml", "line": 3, "column": 1,
    });
    assert_eq!(found["problems"], json!([problem]));
    assert_eq!((&found["cases"], &found["failed"], &found["notRun"]), (&json!([]), &json!(0), &json!(1)));
    let junit = stdout(&sandbox, &["--trust-project", "--format", "junit"]);
    insta::assert_snapshot!(junit, @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="hookrail" tests="1" failures="0" errors="1" skipped="0" time="0.000">
      <testsuite name="a.hooktest.toml" tests="1" failures="0" errors="1" skipped="0" time="0.000">
        <testcase name="a.hooktest.toml:3" classname="a.hooktest.toml" file="a.hooktest.toml" line="3" time="0.000"><error message="`evnt` is not a key of a case">`evnt` is not a key of a case&#10;hint: did you mean `event`?</error></testcase>
      </testsuite>
    </testsuites>
    "#);
    let github = stdout(&sandbox, &["--trust-project", "--format", "github"]);
    let command = github.lines().find(|line| line.contains("evnt")).unwrap();
    assert_eq!(
        command,
        "::error file=a.hooktest.toml,line=3,col=1,title=hookrail test%3A no case was run::`evnt` is not a key of a \
         case%0Ahint: did you mean `event`?"
    );
    // People read the excerpt on standard error, also with `--quiet`.
    let ran = sandbox.run(&["test", "--trust-project", "--quiet"]).ends_with(1);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("--> a.hooktest.toml:3:1"), "{}", ran.stderr);
}

/// cli:C14
#[test]
fn a_project_that_is_not_trusted_is_in_every_document() {
    let sandbox = guarded();
    sandbox.write("a.hooktest.toml", DENIED);
    let found = document(&sandbox, &[]);
    let problem = json!({
        "code": null, "message": "nothing was run: 1 hook is not trusted",
        "hint": "review the hooks and the case files, then run `hookrail test --trust-project`",
        "file": "a.hooktest.toml", "line": 2, "column": 1,
    });
    assert_eq!((&found["problems"], &found["notRun"]), (&json!([problem]), &json!(1)));
    let junit = stdout(&sandbox, &["--format", "junit"]);
    assert!(junit.contains("line=\"2\" time=\"0.000\"><error message=\"nothing was run: 1 hook is not trusted\">"));
    let github = stdout(&sandbox, &["--format", "github"]);
    assert!(github.starts_with("::error file=a.hooktest.toml,line=2,col=1,title="), "{github}");
    // A case that brings files is named too.
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let with_files = DENIED.replace("[[case]]", "\n[[case]]\nfiles = { a = \"b\" }").replace("\"denied\"", "\"files\"");
    sandbox.write("b.hooktest.toml", with_files);
    let found = document(&sandbox, &[]);
    assert_eq!((&found["problems"][0]["file"], &found["notRun"]), (&json!("b.hooktest.toml"), &json!(2)));
}

#[test]
fn other_reasons_are_in_the_document_without_a_place() {
    let sandbox = guarded();
    let none = document(&sandbox, &[]);
    let message = none["problems"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("there are no case files in "), "{message}");
    sandbox.write("a.hooktest.toml", DENIED);
    let none = document(&sandbox, &["-E", "elephant"]);
    assert_eq!(none["problems"][0]["message"], "no case is selected of 1 case");
    assert_eq!(none["problems"][0]["file"], Value::Null);
    let junit = stdout(&sandbox, &["-E", "elephant", "--format", "junit"]);
    assert!(junit.contains("<testcase name=\"hookrail test\" classname=\"hookrail test\" time=\"0.000\"><error "));
    // A run without problems has an empty list.
    let fine = report(&sandbox.run(&["test", "--trust-project", "--format", "json"]).ends_with(0));
    assert_eq!(fine["problems"], json!([]));
}

#[test]
fn a_value_that_does_not_fit_is_named_with_an_example() {
    let sandbox = guarded();
    let told = |value: &str| {
        sandbox.write("a.hooktest.toml", DENIED.replace("max_ms = 60000", value));
        let found = document(&sandbox, &["--trust-project"]);
        let text = |key: &str| found["problems"][0][key].as_str().unwrap().to_owned();
        (text("message"), text("hint"))
    };
    let (message, hint) = told("max_ms = -1");
    assert_eq!(message, "`max_ms` must be a whole number and not negative, not -1");
    assert_eq!(hint, "write for example `max_ms = 5000`: the longest time that the event may take, in milliseconds");
    assert_eq!(told("max_ms = 1.5").0, "`max_ms` must be a whole number, not 1.5");
    assert_eq!(told("max_ms = \"1s\"").0, "`max_ms` must be a whole number, not text");
    assert_eq!(told("silent = 1").0, "`silent` must be true or false, not 1");
}

#[test]
fn a_bracket_that_is_not_closed_in_a_json_file_is_named() {
    let sandbox = guarded();
    sandbox.write("a.hooktest.json", "{\n  \"case\": [\n    {\"name\": \"x\"\n  ]\n}\n");
    let found = document(&sandbox, &["--trust-project"]);
    let problem = &found["problems"][0];
    assert_eq!(problem["hint"], "`{` of line 3 is still open; close it with `}` first");
    assert_eq!(problem["line"], 4);
}

/// A folder with hooks, cases and stored outcomes can be copied into another project: cli:C16.
#[test]
fn stored_outcomes_do_not_depend_on_the_place() {
    let case = "[[case]]\nname = \"whole\"\nhook = \"noisy.sh\"\nevent = \"BeforeTool\"\ntool = \"a\"\n\
                expect = { snapshot = true }\n";
    let noisy = "#!/bin/sh\necho \"$0 in $PWD\" >&2\nexit 2\n";
    let sandbox = Sandbox::new();
    sandbox.write("deep/in/noisy.hooktest.toml", case);
    sandbox.write_program("deep/in/noisy.sh", noisy);
    sandbox.run(&["test", "--trust-project", "--accept"]).ends_with(0);
    let stored = sandbox.read("deep/in/snapshots/noisy.whole.json");
    assert!(stored.contains("${cases}/noisy.sh in ${project}\\n"), "{stored}");
    let other = Sandbox::new();
    other.write("noisy.hooktest.toml", case);
    other.write_program("noisy.sh", noisy);
    other.write("snapshots/noisy.whole.json", &stored);
    other.run(&["test", "--trust-project"]).ends_with(0);
}

#[test]
fn a_copy_of_the_example_modules_passes() {
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/modules");
    let sandbox = Sandbox::new();
    for folder in ["", "snapshots"] {
        for entry in std::fs::read_dir(examples.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.strip_prefix(&examples).unwrap().to_str().unwrap();
                sandbox.write(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let ran = sandbox.run(&["test", "--trust-project"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// What a new author gets wrong: the failure names the place in the copy by its name, keeps the lines of a stack trace apart, and has
/// the same help as `fire`.
#[test]
fn a_failed_case_says_what_to_do() {
    let sandbox = guarded();
    sandbox.write("a.hooktest.toml", DENIED);
    let failed = |guard: &str| {
        sandbox.write(".llxprt/hooks/guard.sh", guard);
        stdout(&sandbox, &["--trust-project"])
    };
    let text = failed("echo \"{'decision': 'deny'}\"\n");
    assert!(text.contains("the decision `deny` in it is lost\n    help: strings have double quotes in JSON"), "{text}");
    let text = failed("echo '{\"decison\": \"deny\"}'\n");
    assert!(text.contains("`decison` is not a field of an answer\n    help: did you mean `decision`?"), "{text}");
    let text = failed("echo \"first in $0\" >&2\necho second >&2\nexit 1\n");
    assert!(text.contains("stderr: first in ${project}/.llxprt/hooks/guard.sh\n              second\n"), "{text}");
    assert!(text.contains("help: exit with 2 to block") && !text.contains("hookrail-case-"), "{text}");
}

#[test]
fn a_failed_case_shows_what_is_wrong_with_the_configuration() {
    let sandbox = Sandbox::new();
    sandbox.write(".xcsh/hooks/guard.ts", "export default (pi) => pi.on('tool_cal', () => ({ block: true }));\n");
    sandbox.write("a.hooktest.toml", DENIED);
    let text = stdout(&sandbox, &["--trust-project"]);
    assert!(text.contains("no hook ran") && text.contains("warning[module-event]"), "{text}");
    assert!(text.contains("help: did you mean `tool_call`?"), "{text}");
}

/// A plugin whose manifest is broken has no hooks, so it looks like files that were never granted.
#[test]
fn a_broken_plugin_is_named_before_consent_is_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.run(&["new", "gate", "--dialect", "xcode"]).ends_with(0);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.run(&["test"]).ends_with(0);
    let cases = ".x-code/plugins/gate/gate.hooktest.toml";
    let good = sandbox.read(cases);
    sandbox.write(cases, good.replace("hook = \".\"", "hook = \"gat\""));
    assert!(stdout(&sandbox, &[]).contains("hint: did you mean `gate`?"));
    sandbox.write(cases, good);
    let manifest = ".x-code/plugins/gate/.x-code-plugin/plugin.json";
    sandbox.write(manifest, sandbox.read(manifest).replacen(",\n", "\n", 1));
    let ran = sandbox.run(&["test"]).ends_with(1);
    let first = ran.stderr.lines().nth(1).unwrap_or_default();
    assert_eq!(
        first, "hint: the configuration has 1 error, which may be the cause; run `hookrail check`",
        "{}",
        ran.stderr
    );
}

/// engine:E6.12
#[test]
fn a_case_fails_if_a_guard_gives_no_answer_that_can_be_read() {
    let guard = r#""BeforeTool": [{"hooks": [{"type": "command", "command": "cat answer", "onFailure": "block"}]}]"#;
    let sandbox = Sandbox::with_hooks(guard);
    let case = |diagnostics: &str| {
        format!(
            "[[case]]\nname = \"x\"\nevent = \"BeforeTool\"\ntool = \"t\"\ntool_input = {{}}\n\
             files = {{ answer = 'no entry' }}\nexpect = {{ decision = \"deny\"{diagnostics} }}\n"
        )
    };
    // The policy denies as the case expects, which is not what the guard was asked.
    for diagnostics in ["", ", diagnostics = \"any\""] {
        sandbox.write("a.hooktest.toml", case(diagnostics));
        let told = stdout(&sandbox, &["--trust-project"]);
        assert!(told.contains("unreadable-answer") && told.contains("messages belong on standard error"), "{told}");
    }
    sandbox.write("a.hooktest.toml", case(", diagnostics = [\"unreadable-answer\"]"));
    sandbox.run(&["test", "--trust-project"]).ends_with(0);
}
