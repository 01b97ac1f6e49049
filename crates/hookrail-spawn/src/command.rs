//! The program to start, and the limits within which it may run.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::end::ChildEnd;
use crate::environment::{Environment, OUTER_SUFFIX};
use crate::error::SpawnError;
use crate::late_output::LateOutput;
use crate::ledger::RunLedger;
use crate::sandbox::Sandbox;

/// A program to start, with its arguments, environment, input and limits.
///
/// The defaults: no arguments, an **empty** environment, the host's working
/// directory, an empty stdin (a pipe at its end), a timeout of 60 seconds, a
/// grace of 2 seconds, the default [`CaptureLimits`], no marker.
#[derive(Clone)]
pub struct ChildCommand {
    pub(crate) program: OsString,
    pub(crate) arg0: Option<OsString>,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Arc<Environment>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) stdin: Arc<[u8]>,
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    pub(crate) cancel_grace: Option<Duration>,
    pub(crate) limits: CaptureLimits,
    pub(crate) late_output: Option<&'static dyn LateOutput>,
    pub(crate) marker: Option<(OsString, OsString)>,
    #[cfg_attr(not(unix), allow(dead_code, reason = "there are no records"))]
    pub(crate) ledger: Option<RunLedger>,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing is enforced there"))]
    pub(crate) sandbox: Option<Arc<Sandbox>>,
}

impl ChildCommand {
    /// Makes a command for a program, by its path or by a name that is looked up in the child's own `PATH`.
    ///
    /// A name is looked up in the `PATH` of the environment given with
    /// [`env`](Self::env), never in the host's; without one, in `/usr/bin` and
    /// `/bin`. Relative and empty entries of it are skipped. A relative path
    /// is resolved from the child's working directory.
    #[must_use]
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arg0: None,
            args: Vec::new(),
            env: Arc::default(),
            cwd: None,
            stdin: Arc::default(),
            timeout: Duration::from_secs(60),
            grace: Duration::from_secs(2),
            cancel_grace: None,
            limits: CaptureLimits::default(),
            late_output: None,
            marker: None,
            ledger: None,
            sandbox: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets the name that the program sees as its own (`argv[0]`). The default is the program as given.
    ///
    /// Windows ignores it.
    #[must_use]
    pub fn arg0(mut self, name: impl Into<OsString>) -> Self {
        self.arg0 = Some(name.into());
        self
    }

    /// Sets the whole environment of the child.
    #[must_use]
    pub fn env(mut self, env: Arc<Environment>) -> Self {
        self.env = env;
        self
    }

