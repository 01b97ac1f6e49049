//! Where hooks run, which programs they find there, and what writes into a user's own places.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use hookrail_testkit::{HANG, RunningProgram, Signal, Talk, wait_until};
use serde_json::{Value, json};

use crate::attacks::guards;
use crate::attacks::lab::Lab;
use crate::attacks::table::attacks;

fn executable(lab: &Lab, name: &str) {
    let path = lab.write(name, format!("#!/bin/sh\n{}\n", lab.canary()));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A hook of every kind that runs `hooks/guard.sh`.
fn kinds() -> Vec<Value> {
    vec![
        json!({"command": "bash hooks/guard.sh"}),
        json!({"command": "bash \"$LLXPRT_PROJECT_DIR/hooks/guard.sh\""}),
        json!({"command": "bash \"$PWD/hooks/guard.sh\""}),
        json!({"command": "sh", "args": ["hooks/guard.sh"]}),
        json!({"command": "sh hooks/guard.sh worker", "mode": "worker"}),
    ]
}

fn settings(hooks: &[Value]) -> String {
    let hooks: Vec<Value> = hooks
        .iter()
        .enumerate()
        .map(|(number, hook)| {
            let mut hook = hook.clone();
            hook["type"] = json!("command");
            hook["name"] = json!(format!("kind-{number}"));
            hook
        })
        .collect();
    json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": hooks}]}}).to_string()
}

/// A server and a conversation with it.
struct Server {
    program: RunningProgram,
    talk: Talk,
}

impl Server {
    /// A server on standard input and output.
    fn start(lab: &Lab, args: &[&str]) -> Self {
        let mut command = lab.command(&[&["serve", "--stdio"], args].concat());
        let mut program = RunningProgram::start(command.stdin(Stdio::piped()).stderr(Stdio::null()));
        let talk = Talk::with(&mut program);
        Self { program, talk }
    }

    /// A server on a socket of this name in the lab.
    fn on_socket(lab: &Lab, name: &str, args: &[&str]) -> Self {
        let path = lab.base.join(name);
        let mut command = lab.command(&[&["serve", "--socket", path.to_str().unwrap()], args].concat());
        let program = RunningProgram::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
        Self { program, talk: Talk::over(&path) }
    }

    /// The outcome of one tool call.
    fn ask(&mut self, input: &Value) -> Value {
        let request = json!({"correlationId": "c", "eventName": "BeforeTool", "input": input});
        self.talk.say("HOOK_EXECUTION_REQUEST", &request);
        self.talk.next_of("HOOK_EXECUTION_RESPONSE")["outcome"].take()
    }

    /// Sends requests until the outcome is as expected.
    #[track_caller]
    fn until(&mut self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let input = json!({"tool_name": "write_file", "tool_input": {"path": "a"}});
        let asked = || {
            last = self.ask(&input);
            is_so(&last)
        };
        assert!(wait_until(asked, HANG), "{what}: {last}");
        last
    }
}

/// The ways in which a running server reloads its configuration.
#[derive(Clone, Copy, Debug)]
enum Noticing {
    Watching,
    Message,
    Command,
    Signal,
}

impl Noticing {
    fn start(self, lab: &Lab) -> Server {
        match self {
            Self::Watching => Server::start(lab, &["--trust-project"]),
            Self::Message => Server::start(lab, &["--trust-project", "--no-watch"]),
            Self::Command => Server::on_socket(lab, "c", &["--trust-project", "--no-watch"]),
            Self::Signal => Server::on_socket(lab, "s", &["--trust-project", "--no-watch"]),
        }
    }

    fn read_again(self, lab: &Lab, server: &mut Server) {
        match self {
            // Scripts are looked at before they run and not watched; what is watched makes the server read again.
            Self::Watching => {
                let settings = lab.project.join(".llxprt/settings.json");
                fs::write(&settings, fs::read(&settings).unwrap()).unwrap();
            }
            Self::Message => {
                server.talk.say("reload", &json!({"correlationId": "r"}));
                server.talk.next_of("reload");
            }
            Self::Command => {
                let ran = lab.run(&["reload", "--socket", lab.base.join("c").to_str().unwrap()], "");
                assert_eq!(ran.code, 0, "{ran:?}");
            }
            Self::Signal => server.program.signal(Signal::HUP),
        }
    }
}

fn ran(outcome: &Value, hook: &str) -> bool {
    let runs = outcome["runs"].as_array().unwrap_or_else(|| panic!("{outcome}"));
    runs.iter().any(|run| run["hook"] == hook && matches!(run["end"].as_str(), Some("answered" | "silent")))
}

/// Whether a hook with this in its name or its source was skipped because it is not trusted.
fn is_untrusted(outcome: &Value, hook: &str) -> bool {
    let skipped = outcome["skipped"].as_array().unwrap_or_else(|| panic!("{outcome}"));
    skipped.iter().any(|one| format!("{} {}", one["hook"], one["source"]).contains(hook) && one["why"] == "untrusted")
}

fn is_denied_for_a_change(outcome: &Value) -> bool {
    outcome["decision"] == "deny" && outcome["diagnostics"].to_string().contains("trust-changed")
}

/// The hooks of a project that is trusted for one run, and more.
fn trusted_hooks(more: &[Value]) -> String {
    let own = [
        json!({"type": "command", "name": "script", "command": "sh script.sh"}),
        json!({"type": "command", "name": "guard", "command": "sh guard.sh", "onFailure": "block"}),
        json!({"type": "command", "name": "missing", "command": "./missing.sh"}),
        json!({"type": "command", "name": "writer", "command": "echo x > made; touch made"}),
    ];
    let hooks: Vec<&Value> = own.iter().chain(more).collect();
    json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": hooks}]}}).to_string()
}

/// What is added to a project, or changed in it, while a server runs that was started with `--trust-project`.
fn appears_later(lab: &Lab, noticing: Noticing) {
    let module = "export default (pi) => { pi.on(\"tool_call\", () => {}); };\n";
    for (file, text) in [("script.sh", "exit 0\n"), ("guard.sh", "exit 0\n"), (".xcsh/hooks/pre/there.mjs", module)] {
        lab.write(file, text);
    }
    lab.write(".llxprt/settings.json", trusted_hooks(&[]));
    let mut server = noticing.start(lab);
    let as_begun = |outcome: &Value| {
        let module = lab.project.join(".xcsh/hooks/pre/there.mjs");
        let hooks = ["script", "guard", "writer", module.to_str().unwrap()];
        outcome["decision"] != "deny" && hooks.iter().all(|hook| ran(outcome, hook))
    };
    server.until("what was there runs", as_begun);

    // New hooks of every dialect.
    let late = json!({"type": "command", "name": "late-hook", "command": lab.canary()});
    lab.write(".llxprt/settings.json", trusted_hooks(&[late]));
    lab.write(".xcsh/hooks/pre/late-module.mjs", lab.hostile_module());
    lab.write(".x-code/plugins/late-plugin/plugin.json", lab.plugin_running("late-plugin", &lab.canary()));
    noticing.read_again(lab, &mut server);
    let all =
        |outcome: &Value| ["late-hook", "late-module", "late-plugin"].iter().all(|hook| is_untrusted(outcome, hook));
    let outcome = server.until("what is new is not trusted", all);
    assert!(as_begun(&outcome), "what was there still runs: {outcome}");
    lab.nothing_ran("what is new");
    lab.write(".llxprt/settings.json", trusted_hooks(&[]));
    noticing.read_again(lab, &mut server);

    // Other content of what was there. Nothing is read again for a script: it is looked at before it runs.
    let input = json!({"tool_name": "write_file", "tool_input": {"path": "a"}});
    executable(lab, "missing.sh");
    lab.write("script.sh", lab.canary());
    let outcome = server.ask(&input);
    assert!(!ran(&outcome, "script") && !ran(&outcome, "missing"), "{outcome}");
    for (file, before) in [("guard.sh", "exit 0\n"), (".xcsh/hooks/pre/there.mjs", module)] {
        let hostile = if file == "guard.sh" { lab.canary() } else { lab.hostile_module() };
        lab.write(file, hostile);
        assert!(is_denied_for_a_change(&server.ask(&input)), "{file}");
        noticing.read_again(lab, &mut server);
        for _ in 0..3 {
            assert!(is_denied_for_a_change(&server.ask(&input)), "{file}");
        }
        lab.nothing_ran(file);
        lab.write(file, before);
        noticing.read_again(lab, &mut server);
        server.until("a guard that is what it was runs", |outcome| outcome["decision"] != "deny");
    }
    lab.nothing_ran("what has changed");

    // Another command of a guard that was there.
    let other = trusted_hooks(&[]).replace("sh guard.sh", &lab.canary());
    lab.write(".llxprt/settings.json", other);
    noticing.read_again(lab, &mut server);
    server.until("a guard does not disappear by being edited", is_denied_for_a_change);
    lab.nothing_ran("an edited guard");

    // What was covered stays covered.
    fs::remove_file(lab.project.join("missing.sh")).unwrap();
    lab.write("script.sh", "exit 0\n");
    lab.write(".llxprt/settings.json", trusted_hooks(&[]));
    noticing.read_again(lab, &mut server);
    server.until("what is as it was runs", as_begun);
    lab.nothing_ran("what is as it was");
    drop(server);
    for new in [".xcsh/hooks/pre/late-module.mjs", ".x-code/plugins/late-plugin/plugin.json"] {
        fs::remove_file(lab.project.join(new)).unwrap();
    }
}

/// Contexts in which the value of a plugin's variable could become code.
const CONTEXTS: &[&str] = &[
    "ls ${cwd} >/dev/null",
    "ls \"${cwd}\" >/dev/null",
    "ls '${cwd}' >/dev/null",
    "bash -c \"ls ${cwd} >/dev/null\"",
    "sh -c -- \"ls ${cwd} >/dev/null\"",
    "sh -cx \"ls ${cwd} >/dev/null\" 2>/dev/null",
    "\"bash\" -c \"ls ${cwd} >/dev/null\"",
    "b\\ash -c \"ls ${cwd} >/dev/null\"",
    "bash -c \"ls \"${cwd}\" >/dev/null\"",
    "bash -c $\"ls ${cwd} >/dev/null\"",
    "eval \"ls ${cwd} >/dev/null\"",
    "eval ls ${cwd}",
    "sh <<EOF\nls ${cwd} >/dev/null\nEOF",
    "sh <<< \"ls ${cwd} >/dev/null\"",
    "echo \"ls ${cwd}\" | sh >/dev/null",
    "trap \"ls ${cwd} >/dev/null\" EXIT",
    "D=\"${cwd}\"; bash -c \"ls $D >/dev/null\"",
    "source <(echo \"ls ${cwd} >/dev/null\")",
    "let \"x=${cwd}\" 2>/dev/null",
    "[[ ${cwd} -eq 1 ]] 2>/dev/null",
    "echo $(( ${cwd} )) 2>/dev/null",
    "printf -v \"${cwd}\" x 2>/dev/null",
    "find . -maxdepth 0 -exec sh -c \"ls ${cwd} >/dev/null\" \\;",
    "python3 -c \"print('${cwd}')\" >/dev/null",
];

/// Characters that show nothing, or look like a space.
const INVISIBLE: [char; 12] = [
    '\u{3164}',
    '\u{115f}',
    '\u{2800}',
    '\u{34f}',
    '\u{a0}',
    '\u{2003}',
    '\u{3000}',
    '\u{200b}',
    '\u{ffa0}',
    '\u{fe0f}',
    '\u{e0041}',
    '\u{2028}',
];

/// Asserts that a hook of every kind runs for an event of that directory, at the root of the project.
fn every_kind_runs_at_root(lab: &Lab, directory: &Path) {
    let payload = json!({"tool_name": "x", "tool_input": {}, "cwd": directory});
    let fired = lab.run(&["fire", "BeforeTool", "--payload", &payload.to_string(), "--json"], "");
    let mut server = Server::start(lab, &[]);
    for outcome in [fired.json(), server.ask(&payload), server.ask(&payload)] {
        for number in 0..kinds().len() {
            let was_asked = |run: &Value| run["hook"] == format!("kind-{number}") && run["end"] != "content-changed";
            let runs = outcome["runs"].as_array().unwrap();
            assert!(runs.iter().any(was_asked), "kind {number} did not run: {outcome}");
        }
        let told = outcome["diagnostics"].as_array().unwrap().iter();
        assert!(told.clone().any(|found| found["code"] == "working-directory-replaced"), "{outcome}");
    }
}

attacks! { "Places";
    event_directory_is_elsewhere Granted {
        "An event names a directory outside of the project, in which a hostile script has the name of the granted one."
        => "Hooks of a project run in the project: command lines, `args` and workers, by `fire` and over the bus."
        |lab| {
            lab.write("hooks/guard.sh", "while read -r line; do id=${line#*\\\"id\\\":}; echo \"{\\\"id\\\":${id%%[,\\}]*}}\"; done\n");
            lab.write(".llxprt/settings.json", settings(&kinds()));
            lab.grant();
            let evil = lab.write_outside("elsewhere/hooks/guard.sh", format!("{}\nread -r line; echo '{{}}'\n", lab.canary()));
            fs::set_permissions(evil, fs::Permissions::from_mode(0o755)).unwrap();
        },
        then |lab, _| {
            every_kind_runs_at_root(lab, &lab.base.join("elsewhere"));
            lab.nothing_ran("an event from elsewhere");
        }
    }
    event_directory_is_below Granted {
        "An event names a directory of the project in which the words of granted commands name no file, and one in which a hostile script has the name of the granted one: a model can change its directory."
        => "Every hook runs at the root of the project, where its command names what was granted."
        |lab| {
            lab.write("hooks/guard.sh", "while read -r line; do id=${line#*\\\"id\\\":}; echo \"{\\\"id\\\":${id%%[,\\}]*}}\"; done\n");
            lab.write(".llxprt/settings.json", settings(&kinds()));
            lab.grant();
            lab.write("empty/file", "");
            let evil = lab.write("hostile/hooks/guard.sh", format!("{}\nread -r line; echo '{{}}'\n", lab.canary()));
            fs::set_permissions(evil, fs::Permissions::from_mode(0o755)).unwrap();
        },
        then |lab, _| {
            for below in ["empty", "hostile"] {
                every_kind_runs_at_root(lab, &lab.project.join(below));
            }
            lab.nothing_ran("an event from below");
        }
    }
    trusted_for_this_run Stranger {
        "While `serve --trust-project` runs, the project gets another hook, module and plugin, a missing script, other bytes in a script and in a module, and another command for a guard."
        => "The option covers what was there when it was given. What appears or changes later does not run, with watching, a reload message, `hookrail reload` and SIGHUP; a guard that changed denies, and runs again when it is what it was."
        |lab| {
            lab.write("script.sh", lab.canary());
            lab.write("guard.sh", lab.canary());
            lab.write(".llxprt/settings.json", trusted_hooks(&[]));
        },
        then |lab, _| {
            for noticing in [Noticing::Watching, Noticing::Message, Noticing::Command, Noticing::Signal] {
                appears_later(lab, noticing);
            }
        }
    }
    script_is_missing_in_the_event_directory Granted {
        "An event names a folder of the project in which the script of a granted guard is missing, and the search path has another script of its name."
        => "The guard runs at the root of the project, where its command names what was granted."
        |lab| {
            lab.write("guard.sh", "exit 0\n");
            fs::create_dir(lab.project.join("sub")).unwrap();
            let hostile = lab.write_outside("bin/guard.sh", lab.canary());
            fs::set_permissions(hostile, fs::Permissions::from_mode(0o755)).unwrap();
            let hook = json!({"type": "command", "name": "guard", "command": "bash guard.sh", "onFailure": "block"});
            let groups = json!([{"matcher": "run_.*", "hooks": [hook]}]);
            lab.write(".llxprt/settings.json", json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": groups}}).to_string());
            lab.grant();
        },
        then |lab, _| {
            let fire = |cwd: &str| {
                let payload = json!({"tool_name": "run_x", "tool_input": {}, "cwd": lab.project.join(cwd)});
                lab.run(&["fire", "BeforeTool", "--payload", &payload.to_string(), "--json"], "").json()
            };
            let of_guard = |outcome: &Value| outcome["runs"].as_array().unwrap().iter().find(|run| run["hook"] == "guard").unwrap().clone();
            assert_eq!(of_guard(&fire(""))["exitCode"], 0);
            let outcome = fire("sub");
            assert_eq!(of_guard(&outcome)["exitCode"], 0, "{outcome}");
            assert!(outcome["diagnostics"].as_array().unwrap().iter().any(|found| found["code"] == "working-directory-replaced"), "{outcome}");
            lab.nothing_ran("an event from a folder without the script");
        }
    }
    programs_found_in_the_project Stranger {
        "The search path of the user begins with `.`, and the project has programs with the names that the user's hooks and the engine look for."
        => "Relative parts of the search path mean nothing to `args`, to shells, to modules' `exec` and to `fetch`."
        |lab| {
            for name in ["tool", "curl", "sleep", "cat", "sh"] {
                executable(lab, name);
            }
            let user = json!({"type": "command", "name": "user-guard", "command": guards::command(&lab.base, "user")});
            let hooks = [user, json!({"type": "command", "name": "args", "command": "tool", "args": ["x"]}),
                json!({"type": "command", "name": "line", "command": "tool x; true"})];
            let settings = json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": hooks}]}});
            lab.write_outside("home/.llxprt/settings.json", settings.to_string());
            let module = "export default (pi) => { pi.on(\"tool_call\", async () => {\n\
                 try { await pi.exec(\"tool\", [\"x\"]); } catch {}\n\
                 try { await fetch(\"http://127.0.0.1:1/\"); } catch {}\n }); };\n";
            lab.write_outside("home/.xcsh/agent/hooks/pre/exec.mjs", module);
            let path = std::env::var("PATH").unwrap();
            lab.variable("PATH", format!(".::{}:{path}:./bin:", lab.base.join("bin").display()));
        }
    }
    system_settings_of_the_project Stranger {
        "The variable for the system's settings is relative, or names a file of the project, which the project brings."
        => "That file is not read, and while the system layer cannot be used every tool call is denied."
        |lab| { lab.write("conf.json", lab.settings_running(&lab.canary())); },
        then |lab, _| {
            let inside = lab.project.join("conf.json");
            for value in ["conf.json", "./conf.json", "../project/conf.json", inside.to_str().unwrap()] {
                lab.variable("LLXPRT_SYSTEM_SETTINGS_PATH", value);
                let fired = lab.run(&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", "{}"], "");
                assert_eq!(fired.code, 2, "{value}: {fired:?}");
                let check = lab.run(&["check"], "");
                assert!(check.code == 1 && check.stdout.contains("system-file-unsafe"), "{value}: {check:?}");
                lab.nothing_ran(value);
            }
        }
    }
    plugin_variables Stranger {
        "The project's folder is named like a command, and an installed plugin uses the variable for it in 24 contexts."
        => "Nothing of the name is ever executed: the value is passed in the environment, and what cannot be made safe is refused."
        |lab| { lab.write(".llxprt/settings.json", lab.settings_running(&lab.canary())); },
        then |lab, _| {
            let entries: Vec<Value> = CONTEXTS.iter().map(|command| json!({"command": command})).collect();
            let plugin = json!({"name": "vars", "version": "1.0.0", "hooks": {"PreToolUse": entries}});
            lab.write_outside("home/.x-code/plugins/cache/market/vars/1.0.0/plugin.json", plugin.to_string());
            let installed = json!({"plugins": [{"id": "vars@market", "name": "vars", "marketplace": "market", "version": "1.0.0"}]});
            lab.write_outside("home/.x-code/plugins/installed_plugins.json", installed.to_string());
            for name in ["x$(touch A)", "x;touch B;", "a[$(touch C)]", "x`touch D`", "'+__import__('os').system('touch E')+'", "x\ntouch F\n"] {
                let project = lab.base.join(name);
                fs::create_dir(&project).unwrap();
                lab.work_in(&project);
                let fired = lab.run(&["fire", "PreToolUse", "--json"], "");
                assert!(fired.json()["runs"].as_array().unwrap().iter().any(|run| run["exitCode"] == 0), "{name}: {fired:?}");
                assert_eq!(fs::read_dir(&project).unwrap().count(), 0, "{name}: a part of the name was executed");
            }
        }
    }
    init_through_a_link Stranger {
        "`.llxprt` or `.llxprt/hooks` is a link to the user's own folder, and the user runs `hookrail init`."
        => "`init` refuses links, and nothing is written into the user's folder."
        |lab| { lab.link(".llxprt", lab.base.join("elsewhere")); },
        then |lab, _| {
            for (link, target) in [(".llxprt", lab.home.join(".llxprt")), (".llxprt", lab.base.join("empty")), (".llxprt/hooks", lab.home.clone())] {
                let _ = fs::remove_file(lab.project.join(".llxprt"));
                let _ = fs::remove_dir_all(lab.project.join(".llxprt"));
                fs::create_dir_all(&target).unwrap();
                lab.link(link, &target);
                let before = fs::read(lab.home.join(".llxprt/settings.json")).unwrap();
                let ran = lab.run(&["init", "--lang", "bash"], "");
                assert!(ran.code == 1 && ran.stderr.contains("nothing was written"), "{ran:?}");
                assert_eq!(fs::read(lab.home.join(".llxprt/settings.json")).unwrap(), before);
                assert!(!target.join("hooks").exists() && !target.join("guard.sh").exists(), "{link}");
            }
        }
    }
    invisible_characters Stranger {
        "Names and commands hold characters that show nothing or look like a space."
        => "They are written out by every command that shows a hook, the prompt for a grant included."
        |lab| { lab.write(".llxprt/settings.json", lab.settings_running(&lab.canary())); },
        then |lab, _| {
            for hidden in INVISIBLE {
                let hook = json!({"type": "command", "name": format!("gu{hidden}ard"), "command": format!("sh guard{hidden}.sh")});
                lab.write(".llxprt/settings.json", json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"matcher": format!("a{hidden}b"), "hooks": [hook]}]}}).to_string());
                for command in [&["trust", "grant"][..], &["trust", "status"], &["trust", "diff"], &["list"], &["explain", "BeforeTool", "--tool", "x"]] {
                    let ran = lab.run(command, "");
                    let said = format!("{}{}", ran.stdout, ran.stderr);
                    assert!(!said.contains(hidden), "{command:?} shows {hidden:?} raw: {said}");
                    let written = format!("\\u{{{:x}}}", u32::from(hidden));
                    assert!(said.contains(&written), "{command:?} does not write {written}: {said}");
                }
            }
        }
    }
    state_under_a_shared_umask Stranger {
        "The user's mask leaves new folders writable for a group, and the agent was used before anything was granted; or an earlier version left such a folder."
        => "State folders are created for their owner alone, so grants count; a folder that others can write to is an error of `trust grant`."
        |lab| { lab.write(".llxprt/settings.json", lab.settings_running(&lab.canary())); },
        then |lab, _| {
            let state = lab.home.join(".local/state/hookrail");
            let run = |args: &[&str]| {
                let inner = lab.command(args);
                let mut command = std::process::Command::new("sh");
                command.args(["-c", "umask 002; exec \"$@\"", "sh"]).arg(inner.get_program()).args(inner.get_args());
                command.current_dir(&lab.project).env_clear();
                command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
                command.stdin(Stdio::null()).output().unwrap()
            };
            let _ = fs::remove_dir_all(lab.home.join(".local"));
            let script = lab.base.join("script.json");
            let agent = run(&["agent", "--headless", "--prompt", "go", "--script", script.to_str().unwrap()]);
            assert!(agent.status.success() && state.exists(), "{agent:?}");
            for folder in [state.clone(), state.join("sessions")] {
                assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o77, 0, "{}", folder.display());
            }
            assert!(run(&["trust", "grant", "--yes"]).status.success());
            assert_eq!(lab.run(&["trust", "status", "--json"], "").json()["hooks"][0]["state"], "granted");
            fs::remove_file(lab.store()).unwrap();
            fs::set_permissions(&state, fs::Permissions::from_mode(0o775)).unwrap();
            let refused = run(&["trust", "grant", "--yes"]);
            let said = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert!(refused.status.code() == Some(1) && said.contains("chmod go-w"), "{said}");
        }
    }
    installed_setuid_program Stranger {
        "A plugin's folder holds programs with the setuid and setgid bits, which the user installs."
        => "The copies are plain programs: mode 0755, or 0644 for what cannot be executed."
        |lab| { lab.write(".llxprt/settings.json", lab.settings_running(&lab.canary())); },
        then |lab, _| {
            let folder = lab.base.join("evil");
            lab.write_outside("evil/plugin.json", json!({"name": "evil", "version": "1.0.0", "hooks": {}}).to_string());
            let modes = [("setuid", 0o4755, 0o755), ("setgid", 0o2755, 0o755), ("both", 0o6777, 0o755), ("sticky", 0o1644, 0o644), ("data", 0o4666, 0o644)];
            for (name, mode, _) in modes {
                let path = lab.write_outside(&format!("evil/{name}"), "x");
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
            let installed = lab.run(&["plugin", "install", folder.to_str().unwrap(), "--yes"], "");
            assert_eq!(installed.code, 0, "{installed:?}");
            for (name, _, expected) in modes {
                let path = lab.home.join(".x-code/plugins/cache/local/evil/1.0.0").join(name);
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
                // The user's own mask may take more away.
                assert!(mode & !expected == 0 && mode & 0o600 == 0o600, "{name}: {mode:o}");
            }
        }
    }
}
