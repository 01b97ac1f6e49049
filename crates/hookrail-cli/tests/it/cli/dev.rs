//! `dev`: fires again when a hook is saved, shows what has changed, and runs nothing that is not trusted.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{ChildStdout, Command};

use hookrail_testkit::{RunningProgram, Signal};

use crate::cli::sandbox::Sandbox;

/// A running `dev` whose output is a pipe.
struct Running {
    program: RunningProgram,
    output: BufReader<ChildStdout>,
    seen: String,
}

impl Running {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut program = RunningProgram::start(&mut sandbox.command(&[&["dev"], args].concat()));
        let output = BufReader::new(program.stdout.take().unwrap());
        Self { program, output, seen: String::new() }
    }

    /// Reads up to a line that contains this, and returns everything since the last one.
    #[track_caller]
    fn until(&mut self, text: &str) -> String {
        let mut since = String::new();
        loop {
            let mut line = String::new();
            let count = self.output.read_line(&mut line).unwrap();
            assert!(count > 0, "{text:?} is not in {}{since}", self.seen);
            since.push_str(&line);
            if line.contains(text) {
                self.seen.push_str(&since);
                return since;
            }
        }
    }

    fn ended_by(&mut self, signal: Signal) -> Option<i32> {
        self.program.signal(signal);
        self.program.exit_status()
    }
}

/// A project whose user has a hook, which needs no grant.
fn with_user_hook(script: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let file = sandbox.write_program("guard.sh", script);
    let command = serde_json::Value::from(file.to_str().unwrap());
    sandbox.write_home(
        ".llxprt/settings.json",
        format!(
            r#"{{"hooksConfig":{{"enabled":true}},"hooks":{{"BeforeTool":[{{"matcher":"replace","hooks":[{{"type":"command","name":"guard","command":{command}}}]}}]}}}}"#
        ),
    );
    sandbox
}

/// Saves a program as an editor does: a new file, renamed over the old one. A program that is open for writing cannot be
/// executed, and `dev` may execute it between two writes.
fn save_program(sandbox: &Sandbox, name: &str, text: &str) {
    let new = sandbox.write_program(&format!("{name}.new"), text);
    std::fs::rename(&new, new.with_extension("")).unwrap();
}

/// cli:C20
#[test]
fn a_save_fires_again_and_shows_what_has_changed() {
    let sandbox = with_user_hook("#!/bin/sh\necho first >&2\nexit 2\n");
    let mut dev = Running::start(&sandbox, &[]);
    let first = dev.until("stderr");
    assert!(first.contains("before-tool replace  a sample"), "{first}");
    assert!(first.contains("blocked  before-tool replace") && first.contains("\"tool_name\": \"replace\""), "{first}");
    save_program(&sandbox, "guard.sh", "#!/bin/sh\nexit 0\n");
    let second = dev.until("+hook guard: silent, no decision");
    assert!(second.contains("saved at ") && second.contains("-blocked") && second.contains("+allowed"), "{second}");
    assert!(second.contains("-reason: first"), "{second}");
    save_program(&sandbox, "guard.sh", "#!/bin/sh\n# the same\nexit 0\n");
    dev.until("the same verdict as before");
    assert_eq!(dev.ended_by(Signal::INT), Some(0));
}

/// cli:C20
#[test]
fn a_hook_that_is_not_granted_or_has_changed_does_not_run() {
    let sandbox = Sandbox::with_hook("BeforeTool", "sh ./guard.sh");
    sandbox.write("guard.sh", "touch ran\nexit 2\n");
    let mut dev = Running::start(&sandbox, &["sample"]);
    let shown = dev.until("run `hookrail trust grant`");
    assert!(shown.contains("sample  untrusted"), "{shown}");
    assert!(!sandbox.exists("ran"));
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let granted = dev.until("+hook sample: exited 2, deny");
    assert!(granted.contains("-hook sample: did not run, untrusted"), "{granted}");
    std::fs::remove_file(sandbox.project.join("ran")).unwrap();
    sandbox.write("guard.sh", "touch ran\nexit 0\n");
    let changed = dev.until("+hook sample: did not run, untrusted");
    assert!(changed.contains("run `hookrail trust diff`"), "{changed}");
    assert!(!sandbox.exists("ran"));
    assert_eq!(dev.ended_by(Signal::TERM), Some(143));
}

