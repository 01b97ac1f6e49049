//! One connection: an actor that reads messages, starts requests, and owes an answer to each.
//!
//! Everything that can happen to a connection is one arm of one `select`. Requests run as tasks of their own; when the
//! connection ends, so do they, and with them their hooks.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use crate::budget::{Occupied, Weight};
use crate::bus::{Core, State};
use crate::error::{BusError, ErrorCode};
use crate::execute::{Progress, execute};
use crate::message::{Cancelled, FromServer, Hello, Reload, Request, Response, ToServer, Welcome};
use crate::metrics::ConnectionEnd;
use crate::outbox::{Ended, Outbox};
use crate::transport::{Received, Refusal, Source, Transport};
use crate::{PROTOCOL, id, log};

/// What a server can do beyond requests and responses.
const CAPABILITIES: [&str; 6] = ["outcome", "cancel", "lifecycle", "projects", "traceparent", "reload"];

/// Serves one client until it is served, gone, or not worth it.
pub(crate) async fn serve(core: Arc<Core>, transport: Box<dyn Transport<ToServer, FromServer>>) {
    let (mut source, sink) = transport.split();
    let (outbox, writing) = Outbox::start(sink, core.limits.most_buffered, core.limits.patience);
    core.metrics.connections.inc();
    let state = core.state.subscribe();
    let mut connection = Connection {
        slots: Arc::new(Semaphore::new(core.limits.in_flight)),
        stranger: id::fresh().into(),
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
    // Dropping the last outbox lets the writer finish what is owed.
    drop(connection);
    let end = match why {
        Over::Served | Over::Unwritable => match (why, writing.await) {
            (Over::Served, Ok(Ended::Flushed)) => ConnectionEnd::Served,
            (_, Ok(Ended::Stalled)) => ConnectionEnd::Stalled,
            (_, Ok(Ended::Flushed | Ended::Closed) | Err(_)) => ConnectionEnd::Vanished,
        },
        Over::Vanished | Over::Overfull => {
            writing.abort();
            if why == Over::Overfull { ConnectionEnd::Overfull } else { ConnectionEnd::Vanished }
        }
    };
    core.metrics.closed(end);
    core.metrics.connections.dec();
}

/// Why a connection is not served any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// Everything that was asked is answered, as soon as the writer is done.
    Served,
    /// The client is gone.
    Vanished,
    /// Too much waits to be read by the client.
    Overfull,
    /// Nothing can be written any more; the writer knows why.
    Unwritable,
}

/// A request that has no answer yet.
struct Running {
    name: String,
    slot: OwnedSemaphorePermit,
    weight: Weight,
}

struct Connection {
    core: Arc<Core>,
    outbox: Outbox,
    state: watch::Receiver<State>,
    /// One slot for each message that has no answer yet; an answer is one that was written.
    slots: Arc<Semaphore>,
    requests: JoinSet<Response>,
    named: HashMap<String, AbortHandle>,
    running: HashMap<Id, Running>,
    /// What the requests that run occupy.
    occupied: Occupied,
    /// Whose turn it is when a request names no session.
    stranger: Arc<str>,
    reading: bool,
    refused_protocol: Option<BusError>,
    lifecycle: bool,
}

impl Connection {
    async fn run(&mut self, source: &mut dyn Source<ToServer>) -> Over {
        let mut slot = None;
        loop {
            let draining = *self.state.borrow_and_update() != State::Serving;
            if self.requests.is_empty() && (draining || !self.reading) {
                return Over::Served;
            }
            if *self.state.borrow() == State::Ending {
                self.requests.abort_all();
            }
            let slots = Arc::clone(&self.slots);
            let may_read = self.reading && slot.is_some() && self.occupied.has_room(self.core.limits.queued);
            let went = tokio::select! {
                ended = self.requests.join_next_with_id(), if !self.requests.is_empty() => {
                    ended.map_or(Ok(()), |ended| self.ended(ended))
                }
                heard = listen(source, may_read) => match heard {
                    None => Err(Over::Vanished),
                    Some((Received::End, _)) => {
                        self.reading = false;
                        Ok(())
                    }
                    Some((received, weight)) => self.take(received, weight, slot.take()),
                },
                free = slots.acquire_owned(), if self.reading && slot.is_none() => {
                    slot = free.ok();
                    Ok(())
                }
                () = self.outbox.closed() => Err(Over::Unwritable),
                changed = self.state.changed() => {
                    if changed.is_err() { Err(Over::Served) } else { Ok(()) }
                }
            };
            if let Err(over) = went {
                return over;
            }
        }
    }

