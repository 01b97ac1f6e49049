//! The entry in the bucket of a channel that says what is published.
//!
//! The entry is one message, so that it is replaced in one step and read in one: no machine sees the manifest of one bundle with the
//! signature of another. To programs of NATS it is an object without content whose metadata are the two texts.

use std::collections::HashMap;

use async_nats::jetstream::object_store::ObjectInfo;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;

use crate::manifest::{LARGEST_MANIFEST, LARGEST_SIGNATURE, SignedManifest};
use crate::nats::NatsError;

/// The name of the entry.
const ENTRY: &str = "published";

/// What a bucket says is published.
#[derive(Debug)]
pub(crate) struct PublishedEntry {
    /// The number of the message; 0 if there is none.
    pub(crate) revision: u64,
    /// The publisher's name for this one message; empty if there is none.
    pub(crate) id: String,
    /// What is published, if anything is.
    pub(crate) signed: Option<SignedManifest>,
}

/// Why an entry cannot be read.
#[derive(Debug)]
pub(crate) enum EntryProblem {
    TooLarge { limit: u64 },
    Invalid(String),
}

impl PublishedEntry {
    /// Reads a message of [`subject`].
    pub(crate) fn read(revision: u64, payload: &[u8]) -> Result<Self, EntryProblem> {
        let about: ObjectInfo =
            serde_json::from_slice(payload).map_err(|error| EntryProblem::Invalid(error.to_string()))?;
        if about.deleted {
            return Ok(Self { revision, id: about.nuid, signed: None });
        }
        let mut metadata = about.metadata;
        let mut text = |key: &str, limit: u64| match metadata.remove(key) {
            Some(text) if text.len() as u64 > limit => Err(EntryProblem::TooLarge { limit }),
            Some(text) => Ok(text),
            None => Err(EntryProblem::Invalid(format!("it has no {key}"))),
        };
        let manifest = text("manifest", LARGEST_MANIFEST)?;
        let signature = text("signature", LARGEST_SIGNATURE)?;
        Ok(Self { revision, id: about.nuid, signed: Some(SignedManifest { manifest, signature }) })
    }

    /// Makes the payload of a message that replaces the entry.
    pub(crate) fn write(bucket: &str, id: &str, signed: &SignedManifest) -> Result<Vec<u8>, NatsError> {
        let texts = [("manifest", &signed.manifest), ("signature", &signed.signature)];
        let about = ObjectInfo {
            name: ENTRY.to_owned(),
            description: Some("the manifest that is published, and its signature".to_owned()),
            metadata: texts.map(|(key, text)| (key.to_owned(), text.clone())).into_iter().collect::<HashMap<_, _>>(),
            headers: None,
            options: None,
            bucket: bucket.to_owned(),
            nuid: id.to_owned(),
            size: 0,
            chunks: 0,
            modified: None,
            digest: None,
            deleted: false,
        };
        serde_json::to_vec(&about).map_err(NatsError::request("the entry cannot be written"))
    }
}

/// Returns the subject of the entry of an object.
pub(crate) fn object_subject(bucket: &str, name: &str) -> String {
    format!("$O.{bucket}.M.{}", URL_SAFE.encode(name))
}

/// Returns the subject of the entry that says what is published.
pub(crate) fn subject(bucket: &str) -> String {
    object_subject(bucket, ENTRY)
}
