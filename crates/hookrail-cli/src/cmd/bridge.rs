//! `hookrail bridge`: what an agent calls as its hook. The arguments, the standard streams and the exit status of a call.

use std::io::{self, Write as _};
use std::time::Duration;

use hookrail_app::bridge::{self, BridgeCall, BridgeIo, BridgeRunner, Deadline, Delivery, Misuse, WaitingHooksPolicy};
use hookrail_app::failure::Result;
use hookrail_app::text::visible;
use hookrail_bridge::request::MAX_PAYLOAD;
use hookrail_bridge::{AllowPolicy, Answer, AnswerOptions, AnswerStatus, Attendance, NoisyEvents, OnError};

use crate::args::{BridgeArgs, OnErrorArg};
use crate::cmd::exit::Exit;

pub(crate) fn run(args: &BridgeArgs) -> Result<Exit> {
    hookrail_spawn::share_one_heap();
    if args.shadow_hooks {
        bridge::run_shadow_hooks(args.agent)?;
        return Ok(Exit::Fine);
    }
    Ok(exit_of(bridge::run(&call(args), &StandardStreams)))
}

fn call(args: &BridgeArgs) -> BridgeCall {
    BridgeCall {
        agent: args.agent,
        event: args.event.clone(),
        deadline: args.deadline.map(Duration::from_millis),
        on_error: match args.on_error {
            OnErrorArg::Block => OnError::Block,
            OnErrorArg::Allow => OnError::Allow,
        },
        answer: AnswerOptions {
            allow: if args.options.allow_skips_prompt { AllowPolicy::SkipsPrompt } else { AllowPolicy::KeepsPrompt },
            attendance: if args.options.attended { Attendance::Attended } else { Attendance::Unknown },
        },
        waiting: if args.options.strict_trust { WaitingHooksPolicy::Deny } else { WaitingHooksPolicy::Told },
        noisy: if args.options.noisy { NoisyEvents::Fired } else { NoisyEvents::Filtered },
        runner: if args.alone { BridgeRunner::Own } else { BridgeRunner::ServerOrOwn },
    }
}

fn exit_of(status: AnswerStatus) -> Exit {
    match status {
        AnswerStatus::Answered => Exit::Fine,
        AnswerStatus::Denied => Exit::Blocked,
    }
}

/// Whether a command line that cannot be parsed is a call of the bridge that has to be denied then.
pub(crate) fn deny_misuse(given: &[String]) -> bool {
    if given.get(1).is_none_or(|command| command != "bridge") {
        return false;
    }
    let value = |option: &str| {
        let at = given.iter().position(|word| word == option)?;
        given.get(at + 1).map(String::as_str)
    };
    let on_error = if value("--on-error") == Some("allow") { OnError::Allow } else { OnError::Block };
    let misuse = Misuse { agent: given.get(2).map(String::as_str), event: value("--event"), on_error };
    bridge::answer_misuse(misuse) == AnswerStatus::Denied
}

/// The standard streams of this process.
struct StandardStreams;

impl BridgeIo for StandardStreams {
    fn read_payload(&self, deadline: Deadline) -> io::Result<Vec<u8>> {
        read_payload(deadline)
    }

    fn write_answer(&self, answer: &Answer) -> Delivery {
        if let Some(text) = &answer.stderr {
            // Without standard error a denial has no reason, and some agents then let the tool run; the status is all there is.
            // What a patch or a hook says must not be acted on by the terminal that the agent may share.
            let _ = writeln!(io::stderr().lock(), "{}", visible(text));
        }
        let Some(document) = &answer.stdout else { return Delivery::Written };
        let mut stdout = io::stdout().lock();
        let written = writeln!(stdout, "{}", document.text()).and_then(|()| stdout.flush());
        if written.is_err() || !has_reader() { Delivery::Lost } else { Delivery::Written }
    }

    fn warn(&self, line: &str) {
        // If no one reads it, the log has it.
        let _ = writeln!(io::stderr(), "{line}");
    }

    fn end_process(&self, status: AnswerStatus) {
        std::process::exit(i32::from(status.code()));
    }
}

/// Whether a program can read standard output. In the place of a descriptor that is closed when this program starts, the standard
/// library opens `/dev/null`, where every write succeeds.
#[cfg(unix)]
fn has_reader() -> bool {
    use rustix::fs::{FileType, fstat, stat};
    let Ok(output) = fstat(rustix::stdio::stdout()) else { return false };
    let is_device = FileType::from_raw_mode(output.st_mode) == FileType::CharacterDevice;
    !(is_device && stat("/dev/null").is_ok_and(|null| null.st_rdev == output.st_rdev))
}

#[cfg(not(unix))]
fn has_reader() -> bool {
    true
}

/// The bytes that are read at once. Most payloads are smaller.
#[cfg(unix)]
const CHUNK: usize = 16 * 1024;

/// Reads standard input to its end. All agents let a tool run when its hook does not answer in time, so an agent that keeps the pipe
/// open, or a process that inherited its other end, must not make the bridge wait for ever. One byte more than the limit tells that the payload is too large.
#[cfg(unix)]
fn read_payload(deadline: Deadline) -> io::Result<Vec<u8>> {
    let input = rustix::stdio::stdin();
    let mut payload = Vec::new();
    let mut chunk = [0; CHUNK];
    while payload.len() <= MAX_PAYLOAD {
        wait_for_input(input, deadline)?;
        let most = CHUNK.min(MAX_PAYLOAD + 1 - payload.len());
        match rustix::io::read(input, chunk.get_mut(..most).unwrap_or_default()) {
            Ok(0) => break,
            Ok(read) => payload.extend_from_slice(chunk.get(..read).unwrap_or_default()),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(payload)
}

/// Waits until a read does not block. `poll` also returns for a closed pipe and for what cannot be waited for; the read then
/// tells.
#[cfg(unix)]
fn wait_for_input(input: std::os::fd::BorrowedFd<'_>, deadline: Deadline) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut watched = [PollFd::new(&input, PollFlags::IN)];
    let timeout = Timespec::try_from(deadline.left()).ok();
    match poll(&mut watched, timeout.as_ref()) {
        Ok(0) => {
            let message = format!("it did not end within {} s", deadline.limit().as_secs_f32());
            Err(io::Error::new(io::ErrorKind::TimedOut, message))
        }
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Reads standard input to its end. The agents that are known to keep it open do not run here.
#[cfg(not(unix))]
fn read_payload(_deadline: Deadline) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    let most = u64::try_from(MAX_PAYLOAD).unwrap_or(u64::MAX).saturating_add(1);
    let mut payload = Vec::new();
    io::stdin().lock().take(most).read_to_end(&mut payload)?;
    Ok(payload)
}
