//! The process that the engine starts for a hook of type `http`. It is no command for people, so the parser does not know it.

use std::ffi::OsString;

use hookrail::http::COMMAND;

use crate::cmd::exit::Exit;
use crate::output;

/// Sends an event, if this process was started for that. It never ends with the status that denies.
pub(crate) fn answer(given: &[OsString]) -> Option<Exit> {
    match given.get(1..)? {
        [word] if word == COMMAND => {}
        _ => return None,
    }
    match hookrail_app::http_hook::post_event() {
        Ok(()) => Some(Exit::Fine),
        Err(failure) => {
            output::failure(&failure);
            Some(Exit::Failed)
        }
    }
}
