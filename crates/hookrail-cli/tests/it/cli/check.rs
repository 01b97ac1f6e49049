//! `check`: all problems of the configuration, with their places.

use crate::cli::sandbox::Sandbox;

const WARNING: &str = r#"{
  "hooksConfig": {"enabled": true},
  "hooks": {"BeforTool": [], "BeforeTool": [{"hooks": [{"type": "command", "command": "true", "timeout": -1}]}]}
}"#;

#[test]
fn an_error_is_1_and_a_warning_is_not_unless_denied() {
    Sandbox::with_settings("{ \"hooks\": ").run(&["check"]).ends_with(1);
    let sandbox = Sandbox::with_settings(WARNING);
    sandbox.run(&["check"]).ends_with(0);
    sandbox.run(&["check", "--deny-warnings"]).ends_with(1);
    Sandbox::new().run(&["check", "--deny-warnings"]).ends_with(0);
}

#[test]
fn the_document_has_level_code_message_and_place() {
    let sandbox = Sandbox::with_settings("{\n  \"hooks\": [],\n}");
    let document = sandbox.run(&["check", "--json"]).ends_with(1).json();
    let found = &document["diagnostics"][0];
    assert_eq!(found["level"], "error");
    assert_eq!(found["code"], "setting-type");
    assert_eq!((found["line"].as_u64(), found["column"].as_u64()), (Some(2), Some(12)));
    assert_eq!(found["file"], sandbox.project.join(".llxprt/settings.json").to_str().unwrap());
    assert!(found["message"].is_string());
}

#[test]
fn warnings_for_people() {
    let sandbox = Sandbox::with_settings(WARNING);
    insta::assert_snapshot!(sandbox.run(&["check"]).ends_with(0).stdout, @r#"
    warning[unknown-event]: `BeforTool` is not an event; its hooks will not run
     --> .llxprt/settings.json:3:13
      |
    3 |   "hooks": {"BeforTool": [], "BeforeTool": [{"hooks": [{"type": "command", "command": "true", "timeout": -1}]}]}
      |             ^^^^^^^^^^^
      |
      = help: did you mean `BeforeTool`?

    warning[timeout-invalid]: `timeout` must be a positive number of milliseconds; the default of 60000 applies
     --> .llxprt/settings.json:3:106
      |
    3 |   "hooks": {"BeforTool": [], "BeforeTool": [{"hooks": [{"type": "command", "command": "true", "timeout": -1}]}]}
      |                                                                                                          ^^
      |
      = help: write a positive number, as in `"timeout": 60000`

    2 warnings: 1 hook in 1 file
    "#);
}

#[test]
fn a_syntax_error_for_people() {
    let sandbox = Sandbox::with_settings("{\n  \"hooks\": {\n    \"BeforeTool\": [}\n}\n");
    insta::assert_snapshot!(sandbox.run(&["check"]).ends_with(1).stdout, @r#"
    error[file-syntax]: not valid JSON: unexpected close brace
     --> .llxprt/settings.json:3:20
      |
    3 |     "BeforeTool": [}
      |                    ^
      |
      = help: `[` of line 3 is still open; close it with `]` first

    1 error: no hooks are configured
    "#);
}

#[test]
fn a_mark_at_the_beginning_of_a_file_does_not_move_the_caret() {
    let sandbox = Sandbox::with_settings("\u{feff}{\n  \"hooks\": []\n}\n");
    insta::assert_snapshot!(sandbox.run(&["check"]).ends_with(1).stdout, @r#"
    error[setting-type]: `hooks` must be an object, not a list
     --> .llxprt/settings.json:2:12
      |
    2 |   "hooks": []
      |            ^^
      |
      = help: write a value of that type

    1 error: no hooks are configured
    "#);
}

#[test]
fn a_very_long_line_is_not_printed_whole() {
    let sandbox = Sandbox::with_settings(&format!("{{\"x\": \"{}\", \"hooks\": []}}", "y".repeat(5_000)));
    let ran = sandbox.run(&["check"]).ends_with(1);
    assert!(ran.stdout.lines().all(|line| line.chars().count() < 200), "{}", ran.stdout);
    assert!(ran.stdout.contains("settings.json:1:5020"), "{}", ran.stdout);
    let sandbox = Sandbox::with_settings(&format!("{{\"x\": \"{}\", \"hooks\": []}}", "y".repeat(50_000)));
    let ran = sandbox.run(&["check"]).ends_with(1);
    assert!(ran.stdout.contains("settings.json:1:50020"), "{}", ran.stdout);
}

#[test]
fn what_a_file_holds_is_not_passed_to_the_terminal() {
    let sandbox = Sandbox::with_settings("{\"hooks\": \"\u{9b}31m\u{202e}x\"}");
    let ran = sandbox.run(&["check"]).ends_with(1);
    assert!(!ran.stdout.contains(['\u{9b}', '\u{202e}', '\u{1b}']), "{:?}", ran.stdout);
}

#[test]
fn no_problems() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    insta::assert_snapshot!(sandbox.run(&["check"]).ends_with(0).stdout, @"no problems: 1 hook in 1 file");
    insta::assert_snapshot!(Sandbox::new().run(&["check"]).ends_with(0).stdout, @"no problems: no hooks are configured");
}

const SEVERAL: &str = "\u{feff}// settings of a team\n{\n  /* hooks */\n  \"hooks\": {\n    \"BeforTool\": [{\"matcher\": \"Write|Edit\", \
    \"hooks\": [{\"type\": \"command\", \"name\": \"guard\", \"command\": \"./guard.sh\", \"timeout\": 5, }]}], // five seconds\n  },\n}\n";

const REPAIRED: &str = "\u{feff}// settings of a team\n{\n  \"hooksConfig\": {\"enabled\": true},\n  /* hooks */\n  \"hooks\": {\n    \"BeforeTool\": \
    [{\"matcher\": \"write_file|replace\", \"hooks\": [{\"type\": \"command\", \"name\": \"guard\", \"command\": \"./guard.sh\", \"timeout\": 5000, }]}], \
    // five seconds\n  },\n}\n";

#[test]
fn a_fix_changes_what_it_must_and_no_other_byte() {
    let sandbox = Sandbox::with_settings(SEVERAL);
    sandbox.write("guard.sh", "#!/bin/sh\r\nexit 0\r\n");
    // The name of the event hides the other mistakes, so one round is not enough.
    let ran = sandbox.run(&["check", "--fix", "--strict"]).ends_with(0);
    assert_eq!(sandbox.read(".llxprt/settings.json"), REPAIRED, "{}", ran.stdout);
    assert_eq!(sandbox.read("guard.sh"), "#!/bin/sh\nexit 0\n");
    sandbox.run(&["fire", "BeforeTool", "--tool", "write_file", "--trust-project"]).ends_with(0);
}

#[test]
fn a_fix_leaves_files_outside_of_the_project_alone() {
    let sandbox = Sandbox::with_hook("BeforeTool", "../guard.sh");
    sandbox.write_at("guard.sh", "#!/bin/sh\n");
    let ran = sandbox.run(&["check", "--fix", "--strict"]).ends_with(1);
    assert!(ran.stderr.contains("not changed: ") && ran.stderr.contains("change it by hand"), "{}", ran.stderr);
    sandbox.run(&["check"]).ends_with(0);
}

#[test]
fn strict_fails_on_what_lets_a_guard_pass_and_on_nothing_else() {
    let missing = Sandbox::with_hook("BeforeTool", "./missing.sh");
    missing.run(&["check"]).ends_with(0);
    missing.run(&["check", "--strict"]).ends_with(1);
    let loose = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "write", "hooks": [{"type": "command", "command": "true"}]}]"#,
    );
    let ran = loose.run(&["check", "--strict"]).ends_with(0);
    assert!(ran.stdout.contains("note[matcher-loose]"), "{}", ran.stdout);
}

