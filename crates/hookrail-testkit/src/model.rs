//! A scripted model on loopback, for tests of coding agents without a network.
//!
//! It speaks four wire formats, streamed and not: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and
//! Gemini. It checks nothing: every request of an agent is recorded, one line of JSON per request, for the test to
//! check.

mod anthropic;
mod chat;
mod gemini;
mod http;
mod responses;
mod script;

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde::Serialize;
use serde_json::{Value, json};

use http::HttpRequest;
pub use script::{ModelCall, Script, ScriptStep};

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestKind {
    /// The agent's own turn: it offers a tool that the script calls.
    Main,
    /// Another request to the model, such as a title or a summary.
    Side,
    /// Not a request to the model.
    Other,
}

/// One request, as it is recorded.
#[derive(Clone, Debug, Serialize)]
pub struct RecordedRequest {
    /// The number of the request, from 1.
    pub n: u64,
    /// The HTTP method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// Its purpose.
    pub kind: RequestKind,
    /// The step of the script that answered it, from 0.
    pub step: Option<usize>,
    /// The body.
    pub body: Value,
}

/// One answer of the model, before it has a wire format.
struct Turn {
    step: ScriptStep,
    /// The number of the request, which makes the ids in this answer unique.
    number: u64,
    model: String,
    streamed: bool,
}

impl Turn {
    fn call_id(&self, call: &ModelCall, index: usize) -> String {
        call.id.clone().unwrap_or_else(|| format!("call_{:04}{index}", self.number))
    }

    fn input_tokens(&self) -> u64 {
        self.step.input_tokens.unwrap_or(10)
    }
}

/// How an answer is sent.
#[derive(Debug, PartialEq)]
enum Reply {
    Document(Value),
    Stream(Vec<StreamEvent>),
}

/// One event of a stream.
#[derive(Debug, PartialEq)]
struct StreamEvent {
    name: Option<&'static str>,
    data: String,
}

impl StreamEvent {
    fn unnamed(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }

    /// An event whose data repeats its name, as two of the formats require.
    fn named(name: &'static str, mut data: Value) -> Self {
        if let Some(members) = data.as_object_mut() {
            members.insert("type".to_owned(), json!(name));
        }
        Self { name: Some(name), data: data.to_string() }
    }
}

/// The part of the state that requests change.
struct Conversation {
    next_step: usize,
    requests: Vec<RecordedRequest>,
    log: Option<File>,
}

/// The state that the threads of all connections share.
struct Shared {
    script: Script,
    conversation: Mutex<Conversation>,
    stopping: AtomicBool,
}

impl Shared {
    fn conversation(&self) -> MutexGuard<'_, Conversation> {
        // A thread that panicked left complete records only.
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request and takes the step that answers it.
    fn record_request(&self, request: &HttpRequest, kind: RequestKind) -> (ScriptStep, u64) {
        let mut conversation = self.conversation();
        let number = u64::try_from(conversation.requests.len()).unwrap_or(u64::MAX).saturating_add(1);
        let step_index = (kind == RequestKind::Main).then_some(conversation.next_step);
        let step = match step_index {
            Some(index) => {
                conversation.next_step += 1;
                self.script.steps.get(index).cloned().unwrap_or_else(|| ScriptStep::text("done"))
            }
            None => ScriptStep::text(&self.script.side),
        };
        let recorded = RecordedRequest {
            n: number,
            method: request.method.clone(),
            path: request.path.clone(),
            kind,
            step: step_index,
            body: request.body.clone(),
        };
        if let (Some(log), Ok(line)) = (&mut conversation.log, serde_json::to_string(&recorded)) {
            // An error is ignored: tests in this process read the records in memory, and the log is for other processes.
            let _ = writeln!(log, "{line}").and_then(|()| log.flush());
        }
        conversation.requests.push(recorded);
        (step, number)
    }
}

/// A running scripted model. It stops when it is dropped.
pub struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
    listener: Option<thread::JoinHandle<()>>,
}

