//! A project with hooks, and the server in a clean environment.

use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Deref;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hookrail_testkit::TestProject;
use serde_json::{Value, json};

/// A limit that no test reaches; it only ends a test that would hang.
pub(crate) const HANG: Duration = Duration::from_secs(60);

pub(crate) struct Sandbox {
    place: TestProject,
}

impl Deref for Sandbox {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.place
    }
}

impl Sandbox {
    pub(crate) fn new(hooks: &Value) -> Self {
        Self { place: TestProject::with_hooks(hooks) }
    }

    /// One hook for BeforeTool.
    pub(crate) fn with_hook(command: &str) -> Self {
        Self::new(&json!({"BeforeTool": [{"hooks": [{"type": "command", "command": command}]}]}))
    }

    /// One hook for BeforeTool that is the user's own: it needs no grant, also not when it changes while a server runs.
    pub(crate) fn with_user_hook(command: &str) -> Self {
        let sandbox = Self::new(&json!({}));
        std::fs::create_dir(sandbox.base.join("home/.llxprt")).unwrap();
        sandbox.edit(command);
        sandbox
    }

    pub(crate) fn program() -> &'static Path {
        Path::new(env!("CARGO_BIN_EXE_hookrail"))
    }

    /// Any program, in an environment that holds nothing of this machine's configuration.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.place.command(program);
        // A client's compiled form does not belong into the repository.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// A server, and the conversation over its standard input and output.
    pub(crate) fn on_stdio(&self, args: &[&str]) -> (Server, Talk) {
        self.on_stdio_as_granted(&[args, &["--trust-project"]].concat())
    }

    /// Starts a server with stored grants only, without `--trust-project`.
    pub(crate) fn on_stdio_as_granted(&self, args: &[&str]) -> (Server, Talk) {
        let mut child = self.start(&[&["--stdio"], args].concat());
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        (Server(child), Talk::new(stdout, stdin))
    }

    /// A server on a socket, and a conversation with it.
    pub(crate) fn on_socket(&self, args: &[&str]) -> (Server, PathBuf, Talk) {
        let path = self.base.join("s");
        let server = Server(self.start(&[&["--socket", path.to_str().unwrap(), "--trust-project"], args].concat()));
        let talk = Self::talk_over(&path);
        (server, path, talk)
    }

    fn start(&self, args: &[&str]) -> Child {
        self.serve(args).spawn().unwrap()
    }

    /// The command that starts a server.
    pub(crate) fn serve(&self, args: &[&str]) -> Command {
        self.serve_with(Self::program(), &[], args)
    }

    /// The same by way of another program, which is given its own arguments and then the command.
    pub(crate) fn serve_with(
        &self,
        program: impl AsRef<std::ffi::OsStr>,
        own: &[&std::ffi::OsStr],
        args: &[&str],
    ) -> Command {
        let mut command = self.command(program);
        command.args(own).arg("serve").args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A server that was started on standard input and output, and a conversation with it.
    pub(crate) fn talk_to(mut command: Command) -> (Server, Talk) {
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        (Server(child), Talk::new(stdout, stdin))
    }

    /// A conversation with the server of a socket, as soon as there is one.
    pub(crate) fn talk_over(path: &Path) -> Talk {
        let answers = || UnixStream::connect(path).is_ok();
        assert!(hookrail_testkit::wait_until(answers, HANG), "the server does not answer");
        let stream = UnixStream::connect(path).unwrap();
        Talk::new(stream.try_clone().unwrap(), stream)
    }

    /// Replaces the user's hooks for BeforeTool by one, as an editor does: a new file, renamed over the old one.
    pub(crate) fn edit(&self, command: &str) {
        let hooks = json!({"BeforeTool": [{"hooks": [{"type": "command", "command": command}]}]});
        let settings = json!({"hooksConfig": {"enabled": true}, "hooks": hooks});
        let folder = self.base.join("home/.llxprt");
        std::fs::write(folder.join("new"), settings.to_string()).unwrap();
        std::fs::rename(folder.join("new"), folder.join("settings.json")).unwrap();
    }

    /// Runs a command of the program and gives its status and everything it wrote.
    pub(crate) fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let ran = self.command(Self::program()).args(args).output().unwrap();
        let text = [ran.stdout, ran.stderr].concat();
        (ran.status.code(), String::from_utf8(text).unwrap())
    }
}

/// A server that is ended with the test.
pub(crate) struct Server(pub(crate) Child);

impl Server {
    pub(crate) fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.0.id().to_string()]).status().unwrap().success());
    }

    pub(crate) fn ends_with(mut self, code: i32) {
        assert_eq!(self.0.wait().unwrap().code(), Some(code));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A conversation with a server.
pub(crate) struct Talk {
    reader: Box<dyn BufRead>,
    writer: Option<Box<dyn Write>>,
}

impl Talk {
    fn new(reader: impl Read + 'static, writer: impl Write + 'static) -> Self {
        Self { reader: Box::new(BufReader::new(reader)), writer: Some(Box::new(writer)) }
    }

    pub(crate) fn line(&mut self, line: &str) {
        writeln!(self.writer.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn say(&mut self, kind: &str, payload: &Value) {
        self.line(&json!({"type": kind, "payload": payload}).to_string());
    }

    pub(crate) fn ask_for(&mut self, name: &str, tool: &str) {
        let input = json!({"tool_name": tool, "tool_input": {"path": "a"}});
        self.say("HOOK_EXECUTION_REQUEST", &json!({"correlationId": name, "eventName": "BeforeTool", "input": input}));
    }

    /// Returns the next message; none at the end.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    /// Sends a request about a tool and returns the payload of the answer.
    pub(crate) fn ask(&mut self, tool: &str) -> Value {
        self.ask_for("asked", tool);
        let mut answer = self.next().unwrap();
        assert_eq!(answer["type"], "HOOK_EXECUTION_RESPONSE", "{answer}");
        answer["payload"].take()
    }

    /// Returns the message of a hook for the user.
    pub(crate) fn message(&mut self) -> Value {
        self.ask("x")["outcome"]["systemMessage"].take()
    }

    /// Sends requests until a hook has this message for the user.
    pub(crate) fn until_message(&mut self, expected: &str) {
        let mut last = Value::Null;
        let said = || {
            last = self.message();
            last == expected
        };
        assert!(hookrail_testkit::wait_until(said, HANG), "expected {expected}, not {last}");
    }

    /// The payload of the server's `hello`.
    pub(crate) fn hello(&mut self) -> Value {
        self.say("hello", &json!({"protocol": 1}));
        let mut answer = self.next().unwrap();
        assert_eq!(answer["type"], "hello", "{answer}");
        answer["payload"].take()
    }

    /// Returns the code of the next error; messages before it are skipped.
    pub(crate) fn next_error(&mut self) -> String {
        loop {
            let message = self.next().unwrap();
            if let Some(code) = message.pointer("/payload/error/code").and_then(serde_json::Value::as_str) {
                return code.to_owned();
            }
        }
    }

    /// Closes the input of the server.
    pub(crate) fn finish(&mut self) {
        self.writer = None;
    }
}

/// The process of a hook that writes it to `pid`, as soon as it has.
pub(crate) fn started(sandbox: &Sandbox) -> u32 {
    let file = sandbox.project.join("pid");
    assert!(hookrail_testkit::wait_until(|| file.exists(), HANG), "the hook never started");
    std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

pub(crate) fn ends(process: u32) {
    let gone = || hookrail_testkit::process_state(process).is_none_or(|state| state == 'Z');
    assert!(hookrail_testkit::wait_until(gone, HANG), "the hook is still there");
}
