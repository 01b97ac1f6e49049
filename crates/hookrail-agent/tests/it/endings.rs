//! How the agent ends when it is ended: signals, a terminal that is closed, output that cannot be written. Nothing of it goes
//! on running, the session ends, and the status says what happened.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::talk::{Talk, runs, send_signal, wait_for};
use crate::world::{ProgramOutput, Shows as _, World, says, turns};

/// A program with a child, which both say who they are and never end by themselves.
const STUCK: &str =
    "sleep 600 & echo $! > child.tmp; mv child.tmp child; echo $$ > parent.tmp; mv parent.tmp parent; wait";
const SESSION_END: (&str, &str, &str) = ("SessionEnd", "", "cat > end.json");

fn call_of(tool: &str, args: Value) -> Value {
    turns(json!([{"calls": [{"name": tool, "args": args}]}, {"text": "done"}]))
}

/// An agent that waits for a hook, and one that waits for a command line.
fn stuck_worlds() -> [World; 2] {
    let file = json!({"path": "a.txt", "content": "x"});
    let hook = World::with(&[SESSION_END, ("BeforeTool", "", STUCK)], call_of("write_file", file));
    let tool = World::with(&[SESSION_END], call_of("run_shell_command", json!({"command": STUCK})));
    [hook, tool]
}

