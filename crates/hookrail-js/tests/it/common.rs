//! A project with one module or several, and a host that is scripted and remembers what it was told.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::collections::VecDeque;
use std::future::Future;
use std::ops::Deref;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use hookrail::host::{
    Component, HookFailure, HostFuture, ModelQuery, NoticeLevel, SessionChange, SessionMove, SessionQuery, StatusLine,
};
use hookrail::module::{
    CutOffProcess, ModuleCall, ModuleCommand, ModuleContext, ModuleInspection, ModuleRender, ModuleReturn,
};
use hookrail::{Environment, Event, EventKind, FireOptions, HookSystem, Host, HostError, Json, ModuleRunner, Outcome};
use hookrail_js::{Modules, RuntimeLimits};
use hookrail_testkit::{HANG, TestProject, wait_until};

/// The sandbox of a test, and hook systems with modules in it.
pub struct Project(TestProject);

impl Deref for Project {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.0
    }
}

impl Project {
    pub fn new() -> Self {
        Self(TestProject::new())
    }

    pub fn builder(&self, modules: &[&str]) -> hookrail::Builder {
        let environment: Environment = self.variables().into_iter().collect();
        let builder = HookSystem::builder(&self.project).environment(environment);
        modules.iter().fold(builder, |builder, module| builder.module(self.project.join(module)))
    }

    /// A hook system with these modules.
    pub fn system(&self, modules: &[&str]) -> HookSystem {
        self.system_with(modules, limits())
    }

    pub fn system_with(&self, modules: &[&str], limits: RuntimeLimits) -> HookSystem {
        self.builder(modules).runner(runner(limits)).build()
    }

    /// A hook system with one module of this source.
    pub fn module(&self, source: &str) -> HookSystem {
        self.write("x.ts", source);
        self.system(&["x.ts"])
    }
}

/// Whether events are answered on the thread that polls them, as below the module `here`, or on the modules' own.
const HERE: bool = matches!(module_path!().as_bytes(), b"it::here::common");

/// What runs the modules.
pub fn runner(limits: RuntimeLimits) -> OneWay {
    OneWay(Modules::with_limits(limits))
}

/// Runs modules one way only, however it is asked.
pub struct OneWay(Modules);

impl ModuleRunner for OneWay {
    fn call<'a>(&'a self, call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        if HERE { self.0.call_here(call) } else { self.0.call(call) }
    }

    fn call_here<'a>(&'a self, call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        self.call(call)
    }

    fn inspect(&self, module: &Path, world: &ModuleContext) -> ModuleInspection {
        self.0.inspect(module, world)
    }

    fn command<'a>(&'a self, command: ModuleCommand<'a>) -> HostFuture<'a, ModuleReturn> {
        self.0.command(command)
    }

    fn render<'a>(&'a self, render: ModuleRender<'a>) -> HostFuture<'a, Option<Vec<String>>> {
        self.0.render(render)
    }

    fn tell_of_late_handlers(&self, told: Arc<dyn Fn() + Send + Sync>) {
        self.0.tell_of_late_handlers(told);
    }

    fn shutdown(&self) -> HostFuture<'_, Vec<CutOffProcess>> {
        self.0.shutdown()
    }
}

/// Shorter than the real ones, so that tests are quick.
pub fn limits() -> RuntimeLimits {
    let mut limits = RuntimeLimits::default();
    limits.cpu = Duration::from_millis(300);
    limits
}

