//! A project and a home directory of their own, with `hookrail` on the search path.

use std::ops::Deref;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

pub(super) use hookrail_testkit::ProgramOutput;
use hookrail_testkit::{OtlpReceiver, TestProject, search_path_after};
use serde_json::Value;

pub(super) struct Sandbox {
    place: TestProject,
}

impl Deref for Sandbox {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.place
    }
}

impl Sandbox {
    pub(super) fn new() -> Self {
        Self::at(TestProject::new())
    }

    /// A project with these settings.
    pub(super) fn with_settings(text: &str) -> Self {
        Self::at(TestProject::with_settings(text))
    }

    fn at(place: TestProject) -> Self {
        std::fs::create_dir(place.path("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_hookrail"), place.path("bin/hookrail")).unwrap();
        // A hook in Rust is built with this tree in place of its repository.
        place.write_at(".cargo/config.toml", crate::rust_hooks::CARGO_CONFIG);
        let cargo = format!(
            "#!/bin/sh\nfor word; do\n  case $word in\n    */Cargo.toml) sed -i 's|git = \"{}\"|path = \"{}/../hookrail-hook\"|' \"$word\" ;;\n  \
             esac\ndone\nexec {} \"$@\"\n",
            env!("CARGO_PKG_REPOSITORY"),
            env!("CARGO_MANIFEST_DIR"),
            env!("CARGO"),
        );
        place.write_program_at("bin/cargo", &cargo);
        Self { place }
    }

    /// A program in the project, in a clean environment.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = self.place.command(program);
        command.env("PATH", search_path_after(&self.path("bin")));
        // A page about telemetry has a collector in Python.
        command.env("PYTHONPATH", OtlpReceiver::packages());
        // The Rust tools keep their files in the home of the user who runs the tests.
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            command.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(folder).into_os_string()));
        }
        command
    }

    pub(super) fn hookrail(&self, args: &[&str]) -> ProgramOutput {
        ProgramOutput::capture(self.command("hookrail").args(args))
    }

    /// Fires an event in the trusted project.
    pub(super) fn fire(&self, event: &str, payload: &Value, variables: &[(String, String)]) -> ProgramOutput {
        let mut command = self.command("hookrail");
        command.args(["fire", event, "--trust-project", "--json", "--payload", "-"]);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        ProgramOutput::with_input(&mut command, &payload.to_string())
    }

    /// Whether a program can be run here, or, as in `python3:json`, a module of Python can be imported. A shell need not know any
    /// option, and is always there.
    fn can_run(&self, program: &str) -> bool {
        if let Some(module) = program.strip_prefix("python3:") {
            let mut import = self.command("python3");
            return import.args(["-c", &format!("import {module}")]).status().is_ok_and(|status| status.success());
        }
        program == "sh" || self.command(program).arg("--version").status().is_ok_and(|status| status.success())
    }
}

/// The programs that are missing here, unless all are required.
pub(super) fn missing<'p>(programs: impl IntoIterator<Item = &'p str>) -> Vec<&'p str> {
    let sandbox = Sandbox::new();
    let missing: Vec<&str> = programs.into_iter().filter(|program| !sandbox.can_run(program)).collect();
    let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required || missing.is_empty(), "HOOKRAIL_REQUIRE_ALL=1, and these are missing: {missing:?}");
    missing
}
