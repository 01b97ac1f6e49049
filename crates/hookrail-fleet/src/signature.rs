//! Keys and signatures in the format of minisign, so that its program can sign and verify too.

use std::fmt;
use std::io::Cursor;
use std::path::Path;
use std::str::FromStr;

use minisign::{KeyPair, PublicKeyBox, SecretKey, SecretKeyBox, SignatureBox};
use serde::Deserialize;

use crate::error::BundleError;

pub use crate::error::KeyProblem;

/// The ending of the file with a signature, behind the name of the signed file.
pub const SIGNATURE_ENDING: &str = "minisig";

/// A public key that a machine accepts.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct PublicKey(minisign::PublicKey);

/// The texts of a new pair of keys, as files have them.
pub struct NewKeys {
    /// The text of the file with the public key.
    pub public: String,
    /// The text of the file with the secret key.
    pub secret: String,
    /// The public key, as configurations have it.
    pub key: PublicKey,
}

impl PublicKey {
    /// Returns the identifier that signatures name, as minisign prints it.
    #[must_use]
    pub fn id(&self) -> String {
        key_id(self.0.keynum())
    }
}

impl FromStr for PublicKey {
    type Err = KeyProblem;

    /// Reads a public key: its line alone, or the text of a file with a comment above it.
    fn from_str(text: &str) -> Result<Self, KeyProblem> {
        let problem = |error: minisign::PError| KeyProblem::NotAPublicKey(error.to_string());
        let text = text.trim();
        let key = if text.contains('\n') {
            PublicKeyBox::from_string(text).and_then(PublicKeyBox::into_public_key)
        } else {
            minisign::PublicKey::from_base64(text)
        };
        key.map(Self).map_err(problem)
    }
}

impl TryFrom<String> for PublicKey {
    type Error = KeyProblem;

    fn try_from(text: String) -> Result<Self, KeyProblem> {
        text.parse()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_base64())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

fn key_id(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02X}")).collect()
}

/// The protection of a secret key.
#[derive(Clone, Debug)]
pub enum Password {
    /// The key is stored as it is.
    None,
    /// The key is encrypted with this text.
    Text(String),
    /// The user types it.
    Asked,
}

/// Makes a new pair of keys.
///
/// # Errors
/// If the system gives no random bytes, or no password can be read.
pub fn generate(password: Password) -> Result<NewKeys, KeyProblem> {
    let problem = |error: minisign::PError| KeyProblem::NotMade(error.to_string());
    let pair = match password {
        Password::None => KeyPair::generate_unencrypted_keypair(),
        Password::Text(text) => KeyPair::generate_encrypted_keypair(Some(text)),
        Password::Asked => KeyPair::generate_encrypted_keypair(None),
    };
    let KeyPair { pk, sk } = pair.map_err(problem)?;
    let public = pk.to_box().map_err(problem)?.to_string();
    let secret = sk.to_box(Some("hookrail bundle secret key")).map_err(problem)?.to_string();
    Ok(NewKeys { public, secret, key: PublicKey(pk) })
}

/// Signs a text. The comment is part of what is signed.
///
/// # Errors
/// If the key cannot be used.
pub fn sign(text: &str, secret: &str, password: Password, comment: &str) -> Result<String, KeyProblem> {
    let problem = |error: minisign::PError| KeyProblem::NotASecretKey(error.to_string());
    let opened = || SecretKeyBox::from_string(secret).map_err(problem);
    let key: SecretKey = match password {
        Password::None => opened()?.into_unencrypted_secret_key(),
        Password::Text(text) => opened()?.into_secret_key(Some(text)),
        // A key without a password needs none, so it is tried first.
        Password::Asked => match opened()?.into_unencrypted_secret_key() {
            Ok(key) => Ok(key),
            Err(_) => opened()?.into_secret_key(None),
        },
    }
    .map_err(problem)?;
    let signature =
        minisign::sign(None, &key, Cursor::new(text), Some(comment), Some("signature of a hookrail bundle"));
    signature.map(|signature| signature.to_string()).map_err(|error| KeyProblem::NotSigned(error.to_string()))
}

/// Checks that a text was signed with one of the accepted keys.
///
/// # Errors
/// If the signature is damaged, of another key, or of another text.
pub fn verify(text: &str, signature: &str, accepted: &[PublicKey]) -> Result<(), BundleError> {
    let signature = SignatureBox::from_string(signature).map_err(|_| BundleError::BadSignature)?;
    let Some(key) = accepted.iter().find(|key| key.0.keynum() == signature.keynum()) else {
        return Err(BundleError::UnknownKey(key_id(signature.keynum())));
    };
    minisign::verify(&key.0, &signature, Cursor::new(text), true, false, false).map_err(|_| BundleError::BadSignature)
}

/// Returns the path of the signature of a file.
#[must_use]
pub fn signature_path(file: &Path) -> std::path::PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(SIGNATURE_ENDING);
    name.into()
}
