//! One connection: an actor that reads messages, starts requests, and answers each of them.
//!
//! Everything that can happen to a connection is one arm of one `select`. Requests run as separate tasks; when the
//! connection ends, so do they and their hooks.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use crate::budget::{MessageWeight, Occupied};
use crate::bus_core::BusCore;
use crate::bus_state::BusState;
use crate::correlation_id::new_correlation_id;
use crate::error::{BusError, ErrorCode, MessageRefusal};
use crate::execute::{Progress, execute};
use crate::log;
use crate::message::{FromServer, ToServer};
use crate::metrics::ConnectionEnd;
use crate::outbox::{Outbox, WriterEnd};
use crate::payload::{Cancelled, Hello, Reload, Request, Response, Welcome};
use crate::transport::{MessageSource, Received, Transport};
use crate::wire::PROTOCOL;

/// The features of a server beyond requests and responses.
const CAPABILITIES: [&str; 7] = ["outcome", "cancel", "lifecycle", "projects", "traceparent", "reload", "caller"];

/// Serves one client until all its requests are answered, it is gone, or it is given up.
pub(crate) async fn serve(core: Arc<BusCore>, transport: Box<dyn Transport<ToServer, FromServer>>) {
    let (mut source, sink) = transport.split();
    let (outbox, writing) = Outbox::start(sink, core.limits.most_buffered, core.limits.patience);
    core.metrics.connections.inc();
    let state = core.state.subscribe();
    let mut connection = Connection {
        slots: Arc::new(Semaphore::new(core.limits.in_flight)),
        default_session: new_correlation_id().into(),
        core: Arc::clone(&core),
        outbox,
        state,
        requests: JoinSet::new(),
        named: HashMap::new(),
        running: HashMap::new(),
        occupied: Occupied::default(),
        reading: true,
        refused_protocol: None,
        lifecycle: false,
    };
    let why = connection.run(source.as_mut()).await;
    connection.end_requests().await;
    // When the last outbox is dropped, the writer writes the rest and ends.
    drop(connection);
    let end = match why {
        ConnectionStop::Served | ConnectionStop::Unwritable => match (why, writing.await) {
            (ConnectionStop::Served, Ok(WriterEnd::Flushed)) => ConnectionEnd::Served,
            (_, Ok(WriterEnd::Stalled)) => ConnectionEnd::Stalled,
            (_, Ok(WriterEnd::Flushed | WriterEnd::Closed) | Err(_)) => ConnectionEnd::Vanished,
        },
        ConnectionStop::Vanished | ConnectionStop::Overfull => {
            writing.abort();
            if why == ConnectionStop::Overfull { ConnectionEnd::Overfull } else { ConnectionEnd::Vanished }
        }
    };
    core.metrics.closed(end);
    core.metrics.connections.dec();
}

/// The reason why a connection is no longer served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionStop {
    /// All requests are answered, as soon as the writer is done.
    Served,
    /// The client is gone.
    Vanished,
    /// Too much waits to be read by the client.
    Overfull,
    /// Nothing can be written any more; the writer knows why.
    Unwritable,
}

/// A request that has no answer yet.
struct RunningRequest {
    name: String,
    slot: OwnedSemaphorePermit,
    weight: MessageWeight,
}

struct Connection {
    core: Arc<BusCore>,
    outbox: Outbox,
    state: watch::Receiver<BusState>,
    /// One slot for each message that has no answer yet. An answer releases its slot when it was written, not when it is
    /// queued.
    slots: Arc<Semaphore>,
    requests: JoinSet<Response>,
    named: HashMap<String, AbortHandle>,
    running: HashMap<Id, RunningRequest>,
    /// The memory that running requests occupy.
    occupied: Occupied,
    /// The session of requests that name none, for the schedule.
    default_session: Arc<str>,
    reading: bool,
    refused_protocol: Option<BusError>,
    lifecycle: bool,
}