    fn take(
        &mut self,
        received: Received<ToServer>,
        weight: Weight,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Result<(), Over> {
        match received {
            Received::Refused(Refusal { correlation_id, error }) => {
                self.refuse(correlation_id.unwrap_or_else(id::fresh), error, slot)
            }
            Received::Message(message) => self.serve(message, weight, slot),
            Received::End => Ok(()),
        }
    }

    fn serve(&mut self, message: ToServer, weight: Weight, slot: Option<OwnedSemaphorePermit>) -> Result<(), Over> {
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

    /// Reloads beside everything else: reading configuration takes time. The answer is owed like any other, because the
    /// writer ends with the last outbox.
    fn reload(&self, reload: Reload, slot: Option<OwnedSemaphorePermit>) {
        let (core, outbox) = (Arc::clone(&self.core), self.outbox.clone());
        tokio::spawn(async move {
            let mut reloaded = core.projects.reload().await;
            reloaded.correlation_id = reload.correlation_id;
            // An outbox that is full has ended the connection already.
            let _ = outbox.answer(FromServer::Reloaded(reloaded), slot);
        });
    }

    fn hello(&mut self, hello: Hello) -> Result<Welcome, (String, BusError)> {
        if hello.protocol == 0 || hello.protocol > PROTOCOL {
            let message = format!("this server speaks protocol {PROTOCOL}, not {}", hello.protocol);
            let error = BusError::new(ErrorCode::UnsupportedProtocol, message);
            self.refused_protocol = Some(error.clone());
            return Err((hello.correlation_id.unwrap_or_else(id::fresh), error));
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
        .in_force(self.core.projects.configuration()))
    }

    fn request(
        &mut self,
        mut request: Request,
        weight: Weight,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Result<(), Over> {
        let name = request.correlation_id.take().filter(|name| !name.is_empty()).unwrap_or_else(id::fresh);
        let refused = if *self.state.borrow() != State::Serving {
            Some(BusError::new(ErrorCode::ShuttingDown, "the server finishes what runs and takes nothing new"))
        } else if self.named.contains_key(&name) {
            let message = format!("a request with the correlationId `{name}` is still in flight");
            Some(BusError::new(ErrorCode::DuplicateCorrelationId, message))
        } else {
            self.refused_protocol.clone()
        };
        let (None, Some(slot)) = (&refused, slot) else {
            let broken = || BusError::new(ErrorCode::InternalError, "the request had no place");
            return self.refuse(name, refused.unwrap_or_else(broken), None);
        };
        let progress = self.lifecycle.then(|| Progress { outbox: self.outbox.clone(), correlation_id: name.clone() });
        let work = execute(Arc::clone(&self.core), request, name.clone(), Arc::clone(&self.stranger), progress);
        let task = self.requests.spawn(work);
        self.occupied.add(&weight);
        self.running.insert(task.id(), Running { name: name.clone(), slot, weight });
        self.named.insert(name, task);
        self.core.metrics.in_flight.inc();
        Ok(())
    }

    /// Answers a request that is over. Every request is, one way or another.
    fn ended(&mut self, ended: Result<(Id, Response), JoinError>) -> Result<(), Over> {
        let (id, response) = match ended {
            Ok((id, response)) => (id, Ok(response)),
            Err(error) if error.is_cancelled() => {
                (error.id(), Err(BusError::new(ErrorCode::Cancelled, "the request was cancelled and its hooks ended")))
            }
            Err(error) => (error.id(), Err(BusError::new(ErrorCode::InternalError, "the server failed"))),
        };
        let Some(Running { name, slot, weight }) = self.running.remove(&id) else { return Ok(()) };
        self.named.remove(&name);
        // The request is gone, and its answer is counted on its own.
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

    fn refuse(&self, name: String, error: BusError, slot: Option<OwnedSemaphorePermit>) -> Result<(), Over> {
        self.core.metrics.refused(&error);
        log::refused(&name, &error);
        self.send(FromServer::Response(Box::new(Response::refused(name, error))), slot)
    }

    fn send(&self, message: FromServer, slot: Option<OwnedSemaphorePermit>) -> Result<(), Over> {
        if self.outbox.answer(message, slot) { Ok(()) } else { Err(Over::Overfull) }
    }

    /// Ends what still runs: dropping a request ends its hooks.
    async fn end_requests(&mut self) {
        self.requests.shutdown().await;
        for _ in self.running.drain() {
            self.core.request_ended();
        }
    }
}

/// The next message, or nothing when the client is gone. While nothing may be read only the latter is looked for.
async fn listen(source: &mut dyn Source<ToServer>, may_read: bool) -> Option<(Received<ToServer>, Weight)> {
    if may_read {
        let received = source.next().await;
        Some((received, source.weight()))
    } else {
        source.gone().await;
        None
    }
}
