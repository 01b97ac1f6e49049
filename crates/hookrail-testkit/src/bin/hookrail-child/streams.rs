//! What the test child does with stdin, stdout and stderr. Each function returns the exit status.

use std::io::{self, Read, Write};

/// Copies stdin to stdout.
pub(crate) fn echo_stdin() -> io::Result<u8> {
    io::copy(&mut io::stdin().lock(), &mut io::stdout().lock())?;
    Ok(0)
}

/// Reads stdin to its end and prints how many bytes there were.
pub(crate) fn count_stdin() -> io::Result<u8> {
    let count = io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    print(&count.to_string())
}

/// Prints a text without a line end.
pub(crate) fn print(text: &str) -> io::Result<u8> {
    write_raw(&[text.as_bytes()])
}

/// Writes each piece and flushes it.
pub(crate) fn write_raw(pieces: &[&[u8]]) -> io::Result<u8> {
    let mut stdout = io::stdout().lock();
    for piece in pieces {
        stdout.write_all(piece)?;
        stdout.flush()?;
    }
    Ok(0)
}

/// Prints a text byte by byte, with a pause of this many milliseconds after each.
pub(crate) fn print_bytewise(text: &str, pause: u64) -> io::Result<u8> {
    for byte in text.as_bytes() {
        write_raw(&[&[*byte]])?;
        std::thread::sleep(std::time::Duration::from_millis(pause));
    }
    Ok(0)
}

/// Prints a text in UTF-16 with a byte order mark, as some systems do.
pub(crate) fn print_utf16(text: &str) -> io::Result<u8> {
    let bytes: Vec<u8> = std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    write_raw(&[&bytes])
}

/// Prints a denial with a member that is nested this deeply.
pub(crate) fn print_nested(depth: usize) -> io::Result<u8> {
    print(&format!(r#"{{"decision":"deny","reason":"nested","deep":{}{}}}"#, "[".repeat(depth), "]".repeat(depth)))
}

/// Prints a denial with this many unknown keys.
pub(crate) fn print_many_keys(count: usize) -> io::Result<u8> {
    let keys: String = (0..count).map(|number| format!(r#","key{number}":{number}"#)).collect();
    print(&format!(r#"{{"decision":"deny","reason":"keys"{keys}}}"#))
}

/// Prints a denial with a reason of this many bytes.
pub(crate) fn print_long_reason(bytes: usize) -> io::Result<u8> {
    write_raw(&[br#"{"decision":"deny","reason":""#])?;
    flood(&mut io::stdout().lock(), bytes as u64)?;
    print(r#""}"#)
}

/// Prints to both streams and exits with a code.
pub(crate) fn print_and_exit(code: u8, out: &str, err: &str) -> io::Result<u8> {
    io::stderr().write_all(err.as_bytes())?;
    print(out)?;
    Ok(code)
}

/// Closes stdin at once, then keeps running for this many milliseconds.
///
/// Descriptor 0 is then `/dev/null`, as the Rust runtime makes it if it is closed at the start. A process that writes to the
/// pipe finds no reader.
#[cfg(unix)]
pub(crate) fn close_stdin(milliseconds: u64) -> io::Result<u8> {
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    crate::announce_ready()?;
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
    print("{}")
}

#[cfg(not(unix))]
pub(crate) fn close_stdin(_milliseconds: u64) -> io::Result<u8> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes this many bytes to stdout.
pub(crate) fn flood_stdout(bytes: u64) -> io::Result<u8> {
    flood(&mut io::stdout().lock(), bytes)
}

/// Writes this many bytes to stderr, and an answer to stdout.
pub(crate) fn flood_stderr(bytes: u64) -> io::Result<u8> {
    flood(&mut io::stderr().lock(), bytes)?;
    print("{}")
}

/// Writes this many bytes, then reads stdin to its end, then prints its length.
pub(crate) fn write_before_read(bytes: u64) -> io::Result<u8> {
    flood(&mut io::stdout().lock(), bytes)?;
    count_stdin()
}

/// Writes this many bytes without a line end.
fn flood(sink: &mut impl Write, bytes: u64) -> io::Result<u8> {
    crate::announce_ready()?;
    // Blocks, because an endless reader fills its buffer byte by byte where it is not optimised.
    let block = [b'x'; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        left -= io::copy(&mut block.as_slice().take(left), sink)?;
    }
    Ok(0)
}
