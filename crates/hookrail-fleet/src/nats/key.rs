//! The keys of members. A member has one seed, and two keys from it: one that servers know it by, and one that signs
//! checkpoints. They differ, because a server chooses what the first one signs when a member connects: with one key for both, a
//! server could have checkpoints signed that no member made.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use nkeys::{KeyPair, KeyPairType};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::BundleError;
use crate::files::{read_limited, write_atomically};

/// The largest file with a seed or with handovers that is read.
const LARGEST: u64 = 64 * 1024;

/// What a signature of a checkpoint is about begins with this.
const CHECKPOINT: &[u8] = b"hookrail checkpoint\0";

/// What a signature of a handover is about begins with this.
const HANDOVER: &[u8] = b"hookrail handover\0";

/// The keys of a member.
pub struct MemberKey {
    seed: String,
    connecting: KeyPair,
    signing: KeyPair,
}

/// A public key of a member: `U…` for connecting, `V…` for signing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct MemberPublicKey(String);

/// A text that is no public key of a member.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no public key: one begins with `U` or `V` and has 56 letters and digits")]
pub struct NotAMemberKey(String);

/// Why the key of a member cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemberKeyProblem {
    /// The file cannot be read.
    #[error("the seed `{}` cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Other users can read the file.
    #[error("other users can read the seed `{}`; remove the permission with `chmod 600`", path.display())]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// The file holds no seed.
    #[error("`{}` holds no seed of a member: {problem}", path.display())]
    NotASeed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The file exists already.
    #[error("the seed `{}` exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The system gives no random bytes, or a file cannot be written.
    #[error("no key could be made: {0}")]
    NotMade(String),
}

/// A statement of an old key that another one takes its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    /// The key that signed until then.
    pub old: MemberPublicKey,
    /// The key that signs from then on.
    pub new: MemberPublicKey,
    /// The signature of the old key.
    signature: String,
}