impl Connection {
    async fn run(&mut self, source: &mut dyn MessageSource<ToServer>) -> ConnectionStop {
        let mut slot = None;
        loop {
            let draining = *self.state.borrow_and_update() != BusState::Serving;
            if self.requests.is_empty() && (draining || !self.reading) {
                return ConnectionStop::Served;
            }
            if *self.state.borrow() == BusState::Ending {
                self.requests.abort_all();
            }
            let slots = Arc::clone(&self.slots);
            let may_read = self.reading && slot.is_some() && self.occupied.has_room(self.core.limits.queued);
            let went = tokio::select! {
                ended = self.requests.join_next_with_id(), if !self.requests.is_empty() => {
                    ended.map_or(Ok(()), |ended| self.answer_ended(ended))
                }
                received = receive(source, may_read) => match received {
                    None => Err(ConnectionStop::Vanished),
                    Some((Received::End, _)) => {
                        self.reading = false;
                        Ok(())
                    }
                    Some((received, weight)) => self.handle_received(received, weight, slot.take()),
                },
                free = slots.acquire_owned(), if self.reading && slot.is_none() => {
                    slot = free.ok();
                    Ok(())
                }
                () = self.outbox.closed() => Err(ConnectionStop::Unwritable),
                changed = self.state.changed() => {
                    if changed.is_err() { Err(ConnectionStop::Served) } else { Ok(()) }
                }
            };
            if let Err(over) = went {
                return over;
            }
        }
    }

