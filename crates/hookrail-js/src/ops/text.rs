//! Operations on text, bytes and identifiers, and on what a module may know about its process.
//!
//! Bytes cross between JavaScript and the host as text with one character for each byte, because JSON cannot carry
//! bytes.

use std::fs::File;
use std::io::Read as _;

use hookrail::module::ModuleContext;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::{OpAnswer, OpError, digest};
use crate::op_answer::Bytes;
use crate::shared::Shared;

/// Operations on text and bytes. A width is in columns of a terminal. A letter is what a reader sees as one (a
/// grapheme), with its width.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub(super) enum TextOp {
    Width { text: String },
    Letters { text: String },
    Encode { text: String },
    Decode { bytes: String, fatal: Option<bool>, keep_mark: Option<bool> },
    Hash { algorithm: String, bytes: String },
    Uuid {},
    Random { count: u32 },
}

impl TextOp {
    pub(super) fn run(self, shared: &Shared) -> Result<OpAnswer, OpError> {
        let most = shared.account.most;
        match self {
            Self::Width { text } => OpAnswer::serialize(&text.width()),
            Self::Letters { text } => OpAnswer::serialize_within(most, &Letters(&text)),
            Self::Encode { text } => OpAnswer::serialize_within(most, &Bytes(text.as_bytes())),
            Self::Decode { bytes, fatal, keep_mark } => {
                decode(&bytes, fatal.unwrap_or_default(), keep_mark.unwrap_or_default(), most)
            }
            Self::Hash { algorithm, bytes } => digest::hash(&algorithm, &bytes),
            Self::Uuid {} => OpAnswer::serialize(&uuid()?),
            Self::Random { count } => OpAnswer::serialize(&Bytes(&random_bytes(count)?)),
        }
    }
}

/// The bytes of a text with one character for each byte.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, OpError> {
    if text.is_ascii() {
        return Ok(text.as_bytes().to_vec());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        bytes.push(u8::try_from(u32::from(character)).map_err(|_| OpError::type_error("these are not bytes"))?);
    }
    Ok(bytes)
}

fn decode(text: &str, fatal: bool, keep_mark: bool, most: usize) -> Result<OpAnswer, OpError> {
    let bytes = bytes(text)?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) if fatal => return Err(OpError::type_error("the bytes are not UTF-8")),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    OpAnswer::serialize_within(
        most,
        if keep_mark { text.as_str() } else { text.strip_prefix('\u{feff}').unwrap_or(&text) },
    )
}

/// The graphemes of a text, each with its width. A character without a width belongs to the one before it.
struct Letters<'a>(&'a str);

impl Serialize for Letters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let width = |letter: char| letter.width().unwrap_or(0);
        let mut rest = self.0;
        serializer.collect_seq(std::iter::from_fn(|| {
            let first = rest.chars().next()?;
            let next = rest.char_indices().skip(1).find(|(_, next)| width(*next) > 0);
            let (letter, after) = rest.split_at(next.map_or(rest.len(), |(at, _)| at));
            rest = after;
            Some((letter, width(first)))
        }))
    }
}

/// Whether a process with this number exists, of any user.
#[cfg(unix)]
pub(super) fn is_alive(pid: u32) -> Result<OpAnswer, OpError> {
    use rustix::io::Errno;
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
        return Err(OpError::type_error("this is not the number of a process"));
    };
    match rustix::process::test_kill_process(pid) {
        Err(Errno::SRCH) => Err(OpError::new("kill ESRCH").code("ESRCH")),
        Err(Errno::PERM) => Err(OpError::new("kill EPERM").code("EPERM")),
        Ok(()) | Err(_) => OpAnswer::serialize(&true),
    }
}

#[cfg(not(unix))]
pub(super) fn is_alive(_pid: u32) -> Result<OpAnswer, OpError> {
    Err(OpError::new("whether a process is there cannot be told on this system").code("ENOSYS"))
}

/// The variables that the module may see.
pub(super) fn environment(world: &ModuleContext) -> Value {
    let pairs = world.environment.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let pairs = pairs.filter(|(name, _)| world.capabilities.shows_variable(name));
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
    const MAX_RANDOM_BYTES: u32 = 1 << 20;
    let mut bytes = Vec::new();
    File::open("/dev/urandom")
        .and_then(|file| file.take(u64::from(count.min(MAX_RANDOM_BYTES))).read_to_end(&mut bytes))
        .map_err(|error| OpError::new(format!("there are no random bytes: {error}")))?;
    Ok(bytes)
}

/// A random identifier of version 4.
pub(super) fn uuid() -> Result<String, OpError> {
    let random = random_bytes(16)?.iter().fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
    let part = |from: u32, bits: u32| (random >> from) & ((1 << bits) - 1);
    let (version, variant) = (0x4000 | part(64, 12), 0x8000 | part(48, 14));
    Ok(format!("{:08x}-{:04x}-{version:04x}-{variant:04x}-{:012x}", part(96, 32), part(80, 16), part(0, 48)))
}
