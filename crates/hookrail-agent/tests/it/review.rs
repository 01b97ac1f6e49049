//! The review of untrusted hooks when the agent begins, on a real pseudo-terminal.

use std::process::Command;

use crate::terminal::Terminal;
use crate::world::{World, says};

/// A world with three hooks of the project, none of them granted, and the agent without `--trust-project`.
fn world() -> World {
    let world = World::with(
        &[("SessionStart", "", "touch one"), ("SessionStart", "", "touch two"), ("SessionStart", "", "touch three")],
        says("x"),
    );
    world.write("notes.txt", "");
    world
}

fn untrusted(world: &World, args: &[&str]) -> Command {
    let trusting = world.agent(args);
    let mut command = Command::new(trusting.get_program());
    command.args(trusting.get_args().filter(|arg| *arg != "--trust-project")).current_dir(&world.project).env_clear();
    for (name, value) in trusting.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    // Words are looked for here, and colours stand between them.
    command.env("NO_COLOR", "1");
    command
}

fn ran(world: &World) -> [bool; 3] {
    ["one", "two", "three"].map(|name| world.exists(name))
}

fn leave(mut terminal: Terminal) {
    terminal.expect("type a prompt");
    terminal.line("/exit");
    terminal.ends_with(0);
}

/// Comes before anything is looked for that a hook names.
const OFFER: &str = "look at them now? [y]es, [N]o:";

fn reviewing(world: &World) -> Terminal {
    let mut terminal = Terminal::of(untrusted(world, &[]));
    terminal.expect(OFFER);
    terminal.line("y");
    terminal
}

const QUESTION: &str = "let it run? [y]es, [N]o, [a]ll, [s]kip the rest:";

#[test]
fn each_hook_is_shown_and_only_what_gets_a_yes_runs() {
    let world = world();
    let mut terminal = reviewing(&world);
    let shown = terminal.expect(QUESTION);
    for part in [
        "has 3 hooks that are not trusted",
        "h1",
        "session-start",
        "sh \"$LLXPRT_PROJECT_DIR/.llxprt/hooks/h1.sh\"",
        ".llxprt/hooks/h1.sh",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    terminal.line("what?");
    terminal.expect(QUESTION);
    terminal.line("y");
    assert!(terminal.expect(QUESTION).contains("h2"));
    terminal.line("");
    assert!(terminal.expect(QUESTION).contains("h3"));
    terminal.line("yes");
    terminal.expect("granted: the project and 2 hooks");
    leave(terminal);
    assert_eq!(ran(&world), [true, false, true]);
    let mut again = reviewing(&world);
    assert!(again.expect(QUESTION).contains("has 1 hook that is not trusted"));
    again.line("s");
    again.expect("nothing was granted");
    leave(again);
}

#[test]
fn all_means_all_that_were_shown() {
    let world = world();
    let mut terminal = reviewing(&world);
    terminal.expect(QUESTION);
    terminal.line("a");
    let shown = terminal.expect("let all 3 hooks run? [y]es, [N]o:");
    assert!(shown.contains("h2") && shown.contains("h3"), "{shown}");
    terminal.line("y");
    terminal.expect("granted: the project and 3 hooks");
    leave(terminal);
    assert_eq!(ran(&world), [true, true, true]);
}

#[test]
fn a_change_is_shown_and_nothing_of_it_is_raw() {
    let world = world();
    let mut terminal = reviewing(&world);
    terminal.expect(QUESTION);
    terminal.line("a");
    terminal.expect("run? [y]es, [N]o:");
    terminal.line("y");
    leave(terminal);
    for name in ["one", "two", "three"] {
        std::fs::remove_file(world.project.join(name)).unwrap();
    }
    world.write(".llxprt/hooks/h2.sh", "touch two; echo more");
    let settings = std::fs::read_to_string(world.project.join(".llxprt/settings.json")).unwrap();
    world.write(".llxprt/settings.json", settings.replace("h3.sh\\\"", "h3.sh\\\" # \\u001b[2J\\u202e"));
    let mut terminal = reviewing(&world);
    let first = terminal.expect(QUESTION);
    assert!(first.contains("h2  changed") && first.contains("changed  .llxprt/hooks/h2.sh"), "{first}");
    terminal.line("n");
    let second = terminal.expect(QUESTION);
    assert!(
        second.contains("h3  changed") && second.contains("- sh") && second.contains("\\x1b[2J\\u{202e}"),
        "{second}"
    );
    assert!(!second.contains("\u{1b}[2J") && !second.contains('\u{202e}'), "{second:?}");
    terminal.line("n");
    terminal.expect("nothing was granted");
    leave(terminal);
    assert_eq!(ran(&world), [true, false, false]);
}

#[test]
fn without_a_person_the_answer_is_no_and_it_is_said() {
    let world = world();
    for args in [&["--headless", "--prompt", "go"][..], &["--prompt", "go"]] {
        let output = untrusted(&world, args).stdin(std::process::Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("3 hooks of this project are not trusted and will not run"), "{args:?}: {said}");
    }
    assert_eq!(ran(&world), [false, false, false]);
    let quiet =
        untrusted(&world, &["--prompt", "go", "--no-hooks"]).stdin(std::process::Stdio::null()).output().unwrap();
    assert!(!String::from_utf8(quiet.stderr).unwrap().contains("will not run"));
}

/// A path that a command names may be a place that acts when it is looked up. The control is a user who wants to see it.
#[cfg(target_os = "linux")]
#[test]
fn nothing_that_a_hook_names_is_looked_up_before_the_user_agrees() {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: strace is missing");
        return;
    }
    let world = world();
    let hook = r#"{"type": "command", "name": "far", "command": "sh /no-such-share/guard.sh"}"#;
    let settings =
        format!(r#"{{"tools": {{"enableHooks": true}}, "hooks": {{"SessionStart": [{{"hooks": [{hook}]}}]}}}}"#);
    world.write(".llxprt/settings.json", settings);
    for (answer, is_looked_up) in [("n", false), ("y", true)] {
        let agent = untrusted(&world, &[]);
        let calls = world.project.join(format!("calls-{answer}"));
        let mut traced = Command::new("strace");
        traced.args(["-f", "-e", "trace=file", "-o"]).arg(&calls).arg(agent.get_program()).args(agent.get_args());
        traced.current_dir(&world.project).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        traced.envs(agent.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut terminal = Terminal::of(traced);
        terminal.expect(OFFER);
        terminal.line(answer);
        if is_looked_up {
            terminal.expect(QUESTION);
            terminal.line("n");
        }
        leave(terminal);
        let calls = std::fs::read_to_string(calls).unwrap();
        assert_eq!(calls.contains("no-such-share"), is_looked_up, "{answer}");
    }
}
