//! A repository, its user's home with guards in every layer, and canaries: a folder in which every execution of something
//! hostile leaves a file, a `git` that tells when it is called, and the whole disk compared before and after.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write as _};
use std::ops::Deref;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

pub(crate) use hookrail_testkit::ProgramOutput;
use hookrail_testkit::{HANG, TestProject};
use serde_json::{Value, json};

use crate::attacks::guards;
use crate::attacks::table::Standing;

/// What a hostile module would show if it were imported.
pub(crate) const IMPORTED: &str = "CANARY-IMPORTED";

pub(crate) struct Lab {
    disk: TestProject,
    /// Variables over those that every command gets.
    variables: RefCell<Vec<(String, OsString)>>,
    /// The directory in which commands are run; the project unless an attack says otherwise.
    place: RefCell<PathBuf>,
    /// A command that is not run.
    left_out: Cell<&'static str>,
}

impl Deref for Lab {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.disk
    }
}

/// The output of all commands, by their arguments.
pub(crate) struct Seen(BTreeMap<String, ProgramOutput>);

impl Seen {
    #[track_caller]
    pub(crate) fn of(&self, command: &str) -> &ProgramOutput {
        self.0.get(command).unwrap_or_else(|| panic!("`{command}` was not run: {:?}", self.0.keys()))
    }

    /// Returns the codes of all problems of the configuration.
    pub(crate) fn codes(&self) -> Vec<String> {
        let document = self.of("check --json").json();
        let found = document["diagnostics"].as_array().unwrap();
        found.iter().map(|found| found["code"].as_str().unwrap().to_owned()).collect()
    }

    #[track_caller]
    pub(crate) fn reports(&self, code: &str) {
        assert!(self.codes().iter().any(|found| found == code), "{code} is not among {:?}", self.codes());
    }

    /// The state that the trust of a hook has.
    #[track_caller]
    pub(crate) fn state(&self, hook: &str) -> String {
        let document = self.of("trust status --json").json();
        let found = document["hooks"].as_array().unwrap().iter().find(|found| found["hook"] == hook);
        found.unwrap_or_else(|| panic!("{hook} is not in {document}"))["state"].as_str().unwrap().to_owned()
    }

    /// The hooks that `list` shows as the project's.
    pub(crate) fn of_project(&self) -> Vec<Value> {
        let document = self.of("list --json").json();
        let hooks = document["hooks"].as_array().unwrap().iter();
        hooks.filter(|hook| hook["source"]["kind"] == "project").cloned().collect()
    }
}

