//! How much stack there is. A module's code may be entered on a thread of the host, which may be deep in its own work.

use std::thread;

use crate::limits::RuntimeLimits;

/// What the host's functions need on top of the module's own stack.
const MARGIN: usize = 512 << 10;

/// What reading a file's source needs: a parser goes as deep as the source is nested.
const READING: usize = 2 << 20;

/// Whether a module can be entered here without ever coming near the end of the stack.
pub(crate) fn has_room(limits: &RuntimeLimits) -> bool {
    stacker::remaining_stack().is_some_and(|left| left >= limits.own_stack() + MARGIN)
}

/// Does something that goes deep: here, or where there is more room. None means that there is no room anywhere.
pub(crate) fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    if stacker::remaining_stack().is_some_and(|left| left >= READING) {
        return Some(work());
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("hookrail-module".to_owned()).stack_size(2 * READING);
        builder.spawn_scoped(scope, work).ok()?.join().ok()
    })
}
