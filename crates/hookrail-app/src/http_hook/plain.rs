//! One request without encryption, and its reply.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read as _, Result, Write as _};
use std::net::TcpStream;

use super::{LONGEST_BODY, Request, ServerReply};

/// The most bytes of one line of a reply's head, or of the size of a chunk.
const LONGEST_LINE: u64 = 16 * 1024;
/// The most lines of a reply's head.
const MOST_LINES: usize = 200;

/// Sends the request. The engine ends this process when the time of the hook is over, so nothing here waits by a clock.
pub(super) fn send(request: &Request<'_>) -> Result<ServerReply> {
    let (authority, path) = parts(request.url)?;
    let mut stream = match has_port(authority) {
        true => TcpStream::connect(authority)?,
        false => TcpStream::connect(format!("{authority}:80"))?,
    };
    let mut head = format!("POST {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n");
    for (name, value) in &request.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", request.body.len()));
    stream.write_all(head.as_bytes())?;
    stream.write_all(request.body)?;
    read_reply(&mut BufReader::new(stream))
}

/// The host with its port, and the path with its query.
fn parts(url: &str) -> Result<(&str, String)> {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if authority.is_empty() || authority.contains('@') {
        return Err(invalid("the address needs a host, and no user before it"));
    }
    Ok((authority, if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }))
}

fn has_port(authority: &str) -> bool {
    authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn read_reply(reader: &mut impl BufRead) -> Result<ServerReply> {
    loop {
        let status = status(&line(reader)?)?;
        let framing = framing(reader)?;
        // What is only said on the way to the reply has no body.
        if (100..200).contains(&status) {
            continue;
        }
        let body = match framing {
            _ if status == 204 || status == 304 => Vec::new(),
            Framing::Chunked => chunks(reader)?,
            Framing::Length(length) => exactly(reader, length)?,
            Framing::ToTheEnd => bounded(reader)?,
        };
        return Ok(ServerReply { status, body });
    }
}

fn status(line: &str) -> Result<u16> {
    let mut words = line.split(' ');
    let is_http = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    let status = words.next().filter(|word| is_http && word.len() == 3).and_then(|word| word.parse().ok());
    status.ok_or_else(|| invalid("this is no reply of a web server"))
}

/// How the end of a body is known.
enum Framing {
    Chunked,
    Length(u64),
    ToTheEnd,
}

/// Reads the head to its end.
fn framing(reader: &mut impl BufRead) -> Result<Framing> {
    let mut framing = Framing::ToTheEnd;
    for _ in 0..MOST_LINES {
        let line = line(reader)?;
        if line.is_empty() {
            return Ok(framing);
        }
        let (name, value) = line.split_once(':').ok_or_else(|| invalid("a header has no value"))?;
        match (name.to_ascii_lowercase().as_str(), value.trim()) {
            ("transfer-encoding", value) if value.eq_ignore_ascii_case("chunked") => framing = Framing::Chunked,
            ("transfer-encoding", _) => return Err(invalid("the encoding of the reply is not known")),
            ("content-length", value) => {
                let length = value.parse().map_err(|_| invalid("the length of the reply is no number"))?;
                match framing {
                    Framing::ToTheEnd => framing = Framing::Length(length),
                    Framing::Length(before) if before == length => {}
                    Framing::Length(_) => return Err(invalid("the reply has two lengths")),
                    Framing::Chunked => {}
                }
            }
            _ => {}
        }
    }
    Err(invalid("the reply has too many headers"))
}

/// One line without its end.
fn line(reader: &mut impl BufRead) -> Result<String> {
    let mut line = Vec::new();
    reader.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(Error::new(ErrorKind::UnexpectedEof, "the reply breaks off or has a line that is too long"));
    }
    Ok(String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned())
}

fn chunks(reader: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line_of_size = line(reader)?;
        let digits = line_of_size.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(digits, 16).map_err(|_| invalid("the size of a chunk is no number"))?;
        if size == 0 {
            return Ok(body);
        }
        if size.saturating_add(body.len() as u64) > LONGEST_BODY {
            return Err(too_long());
        }
        body.extend(exactly(reader, size)?);
        if !line(reader)?.is_empty() {
            return Err(invalid("a chunk is longer than its size"));
        }
    }
}

fn exactly(reader: &mut impl BufRead, length: u64) -> Result<Vec<u8>> {
    if length > LONGEST_BODY {
        return Err(too_long());
    }
    let mut body = Vec::new();
    if reader.take(length).read_to_end(&mut body)? as u64 != length {
        return Err(Error::new(ErrorKind::UnexpectedEof, "the reply breaks off"));
    }
    Ok(body)
}

fn bounded(reader: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    if reader.take(LONGEST_BODY + 1).read_to_end(&mut body)? as u64 > LONGEST_BODY {
        return Err(too_long());
    }
    Ok(body)
}

fn invalid(message: &str) -> Error {
    Error::new(ErrorKind::InvalidData, message.to_owned())
}

fn too_long() -> Error {
    invalid("the reply is too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &str) -> Result<(u16, String)> {
        let reply = read_reply(&mut reply.as_bytes())?;
        Ok((reply.status, String::from_utf8_lossy(&reply.body).into_owned()))
    }

    #[test]
    fn the_three_ways_to_end_a_body_are_read() {
        for (reply, body) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}rest", "{}"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n", "{}"),
            ("HTTP/1.0 200 OK\r\n\r\n{}", "{}"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "{}"),
            ("HTTP/1.1 204 No Content\r\n\r\n", ""),
        ] {
            assert_eq!(read(reply).unwrap().1, body, "{reply}");
        }
        assert_eq!(read("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n").unwrap().0, 302);
    }

    #[test]
    fn a_reply_that_breaks_off_is_none() {
        for reply in [
            "",
            "SSH-2.0-x\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 1\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-Le",
        ] {
            assert!(read(reply).is_err(), "{reply}");
        }
    }

    #[test]
    fn an_address_has_a_host_and_a_path() {
        assert_eq!(parts("http://h:1/a?b#c").unwrap(), ("h:1", "/a?b".to_owned()));
        assert_eq!(parts("http://h?b").unwrap(), ("h", "/?b".to_owned()));
        assert_eq!(parts("http://[::1]").unwrap(), ("[::1]", "/".to_owned()));
        assert!(!has_port("[::1]") && has_port("[::1]:8") && !has_port("h"));
        assert!(parts("http://user@h/").is_err() && parts("http:///x").is_err());
    }
}
