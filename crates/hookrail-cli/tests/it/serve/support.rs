//! A project with hooks, and the server in a clean environment.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hookrail_testkit::{HANG, RunningProgram, Talk, TestProject, enabled_hooks};
use serde_json::{Value, json};

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
    pub(crate) fn on_stdio(&self, args: &[&str]) -> (RunningProgram, Talk) {
        self.on_stdio_as_granted(&[args, &["--trust-project"]].concat())
    }

    /// Starts a server with stored grants only, without `--trust-project`.
    pub(crate) fn on_stdio_as_granted(&self, args: &[&str]) -> (RunningProgram, Talk) {
        Self::talk_to(self.serve(&[&["--stdio"], args].concat()))
    }

    /// A server on a socket, and a conversation with it.
    pub(crate) fn on_socket(&self, args: &[&str]) -> (RunningProgram, PathBuf, Talk) {
        let path = self.base.join("s");
        let args = [&["--socket", path.to_str().unwrap(), "--trust-project"], args].concat();
        let server = RunningProgram::start(&mut self.serve(&args));
        let talk = Talk::over(&path);
        (server, path, talk)
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
    pub(crate) fn talk_to(mut command: Command) -> (RunningProgram, Talk) {
        let mut server = RunningProgram::start(&mut command);
        let talk = Talk::with(&mut server);
        (server, talk)
    }

    /// Replaces the user's hooks for BeforeTool by one, as an editor does: a new file, renamed over the old one.
    pub(crate) fn edit(&self, command: &str) {
        let hooks = json!({"BeforeTool": [{"hooks": [{"type": "command", "command": command}]}]});
        let folder = self.base.join("home/.llxprt");
        std::fs::write(folder.join("new"), enabled_hooks(&hooks)).unwrap();
        std::fs::rename(folder.join("new"), folder.join("settings.json")).unwrap();
    }

    /// Runs a command of the program and gives its status and everything it wrote.
    pub(crate) fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let ran = self.command(Self::program()).args(args).output().unwrap();
        let text = [ran.stdout, ran.stderr].concat();
        (ran.status.code(), String::from_utf8(text).unwrap())
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
