//! Addresses at which a command listens.

use std::net::SocketAddr;

/// Parses an address, or a port of the loopback interface.
///
/// # Errors
///
/// The text is neither.
pub fn metrics_address(text: &str) -> std::result::Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    match (text.parse(), port.parse::<u16>()) {
        (Ok(address), _) => Ok(address),
        (_, Ok(port)) => Ok(SocketAddr::from(([127, 0, 0, 1], port))),
        _ => Err("expected an address such as 127.0.0.1:9464, or a port of the loopback interface".to_owned()),
    }
}
