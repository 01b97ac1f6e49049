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
    /// Variables over those that every program gets.
    variables: Vec<(&'static str, OsString)>,
}

impl Place {
    pub(super) fn new() -> Self {
        let disk = TestProject::new();
        fs::create_dir_all(disk.path("canary")).unwrap();
        Self { disk, path: hookrail_testkit::search_path(), variables: Vec::new() }
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
        command.args(args).env("PATH", &self.path).env("CLAUDE_PROJECT_DIR", &self.disk.project);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
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
        let traces: Vec<_> =
            fs::read_dir(self.disk.path("canary")).unwrap().flatten().map(|file| file.path()).collect();
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
        let machine = hookrail_testkit::search_path();
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
    let node =
        "const text = require('fs').readFileSync(0, 'utf8');\nif (text.includes('forbidden')) process.exit(2);\n";
    for (program, name, text) in
        [("sh", "guard.sh", GUARD), ("python3", "guard.py", python), ("node", "guard.js", node)]
    {
        if !has_program(program) {
            continue;
        }
        for guard in [
            json!({"command": format!("{program} .llxprt/hooks/{name}")}),
            json!({"command": program, "args": [format!(".llxprt/hooks/{name}")]}),
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
    let mut place =
        Place::with_guard(&json!({"command": "own-tool; echo \"$PATH\" > of-project", "onFailure": "allow"}));
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

/// A guard in Python, which denies what mentions `forbidden`.
const PYTHON_GUARD: &str = "import sys\nif 'forbidden' in sys.stdin.read():\n    print('the guard says no', file=sys.stderr)\n    sys.exit(2)\n";

impl Place {
    /// Asserts that the only hook is closed, grants it, and lets it decide.
    #[track_caller]
    fn grant_closed(&self, what: &str) {
        self.grant();
        let status = self.status();
        assert!(status["openEnded"] == false && status["state"] == "granted", "{what}: {status}");
        self.guard_decides(what);
    }

    /// Asserts that the only hook is open-ended, and that the user who grants it is told so.
    #[track_caller]
    fn is_open_ended(&self, what: &str, reason: &str) {
        assert_eq!(self.status()["openEnded"], true, "{what}: {}", self.status());
        let shown = self.run(&["trust", "grant", "--yes"]);
        assert!(shown.stdout.contains(reason), "{what}: {shown:?}");
        self.guard_decides(what);
    }

    fn write_guard(&self, name: &str) {
        let text = if name.ends_with(".py") { PYTHON_GUARD } else { GUARD };
        self.disk.write_program(&format!(".llxprt/hooks/{name}"), text);
    }
}

#[test]
fn a_program_of_the_project_that_is_found_by_its_name_is_open_ended() {
    let mut place = Place::with_guard(&json!({"command": "own-guard"}));
    let own = place.disk.write_program("tools/own-guard", format!("#!/bin/sh\n{GUARD}\n"));
    place.search_first(&[own.parent().unwrap()]);
    place.is_open_ended("in a folder of the project", "its program is not found, or lies in the project");
    // A link outside of the project leads into it.
    let place = {
        let mut place = Place::with_guard(&json!({"command": "own-guard"}));
        let own = place.disk.write_program("tools/own-guard", format!("#!/bin/sh\n{GUARD}\n"));
        fs::create_dir(place.disk.path("bin")).unwrap();
        symlink(own, place.disk.path("bin/own-guard")).unwrap();
        let bin = place.disk.path("bin");
        place.search_first(&[&bin]);
        place
    };
    place.is_open_ended("behind a link", "its program is not found, or lies in the project");
    // The control: named by its path it is covered.
    let place = Place::with_guard(&json!({"command": "tools/own-guard"}));
    let own = place.disk.write_program("tools/own-guard", format!("#!/bin/sh\n{GUARD}\n"));
    place.grant_closed("named by its path");
    fs::write(own, place.hostile("own-guard")).unwrap();
    place.guard_fails("named by its path, and changed");
}

#[test]
fn a_link_is_judged_by_the_file_behind_it() {
    let python = ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| Path::new(path).exists());
    let Some(python) = python else { return };
    let link_to = |target: &str| {
        let place = Place::with_guard(&json!({"command": "tools/sh .llxprt/hooks/guard.py"}));
        fs::create_dir(place.disk.project.join("tools")).unwrap();
        symlink(target, place.disk.project.join("tools/sh")).unwrap();
        place
    };
    let place = link_to(python);
    place.write_guard("guard.py");
    place.is_open_ended("a link with the name of a shell", "its interpreter is reached through the project");
    // The control: a link to a shell is a shell, and belongs to the grant.
    let place = link_to("/bin/sh");
    place.disk.write(".llxprt/hooks/guard.py", GUARD);
    place.grant_closed("a link to a shell");
    fs::remove_file(place.disk.project.join("tools/sh")).unwrap();
    symlink(place.disk.write_program_at("other", place.hostile("other")), place.disk.project.join("tools/sh")).unwrap();
    place.guard_fails("a link that leads elsewhere");
}

#[test]
fn a_link_outside_of_the_project_that_leads_elsewhere_is_a_change() {
    let guards = |link: &Path| {
        let link = link.display();
        [format!("sh {link}"), format!("{link}"), format!("true; {link}")]
    };
    for at in 0..3 {
        let place = Place::new();
        let link = place.disk.path("link.sh");
        place.disk.write(".llxprt/settings.json", settings(&json!({"command": guards(&link)[at]})));
        let (guard, same) = ("elsewhere/guard.sh", "elsewhere/same.sh");
        for name in [guard, same] {
            place.disk.write_program_at(name, format!("#!/bin/sh\n{GUARD}\n"));
        }
        place.disk.write_program_at("elsewhere/evil.sh", place.hostile("evil"));
        symlink(place.disk.path(guard), &link).unwrap();
        let shown = place.run(&["trust", "grant", "--yes"]).stdout;
        assert!(shown.contains("outside of the project") && shown.contains("elsewhere/guard.sh"), "{shown}");
        place.guard_decides("as it was granted");
        fs::remove_file(&link).unwrap();
        symlink(place.disk.path("elsewhere/evil.sh"), &link).unwrap();
        place.guard_fails(&guards(&link)[at]);
        assert_eq!(place.status()["state"], "changed");
        let diff = place.run(&["trust", "diff"]);
        assert!(diff.code == 1 && diff.stdout.contains("link.sh"), "{diff:?}");
        // The control: what leads where it led is not a change, however the link is written.
        fs::remove_file(&link).unwrap();
        symlink(Path::new("elsewhere/../elsewhere/guard.sh"), &link).unwrap();
        place.guard_decides("the same file again");
    }
}

#[test]
fn an_interpreter_that_the_first_line_names_and_the_project_supplies_is_open_ended() {
    for (line, reason) in [
        ("#!tools/interpreter", "names an interpreter that is not known"),
        ("#![PROJECT]/tools/interpreter", "names an interpreter that is not known"),
        ("#!/usr/bin/env interpreter", "names an interpreter that is not known"),
    ] {
        let mut place = Place::with_guard(&json!({"command": ".llxprt/hooks/guard"}));
        let own = place.disk.write_program("tools/interpreter", "#!/bin/sh\nexec /bin/sh \"$@\"\n");
        let line = line.replace("[PROJECT]", place.disk.project.to_str().unwrap());
        place.disk.write_program(".llxprt/hooks/guard", format!("{line}\n{GUARD}\n"));
        place.search_first(&[own.parent().unwrap()]);
        place.is_open_ended(&line, reason);
    }
    let place = Place::with_guard(&json!({"command": ".llxprt/hooks/guard"}));
    place.disk.write_program(".llxprt/hooks/guard", format!("#!/usr/bin/env sh\n{GUARD}\n"));
    place.grant_closed("an interpreter of the system");
}

#[test]
fn a_program_of_the_project_that_loads_libraries_is_open_ended() {
    let compiler = ["cc", "gcc", "clang"].into_iter().find(|name| has_program(name));
    let Some(compiler) = compiler else { return };
    let source = "#include <stdio.h>\n#include <string.h>\nint main(void) { static char text[65536];\n\
                  fread(text, 1, sizeof text - 1, stdin); return strstr(text, \"forbidden\") ? 2 : 0; }\n";
    let build = |options: &[&str]| {
        let place = Place::with_guard(&json!({"command": ".llxprt/hooks/guard"}));
        place.disk.write(".llxprt/hooks/guard.c", source);
        let mut command = Command::new(compiler);
        command.current_dir(place.disk.project.join(".llxprt/hooks")).args(["guard.c", "-o", "guard"]).args(options);
        (ProgramOutput::capture(&mut command).code == 0, place)
    };
    let (built, place) = build(&["-Wl,-rpath,$ORIGIN"]);
    assert!(built);
    place.is_open_ended("a program with libraries", "its program loads libraries when it starts");
    // The control, where the machine has static libraries.
    let (built, place) = build(&["-static"]);
    if built {
        place.grant_closed("a program without libraries");
    }
}

#[test]
fn a_virtual_environment_in_the_project_is_open_ended() {
    let python = ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| Path::new(path).exists());
    let Some(python) = python else { return };
    for (command, reaches) in [
        (".venv/bin/python3 .llxprt/hooks/guard.py", "its interpreter is reached through the project"),
        (".venv/bin/python3 -I .llxprt/hooks/guard.py", "its interpreter is reached through the project"),
        (
            "\"$LLXPRT_PROJECT_DIR/.venv/bin/python3\" .llxprt/hooks/guard.py",
            "its interpreter is reached through the project",
        ),
    ] {
        let place = Place::with_guard(&json!({"command": command}));
        place.write_guard("guard.py");
        place.disk.write(".venv/pyvenv.cfg", format!("home = {}\n", Path::new(python).parent().unwrap().display()));
        fs::create_dir_all(place.disk.project.join(".venv/bin")).unwrap();
        symlink(python, place.disk.project.join(".venv/bin/python3")).unwrap();
        place.is_open_ended(command, reaches);
    }
    // An activated one supplies nothing to commands that name no interpreter of the project.
    for command in ["python3 .llxprt/hooks/guard.py", "python3 -I .llxprt/hooks/guard.py"] {
        let mut place = Place::with_guard(&json!({"command": command}));
        place.write_guard("guard.py");
        place.grant_closed(command);
        place.disk.write(".venv/pyvenv.cfg", format!("home = {}\n", Path::new(python).parent().unwrap().display()));
        let canary = place.disk.path("canary/pth");
        for version in 8..20 {
            let file = format!(".venv/lib/python3.{version}/site-packages/evil.pth");
            place.disk.write(&file, format!("import os; open({canary:?}, 'w'); os._exit(0)\n"));
        }
        let bin = place.disk.project.join(".venv/bin");
        fs::create_dir_all(&bin).unwrap();
        symlink(python, bin.join("python3")).unwrap();
        place.search_first(&[&bin]);
        place.guard_decides(command);
        assert_eq!(place.status()["state"], "granted", "{command}");
    }
}

#[test]
fn what_node_loads_from_the_folder_of_a_guard_is_covered_and_packages_make_it_open_ended() {
    if !has_program("node") {
        return;
    }
    let guard = |load: &str| {
        format!("const rules = {load};\nif (rules.test(require('node:fs').readFileSync(0, 'utf8'))) process.exit(2);\n")
    };
    let place_with = |load: &str| {
        let place = Place::with_guard(&json!({"command": "node .llxprt/hooks/guard.js"}));
        place.disk.write(".llxprt/hooks/guard.js", guard(load));
        place
    };
    let (rules, evil) = ("module.exports = /forbidden/;\n", "module.exports = /nothing-at-all/;\n");
    for (load, present, appears) in [
        ("require('./rules')", "rules.js", "rules"),
        ("require('./rules')", "rules/index.js", "rules.js"),
        ("require('./rules')", "rules/index.js", "rules/package.json"),
        ("require('./rules.conf')", "rules.conf", "rules.conf"),
    ] {
        let place = place_with(load);
        place.disk.write(&format!(".llxprt/hooks/{present}"), rules);
        place.grant_closed(&format!("{load} with {present}"));
        let text = if appears.ends_with(".json") { "{\"main\": \"other\"}" } else { evil };
        place.disk.write(&format!(".llxprt/hooks/{appears}"), text);
        place.guard_fails(&format!("{load} after {appears}"));
    }
    for load in ["require('rules')", "require('../../lib/rules')"] {
        let place = place_with(load);
        place.disk.write("node_modules/rules/index.js", rules);
        place.disk.write("lib/rules.js", rules);
        place.is_open_ended(load, "its script loads packages or files from outside of its folder");
    }
    // The control: a package in the guard's own folder is covered.
    let place = place_with("require('rules')");
    place.disk.write(".llxprt/hooks/node_modules/rules/index.js", rules);
    place.disk.write("node_modules/rules/index.js", evil);
    place.grant_closed("a package of its own");
    place.disk.write(".llxprt/hooks/node_modules/rules/index.js", evil);
    place.guard_fails("a package that changed");
}

#[test]
fn variables_that_name_places_of_the_project_bring_no_code_into_guards() {
    let mut place = Place::new();
    let canary = |name: &str| place.disk.path("canary").join(name).display().to_string();
    place.disk.write("lib/json.py", format!("import os\nopen({:?}, 'w')\nos._exit(0)\n", canary("python")));
    place.disk.write("lib/evil.sh", format!(": > '{}'; exit 0\n", canary("bash")));
    let module = format!("require('fs').writeFileSync({:?}, ''); process.exit(0);\n", canary("node"));
    place.disk.write("lib/evil.js", module);
    let lib = place.disk.project.join("lib");
    let outside = place.disk.write_at("outside/outside.py", "").parent().unwrap().to_owned();
    place.variables = vec![
        ("PYTHONPATH", std::env::join_paths([&lib, &outside]).unwrap()),
        ("BASH_ENV", lib.join("evil.sh").into()),
        ("NODE_OPTIONS", format!("--require {}", lib.join("evil.js").display()).into()),
    ];
    // What the user has elsewhere is found as before.
    let python = format!("import json, outside\n{PYTHON_GUARD}");
    let node = "if (require('fs').readFileSync(0, 'utf8').includes('forbidden')) process.exit(2);\n";
    for (program, name, text) in
        [("bash", "guard.sh", GUARD), ("python3", "guard.py", &python), ("node", "guard.js", node)]
    {
        if !has_program(program) {
            continue;
        }
        let path = place.disk.write_at(name, text);
        place.disk.write(&format!(".llxprt/hooks/{name}"), text);
        let users = settings(&json!({"command": format!("{program} {}", path.display())}));
        let projects = settings(&json!({"command": format!("{program} .llxprt/hooks/{name}")}));
        for (home, project) in [(users.as_str(), "{}"), ("{}", projects.as_str())] {
            place.disk.write_home(".llxprt/settings.json", home);
            place.disk.write(".llxprt/settings.json", project);
            place.grant();
            place.guard_decides(&format!("{home} {project}"));
        }
    }
    // The control: an open-ended hook of the project runs code of the project anyway, and has the variables.
    place.disk.write_home(".llxprt/settings.json", "{}");
    place.disk.write(
        ".llxprt/settings.json",
        settings(&json!({"command": "echo \"$PYTHONPATH\" > seen", "onFailure": "allow"})),
    );
    place.variables.retain(|(name, _)| *name == "PYTHONPATH");
    place.grant();
    assert!(place.allows(Host::Fire, "fine"));
    assert!(place.disk.read("seen").starts_with(lib.to_str().unwrap()), "{}", place.disk.read("seen"));
}
