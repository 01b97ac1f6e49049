//! HTTP as bytes on a connection: what no client library would send can be sent too.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let of = |line: &'_ str| line.split_once(':').is_some_and(|(key, _)| key.eq_ignore_ascii_case(name));
        self.head.lines().find(|line| of(line)).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// Sends a request with these lines of the head, and reads the answer. `Connection: close` is added, and the length of a body.
pub(crate) fn send(address: SocketAddr, line: &str, headers: &[String], body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    // A guard against hanging for ever, far above anything that is expected.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let head: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    write!(stream, "{line} HTTP/1.1\r\n{head}Connection: close\r\n{length}\r\n{body}").unwrap();
    let mut bytes = Vec::new();
    let mut part = [0; 65536];
    // A server may keep the connection open although it was asked to close it.
    while !is_whole(&bytes) {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(&part[..length]),
            // A child of the test has ended meanwhile.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("{error}"),
        }
    }
    parse(&bytes)
}

/// Whether the answer has the length that its head names.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    length.is_some_and(|length| bytes.len() >= end + 4 + length)
}

fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { unchunked(body) } else { body.to_owned() };
    Answer { status, head: head.to_owned(), body }
}

fn unchunked(mut text: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = text.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap();
        whole.push_str(&rest[..length]);
        text = rest[length..].trim_start_matches("\r\n");
    }
    whole
}
