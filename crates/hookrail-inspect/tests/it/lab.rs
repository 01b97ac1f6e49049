//! An inspector that serves lines which the test sends.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use hookrail_inspect::{DEFAULT_LAST, Inspector, PageTitle, TesterMode, Trial, Workbench};
use serde_json::{Value, json};

use crate::hostile;
use crate::raw::{self, Answer};
use crate::records;

/// A configuration that exists only here. It counts what was fired.
#[derive(Default)]
pub(crate) struct FakeWorkbench {
    pub(crate) fired: AtomicUsize,
    /// The record that the last fired event was taken from.
    pub(crate) record: Mutex<Option<String>>,
    /// Put at the end of every text of its documents.
    poison: &'static str,
}

impl FakeWorkbench {
    fn document(&self, mut document: Value) -> String {
        hostile::poison(self.poison, &mut document);
        document.to_string()
    }
}

impl Workbench for FakeWorkbench {
    fn hooks(&self) -> Result<String, String> {
        let source = json!({"kind": "project", "file": "/home/me/project/.llxprt/settings.json", "line": 21});
        let hook = |name: &str, trusted: bool| {
            json!({"hook": name, "event": "BeforeTool", "matcher": "^run_shell_command$", "dialect": "llxprt", "source": source,
                "enabled": true, "trusted": trusted, "description": "keeps main as it is"})
        };
        let found = json!({"level": "warning", "code": "config.unknown", "message": "an unknown member", "file": "/home/me/.llxprt/settings.json", "line": 3});
        let found = if self.poison.is_empty() { json!([]) } else { json!([found]) };
        Ok(self.document(json!({
            "list": {"hooks": [hook("guard-push", true), hook("notify", false)], "modules": [], "diagnostics": found},
            "trust": {"project": "/home/me/project", "trusted": true, "hooks": [
                {"hook": "guard-push", "state": "granted", "source": source}, {"hook": "notify", "state": "changed", "source": source}]},
        })))
    }

    fn explain(&self, trial: &Trial) -> Result<String, String> {
        match trial.event.as_str() {
            "before-tool" => Ok(self.document(
                json!({"event": "before-tool", "plan": [{"hook": "guard-push", "dialect": "llxprt", "mode": "parallel",
                "source": {"kind": "project", "file": "/home/me/project/.llxprt/settings.json", "line": 21}}],
                "skipped": [{"hook": "lint", "why": "matcher", "detail": "does not match"}], "diagnostics": []}),
            )),
            other => Err(format!("`{other}` is not an event")),
        }
    }

    fn fire(&self, trial: &Trial) -> Result<String, String> {
        self.fired.fetch_add(1, Ordering::Relaxed);
        *self.record.lock().unwrap() = trial.record.clone();
        let mut outcome = records::fired(5)["outcome"].take();
        outcome["event"] = json!(trial.event);
        // One after the other.
        for (run, started) in outcome["runs"].as_array_mut().unwrap().iter_mut().zip([0.5, 40.0, 120.0]) {
            run["startedMs"] = json!(started);
        }
        Ok(self.document(outcome))
    }
}

/// A running inspector.
pub(crate) struct Lab {
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
    pub(crate) workbench: Arc<FakeWorkbench>,
    lines: mpsc::Sender<Result<String, String>>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lab {
    pub(crate) fn new(tester: TesterMode) -> Self {
        Self::start(tester, DEFAULT_LAST, "")
    }

    /// An inspector that keeps this many records.
    pub(crate) fn keeping(last: usize) -> Self {
        Self::start(TesterMode::Explain, last, "")
    }

    /// An inspector whose configuration has this at the end of every text.
    pub(crate) fn poisoned(poison: &'static str) -> Self {
        Self::start(TesterMode::Fire, DEFAULT_LAST, poison)
    }

    fn start(tester: TesterMode, last: usize, poison: &'static str) -> Self {
        let (lines, received) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (ready, bound) = mpsc::channel();
        let workbench = Arc::new(FakeWorkbench { poison, ..FakeWorkbench::default() });
        let served = Arc::clone(&workbench);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let title = PageTitle {
                    version: format!("0.1.0{poison}"),
                    project: format!("/home/me/project{poison}"),
                    events: vec![format!("before-tool{poison}")],
                };
                let inspector = Inspector::bind(0).await.unwrap().title(title).tester(tester).last(last);
                ready.send((inspector.url(), inspector.address())).unwrap();
                let lines = Box::new(std::iter::from_fn(move || received.try_recv().ok()));
                tokio::select! {
                    ended = inspector.serve(lines, served) => ended.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        let (url, address) = bound.recv().unwrap();
        Self { url, address, workbench, lines, stop: Some(stop), thread: Some(thread) }
    }

    /// An inspector with this many events.
    pub(crate) fn with_events(count: u64) -> Self {
        let lab = Self::new(TesterMode::Explain);
        (1..=count).for_each(|seq| lab.append(&records::fired(seq)));
        lab
    }

    pub(crate) fn append(&self, record: &Value) {
        self.append_line(Ok(records::line(record)));
    }

    pub(crate) fn append_line(&self, line: Result<String, String>) {
        self.lines.send(line).unwrap();
    }

    pub(crate) fn host(&self) -> String {
        format!("Host: {}", self.address)
    }

    pub(crate) fn origin(&self) -> String {
        format!("Origin: http://{}", self.address)
    }

    pub(crate) fn token(&self) -> &str {
        self.url.split("#token=").nth(1).unwrap()
    }

    /// A request as a program sends it, without what a browser adds.
    pub(crate) fn get(&self, path: &str, headers: &[String]) -> Answer {
        let headers = Vec::from_iter(std::iter::once(self.host()).chain(headers.iter().cloned()));
        raw::send(self.address, &format!("GET {path}"), &headers, "")
    }

    pub(crate) fn post(&self, path: &str, headers: &[String], body: &str) -> Answer {
        let own = [self.host(), self.origin()];
        let headers = Vec::from_iter(own.into_iter().chain(headers.iter().cloned()));
        raw::send(self.address, &format!("POST {path}"), &headers, body)
    }

    /// Exchanges the token as the page does.
    pub(crate) fn sign_in(&self) -> Session {
        let answer = self.post("/session", &[], &json!({ "token": self.token() }).to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        let cookie = answer.header("set-cookie").unwrap().to_owned();
        let pair = cookie.split(';').next().unwrap();
        Session { api: answer.json()["api"].as_str().unwrap().to_owned(), header: format!("Cookie: {pair}"), cookie }
    }

    /// Asks again until all records that were appended are there. The follower looks for them on its own.
    pub(crate) fn wait_for_rows(&self, session: &Session, count: u64) {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        loop {
            let end =
                self.get(&format!("{}rows/{count}", session.api), std::slice::from_ref(&session.header)).json()["end"]
                    .as_u64();
            if end == Some(count) {
                return;
            }
            assert!(std::time::Instant::now() < deadline, "{end:?} of {count} records after a minute");
            std::thread::yield_now();
        }
    }
}

/// What the page got for the token.
pub(crate) struct Session {
    pub(crate) api: String,
    /// The header that sends the cookie.
    pub(crate) header: String,
    /// The cookie as it was set.
    pub(crate) cookie: String,
}

impl Drop for Lab {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