#[test]
fn trusting_the_project_covers_what_is_there_at_the_start() {
    let sandbox = Sandbox::with_hook("BeforeTool", "sh ./guard.sh");
    sandbox.write("guard.sh", "exit 2\n");
    let mut dev = Running::start(&sandbox, &["--trust-project"]);
    dev.until("stderr");
    sandbox.write("guard.sh", "touch ran\nexit 0\n");
    dev.until("hook sample: did not run, untrusted");
    assert!(!sandbox.exists("ran"));
    assert_eq!(dev.ended_by(Signal::INT), Some(0));
}

#[test]
fn what_was_saved_broken_is_reported_and_not_run() {
    let sandbox = Sandbox::new();
    let module = |reason: &str| {
        format!("export default (pi) => {{ pi.on('tool_call', () => ({{ block: true, reason: '{reason}' }})); }};")
    };
    sandbox.write("m.ts", module("one"));
    let mut dev = Running::start(&sandbox, &["--hook", "m.ts"]);
    dev.until("returned");
    sandbox.write("m.ts", "export default (pi) => {");
    let broken = dev.until("m.ts:");
    assert!(broken.contains("not fired: what was saved cannot be used"), "{broken}");
    sandbox.write("m.ts", module("two"));
    let mended = dev.until("+reason: two");
    assert!(mended.contains("-reason: one"), "{mended}");
    assert_eq!(dev.ended_by(Signal::INT), Some(0));
}