impl MemberKey {
    /// Makes a new key.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn generate() -> Result<Self, MemberKeyProblem> {
        let not_made = |problem: String| MemberKeyProblem::NotMade(problem);
        let mut raw = [0; 32];
        getrandom::fill(&mut raw).map_err(|error| not_made(error.to_string()))?;
        let pair = KeyPair::new_from_raw(KeyPairType::User, raw)
            .and_then(|pair| pair.seed())
            .map_err(|error| not_made(error.to_string()))?;
        Self::from_seed(&pair).map_err(not_made)
    }

    /// Reads the file with a seed. Only its owner may be able to read it.
    ///
    /// # Errors
    /// If it cannot be read, is open to others, or holds no seed.
    pub fn read(path: &Path) -> Result<Self, MemberKeyProblem> {
        let unreadable = |source| MemberKeyProblem::Unreadable { path: path.to_owned(), source };
        let about = std::fs::metadata(path).map_err(unreadable)?;
        if is_open_to_others(&about) {
            return Err(MemberKeyProblem::Open { path: path.to_owned() });
        }
        let bytes = read_limited(path, LARGEST).map_err(unreadable)?;
        let not_a_seed = |problem: String| MemberKeyProblem::NotASeed { path: path.to_owned(), problem };
        let text = std::str::from_utf8(&bytes).map_err(|error| not_a_seed(error.to_string()))?;
        Self::from_seed(text.trim()).map_err(not_a_seed)
    }

    /// Writes the seed into a new file that only its owner can read.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn write_new(&self, path: &Path) -> Result<(), MemberKeyProblem> {
        use std::io::Write as _;
        let written =
            hookrail_spawn::private_file_options().write(true).create_new(true).open(path).and_then(|mut file| {
                file.write_all(format!("{}\n", self.seed).as_bytes())?;
                file.sync_all()
            });
        written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => MemberKeyProblem::Exists { path: path.to_owned() },
            _ => MemberKeyProblem::NotMade(format!("`{}`: {error}", path.display())),
        })
    }

    /// Replaces the seed in a file by a new one. The old key states that, in a file beside it that is written first.
    ///
    /// # Errors
    /// If there is no seed yet, or a file cannot be written.
    pub fn rotate(path: &Path) -> Result<Self, MemberKeyProblem> {
        let replace = |file: &Path, bytes: &[u8]| {
            let not_made = |error| MemberKeyProblem::NotMade(BundleError::at(file)(error).to_string());
            write_atomically(file, bytes, 0o600).map_err(not_made)
        };
        let (old, new) = (Self::read(path)?, Self::generate()?);
        let mut handovers = Handover::read_all(path)?;
        handovers.push(old.hand_over(&new)?);
        let text = serde_json::to_vec(&handovers).map_err(|error| MemberKeyProblem::NotMade(error.to_string()))?;
        replace(&Handover::file(path), &text)?;
        replace(path, format!("{}\n", new.seed).as_bytes())?;
        Ok(new)
    }

    fn from_seed(seed: &str) -> Result<Self, String> {
        let (_, raw) = nkeys::decode_seed(seed).map_err(|error| error.to_string())?;
        let connecting = KeyPair::from_seed(seed).map_err(|error| error.to_string())?;
        if connecting.key_pair_type() != KeyPairType::User {
            return Err("it is the seed of something else".to_owned());
        }
        let derived = Sha256::new().chain_update(b"hookrail signing key\0").chain_update(raw).finalize();
        let signing = KeyPair::new_from_raw(KeyPairType::Service, derived.into()).map_err(|error| error.to_string())?;
        Ok(Self { seed: seed.to_owned(), connecting, signing })
    }

    pub(crate) fn seed(&self) -> &str {
        &self.seed
    }

    /// Returns the key that servers know the member by.
    #[must_use]
    pub fn public(&self) -> MemberPublicKey {
        MemberPublicKey(self.connecting.public_key())
    }

    /// Returns the key that verifies what the member signs.
    #[must_use]
    pub fn signing_public(&self) -> MemberPublicKey {
        MemberPublicKey(self.signing.public_key())
    }

    /// Signs a checkpoint.
    ///
    /// # Errors
    /// If the key cannot sign, which no key with a seed causes.
    pub(crate) fn sign_checkpoint(&self, text: &str) -> Result<String, MemberKeyProblem> {
        self.sign(CHECKPOINT, text)
    }

    fn hand_over(&self, new: &Self) -> Result<Handover, MemberKeyProblem> {
        let new = new.signing_public();
        let signature = self.sign(HANDOVER, &new.0)?;
        Ok(Handover { old: self.signing_public(), new, signature })
    }

    fn sign(&self, purpose: &[u8], text: &str) -> Result<String, MemberKeyProblem> {
        let signature = self.signing.sign(&[purpose, text.as_bytes()].concat());
        signature.map(|bytes| BASE64.encode(bytes)).map_err(|error| MemberKeyProblem::NotMade(error.to_string()))
    }
}

impl fmt::Debug for MemberKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemberKey({})", self.public())
    }
}

impl MemberPublicKey {
    /// Returns whether this key signed the text of a checkpoint.
    #[must_use]
    pub fn has_signed_checkpoint(&self, text: &str, signature: &str) -> bool {
        self.has_signed(CHECKPOINT, text, signature)
    }

    fn has_signed(&self, purpose: &[u8], text: &str, signature: &str) -> bool {
        let Ok(bytes) = BASE64.decode(signature) else { return false };
        let key = KeyPair::from_public_key(&self.0);
        key.is_ok_and(|key| key.verify(&[purpose, text.as_bytes()].concat(), &bytes).is_ok())
    }

    /// Returns whether servers can know a member by this key.
    #[must_use]
    pub fn is_connecting(&self) -> bool {
        self.0.starts_with('U')
    }
}

impl Handover {
    fn file(seed: &Path) -> PathBuf {
        let mut name = seed.as_os_str().to_owned();
        name.push(".handovers");
        name.into()
    }

    /// Reads the handovers beside a seed, the oldest first.
    pub(crate) fn read_all(seed: &Path) -> Result<Vec<Self>, MemberKeyProblem> {
        let path = Self::file(seed);
        match read_limited(&path, LARGEST) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| MemberKeyProblem::NotASeed { path, problem: error.to_string() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(MemberKeyProblem::Unreadable { path, source }),
        }
    }

