//! The clients of a server: one on standard input and output, those of a socket, or other machines.

use std::pin::Pin;

use hookrail_bus::{Bus, transport};

use super::{ClientSource, ServeNotice, ServeOptions};
use crate::config::BusSettings;
use crate::failure::{Failure, Result};

/// The clients of a server.
pub(super) struct ServedClients {
    /// Serves until the last client is gone. Fails if clients cannot reach the server any more.
    pub(super) work: Pin<Box<dyn Future<Output = Result<()>>>>,
    /// What is done before running requests are finished.
    pub(super) before_drain: Pin<Box<dyn Future<Output = ()>>>,
    /// What is done when they are finished.
    pub(super) after_drain: Pin<Box<dyn Future<Output = ()>>>,
}

/// Opens the way for clients.
pub(super) async fn open_clients(
    options: &ServeOptions,
    bus: Bus,
    configured: BusSettings,
    tell: &dyn Fn(ServeNotice<'_>),
) -> Result<ServedClients> {
    let work: Pin<Box<dyn Future<Output = Result<()>>>> = match &options.clients {
        ClientSource::StandardStreams => {
            let lines = match configured.line {
                Some(bytes) => transport::stdio().limit(bytes),
                None => transport::stdio(),
            };
            Box::pin(async move {
                bus.serve(lines).await;
                Ok(())
            })
        }
        #[cfg(unix)]
        ClientSource::Socket(path) => {
            let listener = listen(path)?;
            Box::pin(async move { bus.listen(listener).await.map_err(|error| lost_socket(&error)) })
        }
        #[cfg(not(unix))]
        ClientSource::Socket(_) => {
            return Err(Failure::new("sockets are not supported on this system").hint("use `--stdio`"));
        }
        #[cfg(feature = "fleet")]
        ClientSource::Group(worker) => {
            let limit = options.limit.or(configured.requests);
            return super::worker::join_group(worker, limit, bus, tell).await;
        }
    };
    let _ = tell;
    Ok(ServedClients { work, before_drain: Box::pin(async {}), after_drain: Box::pin(async {}) })
}

/// Listens on the socket that the service manager passed, or on a new one.
#[cfg(unix)]
fn listen(path: &std::path::Path) -> Result<transport::SocketListener> {
    match super::manager::passed_socket(path)? {
        Some(passed) => transport::SocketListener::inherit(passed).map_err(|error| {
            Failure::new(format!("the socket that the service manager passed cannot be used: {error}"))
                .hint("the socket unit needs `ListenStream=` with the path that `--socket` names")
        }),
        None => transport::SocketListener::bind(path).map_err(|error| cannot_bind(&error)),
    }
}

#[cfg(unix)]
fn lost_socket(error: &transport::BindError) -> Failure {
    Failure::new(format!("the socket of this server was removed and cannot be created again: {error}"))
        .hint("clients now connect to what is at that path; restart the server to serve them again")
}

#[cfg(unix)]
fn cannot_bind(error: &transport::BindError) -> Failure {
    let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    let failure = Failure::new(format!("{error}{cause}"));
    match error {
        transport::BindError::InUse(_) => failure.hint("end the other server, or choose another path"),
        transport::BindError::NotASocket(_) => failure.hint("choose another path, or remove what is there"),
        transport::BindError::Unsafe(_) => failure.hint("use a folder that only you can write to"),
        _ => {
            failure.hint("the folder must exist and be writable, and a socket's path has at most about 100 characters")
        }
    }
}
