//! Who may ask for telemetry, and what mistakes look like.

use std::os::unix::fs::PermissionsExt as _;

use hookrail_testkit::{OtlpReceiver, SilentCollector};

use crate::telemetry::support::Sandbox;

#[test]
fn nothing_is_exported_unless_the_user_says_so() {
    let collector = SilentCollector::new();
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["serve", "--stdio"]);
    for name in ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] {
        command.env(name, &collector.endpoint);
    }
    assert_eq!(sandbox.serve_with(&mut command).stderr, "");
    assert!(!collector.was_reached());
}

#[test]
fn a_project_cannot_turn_it_on_or_change_it() {
    let (of_project, of_user) = (SilentCollector::new(), SilentCollector::new());
    let sandbox = Sandbox::new();
    sandbox.write(
        ".hookrail/config.toml",
        format!("[telemetry]\nendpoint = \"{}\"\ninputs = true\n", of_project.endpoint),
    );
    let settings = format!(r#"{{"env": {{"OTEL_EXPORTER_OTLP_ENDPOINT": "{}"}}}}"#, of_project.endpoint);
    for file in [".llxprt/settings.json", ".claude/settings.json"] {
        sandbox.write(file, &settings);
    }
    let served = sandbox.serve(&["--trust-project"]);
    assert!(
        served.stderr.contains("warning[config-user-only]: `endpoint` can only be set in the user configuration"),
        "{}",
        served.stderr
    );
    sandbox.user_config(&format!("[telemetry]\nendpoint = \"{}\"\nshutdown-ms = 100\n", of_user.endpoint));
    sandbox.serve(&["--trust-project"]);
    assert!(!of_project.was_reached() && of_user.was_reached());
}

#[test]
fn mistakes_have_a_place_and_a_fix_and_hooks_work_all_the_same() {
    let sandbox = Sandbox::new();
    let stderr = |text: &str| {
        sandbox.user_config(text);
        // `serve` asserts that the guard still denies. The log repeats what is shown here in a line for each finding.
        let served = sandbox.serve(&[]);
        let shown = served.stderr.lines().filter(|line| !line.contains(" WARN hookrail::bus: "));
        shown.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(stderr("[telemetry]\nendpoint = \"localhost:4318\"\n"), @r#"
    warning[setting-value]: `endpoint` must be an address that begins with "http://" or "https://"
     --> ~/.config/hookrail/config.toml:2:12
      |
    2 | endpoint = "localhost:4318"
      |            ^^^^^^^^^^^^^^^^
      |
      = help: write a base address, such as "http://127.0.0.1:4318"; until this is fixed, nothing is exported
    "#);
    insta::assert_snapshot!(stderr("[telemetry]\nendpoint = \"https://me:secret@collector\"\n"), @r#"
    error[telemetry-unusable]: `endpoint` cannot be used: it holds a user name or a password, which belong into the file of headers
     --> ~/.config/hookrail/config.toml:2:1
      |
    2 | endpoint = "https://me:secret@collector"
      | ^^^^^^^^
      |
      = help: write the base address of a collector, such as "http://127.0.0.1:4318"
    "#);
    let several = "[telemetry]\nendpiont = \"http://127.0.0.1:4318\"\nsample-percent = 200\ninputs = \"yes\"\n";
    insta::assert_snapshot!(stderr(several), @r#"
    warning[unknown-key]: `telemetry` has no setting `endpiont`
     --> ~/.config/hookrail/config.toml:2:1
      |
    2 | endpiont = "http://127.0.0.1:4318"
      | ^^^^^^^^
      |
      = help: did you mean `endpoint`?

    warning[setting-value]: `sample-percent` must be a whole number from 0 to 100
     --> ~/.config/hookrail/config.toml:3:18
      |
    3 | sample-percent = 200
      |                  ^^^
      |
      = help: the default of 100 stays in force

    error[setting-type]: `inputs` must be true or false, not text
     --> ~/.config/hookrail/config.toml:4:10
      |
    4 | inputs = "yes"
      |          ^^^^^
    "#);
}

#[test]
fn a_file_of_headers_that_others_can_read_is_refused() {
    let collector = SilentCollector::new();
    let sandbox = Sandbox::new();
    let headers = sandbox.write_home("headers", "authorization: Bearer secret\n");
    std::fs::set_permissions(&headers, std::fs::Permissions::from_mode(0o644)).unwrap();
    let path = headers.display();
    sandbox.user_config(&format!("[telemetry]\nendpoint = \"{}\"\nheaders-file = \"{path}\"\n", collector.endpoint));
    let stderr = sandbox.serve(&[]).stderr;
    assert!(stderr.contains("error[telemetry-unusable]: the headers cannot be used:"), "{stderr}");
    assert!(stderr.contains("config.toml:3:1") && stderr.contains(&format!("chmod 600 {path}")), "{stderr}");
    assert!(!stderr.contains("secret") && !collector.was_reached());
}

#[test]
fn the_file_of_headers_is_sent() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let sandbox = Sandbox::new();
    let headers = sandbox.write_home("headers", "authorization: Bearer secret\n");
    std::fs::set_permissions(&headers, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (endpoint, path) = (&collector.endpoint, headers.display());
    sandbox.user_config(&format!("[telemetry]\nendpoint = \"{endpoint}\"\nheaders-file = \"{path}\"\n"));
    sandbox.serve(&[]);
    let _ = collector.wait_for("metrics", 3);
    assert!(collector.requests().iter().all(|request| request["headers"]["authorization"] == "Bearer secret"));
}

#[test]
fn the_settings_of_the_system_come_before_those_of_the_user_as_a_whole() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let of_user = SilentCollector::new();
    let sandbox = Sandbox::new();
    sandbox.user_config(&format!("[telemetry]\nendpoint = \"{}\"\ninputs = true\n", of_user.endpoint));
    let system = format!("[telemetry]\nendpoint = \"{}\"\n\n[bus]\nrequests = 3\n", collector.endpoint);
    let file = sandbox.write_at("machine/etc/hookrail/config.toml", system);
    let command = || {
        let mut command = sandbox.command(&["serve", "--stdio"]);
        command.env("HOOKRAIL_FLEET_ROOT", sandbox.path("machine"));
        command
    };
    let stderr = sandbox.serve_with(&mut command()).stderr;
    assert!(stderr.contains("`requests` can only be set in the user configuration"), "{stderr}");
    let spans = collector.wait_for("spans", 2);
    assert!(spans.iter().all(|span| span["attributes"].get("hookrail.input").is_none()), "{spans:?}");
    assert!(!of_user.was_reached());
    // A file that others can change counts for nothing, and neither does the user's then. The machine's guards may be missing with
    // it, so the call is denied.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    let refused = sandbox.ask(&mut command());
    assert!(refused.stdout.contains(r#""code":"system_unusable""#), "{refused:?}");
    assert!(refused.stderr.contains("error[system-file-unsafe]"), "{refused:?}");
    assert!(!of_user.was_reached());
    assert_eq!(collector.received("spans").len(), 2);
}