    /// Returns whether the old key signed it.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.old.has_signed(HANDOVER, &self.new.0, &self.signature)
    }

    /// Returns whether a key came into the place of another one through handovers that hold.
    pub(crate) fn lead(handovers: &[Self], old: &MemberPublicKey, new: &MemberPublicKey) -> bool {
        let mut current = old;
        // Each step uses a handover at most once, so that a circle comes to an end.
        for _ in handovers {
            let Some(next) = handovers.iter().find(|handover| handover.old == *current && handover.holds()) else {
                return false;
            };
            current = &next.new;
            if current == new {
                return true;
            }
        }
        false
    }
}

impl FromStr for MemberPublicKey {
    type Err = NotAMemberKey;

    fn from_str(text: &str) -> Result<Self, NotAMemberKey> {
        let refused = || NotAMemberKey(text.to_owned());
        let pair = KeyPair::from_public_key(text).map_err(|_| refused())?;
        match pair.key_pair_type() {
            KeyPairType::User | KeyPairType::Service => Ok(Self(text.to_owned())),
            _ => Err(refused()),
        }
    }
}

impl fmt::Display for MemberPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<MemberPublicKey> for String {
    fn from(key: MemberPublicKey) -> Self {
        key.0
    }
}

impl TryFrom<String> for MemberPublicKey {
    type Error = NotAMemberKey;

    fn try_from(text: String) -> Result<Self, NotAMemberKey> {
        text.parse()
    }
}

#[cfg(unix)]
fn is_open_to_others(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    about.mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_about: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_signed_by_one_key_and_one_text() {
        let (key, other) = (MemberKey::generate().unwrap(), MemberKey::generate().unwrap());
        let signature = key.sign_checkpoint("text").unwrap();
        assert!(key.signing_public().has_signed_checkpoint("text", &signature));
        assert!(!key.signing_public().has_signed_checkpoint("text2", &signature));
        assert!(!other.signing_public().has_signed_checkpoint("text", &signature));
        assert!(!key.signing_public().has_signed_checkpoint("text", "no signature"));
    }

    #[test]
    fn what_a_server_has_signed_is_no_checkpoint() {
        let key = MemberKey::generate().unwrap();
        let chosen_by_the_server = [CHECKPOINT, b"text".as_slice()].concat();
        let signature = BASE64.encode(key.connecting.sign(&chosen_by_the_server).unwrap());
        assert!(!key.signing_public().has_signed_checkpoint("text", &signature));
    }

    #[test]
    fn a_new_key_follows_an_old_one_by_its_signature_only() {
        let keys: Vec<MemberKey> = (0..3).map(|_| MemberKey::generate().unwrap()).collect();
        let [first, second, third] = keys.as_slice() else { panic!() };
        let handovers = vec![first.hand_over(second).unwrap(), second.hand_over(third).unwrap()];
        let leads = |handovers: &[Handover], new: &MemberKey| {
            Handover::lead(handovers, &first.signing_public(), &new.signing_public())
        };
        assert!(leads(&handovers, second) && leads(&handovers, third));
        assert!(!leads(&handovers[1..], third), "a link is missing");
        let forged = Handover { old: first.signing_public(), ..second.hand_over(third).unwrap() };
        assert!(!leads(&[forged], third));
    }

    #[test]
    fn a_seed_is_private_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("machine.seed");
        let key = MemberKey::generate().unwrap();
        key.write_new(&path).unwrap();
        assert!(matches!(key.write_new(&path), Err(MemberKeyProblem::Exists { .. })));
        assert_eq!(MemberKey::read(&path).unwrap().public(), key.public());
        let new = MemberKey::rotate(&path).unwrap();
        assert_ne!(new.public(), key.public());
        assert_eq!(MemberKey::read(&path).unwrap().public(), new.public());
        assert!(Handover::read_all(&path).unwrap().iter().all(Handover::holds));
        crate::files::set_mode(&path, 0o644).unwrap();
        assert!(matches!(MemberKey::read(&path), Err(MemberKeyProblem::Open { .. })));
    }

    #[test]
    fn a_public_key_is_recognised() {
        let key = MemberKey::generate().unwrap();
        for public in [key.public(), key.signing_public()] {
            assert_eq!(public.to_string().parse(), Ok(public.clone()));
        }
        assert!(key.public().is_connecting() && !key.signing_public().is_connecting());
        for text in ["", "UABC", key.seed()] {
            assert!(text.parse::<MemberPublicKey>().is_err());
        }
    }
}
