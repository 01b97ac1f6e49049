//! Programs that a project puts in the place of those that guards need: on the search path, behind links, as interpreters.
//! Each attack is tried through `fire`, the agent and a bridge, and each has a control that is allowed.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use hookrail_testkit::{ProgramOutput, TestProject, has_program};
use serde_json::{Value, json};

/// A guard as a command line for a shell: it denies what mentions `forbidden`.
const GUARD: &str = "case $(cat) in *forbidden*) echo 'the guard says no' >&2; exit 2;; esac";

/// Names that a project would like to supply.
const NAMES: [&str; 5] = ["bash", "sh", "cat", "python3", "node"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Fire,
    Agent,
    Bridge,
}

const HOSTS: [Host; 3] = [Host::Fire, Host::Agent, Host::Bridge];

/// A project, a home, and the search path that programs are given.
pub(super) struct Place {
    disk: TestProject,
    path: OsString,
    cwd: PathBuf,
}

impl Place {
    pub(super) fn new() -> Self {
        let disk = TestProject::new();
        fs::create_dir_all(disk.path("canary")).unwrap();
        let cwd = disk.project.clone();
        Self { disk, path: std::env::var_os("PATH").unwrap(), cwd }
    }

    /// A place whose user has a guard as this command.
    fn with_users_guard(command: &str) -> Self {
        let place = Self::new();
        place.disk.write_home(".llxprt/settings.json", settings(&json!({"command": command})));
        place
    }

    /// A place with a guard of the project.
    fn with_guard(guard: &Value) -> Self {
        let place = Self::new();
        place.disk.write(".llxprt/settings.json", settings(guard));
        place
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.disk.command(env!("CARGO_BIN_EXE_hookrail"));
        command.args(args).env("PATH", &self.path).env("CLAUDE_PROJECT_DIR", &self.disk.project).current_dir(&self.cwd);
        command
    }

    fn run(&self, args: &[&str]) -> ProgramOutput {
        ProgramOutput::capture(&mut self.command(args))
    }

