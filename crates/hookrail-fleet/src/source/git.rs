//! A folder in a git repository. The reference is resolved to a commit once, and everything is read from that very commit, so
//! that a manifest and its archive always belong together.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::BundleSource;
use crate::error::SourceError;

/// The time for fetching the commit.
const FETCH_TIMEOUT: Duration = Duration::from_secs(300);

/// How often the program is looked at while it runs.
const POLL: Duration = Duration::from_millis(20);

/// How much of what git says about a failure is kept.
const LONGEST_MESSAGE: u64 = 2048;

pub(super) struct GitSource {
    url: String,
    reference: String,
    folder: String,
    repository: PathBuf,
    /// The commit that the reference meant when it was first asked for.
    commit: Option<String>,
}

impl GitSource {
    pub(super) fn new(url: &str, reference: &str, folder: &str, repository: &Path) -> Self {
        Self {
            url: url.to_owned(),
            reference: reference.to_owned(),
            folder: folder.to_owned(),
            repository: repository.to_owned(),
            commit: None,
        }
    }

    /// Fetches the commit, if that was not done yet, and returns its name.
    fn commit(&mut self) -> Result<String, SourceError> {
        if let Some(commit) = &self.commit {
            return Ok(commit.clone());
        }
        let repository = self.repository.display().to_string();
        self.git(&["init", "--quiet", "--bare", "--", &repository], Where::Anywhere, LONGEST_MESSAGE)?;
        let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--", &self.url];
        // The fetched commit gets a name of its own, so that no file has to be parsed.
        let refspec = format!("+{}:refs/hookrail/fetched", self.reference);
        self.git(&[&fetch[..], &[refspec.as_str()]].concat(), Where::Repository, LONGEST_MESSAGE)?;
        let found = self.git(&["rev-parse", "--verify", "refs/hookrail/fetched^{commit}"], Where::Repository, 128)?;
        let commit = String::from_utf8_lossy(&found).trim().to_owned();
        let is_full_name = self.reference.len() >= 40 && self.reference.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_full_name && commit != self.reference {
            return Err(self.unreachable(format!("it gave commit {commit} for {}", self.reference)));
        }
        self.commit = Some(commit.clone());
        Ok(commit)
    }

    fn unreachable(&self, problem: String) -> SourceError {
        SourceError::Unreachable { place: format!("git+{}#{}", self.url, self.reference), problem }
    }

    /// Runs git and returns at most one byte more than the limit of what it prints.
    fn git(&self, arguments: &[&str], place: Where, limit: u64) -> Result<Vec<u8>, SourceError> {
        let failed =
            |problem: String| self.unreachable(format!("`git {}`: {problem}", arguments.first().unwrap_or(&"")));
        let mut command = Command::new("git");
        if place == Where::Repository {
            command.arg("--git-dir").arg(&self.repository);
        }
        // Neither the user's configuration nor a prompt nor a helper of another protocol takes part.
        command.args(["-c", "protocol.allow=never", "-c", "protocol.https.allow=always"]);
        command.args(["-c", "protocol.ssh.allow=always", "-c", "protocol.file.allow=always"]);
        command.args(arguments);
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_COUNT"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        // Both pipes are read at once, because git waits while one of them is full.
        let (status, printed, message) = thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let mut bytes = Vec::new();
                stdout.map(|stdout| stdout.take(limit + 1).read_to_end(&mut bytes)).transpose().map(|_| bytes)
            });
            let messages = scope.spawn(move || {
                let mut bytes = Vec::new();
                let _ = stderr.map(|stderr| stderr.take(LONGEST_MESSAGE).read_to_end(&mut bytes));
                String::from_utf8_lossy(&bytes).trim().to_owned()
            });
            let status = wait(&mut child);
            (status, reader.join(), messages.join().unwrap_or_default())
        });
        match (status, printed) {
            // A program whose output is longer than the limit is ended by the closed pipe.
            (Ok(_), Ok(Ok(bytes))) if bytes.len() as u64 > limit => Ok(bytes),
            (Ok(true), Ok(Ok(bytes))) => Ok(bytes),
            (Ok(false), _) => Err(failed(message)),
            (Ok(true), _) => Err(failed("its output cannot be read".to_owned())),
            (Err(problem), _) => Err(failed(problem)),
        }
    }
}

/// Whether git works in the fetched repository.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Anywhere,
    Repository,
}

/// Waits for the program's end, and returns whether it succeeded.
fn wait(child: &mut Child) -> Result<bool, String> {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if started.elapsed() > FETCH_TIMEOUT => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it took longer than {} s", FETCH_TIMEOUT.as_secs()));
            }
            Ok(None) => thread::sleep(POLL),
            Err(error) => return Err(error.to_string()),
        }
    }
}

impl BundleSource for GitSource {
    fn fetch(&mut self, name: &str, limit: u64) -> Result<Vec<u8>, SourceError> {
        let commit = self.commit()?;
        let path = if self.folder.is_empty() { name.to_owned() } else { format!("{}/{name}", self.folder) };
        let place = format!("git+{}#{commit}", self.url);
        let object = format!("{commit}:{path}");
        let is_there = self.git(&["cat-file", "-e", &object], Where::Repository, LONGEST_MESSAGE).is_ok();
        if !is_there {
            return Err(SourceError::NotFound { place, name: path });
        }
        let bytes = self.git(&["cat-file", "blob", &object], Where::Repository, limit)?;
        if bytes.len() as u64 > limit {
            return Err(SourceError::TooLarge { place, name: path, limit });
        }
        Ok(bytes)
    }
}
