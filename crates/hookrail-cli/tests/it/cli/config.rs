//! hookrail's own configuration: its limits, how the files are combined, and the diagnostics of mistakes.

use std::fs;

use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A hook that answers with about two KiB.
const LONG_ANSWER: &str = r#"printf '{"systemMessage": "%02000d"}' 0"#;

/// A module that writes a file when it is called, and reports whether that worked.
const WRITES: &str = r#"export default pi => {
  pi.on("tool_call", async () => {
    const { writeFileSync } = await import("node:fs");
    try { writeFileSync("written", "x"); return { block: true, reason: "wrote" }; }
    catch (error) { return { block: true, reason: "refused" }; }
  });
};
"#;

/// A slow module.
const SLOW: &str = r#"export default pi => {
  pi.on("tool_call", () => new Promise(done => setTimeout(() => done({ block: true, reason: "slept" }), 500)));
};
"#;

impl Sandbox {
    fn user_file(&self, text: &str) {
        self.in_home(".config/hookrail/config.toml", text);
    }

    fn project_file(&self, text: &str) {
        self.write(".hookrail/config.toml", text);
    }

    fn in_home(&self, name: &str, text: &str) {
        let path = self.home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A hook of the user's own, with a long answer.
    fn with_users_hook(self) -> Self {
        let hooks = json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": [
            {"type": "command", "name": "users", "command": format!("true; {LONG_ANSWER}")}
        ]}]}});
        self.in_home(".llxprt/settings.json", &hooks.to_string());
        self
    }

    fn fire(&self, options: &[&str]) -> Value {
        let arguments = [&["fire", "BeforeTool", "--tool", "bash", "--json"], options].concat();
        ProgramOutput::capture(&mut self.command(&arguments)).json()
    }
}

/// Returns how each hook ended.
fn ends(outcome: &Value) -> Vec<(&str, &str)> {
    let runs = outcome["runs"].as_array().unwrap().iter();
    runs.map(|run| (run["hook"].as_str().unwrap(), run["end"].as_str().unwrap())).collect()
}

