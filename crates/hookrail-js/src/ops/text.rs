//! Text, bytes, identifiers, and what a module may know about the process.
//!
//! Bytes cross as text with one character for each byte, which JSON can carry.

use std::fs::File;
use std::io::Read as _;

use hookrail::Environment;
use serde_json::{Map, Value, json};

use super::OpError;

/// Bytes as text with one character for each.
pub(crate) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// The bytes of such a text.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, OpError> {
    let byte = |character: char| u8::try_from(u32::from(character)).ok();
    text.chars().map(byte).collect::<Option<_>>().ok_or_else(|| OpError::type_error("these are not bytes"))
}

pub(super) fn encode(text: &str) -> Value {
    json!(latin1(text.as_bytes()))
}

pub(super) fn decode(text: &str, fatal: bool, keep_mark: bool) -> Result<Value, OpError> {
    let bytes = bytes(text)?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) if fatal => return Err(OpError::type_error("the bytes are not UTF-8")),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    Ok(json!(if keep_mark { &text } else { text.strip_prefix('\u{feff}').unwrap_or(&text) }))
}

pub(super) fn environment(environment: &Environment) -> Value {
    let pairs = environment.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    Value::Object(pairs.map(|(name, value)| (name.to_owned(), json!(value))).collect::<Map<_, _>>())
}

pub(super) fn about_process() -> Value {
    let platform = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "x86" => "ia32",
        other => other,
    };
    let hostname = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    json!({
        "platform": platform,
        "arch": arch,
        "pid": std::process::id(),
        "version": env!("CARGO_PKG_VERSION"),
        "hostname": hostname.trim(),
        "cpus": std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    })
}

fn random_bytes(count: u32) -> Result<Vec<u8>, OpError> {
    const MOST: u32 = 1 << 20;
    let mut bytes = Vec::new();
    File::open("/dev/urandom")
        .and_then(|file| file.take(u64::from(count.min(MOST))).read_to_end(&mut bytes))
        .map_err(|error| OpError::new(format!("there are no random bytes: {error}")))?;
    Ok(bytes)
}

pub(super) fn random(count: u32) -> Result<Value, OpError> {
    Ok(json!(latin1(&random_bytes(count)?)))
}

/// A random identifier of version 4.
pub(super) fn uuid() -> Result<Value, OpError> {
    let mut bytes = random_bytes(16)?;
    for (at, keep, set) in [(6, 0x0f, 0x40), (8, 0x3f, 0x80)] {
        if let Some(byte) = bytes.get_mut(at) {
            *byte = (*byte & keep) | set;
        }
    }
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let part = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default().concat();
    Ok(json!([part(0..4), part(4..6), part(6..8), part(8..10), part(10..16)].join("-")))
}
