//! The GitHub Action and the definition for pre-commit: the commands in them are run as they are written.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use yaml_rust2::{Yaml, YamlLoader};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

fn parsed(file: &str) -> Yaml {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    YamlLoader::load_from_str(&std::fs::read_to_string(path).unwrap()).unwrap().remove(0)
}

/// A project with a recipe of the cookbook and its cases.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    let recipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hooks/test-gate");
    let text = |file: &str| std::fs::read_to_string(recipe.join(file)).unwrap();
    sandbox.write(".llxprt/settings.json", text("settings.json"));
    sandbox.write_program(".llxprt/hooks/test-gate.sh", text("test-gate.sh"));
    let cases = text("test-gate.hooktest.toml");
    let cases = cases.replace("settings = \"settings.json\"\n", "").replace("copy = {", "# copy = {");
    sandbox.write(".llxprt/hooks/test-gate.hooktest.toml", cases);
    sandbox
}

/// A shell in the project that finds `hookrail` and no `cargo`.
fn shell(sandbox: &Sandbox, script: &str) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_hookrail"));
    let mut path = OsString::from(binary.parent().unwrap());
    path.push(":/usr/local/bin:/usr/bin:/bin");
    let mut command = sandbox.place_command("bash");
    command.args(["-e", "-o", "pipefail", "-c", script]).env("PATH", path);
    command
}

/// The steps of the action: their commands, and their variables.
fn steps() -> Vec<(String, Vec<(String, String)>)> {
    let action = parsed("action.yml");
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    let inputs = &action["inputs"];
    let filled = |text: &str| match text.strip_prefix("${{ inputs.").and_then(|rest| rest.strip_suffix(" }}")) {
        Some(input) => inputs[input]["default"].as_str().unwrap().to_owned(),
        None => text.to_owned(),
    };
    let steps = action["runs"]["steps"].as_vec().unwrap().iter().map(|step| {
        assert_eq!(step["shell"].as_str(), Some("bash"), "a step of a composite action names its shell");
        let run = step["run"].as_str().unwrap();
        assert!(!run.contains("${{"), "an input in a command could add a command: {run}");
        let variables = step["env"].as_hash().into_iter().flatten();
        let variables =
            variables.map(|(name, value)| (name.as_str().unwrap().to_owned(), filled(value.as_str().unwrap())));
        (run.to_owned(), variables.collect())
    });
    steps.collect()
}

#[test]
fn the_action_runs_in_a_project() {
    let sandbox = project();
    let mut commands = String::new();
    for (run, variables) in steps() {
        let ran = ProgramOutput::capture(shell(&sandbox, &run).envs(variables));
        assert_eq!(ran.code, 0, "{run}\n{}{}", ran.stdout, ran.stderr);
        commands.push_str(&run);
    }
    assert!(commands.contains("hookrail check --strict") && commands.contains("hookrail test"), "{commands}");
    sandbox.write_program(".llxprt/hooks/test-gate.sh", "#!/bin/sh\nexit 0\n");
    let statuses: Vec<i32> = steps()
        .iter()
        .map(|(run, variables)| ProgramOutput::capture(shell(&sandbox, run).envs(variables.clone())).code)
        .collect();
    assert_eq!(statuses, [0, 0, 1], "a broken hook fails its cases");
    sandbox.write(".llxprt/settings.json", "{");
    let (check, variables) = steps().remove(1);
    let ran = ProgramOutput::capture(shell(&sandbox, &check).envs(variables));
    assert!(ran.code == 1 && ran.stdout.starts_with("::error file=.llxprt/settings.json,line=1"), "{}", ran.stdout);
}

#[test]
fn the_definition_for_pre_commit_runs_in_a_project() {
    let sandbox = project();
    let hooks = parsed(".pre-commit-hooks.yaml");
    let entries: Vec<&str> = hooks.as_vec().unwrap().iter().map(|hook| hook["entry"].as_str().unwrap()).collect();
    assert_eq!(entries, ["hookrail check --strict", "hookrail test --trust-project"]);
    for hook in hooks.as_vec().unwrap() {
        for key in ["id", "name", "language", "files"] {
            assert!(hook[key].as_str().is_some(), "{key}");
        }
        assert_eq!(hook["pass_filenames"].as_bool(), Some(false));
    }
    for entry in &entries {
        let ran = ProgramOutput::capture(&mut shell(&sandbox, entry));
        assert_eq!(ran.code, 0, "{entry}\n{}{}", ran.stdout, ran.stderr);
    }
    sandbox.write_program(".llxprt/hooks/test-gate.sh", "#!/bin/sh\nexit 0\n");
    assert_eq!(ProgramOutput::capture(&mut shell(&sandbox, entries[1])).code, 1);
}
