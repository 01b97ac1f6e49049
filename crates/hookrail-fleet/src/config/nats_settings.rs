//! The table `[nats]` of a configuration: which servers, with which key, over which encryption.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::Deserialize;

/// How a member of a fleet reaches its servers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NatsSettings {
    /// The servers of the cluster; one that answers is enough.
    pub servers: Vec<NatsServer>,
    /// The file with the member's seed, as `fleet enroll` writes it.
    pub seed: PathBuf,
    /// The file with the certificates of the authority that vouches for the servers, beside those of the system.
    pub ca: Option<PathBuf>,
    /// The file with a certificate of this member, where servers ask for one.
    pub certificate: Option<PathBuf>,
    /// The file with the key of that certificate.
    pub certificate_key: Option<PathBuf>,
}

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct NatsServer(async_nats::ServerAddr);

/// A text that is no address of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no server: use tls://HOST:PORT, or nats://HOST:PORT")]
pub struct NotANatsServer(String);

impl NatsServer {
    pub(crate) fn address(&self) -> &async_nats::ServerAddr {
        &self.0
    }

    /// Returns whether the server runs on this machine. Only then may a connection be without encryption.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        matches!(self.0.host(), "127.0.0.1" | "::1" | "[::1]" | "localhost")
    }
}

impl FromStr for NatsServer {
    type Err = NotANatsServer;

    fn from_str(text: &str) -> Result<Self, NotANatsServer> {
        let refused = || NotANatsServer(text.to_owned());
        let is_known = text.starts_with("nats://") || text.starts_with("tls://");
        // A password in an address would end up in messages; members have keys.
        if !is_known || text.contains('@') || text.contains(char::is_whitespace) {
            return Err(refused());
        }
        text.parse().map(Self).map_err(|_| refused())
    }
}

impl TryFrom<String> for NatsServer {
    type Error = NotANatsServer;

    fn try_from(text: String) -> Result<Self, NotANatsServer> {
        text.parse()
    }
}

impl fmt::Display for NatsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.0.scheme(), self.0.host(), self.0.port())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_a_scheme_and_no_password() {
        for (text, is_loopback) in
            [("tls://n1.example.com:4222", false), ("nats://127.0.0.1:4222", true), ("nats://10.0.0.1:4222", false)]
        {
            let server: NatsServer = text.parse().unwrap();
            assert_eq!((server.to_string().as_str(), server.is_loopback()), (text, is_loopback));
        }
        for text in ["", "n1.example.com:4222", "nats://user:password@n1:4222", "http://n1:4222", "tls://a b:1"] {
            assert!(text.parse::<NatsServer>().is_err(), "{text}");
        }
    }
}
