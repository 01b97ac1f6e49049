//! The part of HTTP/1.1 that the agents need.

use std::io::{self, BufRead, Read as _, Write};

use serde_json::Value;

use super::StreamEvent;

/// The largest body. Agents send their whole conversation each time, which is far less.
const MAX_BODY: u64 = 64 * 1024 * 1024;

pub(super) struct HttpRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Value,
}

/// The next request of a connection, or nothing at its end.
pub(super) fn read_request(reader: &mut impl BufRead) -> io::Result<Option<HttpRequest>> {
    let Some(first) = read_line(reader)? else { return Ok(None) };
    let mut words = first.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Err(malformed("request line")) };
    let mut length = 0;
    let mut chunked = false;
    while let Some(line) = read_line(reader)?.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(|| malformed("header"))?;
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().map_err(|_| malformed("length"))?,
            "transfer-encoding" => chunked = value.trim().eq_ignore_ascii_case("chunked"),
            _ => {}
        }
    }
    let bytes = if chunked { read_chunks(reader)? } else { read_bytes(reader, length)? };
    let as_text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
    let body = match bytes.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&bytes).unwrap_or_else(|_| as_text()),
    };
    Ok(Some(HttpRequest { method: method.to_owned(), path: path.to_owned(), body }))
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("malformed {what}"))
}

fn read_line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = reader.take(64 * 1024).read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}

fn read_bytes(reader: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    if length > MAX_BODY {
        return Err(malformed("length: the body is too large"));
    }
    let mut bytes = Vec::new();
    reader.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let line = read_line(reader)?.ok_or_else(|| malformed("chunk"))?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| malformed("chunk"))?;
        all.extend(read_bytes(reader, size)?);
        read_line(reader)?;
        if size == 0 {
            return Ok(all);
        }
        if u64::try_from(all.len()).unwrap_or(u64::MAX) > MAX_BODY {
            return Err(malformed("length: the body is too large"));
        }
    }
}

pub(super) fn write_document(mut to: impl Write, request: &HttpRequest, status: u16, body: &Value) -> io::Result<()> {
    let text = body.to_string();
    let phrase = if status == 200 { "OK" } else { "Not Found" };
    let length = text.len();
    write!(to, "HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n")?;
    if request.method != "HEAD" {
        to.write_all(text.as_bytes())?;
    }
    to.flush()
}

pub(super) fn write_stream(mut to: impl Write, events: &[StreamEvent]) -> io::Result<()> {
    write!(
        to,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n"
    )?;
    for event in events {
        if let Some(name) = event.name {
            writeln!(to, "event: {name}")?;
        }
        write!(to, "data: {}\n\n", event.data)?;
        to.flush()?;
    }
    Ok(())
}
