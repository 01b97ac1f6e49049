//! Checks of the stack. A module's code may be entered on a thread of the host that has little of its stack left.

use std::thread;

use crate::limits::RuntimeLimits;

/// The stack in bytes that the host's functions need in addition to the module's limit.
const HOST_STACK_MARGIN: usize = 512 << 10;

/// The stack in bytes that parsing a source file needs. The parser recurses as deeply as the source is nested.
const PARSER_STACK: usize = 2 << 20;

/// Whether the rest of this thread's stack is large enough to enter a module.
pub(crate) fn has_room(limits: &RuntimeLimits) -> bool {
    stacker::remaining_stack().is_some_and(|left| left >= limits.own_stack() + HOST_STACK_MARGIN)
}

/// Runs code that recurses deeply: on this thread if its stack is large enough, otherwise on a new one. The result is
/// `None` if no such thread can be started.
pub(crate) fn run_deep<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    if stacker::remaining_stack().is_some_and(|left| left >= PARSER_STACK) {
        return Some(work());
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("hookrail-module".to_owned()).stack_size(2 * PARSER_STACK);
        builder.spawn_scoped(scope, work).ok()?.join().ok()
    })
}
