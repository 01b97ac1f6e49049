//! A host lends its runtime: no thread is started, and everything else stays as it is.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::common::{hook, json};
use hookrail::hook::Action;
use hookrail::sources::{Origin, SourceKind};
use hookrail::{DialectId, Effects, Environment, Event, EventKind, FireOptions, Hook, HookSystem, NativeHook, Outcome};
use tokio::runtime::Runtime;

const KIND: EventKind = EventKind::BeforeTool;

fn system(dir: &Path, hooks: impl IntoIterator<Item = Hook>) -> HookSystem {
    let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    let builder = HookSystem::builder(dir).environment(environment).lend_runtime();
    hooks.into_iter().fold(builder, |builder, hook| builder.hook(hook)).build()
}

fn command(text: &str) -> Hook {
    hook(KIND, text, SourceKind::User)
}

fn native(answer: impl Fn() -> Effects + Send + Sync + 'static) -> Hook {
    let origin = Origin::without_file(SourceKind::Native);
    Hook::new(KIND, DialectId::Native, "native", Action::Native(NativeHook::new(move |_| answer())), origin)
}

/// What a hook found where it was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    thread: ThreadId,
    runtime: tokio::runtime::Id,
}

/// A hook that notes where it was called.
fn witness() -> (Hook, Arc<Mutex<Option<Seen>>>) {
    let seen = Arc::new(Mutex::new(None));
    let noting = Arc::clone(&seen);
    let hook = native(move || {
        let runtime = tokio::runtime::Handle::current().id();
        *noting.lock().unwrap() = Some(Seen { thread: thread::current().id(), runtime });
        Effects::none()
    });
    (hook, seen)
}

fn call(system: &HookSystem) -> Event {
    system.event(KIND).session("s").with_text("tool_name", "write_file").with("tool_input", json("{}"))
}

fn one_thread() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn several_threads(name: &str) -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).thread_name(name).enable_all().build().unwrap()
}

fn fire_in_a_new_runtime(system: &HookSystem) -> Outcome {
    one_thread().block_on(async { system.fire(call(system)).await })
}

#[test]
fn hooks_are_driven_by_the_runtime_that_was_lent() {
    let dir = tempfile::tempdir().unwrap();
    let (witness, seen) = witness();
    let system = system(dir.path(), [command("cat > got.json"), witness]);
    let lent = one_thread();
    let outcome = lent.block_on(async {
        let outcome = system.fire_with(call(&system), FireOptions::new().wait_for_all()).await;
        system.shutdown().await;
        outcome
    });
    assert_eq!(outcome.runs.len(), 2, "{:?}", outcome.diagnostics);
    assert!(std::fs::read_to_string(dir.path().join("got.json")).unwrap().contains("write_file"));
    let seen = seen.lock().unwrap().unwrap();
    assert_eq!(seen.runtime, lent.handle().id(), "the engine works in the runtime that was lent");
    assert_ne!(seen.thread, thread::current().id(), "a closure could block it");
}

#[test]
fn a_runtime_of_several_threads_drives_hooks_too() {
    let dir = tempfile::tempdir().unwrap();
    let (witness, seen) = witness();
    let system = system(dir.path(), [witness, command("exit 3")]);
    let host = several_threads("lent");
    let (outcome, elsewhere) = host.block_on(async {
        let fired = tokio::spawn({
            let system = system.clone();
            async move { system.fire(call(&system)).await }
        });
        let outcome = fired.await.unwrap();
        // From another thread, and another runtime, the answer is the same.
        let elsewhere = tokio::task::spawn_blocking({
            let system = system.clone();
            move || fire_in_a_new_runtime(&system)
        });
        let elsewhere = elsewhere.await.unwrap();
        system.shutdown().await;
        (outcome, elsewhere)
    });
    assert_eq!(seen.lock().unwrap().unwrap().runtime, host.handle().id());
    for outcome in [outcome, elsewhere] {
        assert!(outcome.runs.iter().any(|run| run.exit_code == Some(3)), "{:?}", outcome.runs);
    }
}

