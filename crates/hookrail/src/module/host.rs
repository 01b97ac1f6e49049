//! A host that also tells listeners of failures.

use std::sync::{Arc, Mutex, Weak};

use hookrail_spawn::lock_mutex;

use crate::json::Json;
use crate::run::HostFuture;
use crate::system::{
    Component, HookFailure, Host, HostError, ModelQuery, NoticeLevel, SessionChange, SessionMove, SessionQuery,
};

/// A function that is told of failures.
pub(super) type Listener = dyn Fn(&HookFailure) + Send + Sync;

/// The functions that are told of failures, for as long as their subscriptions hold them.
#[derive(Default)]
pub(super) struct Listeners(Mutex<Vec<Weak<Listener>>>);

impl Listeners {
    pub(super) fn add(&self, listener: &Arc<Listener>) {
        lock_mutex(&self.0).push(Arc::downgrade(listener));
    }

    pub(super) fn tell(&self, failure: &HookFailure) {
        let mut all = lock_mutex(&self.0);
        all.retain(|listener| listener.strong_count() > 0);
        let heard: Vec<Arc<Listener>> = all.iter().filter_map(Weak::upgrade).collect();
        // No lock is held while code of others runs: a listener may add or remove one.
        drop(all);
        heard.iter().for_each(|listener| listener(failure));
    }
}

/// Passes everything on to a host, and failures to listeners too.
pub(super) struct ListeningHost {
    host: Arc<dyn Host>,
    listeners: Arc<Listeners>,
}

impl ListeningHost {
    pub(super) fn new(host: Arc<dyn Host>, listeners: Arc<Listeners>) -> Self {
        Self { host, listeners }
    }
}

impl Host for ListeningHost {
    fn hook_failed(&self, failure: &HookFailure) {
        self.host.hook_failed(failure);
        self.listeners.tell(failure);
    }

    fn has_user(&self) -> bool {
        self.host.has_user()
    }

    fn select<'a>(&'a self, title: &'a str, options: &'a [String]) -> HostFuture<'a, Option<String>> {
        self.host.select(title, options)
    }

    fn confirm<'a>(&'a self, title: &'a str, message: &'a str) -> HostFuture<'a, bool> {
        self.host.confirm(title, message)
    }

    fn input<'a>(&'a self, title: &'a str, placeholder: Option<&'a str>) -> HostFuture<'a, Option<String>> {
        self.host.input(title, placeholder)
    }

    fn edit<'a>(&'a self, title: &'a str, text: Option<&'a str>) -> HostFuture<'a, Option<String>> {
        self.host.edit(title, text)
    }

    fn show(&self, component: Arc<dyn Component>) -> HostFuture<'_, Result<(), HostError>> {
        self.host.show(component)
    }

    fn notify(&self, text: &str, level: NoticeLevel) {
        self.host.notify(text, level);
    }

    fn set_status(&self, key: &str, text: Option<&str>) {
        self.host.set_status(key, text);
    }

    fn editor_text(&self) -> String {
        self.host.editor_text()
    }

    fn set_editor_text(&self, text: &str) {
        self.host.set_editor_text(text);
    }

    fn styled(&self, style: &str, text: &str) -> String {
        self.host.styled(style, text)
    }

    fn session(&self, query: &SessionQuery) -> Json {
        self.host.session(query)
    }

    fn write_session(&self, change: &SessionChange) -> Result<Json, HostError> {
        self.host.write_session(change)
    }

    fn new_session<'a>(&'a self, parent: Option<&'a str>) -> HostFuture<'a, Result<SessionMove, HostError>> {
        self.host.new_session(parent)
    }

    fn branch<'a>(&'a self, entry: &'a str) -> HostFuture<'a, Result<SessionMove, HostError>> {
        self.host.branch(entry)
    }

    fn navigate<'a>(&'a self, target: &'a str, summarize: bool) -> HostFuture<'a, Result<SessionMove, HostError>> {
        self.host.navigate(target, summarize)
    }

    fn send_message(&self, message: &Json) {
        self.host.send_message(message);
    }

    fn append_entry(&self, entry: &Json) {
        self.host.append_entry(entry);
    }

    fn is_idle(&self) -> bool {
        self.host.is_idle()
    }

    fn has_queued_messages(&self) -> bool {
        self.host.has_queued_messages()
    }

    fn abort(&self) {
        self.host.abort();
    }

    fn wait_for_idle(&self) -> HostFuture<'_, ()> {
        self.host.wait_for_idle()
    }

    fn models(&self, query: &ModelQuery) -> Json {
        self.host.models(query)
    }

    fn api_key<'a>(&'a self, model: &'a Json) -> HostFuture<'a, Option<String>> {
        self.host.api_key(model)
    }

    fn complete<'a>(&'a self, request: &'a Json) -> HostFuture<'a, Result<Json, HostError>> {
        self.host.complete(request)
    }

    fn log(&self, level: NoticeLevel, text: &str) {
        self.host.log(level, text);
    }
}
