//! A project of its own, a bus over it, and a client that speaks lines.

#![allow(dead_code, reason = "shared by several tests")]

use std::ops::Deref;
use std::path::Path;

use hookrail::{Builder, Environment, HookSystem};
use hookrail_bus::transport::Lines;
use hookrail_bus::{Bus, BusOptions};
use hookrail_testkit::{HANG, TestProject};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// A project, and a bus over it.
pub(crate) struct Sandbox(TestProject);

impl Deref for Sandbox {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.0
    }
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self(TestProject::new())
    }

    /// A project with one hook for an event.
    pub(crate) fn with_hook(event: &str, command: &str) -> Self {
        Self(TestProject::with_hook(event, command))
    }

    pub(crate) fn hooks(&self, hooks: Value) {
        self.write_hooks(&hooks);
    }

    /// The description of a project's hooks: everything is trusted.
    pub(crate) fn describe(&self) -> impl Fn(&Path) -> Builder + Send + Sync + 'static {
        let home = self.home.clone();
        move |project| HookSystem::builder(project).environment(environment(&home)).trust_project()
    }

    pub(crate) fn settings(&self) -> BusOptions {
        BusOptions::new(&self.project, self.describe())
    }

    pub(crate) fn bus(&self) -> Bus {
        Bus::new(self.settings())
    }
}

pub(crate) fn environment(home: &Path) -> Environment {
    Environment::new().with("PATH", hookrail_testkit::search_path()).with("HOME", home)
}

/// A client that speaks lines over a pipe in this process.
pub(crate) struct Raw {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: Option<WriteHalf<DuplexStream>>,
    pub(crate) served: JoinHandle<()>,
}

impl Raw {
    pub(crate) fn new(bus: &Bus) -> Self {
        Self::with_pipe(bus, 64 * 1024)
    }

    /// With a pipe that takes so many bytes.
    pub(crate) fn with_pipe(bus: &Bus, capacity: usize) -> Self {
        let (near, far) = tokio::io::duplex(capacity);
        let (far_reader, far_writer) = tokio::io::split(far);
        let bus = bus.clone();
        let served = tokio::spawn(async move { bus.serve(Lines::new(far_reader, far_writer)).await });
        let (reader, writer) = tokio::io::split(near);
        Self { reader: BufReader::new(reader), writer: Some(writer), served }
    }

    pub(crate) async fn send(&mut self, line: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn say(&mut self, kind: &str, payload: Value) {
        self.send(&json!({"type": kind, "payload": payload}).to_string()).await;
    }

    pub(crate) async fn request(&mut self, payload: Value) {
        self.say("HOOK_EXECUTION_REQUEST", payload).await;
    }

    /// The next line, or nothing when the server has closed.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = tokio::time::timeout(HANG, self.reader.read_line(&mut line)).await.expect("an answer").unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// The payload of the next line, which must be a response.
    pub(crate) async fn response(&mut self) -> Value {
        let mut message = self.next().await.unwrap();
        assert_eq!(message["type"], "HOOK_EXECUTION_RESPONSE", "{message}");
        message["payload"].take()
    }

    pub(crate) async fn ask(&mut self, payload: Value) -> Value {
        self.request(payload).await;
        self.response().await
    }

    /// Says that nothing more comes.
    pub(crate) async fn finish(&mut self) {
        self.writer.take().unwrap().shutdown().await.unwrap();
    }
}

/// What a response says went wrong.
pub(crate) fn code(response: &Value) -> &str {
    assert_eq!(response["success"], false, "{response}");
    assert!(response.get("output").is_none(), "{response}");
    response["error"]["code"].as_str().unwrap()
}

/// The fields of a tool call.
pub(crate) fn tool(name: &str) -> Value {
    json!({"tool_name": name, "tool_input": {"path": "a.txt"}})
}

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, future).await.expect("not to hang")
}