    /// Sets the working directory of the child.
    #[must_use]
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cwd = Some(directory.into());
        self
    }

    /// Sets the bytes that the child can read from its stdin. Stdin is a pipe, whatever their size.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Arc<[u8]>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Sets the time that starting, writing, running and reading may take together.
    ///
    /// A zero timeout ends the run before anything is started.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the time between SIGTERM and SIGKILL, in which the child can clean up; zero means SIGKILL at once.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Sets another grace for a cancellation than for the deadline.
    #[must_use]
    pub fn cancel_grace(mut self, grace: Duration) -> Self {
        self.cancel_grace = Some(grace);
        self
    }

    /// Sets the limits on output.
    #[must_use]
    pub fn limits(mut self, limits: CaptureLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the rule for output that another process holds after the exit. Without one, output is read for
    /// [`CaptureLimits::drain_grace`] after the exit.
    #[must_use]
    pub fn late_output(mut self, rule: &'static dyn LateOutput) -> Self {
        self.late_output = Some(rule);
        self
    }

    /// Adds a variable to the child's environment by which its descendants are found.
    ///
    /// When the child is killed, so is every process with this variable in its environment, whatever its group or
    /// session. So `name=value` must be unique to this run, or unrelated processes are killed; see
    /// [`run_id`](crate::run_id).
    ///
    /// If the environment has a variable of that name already, this program is itself the descendant of such a run. The
    /// older values are then handed down in `name_OUTER`, separated by blanks, so that the outer run finds the child too.
    #[must_use]
    pub fn marker(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.marker = Some((name.into(), value.into()));
        self
    }

    /// Records the child for as long as it runs, so that it can be ended if this program is killed.
    #[must_use]
    pub fn recorded_in(mut self, ledger: &RunLedger) -> Self {
        self.ledger = Some(ledger.clone());
        self
    }

    /// Starts the child in a sandbox. If the system cannot enforce one, this changes nothing; see
    /// [`Sandbox::missing`].
    #[must_use]
    pub fn sandbox(mut self, sandbox: Arc<Sandbox>) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Returns the program as given.
    #[must_use]
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// Returns the working directory as given.
    #[must_use]
    pub fn working_directory(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    /// Returns the grace for a run with this end.
    pub(crate) fn grace_after(&self, end: ChildEnd) -> Duration {
        match end {
            ChildEnd::Cancelled => self.cancel_grace.unwrap_or(self.grace),
            ChildEnd::Exited(_)
            | ChildEnd::Signalled(_)
            | ChildEnd::TimedOut
            | ChildEnd::NotStarted
            | ChildEnd::OutputLimit
            | ChildEnd::StatusUnknown => self.grace,
        }
    }

    /// Checks that the working directory exists and can be entered.
    pub(crate) fn check_directory(&self, may_enter: fn(&Path) -> bool) -> Result<(), SpawnError> {
        let Some(cwd) = &self.cwd else { return Ok(()) };
        let directory = cwd.clone();
        let source = match std::fs::metadata(cwd) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(SpawnError::WorkingDirectoryMissing { directory });
            }
            Err(error) => error,
            Ok(about) if !about.is_dir() => io::ErrorKind::NotADirectory.into(),
            Ok(_) if !may_enter(cwd) => io::ErrorKind::PermissionDenied.into(),
            Ok(_) => return Ok(()),
        };
        Err(SpawnError::WorkingDirectoryUnusable { directory, source })
    }

    /// Returns the environment with the marker in it.
    pub(crate) fn full_environment(&self) -> Environment {
        let environment = Environment::clone(&self.env);
        let Some((name, value)) = &self.marker else { return environment };
        let mut outer_name = name.clone();
        outer_name.push(OUTER_SUFFIX);
        let older = [environment.get(&outer_name), environment.get(name)];
        let older: Vec<&OsStr> = older.into_iter().flatten().filter(|values| !values.is_empty()).collect();
        let older = older.join(OsStr::new(" "));
        let environment = if older.is_empty() { environment } else { environment.with(outer_name, older) };
        environment.with(name, value)
    }
}

/// Shows the program and its arguments, but neither environment nor stdin, which may be secret and large.
impl fmt::Debug for ChildCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .field("stdin", &format_args!("{} bytes", self.stdin.len()))
            .field("timeout", &self.timeout)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

/// Limits on what a child may write.
///
/// The first `…_keep` bytes of a stream are kept. Later bytes are read and
/// discarded, so that the child does not block on a full pipe. If stdout passes
/// its limit, the end is [`OutputLimit`](crate::ChildEnd::OutputLimit); stderr
/// is only cut and marked. Once stdout has passed `drain` bytes in all, the
/// child is ended; stderr is discarded for as long as the child runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureLimits {
    /// How many bytes of stdout are kept. Default 8 MiB.
    pub stdout_keep: usize,
    /// How many bytes of stderr are kept. Default 1 MiB.
    pub stderr_keep: usize,
    /// How many bytes of stdout are read in all before the child is ended. Default 64 MiB.
    ///
    /// A number below `stdout_keep` is treated as `stdout_keep`.
    pub drain: u64,
    /// How long to read after the exit while other processes still hold the pipes. Default 50 ms.
    ///
    /// What the child itself wrote is never lost, whatever this is. The wait
    /// is for helpers such as a shell's `>(tee log)`, which may write a little
    /// later than the child exits. It ends with the deadline at the latest.
    /// With a rule of [`late_output`](ChildCommand::late_output) it is the
    /// silence after which the rule is asked whether the output is complete.
    pub drain_grace: Duration,
}

impl Default for CaptureLimits {
    fn default() -> Self {
        Self { stdout_keep: 8 << 20, stderr_keep: 1 << 20, drain: 64 << 20, drain_grace: Duration::from_millis(50) }
    }
}