#[track_caller]
fn nothing_is_left(world: &World, what: &str) {
    assert!(!runs(world, "parent") && !runs(world, "child"), "{what}: something of it still runs");
    assert!(world.read("end.json").contains(r#""reason":"other""#), "{what}: {}", world.read("end.json"));
    assert!(!world.exists("a.txt"), "{what}: a guard that was interrupted has not said yes");
}

#[test]
fn every_signal_ends_hooks_and_tools_and_the_session() {
    for (signal, code) in [("HUP", 129), ("INT", 130), ("QUIT", 131), ("TERM", 143)] {
        for world in stuck_worlds() {
            let agent = world.agent(&["--headless", "--prompt", "go"]).spawn().unwrap();
            wait_for(&world.project.join("parent"));
            send_signal(signal, agent.id());
            ProgramOutput::from(agent.wait_with_output().unwrap()).ends_with(code);
            nothing_is_left(&world, signal);
            world.script(says("here again"));
            world.run(&["--resume", "--prompt", "and now?"]).ends_with(0);
        }
    }
}

#[test]
fn a_session_end_that_takes_for_ever_does_not_keep_the_agent() {
    let world = World::with(&[("SessionEnd", "", STUCK)], turns(json!([{"text": "I hang", "hang": true}])));
    let mut talk = Talk::start(&world, &[]);
    talk.send("go");
    talk.next("text");
    send_signal("TERM", talk.id());
    wait_for(&world.project.join("parent"));
    talk.finish().ends_with(143);
    assert!(!runs(&world, "parent") && !runs(&world, "child"));
}

/// The agent as a program that ignores a signal starts it.
fn ignoring(signal: &str, world: &World, args: &[&str]) -> Command {
    let agent = world.agent(args);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("trap '' {signal}; exec \"$@\""), "sh"]);
    command.arg(agent.get_program()).args(agent.get_args()).current_dir(&world.project).env_clear();
    command.envs(agent.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    for signal in ["HUP", "INT", "QUIT"] {
        let hook = "cat >/dev/null; touch started; while [ ! -e go-on ]; do sleep 0.05; done";
        let world = World::with(&[("BeforeModel", "", hook)], says("still here"));
        let agent = ignoring(signal, &world, &["--prompt", "go"]).spawn().unwrap();
        wait_for(&world.project.join("started"));
        send_signal(signal, agent.id());
        world.write("go-on", "");
        let ran = ProgramOutput::from(agent.wait_with_output().unwrap()).ends_with(0);
        assert_eq!(ran.stdout, "still here\n");
    }
}

/// An agent on a terminal of its own, which can be closed.
struct Closable {
    terminal: File,
    agent: Child,
    seen: String,
}

impl Closable {
    /// The agent becomes the leader of a session, and the terminal the one that controls it.
    fn start(world: &World, trap: &str) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let agent = world.agent(&[]);
        let mut command = Command::new("setsid");
        command.args(["sh", "-c", &format!("{trap}exec \"$@\" <\"$TERMINAL\" >\"$TERMINAL\" 2>\"$TERMINAL\""), "sh"]);
        command.arg(agent.get_program()).args(agent.get_args()).current_dir(&world.project).env_clear();
        command.envs(agent.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("TERMINAL", name.to_str().unwrap()).stdin(Stdio::null());
        let agent = command.spawn().unwrap();
        let mut closable = Self { terminal: File::from(terminal), agent, seen: String::new() };
        closable.sees("> ");
        closable
    }

    fn sees(&mut self, text: &str) {
        while !self.seen.contains(text) {
            let mut bytes = [0; 4096];
            let count = self.terminal.read(&mut bytes).unwrap();
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }

    fn line(&mut self, text: &str) {
        self.terminal.write_all(format!("{text}\r").as_bytes()).unwrap();
    }

    #[track_caller]
    fn close_and_end_with(mut self, code: i32) {
        drop(self.terminal);
        assert_eq!(self.agent.wait().unwrap().code(), Some(code));
    }
}

#[test]
fn a_closed_terminal_ends_hooks_and_tools_and_the_session() {
    for world in stuck_worlds() {
        let mut terminal = Closable::start(&world, "");
        terminal.line("go");
        wait_for(&world.project.join("parent"));
        terminal.close_and_end_with(129);
        nothing_is_left(&world, "closed");
    }
}

#[test]
fn a_terminal_that_is_closed_at_the_prompt_ends_the_session() {
    for trap in ["", "trap '' HUP; "] {
        let world = World::with(&[SESSION_END], says("x"));
        Closable::start(&world, trap).close_and_end_with(129);
        assert!(world.read("end.json").contains(r#""reason":"other""#), "{trap:?}: {}", world.read("end.json"));
    }
}

#[test]
fn a_terminal_that_is_closed_without_a_signal_stops_the_tools() {
    let hook = "cat >/dev/null; touch started; while [ ! -e go-on ]; do sleep 0.05; done";
    let script = turns(json!([
        {"text": "one", "calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "x"}}]},
        {"text": "never said", "calls": [{"name": "write_file", "args": {"path": "b.txt", "content": "x"}}]},
    ]));
    let world = World::with(&[SESSION_END, ("BeforeTool", "", hook)], script);
    let mut terminal = Closable::start(&world, "trap '' HUP; ");
    terminal.line("go");
    wait_for(&world.project.join("started"));
    let Closable { terminal, mut agent, .. } = terminal;
    drop(terminal);
    world.write("go-on", "");
    assert_eq!(agent.wait().unwrap().code(), Some(1));
    assert!(!world.exists("a.txt") && !world.exists("b.txt"));
    assert!(world.exists("end.json"));
}

/// A conversation with two tools, of which neither may run if the output of the agent cannot be written.
fn unheard_world() -> World {
    World::with(
        &[SESSION_END],
        turns(json!([
            {"text": "the first answer", "calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "x"}}]},
            {"text": "the second answer", "calls": [{"name": "write_file", "args": {"path": "b.txt", "content": "x"}}]},
            {"text": "the third answer"}
        ])),
    )
}

const MODES: [(&[&str], &str); 4] =
    [(&["--prompt", "go"], ""), (&[], "go"), (&["--headless", "--prompt", "go"], ""), (&["--headless"], "go\ngo on\n")];

fn fed(mut command: Command, input: &str) -> Child {
    let mut agent = command.stdin(Stdio::piped()).spawn().unwrap();
    // An agent that has ended already does not read.
    let _ = agent.stdin.take().unwrap().write_all(input.as_bytes());
    agent
}

#[track_caller]
fn ended_unheard(world: &World, agent: Child, what: &str) {
    let output = agent.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{what}: {stderr}");
    assert_eq!(stderr.matches("standard output cannot be written").count(), 1, "{what}: {stderr}");
    assert!(!world.exists("a.txt") && !world.exists("b.txt"), "{what}: tools ran without a reader of the output");
    assert!(world.exists("end.json"), "{what}: the session did not end");
}

#[test]
fn when_standard_output_is_full_no_tool_runs_and_the_agent_fails() {
    for (args, input) in MODES {
        let world = unheard_world();
        let mut command = world.agent(args);
        command.stdout(File::options().write(true).open("/dev/full").unwrap());
        ended_unheard(&world, fed(command, input), &format!("{args:?}"));
        if !args.contains(&"--headless") {
            let session = std::fs::read_to_string(&world.sessions()[0]).unwrap();
            assert!(session.contains("the first answer"), "{args:?}: {session}");
        }
    }
}

#[test]
fn when_the_reader_of_standard_output_is_gone_no_tool_runs_and_the_agent_fails() {
    for (args, input) in MODES {
        let world = unheard_world();
        let (reader, writer) = std::io::pipe().unwrap();
        let mut command = world.agent(args);
        command.stdout(writer);
        drop(reader);
        let agent = fed(command, input);
        ended_unheard(&world, agent, &format!("{args:?}"));
    }
}

#[test]
fn a_reader_that_goes_away_in_the_middle_stops_the_tools() {
    let hook = "cat >/dev/null; touch started; while [ ! -e go-on ]; do sleep 0.05; done";
    for args in [["--prompt", "go"].as_slice(), &["--headless", "--prompt", "go"]] {
        // The model says nothing, so that nothing is written before the tool would run.
        let world = World::with(
            &[SESSION_END, ("BeforeModel", "", hook)],
            call_of("write_file", json!({"path": "a.txt", "content": "x"})),
        );
        let mut agent = world.agent(args).spawn().unwrap();
        wait_for(&world.project.join("started"));
        drop(agent.stdout.take());
        world.write("go-on", "");
        ended_unheard(&world, agent, &format!("{args:?}"));
    }
}

#[test]
fn an_answer_that_could_not_be_printed_is_in_the_session_and_the_status_says_so() {
    let world = World::with(&[SESSION_END], says("forty-two"));
    let mut command = world.agent(&["--prompt", "go"]);
    command.stdout(File::options().write(true).open("/dev/full").unwrap());
    ended_unheard(&world, command.spawn().unwrap(), "the only answer");
    world.script(turns(json!([{"text": "as I said", "expect": {"contains": ["forty-two"]}}])));
    assert_eq!(world.run(&["--resume", "--prompt", "what?"]).ends_with(0).stdout, "as I said\n");
}

#[test]
fn standard_output_that_another_program_made_non_blocking_loses_nothing() {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let long = "x".repeat(300_000);
    let world = World::new(says(&long));
    let (mut reader, writer) = std::io::pipe().unwrap();
    fcntl_setfl(&writer, fcntl_getfl(&writer).unwrap() | OFlags::NONBLOCK).unwrap();
    let mut command = world.agent(&["--prompt", "go"]);
    command.stdout(writer);
    let mut agent = command.spawn().unwrap();
    drop(command);
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    assert_eq!(agent.wait().unwrap().code(), Some(0));
    assert_eq!(read, long + "\n");
}

#[test]
fn huge_and_special_files_do_not_hold_the_agent_up() {
    let world = World::new(turns(json!([
        {"calls": [
            {"name": "read_file", "args": {"path": "huge"}},
            {"name": "write_file", "args": {"path": "pipe", "content": "x"}},
            {"name": "read_file", "args": {"path": "pipe"}}
        ]},
        {"text": "done", "expect": {"contains": ["of the file's 3221225472 bytes follow", "it is a named pipe"]}}
    ])));
    File::create(world.project.join("huge")).unwrap().set_len(3 << 30).unwrap();
    assert!(Command::new("mkfifo").arg(world.project.join("pipe")).status().unwrap().success());
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["ran", "failed", "failed"]);
}

#[test]
fn a_reader_that_takes_nothing_does_not_keep_the_agent_from_ending() {
    for args in [["--prompt", "go"].as_slice(), &["--headless", "--prompt", "go"]] {
        let world = World::with(
            &[SESSION_END, ("BeforeModel", "", "cat >/dev/null; touch started")],
            says(&"x".repeat(1_000_000)),
        );
        let (reader, writer) = std::io::pipe().unwrap();
        let mut command = world.agent(args);
        let mut agent = command.stdout(writer).spawn().unwrap();
        drop(command);
        wait_for(&world.project.join("started"));
        send_signal("TERM", agent.id());
        assert_eq!(agent.wait().unwrap().code(), Some(143), "{args:?}");
        assert!(world.exists("end.json"), "{args:?}");
        drop(reader);
    }
}

#[test]
fn an_open_question_does_not_keep_the_agent_from_ending() {
    let ask = r#"cat >/dev/null; echo '{"decision":"ask","reason":"sure?"}'"#;
    let file = json!({"path": "a.txt", "content": "x"});
    let world = World::with(&[SESSION_END, ("BeforeTool", "", ask)], call_of("write_file", file));
    let mut terminal = Closable::start(&world, "");
    terminal.line("go");
    terminal.sees("allow this once?");
    send_signal("TERM", terminal.agent.id());
    assert_eq!(terminal.agent.wait().unwrap().code(), Some(143));
    assert!(!world.exists("a.txt"), "a question without an answer is no yes");
    assert!(world.read("end.json").contains(r#""reason":"other""#));
}
