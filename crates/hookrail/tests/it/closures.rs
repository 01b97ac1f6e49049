//! Closures of the embedding program that block: they are over at their deadline and hold up nothing else.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use hookrail_testkit::HANG;

use crate::common::{hook, json};
use hookrail::hook::Action;
use hookrail::sources::{Origin, SourceKind};
use hookrail::{DialectId, Effects, Environment, Event, EventKind, Hook, HookSystem, NativeHook, OnFailure, Outcome};

const KIND: EventKind = EventKind::BeforeTool;

fn system(dir: &Path, hooks: impl IntoIterator<Item = Hook>) -> HookSystem {
    let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    let builder = HookSystem::builder(dir).environment(environment);
    hooks.into_iter().fold(builder, |builder, hook| builder.hook(hook)).build()
}

fn call(system: &HookSystem) -> Event {
    system.event(KIND).session("s").with_text("tool_name", "write_file").with("tool_input", json("{}"))
}

fn closure(label: &str, native: NativeHook) -> Hook {
    Hook::new(KIND, DialectId::Native, label, Action::Native(native), Origin::without_file(SourceKind::Native))
}

fn guard(native: NativeHook) -> Hook {
    let mut hook = closure("guard", native);
    hook.timeout = Duration::from_millis(50);
    hook.on_failure = OnFailure::Block;
    hook
}

fn one_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Blocks until the sender is dropped.
fn blocking() -> (NativeHook, mpsc::Sender<()>) {
    let (sender, receiver) = mpsc::channel::<()>();
    let receiver = Mutex::new(receiver);
    let native = NativeHook::new(move |_| {
        let _ = receiver.lock().unwrap().recv();
        Effects::none()
    });
    (native, sender)
}

/// The same inside a future.
fn blocking_future() -> (NativeHook, mpsc::Sender<()>) {
    let (sender, receiver) = mpsc::channel::<()>();
    let receiver = Arc::new(Mutex::new(receiver));
    let native = NativeHook::waiting(move |_| {
        let receiver = Arc::clone(&receiver);
        async move {
            tokio::task::yield_now().await;
            let _ = receiver.lock().unwrap().recv();
            Effects::none()
        }
    });
    (native, sender)
}

#[test]
fn a_closure_that_blocks_past_its_timeout_has_failed_at_the_deadline() {
    let dir = tempfile::tempdir().unwrap();
    for make in [blocking, blocking_future] {
        let ways: [fn(&HookSystem) -> Outcome; 2] =
            [|system| system.fire_blocking(call(system)), |system| one_thread().block_on(system.fire(call(system)))];
        for fire in ways {
            let (native, release) = make();
            let system = system(dir.path(), [guard(native)]);
            let outcome = fire(&system);
            assert_eq!(outcome.runs[0].end.name(), "timed-out");
            assert!(outcome.is_denied(), "{:?}", outcome.effects);
            // It has blocked until now, and neither the outcome nor the shutdown has waited for it.
            system.shutdown_blocking();
            drop(release);
        }
    }
}

#[test]
fn a_closure_that_blocks_on_a_runtime_that_was_lent_does_not_hold_it() {
    let dir = tempfile::tempdir().unwrap();
    let (native, release) = blocking();
    let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    let builder = HookSystem::builder(dir.path()).environment(environment).lend_runtime();
    let system = builder.hook(guard(native)).build();
    let outcome = one_thread().block_on(async {
        let outcome = system.fire(call(&system)).await;
        system.shutdown().await;
        outcome
    });
    assert!(outcome.is_denied());
    drop(release);
}

#[test]
fn other_events_are_not_held_up_by_closures_that_block() {
    let dir = tempfile::tempdir().unwrap();
    let (native, release) = blocking();
    let mut slow = closure("slow", native);
    slow.timeout = HANG * 3;
    let blocked = system(dir.path(), [slow]);
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let quick = closure(
        "quick",
        NativeHook::new(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            Effects::deny("quick")
        }),
    );
    // Both are of one system, so they have one engine thread.
    let is_prompt = |mut hook: Hook| {
        hook.event = EventKind::Prompt;
        hook
    };
    blocked.register(is_prompt(quick));
    blocked.register(is_prompt(hook(EventKind::Prompt, "true", SourceKind::User)));
    let runtime = one_thread();
    let pending = blocked.fire(call(&blocked));
    let began = Instant::now();
    for _ in 0..100 {
        let prompt = blocked.event(EventKind::Prompt).with_text("prompt", "hello");
        assert!(runtime.block_on(blocked.fire(prompt)).is_denied());
    }
    assert!(began.elapsed() < HANG);
    assert_eq!(asked.load(Ordering::Relaxed), 100);
    drop(release);
    assert_eq!(runtime.block_on(pending).runs[0].end.name(), "silent");
}

#[test]
fn a_future_has_the_runtime_of_its_event_and_is_dropped_when_it_is_given_up() {
    struct Noting(Arc<AtomicBool>);
    impl Drop for Noting {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let sleeping = NativeHook::waiting(|_| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Effects::deny("slept")
    });
    let system_of = |hook: Hook| system(dir.path(), [hook]);
    let slept = system_of(closure("sleeping", sleeping));
    assert_eq!(slept.fire_blocking(call(&slept)).effects.reason.as_deref(), Some("slept"));
    assert_eq!(one_thread().block_on(slept.fire(call(&slept))).effects.reason.as_deref(), Some("slept"));
    let dropped = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&dropped);
    let never = NativeHook::waiting(move |_| {
        let noting = Noting(Arc::clone(&noted));
        async move {
            std::future::pending::<()>().await;
            drop(noting);
            Effects::none()
        }
    });
    let system = system_of(guard(never));
    assert!(system.fire_blocking(call(&system)).is_denied());
    assert!(hookrail_testkit::wait_until(|| dropped.load(Ordering::Acquire), HANG));
}

#[test]
fn more_closures_than_threads_are_all_answered_or_timed_out() {
    let dir = tempfile::tempdir().unwrap();
    let (native, release) = blocking();
    let blocked = system(dir.path(), [guard(native)]);
    let runtime = one_thread();
    let fires: Vec<_> = (0..200).map(|_| blocked.fire(call(&blocked))).collect();
    for fire in fires {
        assert!(runtime.block_on(fire).is_denied());
    }
    drop(release);
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    assert!(threads() < 64 + 40, "{} threads", threads());
    assert!(hookrail_testkit::wait_until(|| !runtime.block_on(blocked.fire(call(&blocked))).is_denied(), HANG));
}