#[test]
fn the_last_recorded_event_is_fired() {
    let sandbox = with_user_hook("#!/bin/sh\nexit 0\n");
    for path in ["a.txt", "b.txt"] {
        let input = format!(r#"{{"path":"{path}"}}"#);
        sandbox.run(&["fire", "BeforeTool", "--tool", "replace", "--tool-input", &input, "--journal"]).ends_with(0);
    }
    sandbox.run(&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", "{}", "--journal"]).ends_with(0);
    let of_hook = sandbox.run(&["dev", "guard", "--once"]).ends_with(0).stdout;
    assert!(of_hook.contains("as recorded at ") && of_hook.contains("\"path\": \"b.txt\""), "{of_hook}");
    let of_all = sandbox.run(&["dev", "--once"]).ends_with(0).stdout;
    assert!(of_all.starts_with("before-tool write_file  as recorded at "), "{of_all}");
    let given = sandbox.run(&["dev", "--once", "--tool", "replace"]).ends_with(0).stdout;
    assert!(given.starts_with("before-tool replace  as given"), "{given}");
    let before = sandbox.run(&["log", "--json"]).stdout.lines().count();
    assert_eq!(before, 3, "nothing that `dev` fires is recorded");
}

#[test]
fn an_event_of_another_project_is_not_fired() {
    let (sandbox, other) = (with_user_hook("#!/bin/sh\nexit 0\n"), Sandbox::new());
    let project = other.project.to_str().unwrap();
    sandbox.run(&["fire", "BeforeTool", "--tool", "replace", "--journal", "--project", project]).ends_with(0);
    let shown = sandbox.run(&["dev", "--once"]).ends_with(0).stdout;
    assert!(shown.contains("a sample"), "{shown}");
}

#[test]
fn an_unknown_hook_and_no_hook_at_all() {
    let none = Sandbox::new().run(&["dev"]).ends_with(1);
    assert!(none.stderr.contains("no hooks are configured") && none.stderr.contains("hookrail try"), "{}", none.stderr);
    let sandbox = with_user_hook("#!/bin/sh\nexit 0\n");
    let wrong = sandbox.run(&["dev", "gaurd"]).ends_with(1);
    assert!(wrong.stderr.contains("did you mean `guard`?"), "{}", wrong.stderr);
    sandbox.run(&["dev", "gua", "--once"]).ends_with(0);
}

#[test]
fn a_reader_that_goes_away_ends_the_command() {
    let sandbox = with_user_hook("#!/bin/sh\nexit 0\n");
    let mut dev = Running::start(&sandbox, &[]);
    dev.until("stderr");
    let mut gone = std::process::Command::new("true").stdout(std::process::Stdio::piped()).spawn().unwrap();
    gone.wait().unwrap();
    // The pipe is closed with its reader.
    let closed = std::mem::replace(&mut dev.output, BufReader::new(gone.stdout.take().unwrap()));
    drop(closed);
    sandbox.write_program("guard.sh", "#!/bin/sh\nexit 2\n");
    assert_eq!(dev.program.exit_status(), Some(0));
}

#[test]
fn an_interrupt_ends_the_hook_that_runs() {
    let sandbox = with_user_hook("#!/bin/sh\necho $$ > pid.tmp; mv pid.tmp pid; exec sleep 60\n");
    let mut dev = Running::start(&sandbox, &[]);
    assert!(hookrail_testkit::wait_until(|| sandbox.exists("pid"), std::time::Duration::from_secs(30)));
    assert_eq!(dev.ended_by(Signal::INT), Some(0));
    dev.until("interrupted  before-tool replace");
    let hook = sandbox.read("pid");
    assert!(!Command::new("kill").args(["-0", hook.trim()]).output().unwrap().status.success(), "it is still there");
}

#[test]
fn a_hook_that_saves_itself_does_not_run_without_end() {
    let sandbox = with_user_hook("#!/bin/sh\necho x >> runs\necho '# more' >> \"$0\"\nexit 0\n");
    let mut dev = Running::start(&sandbox, &[]);
    for _ in 0..3 {
        dev.until("the same verdict as before");
    }
    assert_eq!(dev.ended_by(Signal::INT), Some(0));
    let mut rest = String::new();
    dev.output.read_to_string(&mut rest).unwrap();
    assert!(sandbox.read("runs").lines().count() < 20, "{rest}");
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_keys_fire_again_and_review_changes() {
    use crate::cli::pseudo_terminal::OnTerminal;
    let sandbox = Sandbox::with_hook("BeforeTool", "sh ./guard.sh");
    sandbox.write("guard.sh", "exit 2\n");
    let mut terminal = OnTerminal::start(&sandbox, &["dev"], "");
    terminal.sees_next("Ctrl-C ends");
    terminal.sees_next("hookrail trust grant");
    terminal.types("\n");
    terminal.sees_next("again at ");
    terminal.sees_next("the same verdict as before");
    terminal.types("t\n");
    terminal.sees_next("let it run?");
    terminal.types("y\n");
    terminal.sees_next("hook sample: exited 2, deny");
    assert!(terminal.is_as_usual());
    terminal.types("q\n");
    assert!(terminal.command.wait().unwrap().success());
}

/// As the bridge of an agent: its names of events and tools, and without the hooks that it runs itself.
#[test]
fn an_event_is_fired_as_the_bridge_of_an_agent_would() {
    let sandbox = Sandbox::new();
    let hook = serde_json::json!({"type": "command", "command": "cat > got.json; echo no >&2; exit 2"});
    let group = serde_json::json!({"matcher": "Bash", "hooks": [hook]});
    sandbox.write(".claude/settings.json", serde_json::json!({"hooks": {"PreToolUse": [group]}}).to_string());
    sandbox.run(&["enable", "claude"]).ends_with(0);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    for (agent, event, tool) in [("gemini", "BeforeTool", "run_shell_command"), ("codex", "PreToolUse", "Bash")] {
        for options in [&[][..], &["--event", event, "--tool", tool]] {
            let ran = sandbox.run(&[&["dev", "--once", "--agent", agent], options].concat()).ends_with(0);
            assert!(ran.stdout.contains(tool) && ran.stdout.contains("blocked"), "{agent}: {ran:?}");
            let got: serde_json::Value = serde_json::from_str(&sandbox.read("got.json")).unwrap();
            assert_eq!((&got["tool_name"], &got["tool_input"]["command"]), (&"Bash".into(), &"git status".into()));
            std::fs::remove_file(sandbox.project.join("got.json")).unwrap();
        }
    }
    sandbox.run(&["dev", "--once", "--agent", "claude"]).ends_with(0);
    assert!(!sandbox.exists("got.json"), "its own hooks are not asked");
}