#[test]
fn strict_fails_on_guards_that_are_switched_off() {
    let guard = r#""hooks": {"BeforeTool": [{"hooks": [{"type": "command", "name": "guard", "command": "true"}]}]}"#;
    for config in [
        r#""hooksConfig": {"enabled": false}"#,
        r#""enableHooks": false"#,
        r#""tools": {"enableHooks": false}"#,
        r#""hooksConfig": {"enabled": true, "disabled": ["guard"]}"#,
    ] {
        let sandbox = Sandbox::with_settings(&format!("{{{config},\n  {guard}}}"));
        sandbox.run(&["check"]).ends_with(0);
        let ran = sandbox.run(&["check", "--strict"]).ends_with(1);
        // The place is the switch and not the hook.
        assert!(ran.stdout.contains("guard-switched-off") && ran.stdout.contains("settings.json:1:"), "{}", ran.stdout);
    }
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let mut command = sandbox.command(&["check", "--strict"]);
    hookrail_testkit::ProgramOutput::capture(command.env("HOOKRAIL_DISABLE", "1")).ends_with(1);
    // What no operation depends on may be off.
    let note = r#""hooks": {"Notification": [{"hooks": [{"type": "command", "name": "tell", "command": "true"}]}]}"#;
    let sandbox =
        Sandbox::with_settings(&format!(r#"{{"hooksConfig": {{"enabled": true, "disabled": ["tell"]}}, {note}}}"#));
    let ran = sandbox.run(&["check", "--strict"]).ends_with(0);
    assert!(ran.stdout.contains("note[hook-switched-off]"), "{}", ran.stdout);
}

#[test]
fn a_list_of_the_user_may_name_hooks_of_other_projects() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let check = |list: &str| {
        sandbox.write_home(".llxprt/settings.json", format!(r#"{{"hooksConfig": {{"disabled": [{list}]}}}}"#));
        sandbox.run(&["check"]).ends_with(0).stdout
    };
    assert!(check(r#""of-another-project""#).contains("no problems"));
    assert!(check(r#""sampel""#).contains("did you mean `sample`?"));
}

#[test]
fn strict_fails_on_broken_modules_that_are_not_trusted() {
    for source in [
        "export const x = 1;\n",
        "import { x } from './nothing';\nexport default (pi) => pi.on('tool_call', x);\n",
        "export default (pi) => pi.onn('tool_call', () => undefined);\n",
        "export default (pi) => pi.on('tool_cal', () => undefined);\n",
        "export default (pi) => pi.on('tool_call', () => ({ deny: true }));\n",
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(".xcsh/hooks/guard.ts", source);
        sandbox.run(&["check", "--strict"]).ends_with(1);
    }
    let sandbox = Sandbox::new();
    let fine = "import { deny } from './deny';\nexport default (pi) => pi.on('tool_call', () => deny('no'));\n";
    sandbox.write(".xcsh/hooks/guard.ts", fine);
    sandbox.write(".xcsh/hooks/deny/index.ts", "export const deny = (reason: string) => ({ block: true, reason });\n");
    sandbox.run(&["check", "--strict"]).ends_with(0);
}

#[test]
fn a_name_that_is_only_similar_is_not_put_in_place_of_another() {
    let settings = |event: &str| {
        format!(
            "{{\n  \"hooksConfig\": {{\"enabled\": true}},\n  \"hooks\": {{\"{event}\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": \"true\"}}]}}]}}\n}}\n"
        )
    };
    for (written, fixed) in [
        ("beforeShellExecution", "beforeShellExecution"),
        ("BeforTool", "BeforeTool"),
        ("BeforeToolExecution", "BeforeToolExecution"),
    ] {
        let sandbox = Sandbox::with_settings(&settings(written));
        sandbox.run(&["check", "--fix"]);
        assert_eq!(sandbox.read(".llxprt/settings.json"), settings(fixed), "{written}");
    }
}

/// Of two equal keys the last one counts, so a renamed key would take the guards of another one away.
#[test]
fn a_fix_never_makes_two_equal_keys() {
    let settings = r#"{"hooksConfig": {"enabled": true}, "hooks": {
  "BeforeTool": [{"hooks": [{"type": "command", "command": "exit 2"}]}],
  "BeforTool": [{"hooks": [{"type": "command", "command": "true"}]}]}}
"#;
    let sandbox = Sandbox::with_settings(settings);
    let announced = |sandbox: &Sandbox| {
        let said = sandbox.run(&["check"]).stdout;
        said.rsplit_once("can repair ").map(|(_, count)| count.trim().to_owned())
    };
    assert_eq!(announced(&sandbox), None, "what `--fix` refuses is not announced");
    let ran = sandbox.run(&["check", "--fix"]);
    assert_eq!(sandbox.read(".llxprt/settings.json"), settings);
    assert!(ran.stderr.contains("the key \"BeforeTool\" is there already"), "{ran:?}");
    let two = settings.replace("BeforeTool", "BeforeTol");
    let sandbox = Sandbox::with_settings(&two);
    assert_eq!(announced(&sandbox).as_deref(), Some("1"));
    sandbox.run(&["check", "--fix"]);
    assert_eq!(sandbox.read(".llxprt/settings.json"), two.replace("BeforeTol", "BeforeTool"));
}

#[test]
fn a_misspelt_section_is_repaired_and_not_added_twice() {
    let settings = |config: &str, hooks: &str| {
        let entry = r#"{"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}"#;
        format!("{{\n  \"{config}\": {{\"enabled\": true}},\n  \"{hooks}\": {entry}\n}}\n")
    };
    for (config, hooks) in [("hookConfig", "hooks"), ("hooksConfig", "Hooks"), ("hooksconfig", "hook")] {
        let sandbox = Sandbox::with_settings(&settings(config, hooks));
        sandbox.run(&["check", "--strict"]).ends_with(1);
        sandbox.run(&["check", "--strict", "--fix"]).ends_with(0);
        assert_eq!(sandbox.read(".llxprt/settings.json"), settings("hooksConfig", "hooks"));
    }
}

#[test]
fn a_script_for_sh_that_needs_bash_gets_its_first_line() {
    let sandbox = Sandbox::with_hook("BeforeTool", "./guard.sh");
    sandbox.write_program("guard.sh", "#!/bin/sh\nif [[ -n x ]]; then exit 2; fi\n");
    sandbox.run(&["check", "--strict"]).ends_with(1);
    sandbox.run(&["check", "--strict", "--fix"]).ends_with(0);
    assert_eq!(sandbox.read("guard.sh"), "#!/usr/bin/env bash\nif [[ -n x ]]; then exit 2; fi\n");
}

#[test]
fn findings_for_github() {
    let sandbox = Sandbox::with_hook("BeforeTool", "./missing.sh");
    insta::assert_snapshot!(sandbox.run(&["check", "--format", "github"]).ends_with(0).stdout, @r#"::warning file=.llxprt/settings.json,line=4,col=76,title=script-missing::hook `sample` runs `./missing.sh`, which does not exist%0Ahelp: create it; a relative path starts at the directory of the event, so `"$LLXPRT_PROJECT_DIR/…"` is safer"#);
}

#[test]
fn findings_as_sarif() {
    let sandbox = Sandbox::with_hook("BeforeTool", "./missing.sh");
    let log = sandbox.run(&["check", "--format", "sarif"]).ends_with(0).json();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "script-missing");
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"script-missing".into(), &"warning".into()));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], ".llxprt/settings.json");
    assert_eq!(place["region"]["startLine"], 4);
    let clean = Sandbox::new().run(&["check", "--format", "sarif"]).ends_with(0).json();
    assert_eq!(clean["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn a_tool_that_a_script_needs_and_the_search_path_lacks() {
    let sandbox = Sandbox::with_hook("BeforeTool", "/bin/sh \"$LLXPRT_PROJECT_DIR/guard.sh\"");
    let check = |script: &str| {
        sandbox.write("guard.sh", script);
        let ran = hookrail_testkit::ProgramOutput::capture(sandbox.command(&["check", "--json"]).env("PATH", "/empty"));
        let found = ran.json()["diagnostics"].clone();
        found.as_array().unwrap().iter().map(|one| (one["code"].clone(), one["line"].clone())).collect::<Vec<_>>()
    };
    let missing = vec![("program-missing".into(), 2.into())];
    assert_eq!(check("#!/bin/sh\nname=$(jq -r .tool_name)\necho \"$name\" >&2\n"), missing);
    assert_eq!(check("#!/bin/sh\ncommand -v jq >/dev/null || exit 2\njq .\n"), []);
    assert_eq!(check("#!/bin/sh\njq() { cat; }\njq .\nmy-own-helper # jq\n"), []);
}

#[test]
fn nothing_is_run() {
    let sandbox = Sandbox::with_hook("BeforeTool", "touch ran; sh -c 'touch ran' $(touch ran)");
    sandbox.write(
        ".xcsh/hooks/a.ts",
        "import fs from 'node:fs';\nfs.writeFileSync('ran', '');\nexport default () => {};\n",
    );
    sandbox.run(&["check"]);
    assert!(!sandbox.exists("ran"));
}

/// Bash parses code that the grammar does not understand. It must not run any, and not read what an environment names.
#[test]
fn bash_is_asked_about_a_script_and_runs_nothing() {
    let sandbox = Sandbox::with_hook("BeforeTool", "bash guard.sh");
    let mark = sandbox.project.join("ran");
    let mark = mark.to_str().unwrap();
    let code = format!("touch '{mark}'; x=$(touch '{mark}') `touch '{mark}'`\ntrap \"touch '{mark}'\" EXIT; set +n\n");
    sandbox.write("guard.sh", format!("{code}cat <<E <(touch '{mark}')\n$(touch '{mark}')\nE\nif true; then\n"));
    for file in [".bashrc", ".bash_profile", ".profile", "startup"] {
        sandbox.write_home(file, &code);
    }
    sandbox.write_program("bin/bash", format!("#!/bin/sh\ntouch '{mark}'\n"));
    let startup = sandbox.home.join("startup");
    let with_startup = |mut command: std::process::Command| {
        let search_path = format!("{}:/usr/bin:/bin", sandbox.project.join("bin").display());
        command.env("BASH_ENV", &startup).env("ENV", &startup).env("PATH", search_path);
        command.env("SHELLOPTS", "xtrace").env("PS4", format!("$(touch '{mark}')"));
        hookrail_testkit::ProgramOutput::capture(&mut command)
    };
    let found = with_startup(sandbox.command(&["check", "--json"])).json()["diagnostics"].clone();
    let is_found = |found: &serde_json::Value| found["code"] == "script-syntax" && found["line"] == 6;
    assert!(found.as_array().unwrap().iter().any(is_found), "{found}");
    assert!(!sandbox.exists("ran"));
    let mut bash = sandbox.place_command("/bin/bash");
    bash.arg("guard.sh");
    with_startup(bash);
    assert!(sandbox.exists("ran"), "bash that is not told to parse only would have run it");
}
