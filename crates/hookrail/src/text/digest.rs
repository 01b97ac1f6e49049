//! The digest by which the content of files and definitions is known.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Whether that text is the digest in hexadecimal.
    pub(crate) fn is_hex(&self, hex: &str) -> bool {
        let half = |byte: u8| char::from_digit(u32::from(byte), 16);
        let digits = self.0.iter().flat_map(|byte| [half(byte >> 4), half(byte & 15)]);
        digits.eq(hex.chars().map(Some))
    }

    /// The digest in hexadecimal.
    #[must_use]
    pub fn hex(&self) -> String {
        hex(&self.0)
    }
}

/// Returns bytes in hexadecimal, in lower case.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.hex())
    }
}
