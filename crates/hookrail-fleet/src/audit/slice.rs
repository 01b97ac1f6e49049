//! A slice: consecutive records of a journal as they are, and a signed checkpoint about them.
//!
//! | part of the message | holds |
//! |---|---|
//! | payload | the lines of the journal, compressed with gzip |
//! | `Hookrail-Checkpoint` | a [`Checkpoint`] as JSON |
//! | `Hookrail-Signature` | the signature of exactly that text |
//! | `Hookrail-Key` | the public key that signed it |
//! | `Hookrail-Handovers` | how that key came into the place of earlier ones, if it did |

use std::io::{Read as _, Write as _};

use async_nats::HeaderMap;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hookrail_journal::ChainLink;
use serde::{Deserialize, Serialize};

use crate::name::Name;
use crate::nats::{Handover, MemberKey, MemberKeyProblem, MemberPublicKey};
use crate::time::Timestamp;

const CHECKPOINT: &str = "Hookrail-Checkpoint";
const SIGNATURE: &str = "Hookrail-Signature";
const KEY: &str = "Hookrail-Key";
const HANDOVERS: &str = "Hookrail-Handovers";

/// The version of the form of a slice.
const FORMAT: u32 = 1;

/// The most bytes that a slice may have without compression.
const LARGEST: u64 = 256 * 1024 * 1024;

/// What a machine states about a slice of its journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The version of this form.
    pub format: u32,
    /// The organisation.
    pub tenant: Name,
    /// The machine.
    pub machine: String,
    /// The number of the first record.
    pub first: u64,
    /// The number of the last record.
    pub last: u64,
    /// The hash of the record before the first one.
    pub prev: String,
    /// The hash of the last record.
    pub head: String,
    /// When it was signed.
    pub at: Timestamp,
}

/// A slice, as a message holds it.
#[derive(Clone, Debug)]
pub struct AuditSlice {
    /// What the machine states about it.
    pub checkpoint: Checkpoint,
    text: String,
    signature: String,
    /// The key that signed it.
    pub key: MemberPublicKey,
    pub(crate) handovers: Vec<Handover>,
    pub(crate) payload: Vec<u8>,
}

/// Why a message is no slice, or not a sound one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SliceError {
    /// A header is missing or not readable.
    #[error("the header `{0}` is missing or cannot be read")]
    Header(&'static str),
    /// The slice has the form of another version.
    #[error("the checkpoint has format {0}, and this hookrail knows format {FORMAT}")]
    Format(u32),
    /// The checkpoint was changed, or another key signed it.
    #[error("the signature does not fit the checkpoint")]
    Signature,
    /// The payload cannot be unpacked.
    #[error("the payload cannot be unpacked: {0}")]
    Payload(String),
    /// A line is no record.
    #[error("line {0} is no record")]
    NoRecord(usize),
    /// A record was changed.
    #[error("record {0} was changed: its hash is not that of its bytes")]
    Changed(u64),
    /// A record does not continue the one before it.
    #[error("record {0} does not continue the record before it")]
    NotContinuing(u64),
    /// The records are not those of the checkpoint.
    #[error("the records are not those that the checkpoint names")]
    NotThose,
}

/// Lines of a journal that become a slice.
#[derive(Clone, Debug)]
pub(crate) struct SliceLines {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) prev: String,
    pub(crate) head: String,
    pub(crate) records: usize,
    /// The lines, each with its end.
    pub(crate) lines: Vec<u8>,
}

impl AuditSlice {
    /// Packs and signs lines of a journal.
    pub(crate) fn sign(
        lines: &SliceLines,
        tenant: &Name,
        machine: String,
        key: &MemberKey,
        handovers: &[Handover],
    ) -> Result<Self, MemberKeyProblem> {
        let checkpoint = Checkpoint {
            format: FORMAT,
            tenant: tenant.clone(),
            machine,
            first: lines.first,
            last: lines.last,
            prev: lines.prev.clone(),
            head: lines.head.clone(),
            at: Timestamp::now(),
        };
        let not_made = |problem: String| MemberKeyProblem::NotMade(problem);
        let text = serde_json::to_string(&checkpoint).map_err(|error| not_made(error.to_string()))?;
        let signature = key.sign_checkpoint(&text)?;
        let payload = compress(&lines.lines).map_err(|error| not_made(error.to_string()))?;
        Ok(Self { checkpoint, text, signature, key: key.signing_public(), handovers: handovers.to_vec(), payload })
    }

