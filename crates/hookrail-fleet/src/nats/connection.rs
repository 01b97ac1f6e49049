//! Connecting, and what is known about a connection meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerError};
use tokio::sync::watch;

use super::error::with_sources;
use super::{MemberKey, NatsError, Subjects};
use crate::config::{NatsServer, NatsSettings};
use crate::machine::MachineId;
use crate::random::random_up_to;

/// The time for connecting to one server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The time for an answer of a server.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// How a lost connection is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReconnectPace {
    /// As soon as possible: an event waits for the answer.
    AtOnce,
    /// After a random time, so that thousands of machines do not come back in the same moment.
    Spread,
}

impl ReconnectPace {
    /// The longest time before the first attempt.
    fn first(self) -> Duration {
        match self {
            Self::AtOnce => Duration::from_millis(20),
            Self::Spread => Duration::from_secs(2),
        }
    }

    /// The longest time before any attempt.
    fn longest(self) -> Duration {
        match self {
            Self::AtOnce => Duration::from_secs(1),
            Self::Spread => Duration::from_secs(30),
        }
    }

    /// The time before an attempt; the first one has number 1.
    fn delay(self, attempt: usize) -> Duration {
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX).min(16);
        random_up_to(self.first().saturating_mul(1 << doublings).min(self.longest()))
    }
}

/// What is known about a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkState {
    /// How often the connection was made. It grows with each reconnection.
    pub connections: u64,
    /// The last thing that a server did not permit.
    pub refusal: Option<String>,
}

/// A connection to the servers of a fleet. It is made again by itself whenever it is lost.
#[derive(Clone, Debug)]
pub struct NatsConnection {
    client: Client,
    state: watch::Receiver<LinkState>,
}

impl NatsConnection {
    /// Returns the client.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns what is known about the connection; the receiver is told of every change.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<LinkState> {
        self.state.clone()
    }

    /// Returns the error, or what a server has not permitted meanwhile: it says so beside the request, and never answers it.
    pub(crate) fn refusal_or(&self, error: NatsError) -> NatsError {
        self.state.borrow().refusal.clone().map_or(error, NatsError::NotPermitted)
    }

    /// Returns why nothing was answered: a server that does not permit a request says so beside it, and never answers it.
    pub(crate) fn silence(&self, subject: &str) -> NatsError {
        let refused = self.state.borrow().refusal.clone();
        match refused.filter(|refusal| refusal.contains(subject)) {
            Some(refusal) => NatsError::NotPermitted(refusal),
            None => NatsError::TimedOut(REQUEST_TIMEOUT),
        }
    }
}

/// Connects a member of a tenant. Fails if no server can be reached now; later the connection is kept by itself.
///
/// # Errors
/// If the key cannot be read, no server can be reached, or none accepts the key.
pub async fn connect(
    settings: &NatsSettings,
    subjects: &Subjects,
    member: &MachineId,
    pace: ReconnectPace,
) -> Result<NatsConnection, NatsError> {
    if settings.servers.is_empty() {
        return Err(NatsError::NotConfigured);
    }
    let key = MemberKey::read(&settings.seed)?;
    let (sender, state) = watch::channel(LinkState::default());
    let sender = Arc::new(sender);
    let was_connected = Arc::new(AtomicBool::new(false));
    let connected = Arc::clone(&was_connected);
    let mut options = ConnectOptions::new()
        .name(format!("hookrail {member}"))
        .nkey(key.seed().to_owned())
        .custom_inbox_prefix(subjects.inbox(member))
        .connection_timeout(CONNECT_TIMEOUT)
        .request_timeout(Some(REQUEST_TIMEOUT))
        .require_tls(settings.servers.iter().any(|server| !server.is_loopback()))
        .reconnect_delay_callback(move |attempt| {
            // The first connection of a program has a user who waits for it.
            if connected.load(Ordering::Relaxed) { pace.delay(attempt) } else { Duration::ZERO }
        })
        .event_callback(move |event| {
            let sender = Arc::clone(&sender);
            async move { note_event(&sender, event) }
        });
    if let Some(ca) = &settings.ca {
        options = options.add_root_certificates(ca.clone());
    }
    if let (Some(certificate), Some(key)) = (&settings.certificate, &settings.certificate_key) {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    let addresses: Vec<_> = settings.servers.iter().map(|server| server.address().clone()).collect();
    let client = options.connect(addresses).await.map_err(|error| {
        let servers = names(&settings.servers);
        let problem = with_sources(&error);
        match error.kind() {
            ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                NatsError::Refused(key.public().to_string())
            }
            ConnectErrorKind::Tls => NatsError::Tls { servers, problem },
            _ => NatsError::Unreachable { servers, problem },
        }
    })?;
    was_connected.store(true, Ordering::Relaxed);
    Ok(NatsConnection { client, state })
}

fn note_event(sender: &watch::Sender<LinkState>, event: Event) {
    match event {
        Event::Connected => sender.send_modify(|state| state.connections += 1),
        Event::ServerError(ServerError::Other(text)) => sender.send_modify(|state| state.refusal = Some(text)),
        _ => {}
    }
}

fn names(servers: &[NatsServer]) -> String {
    servers.iter().map(NatsServer::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_come_back_at_different_times_and_not_too_late() {
        let delays: Vec<_> = (0..200).map(|_| ReconnectPace::Spread.delay(1)).collect();
        assert!(delays.iter().all(|delay| *delay <= Duration::from_secs(2)));
        let early = delays.iter().filter(|delay| **delay < Duration::from_secs(1)).count();
        assert!((40..160).contains(&early), "{early} of 200 in the first half");
        assert!((1..100).all(|attempt| ReconnectPace::Spread.delay(attempt) <= Duration::from_secs(30)));
        assert!((1..100).all(|attempt| ReconnectPace::AtOnce.delay(attempt) <= Duration::from_secs(1)));
    }
}
