//! Entry points for the fuzz targets. They are not part of the API.

use crate::message::{FromServer, Message as _, ToServer};

/// Decodes a client's line and encodes the message again; returns `None` if the line is refused.
#[must_use]
pub fn read_client_line(line: &str) -> Option<String> {
    ToServer::decode(line.as_bytes()).ok().map(|message| message.encode(usize::MAX))
}

/// Does the same for a server's line.
#[must_use]
pub fn read_server_line(line: &str) -> Option<String> {
    FromServer::decode(line.as_bytes()).ok().map(|message| message.encode(usize::MAX))
}