fn codes(outcome: &Value) -> Vec<&str> {
    let findings = outcome["diagnostics"].as_array().unwrap().iter();
    findings.map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn mistakes_are_shown_with_their_place_and_harm_only_themselves() {
    let sandbox = Sandbox::new().with_users_hook();
    sandbox.user_file(
        "[limits]\nstdout-kib = 1\nstderr-kib = \"much\"\nproceses = 3\n\n[modules]\ncpu-ms = 0\n\
         capabilities = [\"read\", \"wirte\"]\n\n[notes]\npath = \"x\"\n",
    );
    let ran = sandbox.run(&["check"]).ends_with(1);
    insta::assert_snapshot!(ran.stdout, @r#"
    error[setting-type]: `stderr-kib` must be a whole number from 1 to 1048576, not text
     --> ~/.config/hookrail/config.toml:3:14
      |
    3 | stderr-kib = "much"
      |              ^^^^^^
      |
      = help: the default of 1024 stays in force

    warning[unknown-key]: `limits` has no setting `proceses`
     --> ~/.config/hookrail/config.toml:4:1
      |
    4 | proceses = 3
      | ^^^^^^^^
      |
      = help: did you mean `processes`?

    warning[setting-value]: `cpu-ms` must be a whole number from 1 to 86400000
     --> ~/.config/hookrail/config.toml:7:10
      |
    7 | cpu-ms = 0
      |          ^
      |
      = help: the default of 1000 stays in force

    warning[setting-value]: `wirte` is not a capability; it allows nothing
     --> ~/.config/hookrail/config.toml:8:25
      |
    8 | capabilities = ["read", "wirte"]
      |                         ^^^^^^^
      |
      = help: did you mean `write`?

    warning[unknown-key]: unknown section `notes`
      --> ~/.config/hookrail/config.toml:10:2
       |
    10 | [notes]
       |  ^^^^^
       |
       = help: the sections are `limits`, `modules`, `bus`, `guard`, `rules`, `dialects`, `run`, `sandbox`, `tools`, `journal`, `telemetry`

    1 error, 4 warnings: 1 hook in 1 file
    "#);
    assert_eq!(ends(&sandbox.fire(&[])), [("users", "output-limit")]);
}

#[test]
fn a_file_that_is_not_toml_leaves_modules_nothing_but_reading() {
    let sandbox = Sandbox::new();
    sandbox.in_home(".xcsh/agent/hooks/writes.js", WRITES);
    sandbox.user_file("[modules]\ncapabilities = [\"read\", \"network\"\nmemory-kib = 1024\n");
    insta::assert_snapshot!(sandbox.run(&["check"]).ends_with(1).stdout, @r"
    error[file-syntax]: invalid TOML: missing comma between array elements, expected `,`
     --> ~/.config/hookrail/config.toml:3:1
      |
    3 | memory-kib = 1024
      | ^
      |
      = help: until this is fixed, modules may only read, hooks of projects run in the sandbox `guard`, and the journal keeps neither inputs nor texts and denies what it cannot record

    error[load-failure]: configuration cannot be used, and `on_load_failure` is `block`: invalid TOML: missing comma between array elements, expected `,`

    2 errors: 1 hook in 1 file
    ");
    let outcome = sandbox.fire(&[]);
    assert!(codes(&outcome).contains(&"load-failure") && outcome["decision"] == "deny", "{outcome}");
    fs::remove_file(sandbox.home.join(".config/hookrail/config.toml")).unwrap();
    assert_eq!(sandbox.fire(&[])["reason"], "wrote");
    sandbox.user_file("[modules]\ncapabilities = \"read\"\n");
    let outcome = sandbox.fire(&[]);
    assert_eq!((&outcome["reason"], codes(&outcome)), (&json!("refused"), vec!["setting-type", "capability-refused"]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_floor_of_the_user_holds_for_hooks_of_the_project_alone() {
    let writes = |name: &str| format!("echo x > {name}; true");
    let sandbox = Sandbox::with_hook("BeforeTool", &writes("by-project"));
    let users = json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": writes("by-user")}]}]}});
    sandbox.in_home(".llxprt/settings.json", &users.to_string());
    let written = |name: &str| fs::remove_file(sandbox.project.join(name)).is_ok();
    for (text, project, found) in [
        ("[sandbox]\nfloor = \"none\"\n", true, vec![]),
        ("[sandbox]\nfloor = \"guard\"\n", false, vec![]),
        ("[sandbox]\nfloor = { write = [\".\"], network = false }\n", true, vec![]),
        ("[sandbox.floor]\nread = \"all\"\nwrite = []\n", false, vec![]),
        ("[sandbox]\nfloor = \"gaurd\"\n", false, vec!["sandbox-invalid"]),
        ("[sandbox]\nfloor = { wirte = [\".\"] }\n", false, vec!["sandbox-invalid"]),
        ("[sandbox]\nfloor = true\n", false, vec!["setting-type"]),
    ] {
        sandbox.user_file(text);
        let outcome = sandbox.fire(&["--trust-project"]);
        assert_eq!((written("by-user"), written("by-project")), (true, project), "{text}");
        assert_eq!(codes(&outcome), found, "{text}");
    }
}

#[test]
fn the_users_file_is_where_the_environment_says() {
    let sandbox = Sandbox::new().with_users_hook();
    sandbox.in_home("elsewhere/hookrail/config.toml", "[limits]\nstdout-kib = 1\n");
    let fire = ["fire", "BeforeTool", "--json"];
    let named =
        ProgramOutput::capture(sandbox.command(&fire).env("XDG_CONFIG_HOME", sandbox.home.join("elsewhere"))).json();
    assert_eq!(ends(&named), [("users", "output-limit")]);
    // A relative folder is ignored.
    sandbox.write("relative/hookrail/config.toml", "[limits]\nstdout-kib = 1\n");
    let relative = ProgramOutput::capture(sandbox.command(&fire).env("XDG_CONFIG_HOME", "relative")).json();
    assert_eq!(ends(&relative), [("users", "answered")]);
}

#[test]
fn a_projects_file_counts_when_the_project_is_trusted_and_for_its_own_hooks_only() {
    let sandbox = Sandbox::with_hook("BeforeTool", LONG_ANSWER).with_users_hook();
    sandbox.project_file("[limits]\nstdout-kib = 1\n");
    let untrusted = sandbox.fire(&[]);
    assert_eq!(ends(&untrusted), [("users", "answered")]);
    assert!(codes(&untrusted).contains(&"config-untrusted"), "{untrusted:#}");
    let trusted = sandbox.fire(&["--trust-project"]);
    assert_eq!(ends(&trusted), [("sample", "output-limit"), ("users", "answered")]);
    assert!(!codes(&trusted).contains(&"config-untrusted"), "{trusted:#}");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    assert_eq!(ends(&sandbox.fire(&[])), [("sample", "output-limit"), ("users", "answered")]);
}

#[test]
fn a_project_that_is_not_trusted_is_not_even_looked_into() {
    let sandbox = Sandbox::new();
    sandbox.project_file("this is not TOML");
    insta::assert_snapshot!(sandbox.run(&["check"]).ends_with(0).stdout, @r"
    warning[config-untrusted]: the project's configuration is ignored because the project is not trusted
    --> .hookrail/config.toml
     = help: review it, then run `hookrail trust grant`

    1 warning: no hooks are configured
    ");
    sandbox.run(&["check", "--trust-project"]).ends_with(1);
}

#[test]
fn a_project_cannot_get_more_than_its_user_allows() {
    let sandbox = Sandbox::with_hook("BeforeTool", LONG_ANSWER);
    sandbox.user_file("[limits]\nstdout-kib = 1\n\n[modules]\ncapabilities = [\"read\"]\n");
    sandbox.write(".xcsh/hooks/writes.js", WRITES);
    sandbox.project_file(
        "[limits]\nstdout-kib = 100\nprocesses = 1\n\n[modules]\ncapabilities = [\"read\", \"write\"]\n\
         cpu-ms = 999999\n\n[bus]\nrequests = 1\n",
    );
    insta::assert_snapshot!(sandbox.run(&["check", "--trust-project"]).ends_with(0).stdout, @r#"
    warning[config-wider]: `stdout-kib` is 100, but the user's limit is 1, which stays in force
     --> .hookrail/config.toml:2:1
      |
    2 | stdout-kib = 100
      | ^^^^^^^^^^
      |
      = help: a project can only reduce what the user allows

    warning[config-user-only]: `processes` can only be set in the user configuration
     --> .hookrail/config.toml:3:1
      |
    3 | processes = 1
      | ^^^^^^^^^
      |
      = help: it affects more than this project; set it in the user's `hookrail/config.toml`

    warning[config-wider]: `capabilities` exceeds what the user allows: `read`
     --> .hookrail/config.toml:6:1
      |
    6 | capabilities = ["read", "write"]
      | ^^^^^^^^^^^^
      |
      = help: a project can only reduce what the user allows

    warning[config-wider]: `cpu-ms` is 999999, but the user's limit is 1000, which stays in force
     --> .hookrail/config.toml:7:1
      |
    7 | cpu-ms = 999999
      | ^^^^^^
      |
      = help: a project can only reduce what the user allows

    warning[config-user-only]: `requests` can only be set in the user configuration
      --> .hookrail/config.toml:10:1
       |
    10 | requests = 1
       | ^^^^^^^^
       |
       = help: it affects more than this project; set it in the user's `hookrail/config.toml`

    5 warnings: 2 hooks in 2 files
    "#);
    let outcome = sandbox.fire(&["--trust-project"]);
    assert_eq!(ends(&outcome)[0], ("sample", "output-limit"));
    assert_eq!(outcome["reason"], "refused");
}

#[test]
fn what_a_project_does_not_mention_stays_as_its_user_has_it() {
    let sandbox = Sandbox::new();
    sandbox.user_file("[modules]\ncapabilities = [\"read\", \"write\", \"network\"]\nmemory-kib = 131072\n");
    sandbox.write(
        ".xcsh/hooks/holds.js",
        "export default pi => { pi.on(\"tool_call\", () => {\n\
         const held = []; for (let i = 0; i < 80; i++) held.push(new Uint8Array(1 << 20));\n\
         return { block: true, reason: \"held \" + held.length }; }); };\n",
    );
    sandbox.project_file("[limits]\nstdout-kib = 10\n");
    assert_eq!(sandbox.fire(&["--trust-project"])["reason"], "held 80");
    sandbox.project_file("[modules]\nmemory-kib = 8192\n");
    assert_eq!(ends(&sandbox.fire(&["--trust-project"]))[0].1, "limit");
}

#[test]
fn a_project_takes_time_from_its_own_modules_and_from_no_others() {
    let sandbox = Sandbox::new();
    sandbox.project_file("[modules]\nwall-ms = 50\n");
    sandbox.in_home(".xcsh/agent/hooks/slow.js", SLOW);
    assert_eq!(sandbox.fire(&["--trust-project"])["reason"], "slept");
    sandbox.write(".xcsh/hooks/slow.js", SLOW);
    let outcome = sandbox.fire(&["--trust-project"]);
    assert_eq!(ends(&outcome)[0].1, "timed-out", "{outcome:#}");
}

#[cfg(not(feature = "otel"))]
#[test]
fn a_program_without_telemetry_reports_that_it_is_configured() {
    let sandbox = Sandbox::new();
    sandbox.user_file("[telemetry]\nendpoint = \"http://127.0.0.1:4318\"\n");
    let served = ProgramOutput::capture(&mut sandbox.command(&["serve", "--stdio"])).ends_with(0);
    insta::assert_snapshot!(served.stderr, @r#"
    error[telemetry-unusable]: telemetry is configured, and this program cannot export it
     --> ~/.config/hookrail/config.toml:2:1
      |
    2 | endpoint = "http://127.0.0.1:4318"
      | ^^^^^^^^
      |
      = help: install one that has it: `cargo install --profile dist --path crates/hookrail-cli --features otel`, or remove the setting
    "#);
}

/// What is wrong with a file is quoted, and a project's file may be a link to a secret of the user.
#[cfg(unix)]
#[test]
fn a_configuration_outside_of_its_project_is_not_quoted() {
    let sandbox = Sandbox::new();
    for secret in ["hunter22 = 1\n", "[hunter22]\n", "hunter22\n", "[limits]\nhunter22 = 1\n"] {
        sandbox.in_home("credentials", secret);
        sandbox.project_file("");
        let linked = sandbox.project.join(".hookrail/config.toml");
        fs::remove_file(&linked).unwrap();
        std::os::unix::fs::symlink(sandbox.home.join("credentials"), &linked).unwrap();
        for args in [&["check", "--trust-project"][..], &["check", "--trust-project", "--json"]] {
            let ran = sandbox.run(args).ends_with(1);
            assert!(ran.stdout.contains("a link leads out of the project"), "{}", ran.stdout);
            assert!(!(ran.stdout + &ran.stderr).contains("hunter22"), "{secret}");
        }
        fs::remove_file(&linked).unwrap();
        sandbox.write("elsewhere.toml", "[limits]\nhunter22 = 1\n");
        std::os::unix::fs::symlink("../elsewhere.toml", &linked).unwrap();
        let ran = sandbox.run(&["check", "--trust-project"]).ends_with(0);
        assert!(ran.stdout.contains("hunter22"), "the control, a link inside of the project: {}", ran.stdout);
        fs::remove_file(&linked).unwrap();
    }
}

/// A file of the machine, which counts for every user.
fn system_file(sandbox: &Sandbox, text: &str) -> std::path::PathBuf {
    sandbox.write_at("machine/etc/hookrail/config.toml", text)
}

/// `check` with the file of the machine.
fn check_with_system(sandbox: &Sandbox) -> ProgramOutput {
    let mut command = sandbox.command(&["check", "--json"]);
    ProgramOutput::capture(command.env("HOOKRAIL_FLEET_ROOT", sandbox.path("machine")))
}

#[test]
fn only_the_user_and_the_system_switch_dialects_on() {
    let sandbox = Sandbox::new();
    sandbox.user_file("[dialects]\nenabled = [\"claud\", 7, \"claude\"]\n");
    sandbox.project_file("[dialects]\nenabled = [\"claude\"]\n");
    system_file(&sandbox, "[dialects]\nenabled = [\"claude\"]\n\n[bus]\nrequests = 3\n");
    let mut command = sandbox.command(&["check", "--json", "--trust-project"]);
    let found = ProgramOutput::capture(command.env("HOOKRAIL_FLEET_ROOT", sandbox.path("machine"))).json();
    let messages: Vec<&str> =
        found["diagnostics"].as_array().unwrap().iter().map(|found| found["message"].as_str().unwrap()).collect();
    assert_eq!(
        messages,
        [
            "`claud` is not a dialect that can be switched on",
            "a whole number is not a dialect that can be switched on",
            "`requests` can only be set in the user configuration",
            "`enabled` can only be set in the user configuration",
        ]
    );
    sandbox.user_file("[dialects]\nenabled = \"claude\"\n");
    let found = sandbox.run(&["check", "--json"]).json();
    let message = found["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains("it is read as a list of one"), "{found}");
}

/// A file of the machine that cannot be used may have switched guards on.
#[test]
fn a_system_file_that_cannot_be_used_denies() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    let fire = || {
        let mut command = sandbox.command(&["fire", "BeforeTool", "--tool", "bash", "--json"]);
        ProgramOutput::capture(command.env("HOOKRAIL_FLEET_ROOT", sandbox.path("machine")))
    };
    let file = system_file(&sandbox, "[dialects]\nenabled = []\n");
    fire().ends_with(0);
    for text in ["[dialects", "", " \n"] {
        system_file(&sandbox, text);
        let outcome = fire().ends_with(2).json();
        let codes: Vec<&str> =
            outcome["diagnostics"].as_array().unwrap().iter().map(|found| found["code"].as_str().unwrap()).collect();
        assert!(codes.contains(&"system-unusable"), "{outcome}");
    }
    system_file(&sandbox, "[dialects]\nenabled = []\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    fire().ends_with(2);
    assert!(check_with_system(&sandbox).stdout.contains("system-unusable"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    fire().ends_with(0);
}
