//! A transport that is written outside of the crate: messages of bytes under subjects, with request and reply, as message
//! brokers have them. A client publishes to the subject of the server and names its inbox, under which it is answered.

#![cfg(unix)]

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Sandbox, tool, within};
use hookrail::Json;
use hookrail_bus::transport::Pending;
use hookrail_bus::{
    Bus, Client, ConnectionClosed, ErrorCode, FromServer, Listener, Message, MessageLimits, MessageRefusal,
    MessageSink, MessageSource, MessageWeight, NotGuarded, Received, Request, ToServer, Transport,
};
use serde_json::json;
use tokio::sync::mpsc;

/// The subject of the server.
const HOOKS: &str = "hooks";
/// How many messages wait under a subject.
const WAITING: usize = 64;
/// How many bytes a message may have on its way to a client.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// Subjects, and the queue of the one subscriber that each has.
#[derive(Clone, Default)]
struct Broker(Arc<Mutex<HashMap<String, mpsc::Sender<Published>>>>);

struct Published {
    /// Where the sender wants its answers.
    reply: String,
    body: Vec<u8>,
}

impl Broker {
    fn subscribe(&self, subject: &str) -> mpsc::Receiver<Published> {
        let (sender, receiver) = mpsc::channel(WAITING);
        self.0.lock().unwrap().insert(subject.to_owned(), sender);
        receiver
    }

    fn subject(&self, subject: &str) -> Option<mpsc::Sender<Published>> {
        self.0.lock().unwrap().get(subject).cloned()
    }

    async fn publish(&self, subject: &str, reply: &str, body: String) -> Result<(), ConnectionClosed> {
        let published = Published { reply: reply.to_owned(), body: body.into_bytes() };
        self.subject(subject).ok_or(ConnectionClosed)?.send(published).await.map_err(|_| ConnectionClosed)
    }

    fn listen(&self) -> Subscription {
        Subscription { broker: self.clone(), incoming: self.subscribe(HOOKS), clients: HashMap::new() }
    }

    fn client(&self, inbox: &str) -> Client {
        let incoming = self.subscribe(inbox);
        Client::new(ClientSide { broker: self.clone(), inbox: inbox.to_owned(), incoming })
    }
}

/// The server's subscription: what arrives is handed to the connection of its sender.
struct Subscription {
    broker: Broker,
    incoming: mpsc::Receiver<Published>,
    clients: HashMap<String, mpsc::UnboundedSender<Vec<u8>>>,
}

impl Listener for Subscription {
    type Connection = ServerSide;
    type Error = Infallible;

    fn accept(&mut self) -> Pending<'_, io::Result<Option<ServerSide>>> {
        Box::pin(async {
            loop {
                let Some(Published { reply, body }) = self.incoming.recv().await else {
                    return std::future::pending().await;
                };
                let Some(outgoing) = self.broker.subject(&reply) else { continue };
                let body = match self.clients.get(&reply) {
                    Some(client) => match client.send(body) {
                        Ok(()) => continue,
                        Err(unsent) => unsent.0,
                    },
                    None => body,
                };
                let (sender, incoming) = mpsc::unbounded_channel();
                sender.send(body).unwrap();
                self.clients.insert(reply, sender);
                let limits = None;
                return Ok(Some(ServerSide {
                    incoming,
                    outgoing,
                    limits,
                    held: None,
                    weight: MessageWeight::default(),
                }));
            }
        })
    }
}

/// One client, as the server sees it.
struct ServerSide {
    incoming: mpsc::UnboundedReceiver<Vec<u8>>,
    outgoing: mpsc::Sender<Published>,
    limits: Option<MessageLimits>,
    /// A message that waits for room. It stays here when the future that waits is dropped.
    held: Option<(Vec<u8>, Pending<'static, MessageWeight>)>,
    weight: MessageWeight,
}

impl Transport<ToServer, FromServer> for ServerSide {
    fn split(self: Box<Self>) -> (Box<dyn MessageSource<ToServer>>, Box<dyn MessageSink<FromServer>>) {
        let sink = ToInbox(self.outgoing.clone());
        (self, Box::new(sink))
    }