    /// Returns the headers of the message.
    pub(crate) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CHECKPOINT, self.text.as_str());
        headers.insert(SIGNATURE, self.signature.as_str());
        headers.insert(KEY, self.key.to_string());
        if !self.handovers.is_empty()
            && let Ok(text) = serde_json::to_string(&self.handovers)
        {
            headers.insert(HANDOVERS, text);
        }
        headers
    }

    /// Reads a message. Nothing but its form is checked.
    ///
    /// # Errors
    /// If a header is missing or not readable.
    pub fn read(headers: &HeaderMap, payload: &[u8]) -> Result<Self, SliceError> {
        let header = |name: &'static str| headers.get(name).map(|value| value.as_str().to_owned());
        let required = |name: &'static str| header(name).ok_or(SliceError::Header(name));
        let text = required(CHECKPOINT)?;
        let checkpoint: Checkpoint = serde_json::from_str(&text).map_err(|_| SliceError::Header(CHECKPOINT))?;
        if checkpoint.format != FORMAT {
            return Err(SliceError::Format(checkpoint.format));
        }
        let key = required(KEY)?.parse().map_err(|_| SliceError::Header(KEY))?;
        let handovers = match header(HANDOVERS) {
            Some(text) => serde_json::from_str(&text).map_err(|_| SliceError::Header(HANDOVERS))?,
            None => Vec::new(),
        };
        let signature = required(SIGNATURE)?;
        Ok(Self { checkpoint, text, signature, key, handovers, payload: payload.to_vec() })
    }

    /// Verifies the signature and every record. Returns the number of records.
    ///
    /// # Errors
    /// If one of them does not hold.
    pub fn verify(&self) -> Result<u64, SliceError> {
        if !self.key.has_signed_checkpoint(&self.text, &self.signature) {
            return Err(SliceError::Signature);
        }
        let lines = self.lines()?;
        let expected = &self.checkpoint;
        let (mut before, mut hash) = (expected.first.checked_sub(1), expected.prev.clone());
        let mut records = 0;
        for (number, line) in lines.lines().enumerate() {
            let link = ChainLink::of(line).ok_or(SliceError::NoRecord(number + 1))?;
            if !link.holds {
                return Err(SliceError::Changed(link.seq));
            }
            if !before.is_some_and(|before| link.continues(before, &hash)) {
                return Err(SliceError::NotContinuing(link.seq));
            }
            before = Some(link.seq);
            link.hash.clone_into(&mut hash);
            records += 1;
        }
        if before == Some(expected.last) && hash == expected.head && records > 0 {
            Ok(records)
        } else {
            Err(SliceError::NotThose)
        }
    }

    /// Unpacks the records, one on each line.
    ///
    /// # Errors
    /// If they cannot be unpacked.
    pub fn lines(&self) -> Result<String, SliceError> {
        let mut text = String::new();
        let read = GzDecoder::new(self.payload.as_slice()).take(LARGEST + 1).read_to_string(&mut text);
        let read = read.map_err(|error| SliceError::Payload(error.to_string()))?;
        if read as u64 > LARGEST {
            return Err(SliceError::Payload(format!("it is larger than {LARGEST} bytes")));
        }
        Ok(text)
    }
}

fn compress(lines: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(lines.len() / 4), Compression::fast());
    encoder.write_all(lines)?;
    encoder.finish()
}

#[cfg(test)]
pub(crate) mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Records in the form of a journal.
    pub(crate) fn chain(count: u64, text: &str) -> SliceLines {
        let mut lines = SliceLines {
            first: 1,
            last: count,
            prev: ChainLink::BEGINNING.to_owned(),
            head: ChainLink::BEGINNING.to_owned(),
            records: 0,
            lines: Vec::new(),
        };
        for seq in 1..=count {
            let body = format!("{{\"seq\":{seq},\"prev\":\"{}\",\"text\":\"{text}\"", lines.head);
            let hash = hookrail::trust::hex(Sha256::digest(&body).as_slice());
            lines.lines.extend_from_slice(format!("{body},\"hash\":\"{hash}\"}}\n").as_bytes());
            lines.head = hash;
            lines.records += 1;
        }
        lines
    }

    fn signed(lines: &SliceLines) -> AuditSlice {
        let key = MemberKey::generate().unwrap();
        AuditSlice::sign(lines, &"acme".parse().unwrap(), "m1".to_owned(), &key, &[]).unwrap()
    }

    #[test]
    fn a_slice_holds_and_survives_its_message() {
        let slice = signed(&chain(20, "a"));
        let read = AuditSlice::read(&slice.headers(), &slice.payload).unwrap();
        assert_eq!(read.verify(), Ok(20));
        assert_eq!(read.checkpoint, slice.checkpoint);
        assert_eq!(read.lines().unwrap().lines().count(), 20);
    }

    #[test]
    fn what_was_changed_is_found() {
        let good = chain(20, "a");
        let changed = |change: &dyn Fn(&str) -> String| {
            let lines = change(std::str::from_utf8(&good.lines).unwrap()).into_bytes();
            signed(&SliceLines { lines, ..good.clone() }).verify()
        };
        assert_eq!(changed(&|text| text.replacen("\"a\"", "\"b\"", 1)), Err(SliceError::Changed(1)));
        let without = |text: &str, left_out: usize| {
            let kept = text.lines().enumerate().filter(|(number, _)| *number != left_out);
            kept.map(|(_, line)| format!("{line}\n")).collect::<String>()
        };
        assert_eq!(changed(&|text| without(text, 4)), Err(SliceError::NotContinuing(6)));
        assert_eq!(changed(&|text| without(text, 19)), Err(SliceError::NotThose));
        assert_eq!(changed(&|text| format!("{text}x\n")), Err(SliceError::NoRecord(21)));
        assert_eq!(changed(&|_| String::new()), Err(SliceError::NotThose));
        let mut forged = signed(&good);
        forged.text = forged.text.replace("\"m1\"", "\"m2\"");
        assert_eq!(forged.verify(), Err(SliceError::Signature));
        let mut cut = signed(&good);
        cut.payload.truncate(cut.payload.len() / 2);
        assert!(matches!(cut.verify(), Err(SliceError::Payload(_))));
    }

    #[test]
    fn another_message_is_no_slice() {
        assert!(matches!(AuditSlice::read(&HeaderMap::new(), b"x"), Err(SliceError::Header(CHECKPOINT))));
        let slice = signed(&chain(1, "a"));
        let mut headers = slice.headers();
        headers.insert(CHECKPOINT, slice.text.replace("\"format\":1", "\"format\":2"));
        assert_eq!(AuditSlice::read(&headers, &slice.payload).unwrap_err(), SliceError::Format(2));
    }
}