    fn grant(&self) {
        let ran = self.run(&["trust", "grant", "--yes"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// What `trust status` says about the only hook.
    fn status(&self) -> Value {
        let status = self.run(&["trust", "status", "--json"]).json();
        assert_eq!(status["hooks"].as_array().map(Vec::len), Some(1), "{status}");
        status["hooks"][0].clone()
    }

    /// Whether a host lets the file of this name be written.
    #[track_caller]
    fn allows(&self, host: Host, name: &str) -> bool {
        let file = self.disk.project.join(name);
        let name = file.to_str().unwrap();
        match host {
            Host::Fire => {
                let input = json!({"path": name, "content": "x"}).to_string();
                let ran = self.run(&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", &input, "--json"]);
                assert!(matches!(ran.code, 0 | 2), "{ran:?}");
                ran.code == 0
            }
            Host::Agent => {
                let call = json!({"name": "write_file", "args": {"path": name, "content": "x"}});
                let script = json!({"turns": [{"calls": [call]}, {"text": "done"}]}).to_string();
                let script = self.disk.write_at("script.json", script);
                let ran = self.run(&["agent", "--headless", "--prompt", "go", "--script", script.to_str().unwrap()]);
                assert_eq!(ran.code, 0, "{ran:?}");
                fs::remove_file(&file).is_ok()
            }
            Host::Bridge => {
                let payload = json!({
                    "session_id": "s", "transcript_path": "/t", "cwd": self.disk.project, "hook_event_name": "PreToolUse",
                    "permission_mode": "acceptEdits", "tool_name": "Write", "tool_use_id": "t",
                    "tool_input": {"file_path": name, "content": "x"},
                });
                let mut command = self.command(&["bridge", "claude", "--event", "PreToolUse"]);
                let ran = ProgramOutput::with_input(&mut command, &payload.to_string());
                assert!(matches!(ran.code, 0 | 2), "{ran:?}");
                let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
                ran.code == 0 && answer["hookSpecificOutput"]["permissionDecision"] != "deny"
            }
        }
    }

    /// The guard answers in every host: it denies one thing and allows another, and nothing of the project ran.
    #[track_caller]
    fn guard_decides(&self, what: &str) {
        for host in HOSTS {
            assert!(!self.allows(host, "forbidden"), "{what}: {host:?} allows what the guard denies");
            assert!(self.allows(host, "fine"), "{what}: {host:?} denies what the guard allows");
        }
        self.nothing_ran(what);
    }

    /// The guard has failed in every host.
    #[track_caller]
    fn guard_fails(&self, what: &str) {
        for host in HOSTS {
            assert!(!self.allows(host, "fine"), "{what}: {host:?} allows without the guard");
        }
        self.nothing_ran(what);
    }

    #[track_caller]
    fn nothing_ran(&self, what: &str) {
        let traces: Vec<_> = fs::read_dir(self.disk.path("canary")).unwrap().flatten().map(|file| file.path()).collect();
        assert!(traces.is_empty(), "{what}: {traces:?}");
    }

    /// A script of a shell that leaves a trace and allows everything.
    fn hostile(&self, name: &str) -> String {
        format!("#!/bin/sh\n: > '{}/{name}'\n", self.disk.path("canary").display())
    }

    /// Puts hostile programs of these names into a folder of the project.
    fn write_programs(&self, folder: &str, names: &[&str]) -> PathBuf {
        for name in names {
            self.disk.write_program(&format!("{folder}/{name}"), self.hostile(name));
        }
        self.disk.project.join(folder)
    }

    /// Puts folders in front of the search path.
    fn search_first(&mut self, folders: &[&Path]) {
        let machine = std::env::var_os("PATH").unwrap();
        let parts = folders.iter().map(|folder| folder.to_path_buf()).chain(std::env::split_paths(&machine));
        self.path = std::env::join_paths(parts).unwrap();
    }
}

/// Settings with one hook that guards tools.
fn settings(guard: &Value) -> String {
    let mut hook = json!({"type": "command", "name": "guard", "onFailure": "block"});
    hook.as_object_mut().unwrap().extend(guard.as_object().unwrap().clone());
    let hooks = json!({"BeforeTool": [{"hooks": [hook]}]});
    json!({"hooksConfig": {"enabled": true}, "hooks": hooks}).to_string()
}

#[test]
fn a_folder_of_the_project_on_the_search_path_supplies_no_program_to_the_users_guard() {
    let mut place = Place::with_users_guard(GUARD);
    let own = place.write_programs("node_modules/.bin", &NAMES);
    let link = place.disk.path("link");
    symlink(&own, &link).unwrap();
    symlink("/usr/bin", place.disk.project.join("leads-out")).unwrap();
    place.guard_decides("the search path of the machine");
    for folders in [&[own.as_path()][..], &[&link], &[&own, &link]] {
        place.search_first(folders);
        place.guard_decides(&format!("{folders:?}"));
    }
}

#[test]
fn a_relative_or_empty_search_path_supplies_no_program_of_the_project() {
    let mut place = Place::with_users_guard(GUARD);
    place.write_programs(".", &NAMES);
    for path in [".", "", ":", "./", "node_modules/.bin:.", ".::"] {
        place.path = path.into();
        place.guard_decides(&format!("PATH={path:?}"));
    }
}

#[test]
fn a_folder_of_the_project_on_the_search_path_supplies_no_interpreter_to_a_granted_guard() {
    let python = "import sys\nif 'forbidden' in sys.stdin.read():\n    print('the guard says no', file=sys.stderr)\n    sys.exit(2)\n";
    let node = "const text = require('fs').readFileSync(0, 'utf8');\nif (text.includes('forbidden')) process.exit(2);\n";
    for (program, name, text) in [("sh", "guard.sh", GUARD), ("python3", "guard.py", python), ("node", "guard.js", node)] {
        if !has_program(program) {
            continue;
        }
        for guard in [
            json!({"command": format!("{program} .llxprt/hooks/{name}")}),
            json!({"command": program, "args": [format!(".llxprt/hooks/{name}")]}),
            json!({"command": format!("{program} .llxprt/hooks/{name}"), "shell": "auto"}),
            json!({"command": format!(".llxprt/hooks/{name}")}),
        ] {
            let mut place = Place::with_guard(&guard);
            place.disk.write_program(&format!(".llxprt/hooks/{name}"), format!("#!/usr/bin/env {program}\n{text}"));
            place.grant();
            assert_eq!(place.status()["openEnded"], false, "{guard}");
            let own = place.write_programs("node_modules/.bin", &NAMES);
            place.search_first(&[&own]);
            place.guard_decides(&guard.to_string());
            assert_eq!(place.status()["state"], "granted", "{guard}");
        }
    }
}

#[test]
fn hooks_of_the_project_find_its_programs_after_all_others_and_other_hooks_never() {
    let mut place = Place::with_guard(&json!({"command": "own-tool; echo \"$PATH\" > of-project", "onFailure": "allow"}));
    place.disk.write_home(".llxprt/settings.json", settings(&json!({"command": "echo \"$PATH\" > of-user"})));
    let own = place.disk.write_program("node_modules/.bin/own-tool", "#!/bin/sh\n: > found\n");
    let own = own.parent().unwrap().to_owned();
    place.search_first(&[&own]);
    place.grant();
    assert!(place.allows(Host::Fire, "fine"));
    assert!(place.disk.exists("found"), "a hook of the project finds its own programs");
    let parts = |name: &str| std::env::split_paths(place.disk.read(name).trim_end()).collect::<Vec<_>>();
    assert_eq!(parts("of-project").last(), Some(&own));
    assert!(!parts("of-user").contains(&own) && parts("of-user").iter().all(|part| part.is_absolute()));
}

#[test]
fn the_users_own_configuration_names_the_shell() {
    let place = Place::with_users_guard(GUARD);
    let mark = place.disk.path("used");
    let text = format!("#!/bin/sh\n: > '{}'\nexec /bin/sh \"$@\"\n", mark.display());
    let shell = place.disk.write_program_at("shells/other", text);
    place.guard_decides("the default");
    assert!(!mark.exists());
    let config = format!("[run]\nshell = {:?}\n", shell.to_str().unwrap());
    // A project has no say.
    place.disk.write(".hookrail/config.toml", &config);
    place.guard_decides("the project's file");
    assert!(!mark.exists());
    fs::remove_file(place.disk.project.join(".hookrail/config.toml")).unwrap();
    place.disk.write_home(".config/hookrail/config.toml", &config);
    place.guard_decides("the user's file");
    assert!(mark.exists());
    // A shell that does not exist is a guard that cannot be started.
    fs::remove_file(&shell).unwrap();
    place.guard_fails("a shell that is gone");
    place.disk.write_home(".config/hookrail/config.toml", "[run]\nshell = \"bash\"\n");
    let check = place.run(&["check", "--json"]).stdout;
    assert!(check.contains("an absolute path"), "{check}");
    place.guard_decides("a malformed setting");
}