    fn set_limits(&mut self, limits: MessageLimits) {
        self.limits = Some(limits);
    }
}

impl MessageSource<ToServer> for ServerSide {
    fn next(&mut self) -> Pending<'_, Received<ToServer>> {
        Box::pin(async {
            let limits = self.limits.as_ref().expect("a bus that listens sets them");
            if self.held.is_none() {
                let body = tokio::select! {
                    body = self.incoming.recv() => body,
                    // A client whose inbox is gone sends nothing more.
                    () = self.outgoing.closed() => None,
                };
                let Some(body) = body else { return Received::End };
                if body.len() > limits.longest() {
                    return Received::Refused(MessageRefusal::too_long(&body, limits.longest()));
                }
                let room = limits.reserve(body.len());
                self.held = Some((body, room));
            }
            let (_, room) = self.held.as_mut().expect("it was set");
            self.weight = room.await;
            let (body, _) = self.held.take().expect("it was set");
            ToServer::decode(&body).map_or_else(Received::Refused, Received::Message)
        })
    }

    fn gone(&mut self) -> Pending<'_, ()> {
        Box::pin(self.outgoing.closed())
    }

    fn weight(&mut self) -> MessageWeight {
        std::mem::take(&mut self.weight)
    }
}

struct ToInbox(mpsc::Sender<Published>);

impl MessageSink<FromServer> for ToInbox {
    fn send(&mut self, message: FromServer) -> Pending<'_, Result<(), ConnectionClosed>> {
        let published = Published { reply: HOOKS.to_owned(), body: message.encode(LONGEST_ANSWER).into_bytes() };
        Box::pin(async { self.0.send(published).await.map_err(|_| ConnectionClosed) })
    }

    fn is_text(&self) -> bool {
        true
    }
}

/// The server, as a client sees it.
struct ClientSide {
    broker: Broker,
    inbox: String,
    incoming: mpsc::Receiver<Published>,
}

impl Transport<FromServer, ToServer> for ClientSide {
    fn split(self: Box<Self>) -> (Box<dyn MessageSource<FromServer>>, Box<dyn MessageSink<ToServer>>) {
        let Self { broker, inbox, incoming } = *self;
        (Box::new(Inbox(incoming)), Box::new(ToServerSubject { broker, inbox }))
    }
}

struct Inbox(mpsc::Receiver<Published>);

impl MessageSource<FromServer> for Inbox {
    fn next(&mut self) -> Pending<'_, Received<FromServer>> {
        Box::pin(async {
            match self.0.recv().await {
                Some(published) => {
                    FromServer::decode(&published.body).map_or_else(Received::Refused, Received::Message)
                }
                None => Received::End,
            }
        })
    }

    fn gone(&mut self) -> Pending<'_, ()> {
        Box::pin(std::future::pending())
    }
}

struct ToServerSubject {
    broker: Broker,
    inbox: String,
}

impl MessageSink<ToServer> for ToServerSubject {
    fn send(&mut self, message: ToServer) -> Pending<'_, Result<(), ConnectionClosed>> {
        let body = message.encode(usize::MAX);
        Box::pin(async move { self.broker.publish(HOOKS, &self.inbox, body).await })
    }
}

fn serve(bus: &Bus) -> (Broker, tokio::task::JoinHandle<Result<(), Infallible>>) {
    let broker = Broker::default();
    let (bus, listener) = (bus.clone(), broker.listen());
    (broker, tokio::spawn(async move { bus.listen(listener).await }))
}

fn request(name: &str) -> Request {
    Request::new("BeforeTool", Json::from(tool("x"))).named(name)
}

fn long_request(bytes: usize) -> Request {
    let input = json!({"tool_name": "x", "tool_input": {"content": "y".repeat(bytes)}});
    Request::new("BeforeTool", Json::from(input)).named("long")
}

fn refused(error: &NotGuarded) -> Option<ErrorCode> {
    match error {
        NotGuarded::Refused(error) => error.known(),
        other => panic!("{other}"),
    }
}

