//! `plugin`: the printed reports, and the changes on disk.

use std::fs;

use crate::cli::sandbox::Sandbox;

/// A home with one installed plugin, a project with another, and a folder to install from.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let home = |name: &str, text: &str| {
        let path = sandbox.home.join(".x-code/plugins").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    home(
        "installed_plugins.json",
        r#"{"plugins": [{"id": "lint@market", "name": "lint", "marketplace": "market", "version": "1.0.0"}]}"#,
    );
    home(
        "cache/market/lint/1.0.0/plugin.json",
        r#"{"name": "lint", "hooks": {"PreToolUse": [{"command": "true", "timeout": 60000}]}}"#,
    );
    sandbox.write(
        ".x-code/plugins/gate/plugin.json",
        r#"{"name": "gate", "version": "0.2.0", "hooks": {"PreToolUse": [{"command": "true"}]}}"#,
    );
    sandbox.write(
        "source/plugin.json",
        r#"{"name": "fresh", "version": "3.0.0", "description": "Looks at writes",
            "hooks": {"PreToolUse": [{"matcher": "write", "command": "node ${pluginDir}/x.js"}]}}"#,
    );
    sandbox
}

#[test]
fn list_for_people() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.steady(&sandbox.run(&["plugin", "list"]).ends_with(0).stdout), @r"
    on         lint@market  1.0.0  1 hook  installed  ~/.x-code/plugins/cache/market/lint/1.0.0
    untrusted  gate@local   0.2.0  1 hook  project    .x-code/plugins/gate
    hint: 1 warning; run `hookrail plugin doctor` for details
    hint: 1 hook is not trusted; run `hookrail trust grant` to look at it and trust it
    ");
    insta::assert_snapshot!(Sandbox::new().run(&["plugin", "list"]).ends_with(0).stdout, @r"
    no plugins were found
    hint: run `hookrail plugin install DIR` to install one
    ");
}

#[test]
fn doctor_for_people() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.steady(&sandbox.run(&["plugin", "doctor"]).ends_with(0).stdout), @r#"
    warning[timeout-clamped]: `timeout` is over the ceiling of  [TIME]  and was cut to that
     --> ~/.x-code/plugins/cache/market/lint/1.0.0/plugin.json:1:74
      |
    1 | {"name": "lint", "hooks": {"PreToolUse": [{"command": "true", "timeout": 60000}]}}
      |                                                                          ^^^^^

    on         lint@market  1.0.0  1 hook  installed  ~/.x-code/plugins/cache/market/lint/1.0.0
    untrusted  gate@local   0.2.0  1 hook  project    .x-code/plugins/gate
    1 warning: 2 plugins
    hint: 1 hook is not trusted; run `hookrail trust grant` to look at it and trust it
    "#);
}