impl ModelServer {
    /// Starts a model on a free port of loopback.
    ///
    /// # Errors
    ///
    /// If no port is free or no thread can be started.
    pub fn start(script: Script, log: Option<File>) -> io::Result<Self> {
        Self::start_at(0, script, log)
    }

    /// Starts a model on a port of loopback; 0 means a free one.
    ///
    /// # Errors
    ///
    /// If the port is taken or no thread can be started.
    pub fn start_at(port: u16, script: Script, log: Option<File>) -> io::Result<Self> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = socket.local_addr()?.port();
        let conversation = Mutex::new(Conversation { next_step: 0, requests: Vec::new(), log });
        let shared = Arc::new(Shared { script, conversation, stopping: AtomicBool::new(false) });
        let for_listener = Arc::clone(&shared);
        let listener = thread::Builder::new().name("model".to_owned()).spawn(move || accept(&socket, &for_listener))?;
        Ok(Self { port, shared, listener: Some(listener) })
    }

    /// The port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.conversation().requests.clone()
    }

    /// Waits for the end of the server, which runs until the process is ended.
    pub fn wait(mut self) {
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // The listener checks the flag only when a connection arrives, so one is made. If that fails, the listener
        // never ends, so it is not waited for.
        let woken = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok();
        if let Some(listener) = self.listener.take().filter(|_| woken) {
            let _ = listener.join();
        }
    }
}

fn accept(socket: &TcpListener, shared: &Arc<Shared>) {
    for stream in socket.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let for_connection = Arc::clone(shared);
        // A connection that gets no thread is closed, and the agent tries again.
        let _ =
            thread::Builder::new().name("model connection".to_owned()).spawn(move || serve(&stream, &for_connection));
    }
}

/// Answers the requests of one connection. An agent that disconnects ends it, which is not a failure.
fn serve(stream: &TcpStream, shared: &Shared) {
    let mut reader = BufReader::new(stream);
    while let Ok(Some(request)) = http::read_request(&mut reader) {
        let sent = match answer(&request, shared) {
            (status, Reply::Document(document)) => http::write_document(stream, &request, status, &document),
            (_, Reply::Stream(events)) => {
                // The end of the connection is the end of the stream.
                let _ = http::write_stream(stream, &events);
                return;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

fn answer(request: &HttpRequest, shared: &Shared) -> (u16, Reply) {
    let path = request.path.split('?').next().unwrap_or_default();
    let body = &request.body;
    let is_post = request.method == "POST";
    let asked_to_stream = body.get("stream").and_then(Value::as_bool).unwrap_or(false);
    let turn = |streamed: bool| {
        let kind = shared.script.kind_of(body);
        let (step, number) = shared.record_request(request, kind);
        let model = body.get("model").and_then(Value::as_str).unwrap_or("scripted").to_owned();
        Turn { step, number, model, streamed }
    };
    let reply = match path {
        _ if is_post && path.ends_with("/messages") => anthropic::reply(&turn(asked_to_stream)),
        _ if is_post && path.ends_with("/responses") => responses::reply(&turn(asked_to_stream)),
        _ if is_post && path.ends_with("/chat/completions") => chat::reply(&turn(asked_to_stream)),
        _ if is_post && path.ends_with(":generateContent") => gemini::reply(&turn(false)),
        _ if is_post && path.ends_with(":streamGenerateContent") => gemini::reply(&turn(true)),
        _ => {
            shared.record_request(request, RequestKind::Other);
            return answer_other_request(&request.method, path);
        }
    };
    (200, reply)
}

/// Answers requests that are not for the model, such as counting tokens.
fn answer_other_request(method: &str, path: &str) -> (u16, Reply) {
    let (status, document) = match path {
        _ if method == "HEAD" => (200, json!({})),
        _ if path.ends_with("/count_tokens") || path.ends_with(":countTokens") => {
            (200, json!({"input_tokens": 10, "totalTokens": 10}))
        }
        _ if path.ends_with("/models") => {
            (200, json!({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []}))
        }
        _ => (404, json!({"error": {"message": "the scripted model has no such page", "type": "not_found_error"}})),
    };
    (status, Reply::Document(document))
}

#[cfg(test)]
mod tests;