/// Waits until this stands in the metrics.
async fn counted(bus: &Bus, line: &str) {
    within(async {
        while !bus.metrics().text().lines().any(|found| found == line) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn clients_of_a_broker_are_guarded() {
    let sandbox = Sandbox::with_hook("BeforeTool", "echo no >&2; exit 2");
    let bus = sandbox.bus();
    let (broker, _serving) = serve(&bus);
    let (one, two) = (broker.client("inbox.one"), broker.client("inbox.two"));
    let (first, second) = within(async { tokio::join!(one.execute(request("a")), two.execute(request("a"))) }).await;
    for answer in [first.unwrap(), second.unwrap()] {
        assert!(answer.report.is_denied());
        assert_eq!(answer.report.reason().as_deref(), Some("no"));
        assert!(answer.report.outcome().is_none(), "it came as bytes");
    }
    // What is no message is answered under its name.
    let mut inbox = broker.subscribe("inbox.three");
    let nonsense = r#"{"type":"HOOK_EXECUTION_REQUEST","payload":{"correlationId":"c","eventName":7}}"#;
    broker.publish(HOOKS, "inbox.three", nonsense.to_owned()).await.unwrap();
    let answer = within(inbox.recv()).await.unwrap().body;
    let FromServer::Response(response) = FromServer::decode(&answer).unwrap() else { panic!("a response") };
    assert_eq!(response.correlation_id, "c");
    assert_eq!(response.result.unwrap_err().message, "`eventName` must be a string, not a number");
    drop(inbox);
    counted(&bus, "hookrail_bus_connections 2").await;
}

#[tokio::test]
async fn limits_hold_for_messages() {
    let sandbox = Sandbox::new();
    let settings = sandbox.settings().longest_line(200_000).most_queued_in_all(200_000).most_connections(1);
    let bus = Bus::new(settings);
    let (broker, _serving) = serve(&bus);
    let client = broker.client("inbox.one");
    let error = within(client.execute(long_request(200_000))).await.unwrap_err();
    assert_eq!(refused(&error), Some(ErrorCode::LineTooLong));
    // Two that are long enough to need a reservation, of which there is room for one at a time.
    let other = client.clone();
    let both = async {
        tokio::join!(client.execute(long_request(150_000)), other.execute(long_request(150_001).named("longer")))
    };
    let (first, second) = within(both).await;
    assert!(!first.unwrap().report.is_denied() && !second.unwrap().report.is_denied());
    let crowd = broker.client("inbox.two");
    let error = within(crowd.execute(request("a"))).await.unwrap_err();
    assert_eq!(refused(&error), Some(ErrorCode::Overloaded));
    drop((client, other));
    counted(&bus, "hookrail_bus_connections 0").await;
    assert!(within(broker.client("inbox.three").execute(request("a"))).await.is_ok(), "there is room again");
}

#[tokio::test]
async fn a_request_is_cancelled_and_a_client_that_vanishes_takes_its_hooks_with_it() {
    let sandbox = Sandbox::with_hook("BeforeTool", "sleep 600");
    let bus = sandbox.bus();
    let (broker, _serving) = serve(&bus);
    let client = broker.client("inbox.one");
    let asking = client.clone();
    let asked = tokio::spawn(async move { asking.execute(request("a")).await });
    counted(&bus, "hookrail_bus_in_flight 1").await;
    client.cancel("a");
    assert_eq!(refused(&within(asked).await.unwrap().unwrap_err()), Some(ErrorCode::Cancelled));
    counted(&bus, "hookrail_bus_in_flight 0").await;
    // A future that is dropped cancels its request.
    let dropped = tokio::time::timeout(Duration::from_millis(50), client.execute(request("b"))).await;
    assert!(dropped.is_err());
    counted(&bus, "hookrail_bus_in_flight 0").await;
    let asked = tokio::spawn(async move { client.execute(request("c")).await });
    counted(&bus, "hookrail_bus_in_flight 1").await;
    asked.abort();
    counted(&bus, "hookrail_bus_connections 0").await;
    counted(&bus, "hookrail_bus_in_flight 0").await;
}

#[tokio::test]
async fn a_bus_that_is_drained_finishes_what_runs_and_refuses_what_is_new() {
    let sandbox = Sandbox::with_hook("BeforeTool", "read line < pipe; echo \"$line\"");
    let pipe = sandbox.project.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let bus = sandbox.bus();
    let (broker, serving) = serve(&bus);
    let client = broker.client("inbox.one");
    let asking = client.clone();
    let asked = tokio::spawn(async move { asking.execute(request("a")).await });
    counted(&bus, "hookrail_bus_in_flight 1").await;
    let draining = tokio::spawn({
        let bus = bus.clone();
        async move { bus.drain().await }
    });
    within(serving).await.unwrap().unwrap();
    within(tokio::task::spawn_blocking(move || std::fs::write(pipe, "done\n"))).await.unwrap().unwrap();
    let answer = within(asked).await.unwrap().unwrap();
    assert!(answer.report.document().text().contains("done"), "{:?}", answer.report);
    within(draining).await.unwrap();
    assert!(within(client.execute(request("b"))).await.is_err(), "the server is gone");
}
