//! Round trips over the cheapest spawner: the cost of a hook without an engine.

use std::ffi::OsStr;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::AsFd;
use std::path::Path;

use hookrail::Environment;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, WaitOptions, waitpid};

use crate::{BareSpawn, BenchResult};

/// The number of bytes that fit into a pipe by default.
const PIPE_CAPACITY: usize = 64 * 1024;

/// A command that is started with the least possible work.
pub(crate) struct BareCommand {
    floor: BareSpawn,
    answer: Vec<u8>,
}

impl BareCommand {
    pub(crate) fn new(program: &Path, arguments: &[&str], environment: &Environment) -> BenchResult<Self> {
        let arguments = arguments.iter().map(OsStr::new);
        let floor = BareSpawn::new(program.as_os_str(), arguments, environment.iter())?;
        Ok(Self { floor, answer: Vec::new() })
    }

    /// Runs one hook: a pipe that is filled before the start, one answer, one exit.
    pub(crate) fn round_trip(&mut self, input: &[u8]) -> BenchResult<&[u8]> {
        let ((stdin, mut feed), (mut answer, stdout)) = (pipe()?, pipe()?);
        if input.len() > PIPE_CAPACITY {
            return Err("that much does not fit into a pipe".into());
        }
        feed.write_all(input)?;
        drop(feed);
        let pid = self.floor.start(stdin.as_fd(), stdout.as_fd())?;
        drop((stdin, stdout));
        self.answer.clear();
        answer.read_to_end(&mut self.answer)?;
        wait(pid)?;
        Ok(&self.answer)
    }

    /// Several hooks side by side, each with the same input of any size, over pipes as the kernel makes them.
    pub(crate) fn pump(&mut self, input: &[u8], hooks: usize) -> BenchResult<()> {
        let mut running = Vec::new();
        for _ in 0..hooks {
            let ((stdin, feed), (answer, stdout)) = (pipe()?, pipe()?);
            rustix::io::ioctl_fionbio(&feed, true)?;
            let pid = self.floor.start(stdin.as_fd(), stdout.as_fd())?;
            running.push(Running { pid, feed: Some(feed), rest: input, answer: Some(answer), output: Vec::new() });
        }
        while running.iter().any(|hook| hook.answer.is_some()) {
            for hook in wait_for_any(&mut running)? {
                hook.go_on()?;
            }
        }
        for hook in running {
            wait(hook.pid)?;
            if hook.output.is_empty() {
                return Err("a hook of the floor did not answer".into());
            }
        }
        Ok(())
    }
}

/// A hook of the floor that has not ended.
struct Running<'a> {
    pid: i32,
    feed: Option<PipeWriter>,
    rest: &'a [u8],
    answer: Option<PipeReader>,
    output: Vec<u8>,
}

impl Running<'_> {
    /// Writes or reads once, whichever is possible; writing comes first.
    fn go_on(&mut self) -> BenchResult<()> {
        if let Some(feed) = &mut self.feed {
            match feed.write(self.rest) {
                Ok(count) => self.rest = self.rest.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The hook has closed its input.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.rest = &[],
                Err(error) => return Err(error.into()),
            }
            if self.rest.is_empty() {
                self.feed = None;
            }
            return Ok(());
        }
        let mut chunk = [0; 4096];
        let Some(answer) = &mut self.answer else { return Ok(()) };
        match answer.read(&mut chunk)? {
            0 => self.answer = None,
            count => self.output.extend_from_slice(chunk.get(..count).unwrap_or_default()),
        }
        Ok(())
    }
}

/// Waits until some hooks can be written or read, and returns those.
fn wait_for_any<'r, 'a>(running: &'r mut [Running<'a>]) -> BenchResult<Vec<&'r mut Running<'a>>> {
    let mut waited = Vec::new();
    for hook in running.iter() {
        match (&hook.feed, &hook.answer) {
            (Some(feed), _) => waited.push(PollFd::new(feed, PollFlags::OUT)),
            (None, Some(answer)) => waited.push(PollFd::new(answer, PollFlags::IN)),
            (None, None) => {}
        }
    }
    poll(&mut waited, None)?;
    let ready: Vec<bool> = waited.iter().map(|fd| !fd.revents().is_empty()).collect();
    let alive = running.iter_mut().filter(|hook| hook.answer.is_some());
    Ok(alive.zip(ready).filter(|(_, ready)| *ready).map(|(hook, _)| hook).collect())
}

fn wait(pid: i32) -> BenchResult<()> {
    let ended = waitpid(Pid::from_raw(pid), WaitOptions::empty())?;
    match ended.and_then(|(_, status)| status.exit_status()) {
        Some(0) => Ok(()),
        status => Err(format!("a child of the floor ended with {status:?}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{Lab, Shell};
    use crate::peers::Peers;

    #[test]
    fn the_cheapest_child_reads_everything_and_answers() {
        let lab = Lab::open(true, Peers::new(false)).unwrap();
        let mut bare = BareCommand::new(&lab.tiny(), &[], &lab.environment(Shell::Sh)).unwrap();
        assert_eq!(bare.round_trip(&[b'x'; 60_000]).unwrap(), b"{}\n");
        assert!(bare.round_trip(&[b'x'; PIPE_CAPACITY + 1]).is_err());
        // More than all pipes hold together, so this passes only if the children read.
        bare.pump(&vec![b'x'; 1 << 20], 3).unwrap();
    }

    #[test]
    fn a_child_that_fails_is_no_measurement() {
        let lab = Lab::open(true, Peers::new(false)).unwrap();
        let mut bare = BareCommand::new(Path::new("/bin/sh"), &["-c", "exit 3"], &lab.environment(Shell::Sh)).unwrap();
        assert!(bare.round_trip(b"").is_err());
        let silent = "cat >/dev/null";
        let mut bare = BareCommand::new(Path::new("/bin/sh"), &["-c", silent], &lab.environment(Shell::Sh)).unwrap();
        assert!(bare.pump(b"x", 1).is_err());
    }
}