    fn handle_received(
        &mut self,
        received: Received<ToServer>,
        weight: MessageWeight,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Result<(), ConnectionStop> {
        match received {
            Received::Refused(MessageRefusal { correlation_id, error }) => {
                self.refuse(correlation_id.unwrap_or_else(new_correlation_id), error, slot)
            }
            Received::Message(message) => self.serve(message, weight, slot),
            Received::End => Ok(()),
        }
    }

    fn serve(
        &mut self,
        message: ToServer,
        weight: MessageWeight,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Result<(), ConnectionStop> {
        let answer = match message {
            ToServer::Request(request) => return self.request(*request, weight, slot),
            ToServer::Hello(hello) => match self.hello(hello) {
                Ok(welcome) => FromServer::Welcome(welcome),
                Err((name, error)) => return self.refuse(name, error, slot),
            },
            ToServer::Cancel(cancel) => {
                let found = self.named.get(&cancel.correlation_id).map(AbortHandle::abort).is_some();
                FromServer::Cancelled(Cancelled { correlation_id: cancel.correlation_id, found })
            }
            ToServer::Subscribe(subscribe) => {
                self.lifecycle = subscribe.lifecycle;
                return Ok(());
            }
            ToServer::Ping(ping) => FromServer::Pong(ping),
            ToServer::Reload(reload) => {
                self.reload(reload, slot);
                return Ok(());
            }
        };
        self.send(answer, slot)
    }

    /// Reloads in a separate task, because reading configuration takes time. The answer is still sent if the connection
    /// ends meanwhile, because the writer waits for the last outbox.
    fn reload(&self, reload: Reload, slot: Option<OwnedSemaphorePermit>) {
        let (core, outbox) = (Arc::clone(&self.core), self.outbox.clone());
        tokio::spawn(async move {
            let mut reloaded = core.projects.reload().await;
            reloaded.correlation_id = reload.correlation_id;
            // A full outbox has already ended the connection.
            let _ = outbox.answer(FromServer::Reloaded(reloaded), slot);
        });
    }

    fn hello(&mut self, hello: Hello) -> Result<Welcome, (String, BusError)> {
        if hello.protocol == 0 || hello.protocol > PROTOCOL {
            let message = format!("this server supports protocol {PROTOCOL}, not {}", hello.protocol);
            let error = BusError::new(ErrorCode::UnsupportedProtocol, message);
            self.refused_protocol = Some(error.clone());
            return Err((hello.correlation_id.unwrap_or_else(new_correlation_id), error));
        }
        let client = hello.client.as_deref().unwrap_or("unnamed");
        log::shielded(|| tracing::debug!(target: "hookrail::bus", client, "hello"));
        self.refused_protocol = None;
        Ok(Welcome {
            correlation_id: hello.correlation_id,
            protocol: PROTOCOL,
            server: concat!("hookrail ", env!("CARGO_PKG_VERSION")).to_owned(),
            capabilities: CAPABILITIES.map(str::to_owned).to_vec(),
            line_limit: u64::try_from(self.core.limits.line).unwrap_or(u64::MAX),
            in_flight_limit: u64::try_from(self.core.limits.in_flight).unwrap_or(u64::MAX),
            watch: Some(self.core.projects.mode()),
            revision: None,
            configuration_age: None,
            kept: None,
            system_unusable: None,
        }
        .with_configuration(self.core.projects.configuration()))
    }

    fn request(
        &mut self,
        mut request: Request,
        weight: MessageWeight,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Result<(), ConnectionStop> {
        let name = request.correlation_id.take().filter(|name| !name.is_empty()).unwrap_or_else(new_correlation_id);
        let refused = if *self.state.borrow() != BusState::Serving {
            Some(BusError::new(ErrorCode::ShuttingDown, "the server is shutting down and accepts no new requests"))
        } else if self.named.contains_key(&name) {
            let message = format!("a request with the correlationId `{name}` is still in flight");
            Some(BusError::new(ErrorCode::DuplicateCorrelationId, message))
        } else {
            self.refused_protocol.clone()
        };
        let (None, Some(slot)) = (&refused, slot) else {
            let broken = || BusError::new(ErrorCode::InternalError, "the request had no slot");
            return self.refuse(name, refused.unwrap_or_else(broken), None);
        };
        let progress = self.lifecycle.then(|| Progress { outbox: self.outbox.clone(), correlation_id: name.clone() });
        let work = execute(Arc::clone(&self.core), request, name.clone(), Arc::clone(&self.default_session), progress);
        let task = self.requests.spawn(work);
        self.occupied.add(&weight);
        self.running.insert(task.id(), RunningRequest { name: name.clone(), slot, weight });
        self.named.insert(name, task);
        self.core.metrics.in_flight.inc();
        Ok(())
    }

    /// Answers a request whose task has ended, also if it was cancelled or panicked.
    fn answer_ended(&mut self, ended: Result<(Id, Response), JoinError>) -> Result<(), ConnectionStop> {
        let (id, response) = match ended {
            Ok((id, response)) => (id, Ok(response)),
            Err(error) if error.is_cancelled() => (
                error.id(),
                Err(BusError::new(ErrorCode::Cancelled, "the request was cancelled and its hooks were ended")),
            ),
            Err(error) => (error.id(), Err(BusError::new(ErrorCode::InternalError, "the server failed"))),
        };
        let Some(RunningRequest { name, slot, weight }) = self.running.remove(&id) else { return Ok(()) };
        self.named.remove(&name);
        // The memory of the request is released here; that of its answer is counted separately.
        self.occupied.remove(&weight);
        drop(weight);
        self.core.request_ended();
        let response = response.unwrap_or_else(|error| Response::refused(name, error));
        if let Err(error) = &response.result {
            self.core.metrics.refused(error);
            log::refused(&response.correlation_id, error);
        }
        self.send(FromServer::Response(Box::new(response)), Some(slot))
    }

    fn refuse(&self, name: String, error: BusError, slot: Option<OwnedSemaphorePermit>) -> Result<(), ConnectionStop> {
        self.core.metrics.refused(&error);
        log::refused(&name, &error);
        self.send(FromServer::Response(Box::new(Response::refused(name, error))), slot)
    }

    fn send(&self, message: FromServer, slot: Option<OwnedSemaphorePermit>) -> Result<(), ConnectionStop> {
        if self.outbox.answer(message, slot) { Ok(()) } else { Err(ConnectionStop::Overfull) }
    }

    /// Ends running requests. Dropping a request ends its hooks.
    async fn end_requests(&mut self) {
        self.requests.shutdown().await;
        for _ in self.running.drain() {
            self.core.request_ended();
        }
    }
}

/// Returns the next message, or `None` when the client is gone. If reading is not allowed, it only waits for that.
async fn receive(
    source: &mut dyn MessageSource<ToServer>,
    may_read: bool,
) -> Option<(Received<ToServer>, MessageWeight)> {
    if may_read {
        let received = source.next().await;
        Some((received, source.weight()))
    } else {
        source.gone().await;
        None
    }
}
