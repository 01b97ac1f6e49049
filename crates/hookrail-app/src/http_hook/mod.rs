//! The process of a hook that a web server answers: it sends the event, and its output is what the server replies.
//!
//! The engine gives it the target in a variable and the event as its input, and ends it as any process of a hook. It exits with 0 or
//! 1 and never with 2: a status of the server denies nothing by itself.

mod headers;
mod plain;
#[cfg(any(feature = "fleet", feature = "otel"))]
mod tls;

use std::io::{Read as _, Write as _};

use hookrail::http::{HttpTarget, TARGET_VARIABLE};

use crate::failure::{Failure, Result};

/// The most bytes of a reply's body. The engine keeps less of it, and a reply that is longer fails here.
const LONGEST_BODY: u64 = 16 * 1024 * 1024;

/// What is sent.
struct Request<'r> {
    url: &'r str,
    headers: Vec<(String, String)>,
    body: &'r [u8],
}

/// What the server replied.
struct ServerReply {
    status: u16,
    body: Vec<u8>,
}

/// Sends the event on the standard input, and writes the body of the reply to the standard output.
///
/// # Errors
///
/// There is no target, the server cannot be reached or breaks off, or its reply is no success. A redirection is none.
pub fn post_event() -> Result<()> {
    let given = std::env::var(TARGET_VARIABLE).ok().and_then(|text| HttpTarget::from_json(&text));
    let target = given.ok_or_else(|| Failure::new("this command is started by hooks of type `http` alone"))?;
    let mut event = Vec::new();
    std::io::stdin().read_to_end(&mut event).map_err(|error| Failure::new(format!("no event: {error}")))?;
    let headers = headers::resolved(&target, |name| std::env::var(name).ok())?;
    let reply = send(&Request { url: &target.url, headers, body: &event })?;
    let body = body_of_success(reply, &target.url)?;
    let mut output = std::io::stdout();
    output.write_all(&body).and_then(|()| output.flush()).map_err(|error| Failure::new(error.to_string()))
}

fn send(request: &Request<'_>) -> Result<ServerReply> {
    if request.url.starts_with("http://") {
        let failed = |error: std::io::Error| Failure::new(format!("no reply from {}: {error}", request.url));
        return plain::send(request).map_err(failed);
    }
    send_encrypted(request)
}

#[cfg(any(feature = "fleet", feature = "otel"))]
fn send_encrypted(request: &Request<'_>) -> Result<ServerReply> {
    tls::send(request)
}

#[cfg(not(any(feature = "fleet", feature = "otel")))]
fn send_encrypted(request: &Request<'_>) -> Result<ServerReply> {
    let message = format!("{} needs TLS, which this build does not have", request.url);
    Err(Failure::new(message).hint(crate::features::how_to_get("otel")))
}

fn body_of_success(reply: ServerReply, url: &str) -> Result<Vec<u8>> {
    match reply.status {
        200..=299 => Ok(reply.body),
        status @ 300..=399 => {
            Err(Failure::new(format!("{url} redirects with status {status}, which hooks do not follow")))
        }
        status => Err(Failure::new(format!("{url} answered with status {status}"))),
    }
}
