//! Reads what the agent writes, for no longer than the agent waits.
//!
//! All agents let a tool run when its hook does not answer in time. An agent that keeps the pipe open, or a process that
//! inherited its other end, must not make the bridge wait for ever.

use hookrail_bridge::request::MAX_PAYLOAD;
use std::io;

use super::deadline::Deadline;

/// The bytes that are read at once. Most payloads are smaller.
#[cfg(unix)]
const CHUNK: usize = 16 * 1024;

/// Reads standard input to its end. One byte more than the limit tells that the payload is too large.
#[cfg(unix)]
pub(super) fn read_payload(deadline: Deadline) -> io::Result<Vec<u8>> {
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
pub(super) fn read_payload(_deadline: Deadline) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    let most = u64::try_from(MAX_PAYLOAD).unwrap_or(u64::MAX).saturating_add(1);
    let mut payload = Vec::new();
    io::stdin().lock().take(most).read_to_end(&mut payload)?;
    Ok(payload)
}
