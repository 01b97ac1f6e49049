//! Entry points for the fuzz targets. They are no part of the API.

use crate::message::{FromServer, Message as _, ToServer};

/// Reads a client's line and writes what was understood again; none when it was refused.
#[must_use]
pub fn read_client_line(line: &str) -> Option<String> {
    ToServer::decode(line.as_bytes()).ok().map(|message| message.encode(usize::MAX))
}

/// The same for a server's line.
#[must_use]
pub fn read_server_line(line: &str) -> Option<String> {
    FromServer::decode(line.as_bytes()).ok().map(|message| message.encode(usize::MAX))
}