/// The host keeps its only thread busy until after the deadline of a hook that denied in time.
#[test]
fn a_hook_that_ended_in_time_is_answered_although_the_runtime_was_busy() {
    let timeout = Duration::from_millis(400);
    let deny = r#": > started; sleep 0.1; echo '{"decision":"deny","reason":"in time"}'; : > done"#;
    for (name, others) in [("alone", 0), ("with others", 3)] {
        let dir = tempfile::tempdir().unwrap();
        let hooks = std::iter::once(deny.to_owned()).chain((0..others).map(|number| format!(": {number}")));
        let hooks = hooks.map(|text| {
            let mut hook = command(&text);
            hook.timeout = timeout;
            hook
        });
        let system = system(dir.path(), hooks);
        let outcome = one_thread().block_on(async {
            let fire = tokio::spawn({
                let system = system.clone();
                async move { system.fire(call(&system)).await }
            });
            while !dir.path().join("started").exists() {
                tokio::task::yield_now().await;
            }
            let ended = || dir.path().join("done").exists();
            assert!(hookrail_testkit::wait_until(ended, Duration::from_secs(20)));
            thread::sleep(timeout * 2);
            let outcome = fire.await.unwrap();
            system.shutdown().await;
            outcome
        });
        assert_eq!(outcome.effects.reason.as_deref(), Some("in time"), "{name}: {:?}", outcome.runs);
    }
}

/// There is one thread only, and it waits: the engine cannot get it.
#[test]
fn a_caller_that_blocks_the_runtime_that_was_lent_gets_an_answer() {
    let dir = tempfile::tempdir().unwrap();
    let blocked = |host: Runtime| {
        let system = system(dir.path(), [command("exit 2")]);
        host.block_on(async { tokio::spawn(async move { system.fire_blocking(call(&system)) }).await.unwrap() })
    };
    assert_eq!(blocked(several_threads("blocked")).runs[0].exit_code, Some(2));
    assert_eq!(blocked(one_thread()).runs[0].exit_code, Some(2));
}

#[test]
fn shutdown_waits_for_what_outlived_its_event() {
    let dir = tempfile::tempdir().unwrap();
    let mut stubborn = command("trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done");
    stubborn.timeout = Duration::from_millis(300);
    let system = system(dir.path(), [stubborn]);
    let process = || {
        let pid = std::fs::read_to_string(dir.path().join("pid")).unwrap();
        Path::new("/proc").join(pid.trim()).exists()
    };
    one_thread().block_on(async {
        let outcome = system.fire(call(&system)).await;
        assert_eq!(outcome.runs[0].end.name(), "timed-out");
        assert!(process(), "the outcome is there before the process is gone");
        system.shutdown().await;
        assert!(!process(), "nothing is left");
    });
}

#[test]
fn a_hook_may_fire_another_event_and_wait_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let inner: Arc<Mutex<Option<HookSystem>>> = Arc::default();
    let shared = Arc::clone(&inner);
    let asking = native(move || {
        let system = shared.lock().unwrap().take();
        let Some(system) = system else { return Effects::none() };
        Effects::deny(format!("again: {:?}", system.fire_blocking(call(&system)).runs[0].exit_code))
    });
    let system = system(dir.path(), [command("exit 3"), asking]);
    *inner.lock().unwrap() = Some(system.clone());
    let outcome = fire_in_a_new_runtime(&system);
    assert_eq!(outcome.effects.reason.as_deref(), Some("again: Some(3)"));
}

#[test]
fn when_the_runtime_is_gone_a_gate_stays_shut() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [command("true")]);
    assert!(!fire_in_a_new_runtime(&system).is_denied());
    assert!(fire_in_a_new_runtime(&system).is_denied(), "silence is not consent");
    system.shutdown_blocking();
}
