//! A subscriber of the log that panics at everything it is told: no decision changes, and no thread dies.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

#[path = "it/common.rs"]
mod common;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{hook, json};
use hookrail::sources::SourceKind;
use hookrail::{Environment, Event, EventKind, HookSystem};

static TOLD: AtomicUsize = AtomicUsize::new(0);

struct Panicking;

impl tracing::Subscriber for Panicking {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        panic!("no spans")
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {
        panic!("no records")
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {
        panic!("no followers")
    }

    fn event(&self, _: &tracing::Event<'_>) {
        TOLD.fetch_add(1, Ordering::Relaxed);
        panic!("the reader of this log is gone")
    }

    fn enter(&self, _: &tracing::span::Id) {
        panic!("no entering")
    }

    fn exit(&self, _: &tracing::span::Id) {
        panic!("no leaving")
    }
}

fn call(dir: &Path) -> Event {
    let kind = EventKind::BeforeTool;
    Event::new(kind, dir).session("s").with_text("tool_name", "write_file").with("tool_input", json("{}"))
}

#[test]
fn a_log_that_panics_changes_no_decision() {
    // Thousands of backtraces are of no use.
    std::panic::set_hook(Box::new(|_| {}));
    tracing::subscriber::set_global_default(Panicking).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    let command = r#"grep -q deny && echo '{"decision":"deny","reason":"asked"}'; exit 0"#;
    let kind = EventKind::BeforeTool;
    let builder = HookSystem::builder(dir.path()).environment(environment);
    let system = builder.hook(hook(kind, command, SourceKind::User)).hook(hook(kind, "true", SourceKind::User)).build();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for round in 0..3 {
        for (input, decision) in [("{}", None), (r#"{"a":"deny"}"#, Some(hookrail::Decision::Deny))] {
            let event = || call(dir.path()).with("tool_input", json(input));
            assert_eq!(system.fire_blocking(event()).effects.decision, decision, "{round}");
            assert_eq!(runtime.block_on(system.fire(event())).effects.decision, decision, "{round}");
        }
        system.reload();
    }
    assert!(TOLD.load(Ordering::Relaxed) > 10, "the log was told something");
    system.shutdown_blocking();
}