#[test]
fn install_shows_what_would_run_and_does_nothing_without_an_answer() {
    let sandbox = sandbox();
    let ran = sandbox.run(&["plugin", "install", "source"]).ends_with(1);
    insta::assert_snapshot!(sandbox.steady(&ran.stdout), @r"
    fresh@local 3.0.0
      Looks at writes
      PreToolUse write  source/plugin.json:2
        node ${pluginDir}/x.js
    ");
    insta::assert_snapshot!(sandbox.steady(&ran.stderr), @r"
    error: nothing was installed: there is no terminal to ask on
    hint: pass `--yes` to install what is shown above
    ");
    assert!(!sandbox.home.join(".x-code/plugins/cache/local").exists());
    let ran = sandbox.run(&["plugin", "install", "source", "--yes"]).ends_with(0);
    assert!(ran.stdout.contains("installed: fresh@local 3.0.0"), "{}", ran.stdout);
    let ran = sandbox.run(&["plugin", "uninstall", "fresh@local"]).ends_with(0);
    insta::assert_snapshot!(ran.stdout, @"uninstalled: fresh@local");
}

#[cfg(unix)]
#[test]
fn links_that_lead_outside_are_left_out_and_named() {
    let sandbox = sandbox();
    sandbox.write("secret.txt", "secret");
    sandbox.write("source/inside.txt", "inside");
    std::os::unix::fs::symlink(sandbox.project.join("secret.txt"), sandbox.project.join("source/out.txt")).unwrap();
    std::os::unix::fs::symlink("inside.txt", sandbox.project.join("source/in.txt")).unwrap();
    std::os::unix::fs::symlink("nowhere", sandbox.project.join("source/dangling")).unwrap();
    let ran = sandbox.run(&["plugin", "install", "source", "--yes"]).ends_with(0);
    assert!(ran.stdout.contains("source/out.txt` was not installed"), "{}", ran.stdout);
    let installed = sandbox.home.join(".x-code/plugins/cache/local/fresh/3.0.0");
    assert!(!installed.join("out.txt").exists());
    assert!(!installed.join("dangling").is_symlink());
    assert_eq!(fs::read_to_string(installed.join("in.txt")).unwrap(), "inside");
}

#[cfg(unix)]
#[test]
fn a_dangling_link_among_a_projects_plugins_is_reported() {
    let sandbox = sandbox();
    std::os::unix::fs::symlink("nowhere", sandbox.project.join(".x-code/plugins/lost")).unwrap();
    let document = sandbox.run(&["plugin", "doctor", "--json"]).ends_with(1).json();
    let codes: Vec<&str> =
        document["diagnostics"].as_array().unwrap().iter().map(|found| found["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"plugin-missing"), "{codes:?}");
    let check = sandbox.run(&["check", "--json"]).ends_with(1).json();
    assert!(check["diagnostics"].to_string().contains("plugin-missing"));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_folder_of_a_projects_plugins_is_a_plugin() {
    let sandbox = sandbox();
    let manifest = r#"{"name": "shared", "hooks": {"PreToolUse": [{"command": "true"}]}}"#;
    sandbox.write("elsewhere/plugin.json", manifest);
    std::os::unix::fs::symlink("../../elsewhere", sandbox.project.join(".x-code/plugins/linked")).unwrap();
    let document = sandbox.run(&["plugin", "list", "--json"]).ends_with(0).json();
    assert!(document["plugins"].to_string().contains("shared@local"), "{document}");
}

#[test]
fn a_changed_script_of_a_projects_plugin_asks_again() {
    let sandbox = sandbox();
    let manifest = r#"{"name": "gate", "hooks": {"PreToolUse": [{"command": "sh \"${pluginDir}\"/'run me.sh'"}]}}"#;
    sandbox.write(".x-code/plugins/gate/plugin.json", manifest);
    sandbox.write(".x-code/plugins/gate/run me.sh", "echo '{\"decision\":\"deny\",\"reason\":\"granted\"}'");
    let fire = ["fire", "PreToolUse", "--tool", "x", "--tool-input", "{}", "--json"];
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    assert_eq!(sandbox.run(&fire).ends_with(2).json()["reason"], "granted");
    sandbox.write(".x-code/plugins/gate/run me.sh", "touch ran");
    let document = sandbox.run(&fire).ends_with(0).json();
    assert_eq!(document["skipped"][0]["why"], "untrusted");
    assert!(!sandbox.project.join("ran").exists());
}

#[test]
fn enable_and_disable() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.steady(&sandbox.run(&["plugin", "disable", "lint@market"]).ends_with(0).stdout), @r"
    disabled: lint@market in ~/.x-code/settings.json
    hint: a running agent applies this after `/plugin refresh`
    ");
    assert!(sandbox.run(&["plugin", "list"]).stdout.contains("off"));
    sandbox.run(&["plugin", "disable", "gate@local", "--scope", "project"]).ends_with(0);
    let settings = fs::read_to_string(sandbox.project.join(".x-code/settings.local.json")).unwrap();
    assert!(settings.contains("\"gate@local\": false"), "{settings}");
    sandbox.run(&["plugin", "disable", "gate@local"]).ends_with(0);
    let ran = sandbox.run(&["plugin", "enable", "gate@local", "--scope", "project"]).ends_with(0);
    insta::assert_snapshot!(sandbox.steady(&ran.stdout), @r"
    enabled: gate@local in .x-code/settings.local.json
    hint: a running agent applies this after `/plugin refresh`
    ");
}

#[test]
fn wrong_names_get_help() {
    let sandbox = sandbox();
    let error = |args: &[&str]| sandbox.steady(&sandbox.run(args).ends_with(1).stderr);
    insta::assert_snapshot!(error(&["plugin", "disable", "lnt@market"]), @r"
    error: there is no plugin `lnt@market`
    hint: did you mean `lint@market`?
    ");
    insta::assert_snapshot!(error(&["plugin", "disable", "lint@market", "--scope", "project"]), @r"
    error: `lint@market` is not a plugin of this project
    hint: project settings apply only to plugins of the project; omit `--scope project`
    ");
    insta::assert_snapshot!(error(&["plugin", "uninstall", "gate@local"]), @r"
    error: `gate@local` is not installed: it is part of the project
    hint: remove `.x-code/plugins/gate` from the project
    ");
    insta::assert_snapshot!(error(&["plugin", "install", "nowhere"]), @r"
    error: `nowhere` cannot be read: No such file or directory (os error 2)
    hint: give the directory that holds the plugin's manifest
    hint: `hookrail new --dialect xcode` creates a plugin
    ");
    insta::assert_snapshot!(error(&["plugin", "install", "."]), @r"
    error: `[PROJECT]` has no manifest, so it is no plugin
    hint: write one of `.x-code-plugin/plugin.json`, `.claude-plugin/plugin.json`, `plugin.json`
    ");
}

#[test]
fn a_unique_beginning_of_a_name_is_enough() {
    let sandbox = sandbox();
    sandbox.write(".x-code/plugins/lantern/plugin.json", r#"{"name": "lantern", "version": "1.0.0"}"#);
    let said = sandbox.run(&["plugin", "disable", "li"]).ends_with(0).stdout;
    assert!(said.starts_with("disabled: lint@market in "), "{said}");
    insta::assert_snapshot!(sandbox.run(&["plugin", "disable", "l"]).ends_with(1).stderr, @r"
    error: `l` is the beginning of several plugins
    hint: name one of `lantern@local`, `lint@market`
    ");
    let installed = sandbox.run(&["plugin", "install", "lan", "--yes"]).ends_with(0).stdout;
    assert!(installed.contains("installed: lantern@"), "{installed}");
    insta::assert_snapshot!(sandbox.run(&["plugin", "install", "lint", "--yes"]).ends_with(1).stderr, @r"
    error: `lint@market` is installed already
    hint: give the directory of another version to replace it
    ");
    let removed = sandbox.run(&["plugin", "uninstall", "lint"]).ends_with(0).stdout;
    assert!(removed.starts_with("uninstalled: lint@market"), "{removed}");
}

#[test]
fn a_url_is_not_installed_from() {
    let sandbox = sandbox();
    for url in ["https://example.com/gate.git", "git@example.com:me/gate.git", "ssh://example.com/gate"] {
        let said = sandbox.run(&["plugin", "install", url, "--yes"]).ends_with(1).stderr;
        assert!(said.contains(&format!("`{url}` is a URL, and plugins are installed from a directory")), "{said}");
        assert!(said.contains("`git clone URL DIR`, then `hookrail plugin install DIR`"), "{said}");
    }
}