/// A file, a folder or a link, as it can be compared.
#[derive(Debug, PartialEq, Eq)]
enum Thing {
    File(Vec<u8>, u32),
    Large(u64),
    Link(PathBuf),
    Other,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let disk = TestProject::new();
        let place = RefCell::new(disk.project.clone());
        let lab = Self { disk, variables: RefCell::default(), place, left_out: Cell::new("") };
        for made in ["canary", "bin"] {
            fs::create_dir(lab.path(made)).unwrap();
        }
        guards::install(&lab.base);
        lab.write_program_at("bin/git", format!("#!/bin/sh\necho \"$@\" >> '{}'\n", lab.path("canary/git").display()));
        let script = json!({"turns": [{"calls": [{"name": "list_directory", "args": {}}]}, {"text": "done"}]});
        lab.write_at("script.json", script.to_string());
        lab
    }

    // What attacks are made of.

    /// A command that leaves its trace when it is run.
    pub(crate) fn canary(&self) -> String {
        format!("touch '{}'", self.base.join("canary/ran").display())
    }

    /// A module that leaves its trace when it is imported, and when it is called.
    pub(crate) fn hostile_module(&self) -> String {
        let file = self.base.join("canary/module");
        format!(
            "import fs from \"node:fs\";\ntry {{ fs.writeFileSync({file:?}, \"x\"); }} catch {{}}\nconsole.log(\"{IMPORTED}\");\n\
             export default (pi) => {{ pi.on(\"tool_call\", () => {{ fs.writeFileSync({file:?}, \"x\"); }}); throw new Error(\"{IMPORTED}\"); }};\n"
        )
    }

    /// Settings whose hooks, for several events, run this command.
    pub(crate) fn settings_running(&self, command: &str) -> String {
        let group = json!([{"hooks": [{"type": "command", "name": "hostile", "command": command}]}]);
        let hooks = json!({"SessionStart": group, "BeforeTool": group, "BeforeAgent": group, "SessionEnd": group});
        json!({"tools": {"enableHooks": true}, "hooks": hooks}).to_string()
    }

    /// A plugin's manifest whose hooks run this command.
    pub(crate) fn plugin_running(&self, name: &str, command: &str) -> String {
        let entry = json!([{"command": command}]);
        json!({"name": name, "hooks": {"PreToolUse": entry, "SessionStart": entry, "UserPromptSubmit": entry}})
            .to_string()
    }

    /// A file outside of the project.
    pub(crate) fn write_outside(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        self.write_at(name, text)
    }

    /// A link in the project.
    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        let path = self.project.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// A pipe without a writer.
    pub(crate) fn pipe(&self, name: &str) {
        let path = self.project.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    pub(crate) fn variable(&self, name: &str, value: impl Into<OsString>) {
        self.variables.borrow_mut().push((name.to_owned(), value.into()));
    }

    pub(crate) fn work_in(&self, place: impl Into<PathBuf>) {
        *self.place.borrow_mut() = place.into();
    }

    pub(crate) fn leave_out(&self, command: &'static str) {
        self.left_out.set(command);
    }

    /// Grants everything the project brings now.
    #[track_caller]
    pub(crate) fn grant(&self) {
        let ran = self.run(&["trust", "grant", "--yes"], "");
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// The store of grants.
    pub(crate) fn store(&self) -> PathBuf {
        self.home.join(".local/state/hookrail/trust.json")
    }

    // What all attacks are met with.

    /// Nothing hostile has run so far.
    #[track_caller]
    pub(crate) fn nothing_ran(&self, what: &str) {
        let traces: Vec<_> =
            fs::read_dir(self.base.join("canary")).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert!(traces.is_empty(), "{what}: something hostile ran: {traces:?}");
    }

    /// Lets every command look at the repository, and asserts what holds for every one.
    #[track_caller]
    pub(crate) fn probe(&self, standing: Standing) -> Seen {
        // A case that only sends data, so that `test` comes to the question what it may run.
        let case = "[[case]]\nname = \"probe\"\nevent = \"BeforeTool\"\ntool = \"write_file\"\nexpect = { diagnostics = \"any\" }\n";
        self.write("probe.hooktest.toml", case);
        let before = self.things();
        let mut seen = BTreeMap::new();
        for command in [
            "list",
            "list --json",
            "check",
            "check --json",
            "explain BeforeTool --tool write_file",
            "explain BeforeTool --tool write_file --json",
            "explain SessionStart",
            "trust status",
            "trust status --json",
            "trust grant",
            "plugin list",
            "plugin doctor",
            "test",
            "fire SessionStart --json",
            "fire BeforeAgent --json",
            "fire PreToolUse --json",
            "fire session_shutdown --json",
        ] {
            if command == self.left_out.get() {
                continue;
            }
            let ran = self.run(&command.split(' ').collect::<Vec<_>>(), "");
            assert!(matches!(ran.code, 0 | 1), "`{command}`: {ran:?}");
            assert!(!command.starts_with("fire") || ran.code == 0, "`{command}` is not hindered: {ran:?}");
            if !command.ends_with("--json") {
                harmless(command, &ran);
            }
            seen.insert(command.to_owned(), ran);
        }
        self.guards_stand(standing);
        let request = json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {
            "correlationId": "c", "eventName": "BeforeTool", "input": {"tool_name": "write_file", "tool_input": {"path": "a"}}}});
        let served = self.run(&["serve", "--stdio"], &format!("{request}\n"));
        assert_eq!(served.code, 0, "{served:?}");
        self.ran_guards(&served.json()["payload"]["outcome"], standing);
        seen.insert("serve --stdio".to_owned(), served);
        let script = self.base.join("script.json");
        let agent = self.run(&["agent", "--headless", "--prompt", "go", "--script", script.to_str().unwrap()], "");
        assert_eq!(agent.code, 0, "{agent:?}");
        seen.insert("agent".to_owned(), agent);
        for (command, ran) in &seen {
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!said.contains(IMPORTED), "`{command}` imported something: {said}");
        }
        self.nothing_ran("all commands");
        let after = self.things();
        let changed: Vec<_> =
            after.iter().filter(|(path, thing)| before.get(*path) != Some(thing)).map(|(path, _)| path).collect();
        let gone: Vec<_> = before.keys().filter(|path| !after.contains_key(*path)).collect();
        assert!(changed.is_empty() && gone.is_empty(), "changed: {changed:?}, gone: {gone:?}");
        Seen(seen)
    }

    /// Asserts that every guard from outside runs to its end, and that the system guard's deny has its effect.
    #[track_caller]
    fn guards_stand(&self, standing: Standing) {
        let fire = |input: &str| {
            self.run(&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", input, "--json"], "")
        };
        let allowed = fire(r#"{"path":"a"}"#);
        assert_eq!(allowed.code, 0, "{allowed:?}");
        self.ran_guards(&allowed.json(), standing);
        let denied = fire(r#"{"path":"forbidden"}"#);
        assert_eq!((denied.code, &denied.json()["decision"]), (2, &json!("deny")), "{denied:?}");
        assert!(denied.json()["reason"].as_str().unwrap().contains("this is forbidden"), "{denied:?}");
    }

    /// Asserts that every guard of an outcome ran to its end, and that nothing hostile ran.
    #[track_caller]
    fn ran_guards(&self, outcome: &Value, standing: Standing) {
        let runs = outcome["runs"].as_array().unwrap_or_else(|| panic!("{outcome}"));
        for label in guards::labels(&self.base) {
            let run = runs.iter().find(|run| run["hook"] == *label || run["exitCode"] == 0 && same_guard(run, &label));
            let run = run.unwrap_or_else(|| panic!("{label} did not run: {outcome}"));
            let end = run["end"].as_str().unwrap();
            assert!(matches!(end, "answered" | "silent"), "{label} ended as {end}: {outcome}");
        }
        if standing == Standing::Stranger {
            let strange: Vec<_> = runs.iter().filter(|run| run["source"]["kind"] == "project").collect();
            assert!(strange.is_empty(), "{strange:?}");
        }
    }

    /// The real binary in a clean environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.disk.command(env!("CARGO_BIN_EXE_hookrail"));
        let path = hookrail_testkit::search_path_after(&self.base.join("bin"));
        command.args(args).current_dir(&*self.place.borrow()).env("PATH", path);
        command.envs(self.variables.borrow().iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs the real binary in a clean environment, with a guard against hanging.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str], input: &str) -> ProgramOutput {
        let mut command = self.command(args);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let text = input.to_owned();
        let feeding = std::thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
        let (out, err) = (reading(stdout), reading(stderr));
        let ended = hookrail_testkit::wait_until(|| child.try_wait().unwrap().is_some(), HANG);
        if !ended {
            child.kill().unwrap();
        }
        let status = child.wait().unwrap();
        feeding.join().unwrap();
        let ran = ProgramOutput {
            code: status.code().unwrap_or(-1),
            stdout: out.join().unwrap(),
            stderr: err.join().unwrap(),
        };
        assert!(ended, "`{}` does not end: {ran:?}", args.join(" "));
        ran
    }

    /// Everything on this small disk but what the agent writes down about its own sessions, running processes, the journal, Python's byte code and plugins' log.
    fn things(&self) -> BTreeMap<PathBuf, Thing> {
        let mut things = BTreeMap::new();
        let mut waiting = vec![self.base.clone()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let (path, about) = (entry.path(), entry.metadata().unwrap());
                if path.ends_with("hookrail/sessions")
                    || path.ends_with("hookrail/running")
                    || path.ends_with("hookrail/journal")
                    || path.ends_with("hookrail/guard-modules")
                    || path.ends_with(".cache/hookrail/python")
                    || path.ends_with(".x-code/logs")
                    || path.ends_with("state/hookrail/trust.lock")
                {
                    continue;
                }
                let thing = if about.is_dir() {
                    waiting.push(path.clone());
                    continue;
                } else if about.is_symlink() {
                    Thing::Link(fs::read_link(&path).unwrap())
                } else if about.is_file() && about.len() < 1 << 20 {
                    Thing::File(fs::read(&path).unwrap(), about.permissions().mode())
                } else if about.is_file() {
                    Thing::Large(about.len())
                } else {
                    Thing::Other
                };
                things.insert(path, thing);
            }
        }
        things
    }
}

