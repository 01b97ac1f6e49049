//! A real server with a project of its own, and what the operating system knows of it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

/// What every hook of the server has in its environment, and the server itself.
const MARKER: &str = "HOOKRAIL_BUS_LOAD";

/// A running server.
pub(crate) struct Server {
    folder: TempDir,
    child: Child,
}

/// What a server holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holds {
    /// Processes it or its hooks have started.
    pub(crate) processes: usize,
    /// Open descriptors.
    pub(crate) descriptors: usize,
    /// Resident memory in KiB.
    pub(crate) memory: u64,
}

/// Hooks that take no time and hooks that take minutes.
pub(crate) fn write_hooks(project: &Path) -> std::io::Result<()> {
    write_hooks_among(project, 0)
}

/// The same among so many others, which are only read.
fn write_hooks_among(project: &Path, others: usize) -> std::io::Result<()> {
    let hook = |tool: &str, command: &str, args: &[&str]| json!({"matcher": tool, "hooks": [{"type": "command", "command": command, "args": args}]});
    let mut all = vec![hook("quick", "true", &[]), hook("slow", "sleep", &["300"])];
    all.extend((0..others).map(|number| hook(&format!("other-{number}"), "true", &[])));
    let hooks = json!({"BeforeTool": all});
    std::fs::create_dir_all(project.join(".llxprt"))?;
    let settings = json!({"hooksConfig": {"enabled": true}, "hooks": hooks});
    std::fs::write(project.join(".llxprt/settings.json"), settings.to_string())
}

impl Server {
    /// Starts `hookrail serve --socket`.
    pub(crate) fn start(program: &Path) -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        write_hooks(&folder.path().join("project"))?;
        let mut command = Command::new(program);
        command.arg("serve").arg("--socket").arg(folder.path().join("s")).arg("--project");
        command.arg(folder.path().join("project")).args(["--trust-project", "--no-plugins"]);
        command.env(MARKER, folder.path()).env("HOME", folder.path()).stdin(Stdio::null());
        let server = Self { child: command.spawn()?, folder };
        let began = Instant::now();
        while std::os::unix::net::UnixStream::connect(server.socket()).is_err() {
            if began.elapsed() > Duration::from_secs(30) {
                return Err(std::io::Error::other("the server does not answer"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(server)
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where it listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    /// Gives it a configuration that takes a while to read.
    pub(crate) fn write_more_hooks(&self, count: usize) -> std::io::Result<()> {
        write_hooks_among(&self.folder.path().join("project"), count)
    }

    /// What it holds now.
    pub(crate) fn holds(&self) -> Holds {
        let id = self.child.id();
        let marked = hookrail_testkit::processes_with_marker(MARKER, &self.folder.path().to_string_lossy());
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let memory =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok());
        Holds {
            processes: marked.iter().filter(|process| **process != id).count(),
            descriptors: std::fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count),
            memory: memory.unwrap_or_default(),
        }
    }

    /// Waits until it holds no process and no more descriptors than this.
    pub(crate) fn settles(&self, descriptors: usize) -> Holds {
        let settled = || {
            let now = self.holds();
            now.processes == 0 && now.descriptors <= descriptors
        };
        let _ = hookrail_testkit::wait_until(settled, Duration::from_secs(30));
        self.holds()
    }

    /// Ends it as an operator would, and says whether it ended well.
    pub(crate) fn stop(mut self) -> std::io::Result<bool> {
        Command::new("kill").arg(self.child.id().to_string()).status()?;
        Ok(self.child.wait()?.success())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