pub fn tool_call(system: &HookSystem) -> Event {
    system.event(EventKind::BeforeTool).with_text("tool_name", "bash").with("tool_input", json(r#"{"command":"ls"}"#))
}

pub fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

/// The reason of the one deny.
pub fn reason(outcome: &Outcome) -> String {
    outcome.effects.reason.clone().unwrap_or_default()
}

/// Fires a tool call with a host and gives what came of it.
pub fn ask(system: &HookSystem, host: &Arc<Scripted>) -> Outcome {
    let host: Arc<dyn Host> = host.clone();
    block_on(system.fire_with(tool_call(system), FireOptions::new().host(host)))
}

/// Waits until something holds.
pub fn eventually(what: &str, holds: impl FnMut() -> bool) {
    assert!(wait_until(holds, HANG), "it never happened: {what}");
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// A host that answers what it was told to answer, and remembers everything.
#[derive(Default)]
pub struct Scripted {
    pub heard: Mutex<Vec<String>>,
    pub answers: Mutex<VecDeque<String>>,
    pub status: Mutex<StatusLine>,
    /// How long a dialog is open.
    pub thinks: Duration,
    pub no_user: bool,
    /// What is done while a new session is begun.
    pub on_new_session: Mutex<Option<Box<dyn Fn() -> SessionMove + Send + Sync>>>,
}

impl Scripted {
    pub fn new(answers: &[&str]) -> Arc<Self> {
        let scripted = Self::default();
        scripted.answers.lock().unwrap().extend(answers.iter().map(|answer| (*answer).to_owned()));
        Arc::new(scripted)
    }

    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    fn record(&self, what: String) {
        self.heard.lock().unwrap().push(what);
    }

    /// Answers after the time a person needs, without a runtime of any kind.
    fn answer(&self, question: String) -> HostFuture<'_, Option<String>> {
        self.record(question);
        let answer = self.answers.lock().unwrap().pop_front();
        let thinks = self.thinks;
        Box::pin(async move {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            thread::spawn(move || {
                thread::sleep(thinks);
                let _ = sender.send(());
            });
            let _ = receiver.await;
            answer
        })
    }
}

impl Host for Scripted {
    fn has_user(&self) -> bool {
        !self.no_user
    }

    fn select<'a>(&'a self, title: &'a str, options: &'a [String]) -> HostFuture<'a, Option<String>> {
        self.answer(format!("select {title} {options:?}"))
    }

    fn confirm<'a>(&'a self, title: &'a str, message: &'a str) -> HostFuture<'a, bool> {
        let answer = self.answer(format!("confirm {title}: {message}"));
        Box::pin(async move { answer.await.as_deref() == Some("yes") })
    }

    fn input<'a>(&'a self, title: &'a str, placeholder: Option<&'a str>) -> HostFuture<'a, Option<String>> {
        self.answer(format!("input {title} {placeholder:?}"))
    }

    fn edit<'a>(&'a self, title: &'a str, text: Option<&'a str>) -> HostFuture<'a, Option<String>> {
        self.answer(format!("edit {title} {text:?}"))
    }

    fn show(&self, component: Arc<dyn Component>) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(async move {
            self.record(format!("drew {:?}", component.render(20).await));
            component.key("x");
            while component.changed().await {
                self.record(format!("drew {:?}", component.render(20).await));
                component.key("q");
            }
            self.record("closed".to_owned());
            Ok(())
        })
    }

    fn notify(&self, text: &str, level: NoticeLevel) {
        self.record(format!("notify {level:?} {text}"));
        assert!(text != "panic", "as it was told");
    }

    fn set_status(&self, key: &str, text: Option<&str>) {
        self.status.lock().unwrap().set(key, text);
    }

    fn editor_text(&self) -> String {
        "typed".to_owned()
    }

    fn set_editor_text(&self, text: &str) {
        self.record(format!("editor {text}"));
    }

    fn styled(&self, style: &str, text: &str) -> String {
        format!("<{style}>{text}</>")
    }

    fn session(&self, query: &SessionQuery) -> Json {
        match query {
            SessionQuery::File => Json::string("/s/1.jsonl"),
            SessionQuery::Id => Json::string("s1"),
            SessionQuery::Entries => json(r#"[{"id":"e1","type":"message"},{"id":"e2","type":"custom"}]"#),
            SessionQuery::LeafEntry => json(r#"{"id":"e2"}"#),
            SessionQuery::Entry(id) => json(&format!(r#"{{"id":"{id}"}}"#)),
            SessionQuery::Branch(leaf) => json(&format!(r#"[{{"leaf":"{leaf:?}"}}]"#).replace("\"Some(\\\"", "\"")),
            _ => Json::null(),
        }
    }

    fn write_session(&self, change: &SessionChange) -> Result<Json, HostError> {
        match change {
            SessionChange::Message(message) => {
                self.record(format!("message {}", message.text()));
                Ok(Json::string("new-id"))
            }
            other => Err(HostError::new(format!("no {other:?}"))),
        }
    }

    fn new_session<'a>(&'a self, parent: Option<&'a str>) -> HostFuture<'a, Result<SessionMove, HostError>> {
        self.record(format!("new session after {parent:?}"));
        let moved = self.on_new_session.lock().unwrap().as_ref().map_or(SessionMove::Done, |work| work());
        Box::pin(std::future::ready(Ok(moved)))
    }

    fn branch<'a>(&'a self, entry: &'a str) -> HostFuture<'a, Result<SessionMove, HostError>> {
        self.record(format!("branch {entry}"));
        Box::pin(std::future::ready(Err(HostError::new("Invalid entry ID for branching"))))
    }

    fn navigate<'a>(&'a self, target: &'a str, summarize: bool) -> HostFuture<'a, Result<SessionMove, HostError>> {
        self.record(format!("navigate {target} {summarize}"));
        Box::pin(std::future::ready(Ok(SessionMove::Cancelled)))
    }

    fn send_message(&self, message: &Json) {
        self.record(format!("sent {}", message.text()));
    }

    fn append_entry(&self, entry: &Json) {
        self.record(format!("entry {}", entry.text()));
    }

    fn is_idle(&self) -> bool {
        false
    }

    fn has_queued_messages(&self) -> bool {
        true
    }

    fn abort(&self) {
        self.record("abort".to_owned());
    }

    fn models(&self, query: &ModelQuery) -> Json {
        match query {
            ModelQuery::Current => json(r#"{"provider":"p","id":"current"}"#),
            ModelQuery::Find { provider, id } => json(&format!(r#"{{"provider":"{provider}","id":"{id}"}}"#)),
            _ => json("[]"),
        }
    }

    fn api_key<'a>(&'a self, model: &'a Json) -> HostFuture<'a, Option<String>> {
        let id = model.as_object().and_then(|model| model.get("id")?.as_str());
        Box::pin(std::future::ready(id.map(|id| format!("key-of-{id}"))))
    }

    fn complete<'a>(&'a self, request: &'a Json) -> HostFuture<'a, Result<Json, HostError>> {
        self.record(format!("complete {}", request.text()));
        let answer = r#"{"role":"assistant","content":[{"type":"text","text":"summary"}],"stopReason":"stop"}"#;
        Box::pin(std::future::ready(Ok(json(answer))))
    }

    fn hook_failed(&self, failure: &HookFailure) {
        let name = failure.hook.rsplit('/').next().unwrap_or_default();
        self.record(format!("failed {name} {}: {}", failure.event, failure.message));
    }

    fn log(&self, level: NoticeLevel, text: &str) {
        self.record(format!("log {level:?} {text}"));
    }
}