/// Reads all of it beside the test, as text.
fn reading(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Whether a run is the guard's under the name that a granted duplicate of it has.
fn same_guard(run: &Value, label: &str) -> bool {
    label == "system-guard" && run["hook"] == "copy-of-system-guard"
        || label == "extension-guard" && run["hook"] == "copy-of-extension-guard"
}

/// Asserts that output for people has no control characters and no invisible characters.
#[track_caller]
fn harmless(command: &str, ran: &ProgramOutput) {
    let said = format!("{}{}", ran.stdout, ran.stderr);
    let hidden = |character: &char| {
        character.is_control() && *character != '\n'
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let found = said.chars().find(hidden);
    assert!(found.is_none(), "`{command}` shows {found:?} raw: {said:?}");
}

#[test]
fn the_canaries_sing_when_something_hostile_runs() {
    let lab = Lab::new();
    lab.write(".llxprt/settings.json", lab.settings_running(&format!("{}; git status", lab.canary())));
    lab.write(".xcsh/hooks/pre/evil.ts", lab.hostile_module());
    let ran = lab.run(&["check", "--trust-project"], "");
    assert!(ran.stdout.contains(IMPORTED), "{ran:?}");
    lab.run(&["fire", "SessionStart", "--trust-project"], "");
    assert!(lab.base.join("canary/ran").exists() && lab.base.join("canary/git").exists());
    let late = lab.hostile_module().replace("throw new", "new");
    lab.write(".xcsh/hooks/pre/evil.ts", late);
    lab.run(&["fire", "BeforeTool", "--tool", "x", "--trust-project"], "");
    assert!(lab.base.join("canary/module").exists());
    let probed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lab.probe(Standing::Stranger)));
    assert!(probed.is_err(), "the probe notices");
}
