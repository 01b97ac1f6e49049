//! Events that are fired inside a tokio runtime of the host: a multi-thread runtime drives them itself, a current-thread
//! runtime does not.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use hookrail_testkit::HANG;

use crate::common::{hook, json, module_hook};
use hookrail::hook::Action;
use hookrail::host::HostFuture;
use hookrail::module::{CutOffProcess, ModuleCall, ModuleReturn};
use hookrail::process::RawEnd;
use hookrail::sources::{Origin, SourceKind};
use hookrail::{
    CancelToken, DialectId, Effects, Environment, Event, EventKind, FireOptions, Hook, HookSystem, ModuleRunner,
    NativeHook, Outcome,
};
use tokio::runtime::{Builder, Handle, Runtime};

const KIND: EventKind = EventKind::BeforeTool;

fn builder(dir: &Path) -> hookrail::Builder {
    let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    HookSystem::builder(dir).environment(environment)
}

fn system(dir: &Path, hooks: impl IntoIterator<Item = Hook>) -> HookSystem {
    hooks.into_iter().fold(builder(dir), hookrail::Builder::hook).build()
}

fn command(text: &str) -> Hook {
    hook(KIND, text, SourceKind::User)
}

fn closure(native: NativeHook) -> Hook {
    Hook::new(KIND, DialectId::Native, "native", Action::Native(native), Origin::without_file(SourceKind::Native))
}

fn call(system: &HookSystem) -> Event {
    system.event(KIND).session("s").with_text("tool_name", "write_file").with("tool_input", json("{}"))
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn multi_thread(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
}

/// A hook that notes the runtime in which its event is driven.
fn witness() -> (Hook, Arc<Mutex<Option<tokio::runtime::Id>>>) {
    let seen = Arc::new(Mutex::new(None));
    let noting = Arc::clone(&seen);
    let hook = closure(NativeHook::new(move |_| {
        *noting.lock().unwrap() = Some(Handle::current().id());
        Effects::none()
    }));
    (hook, seen)
}

fn in_a_task(runtime: &Runtime, system: &HookSystem) -> Outcome {
    let system = system.clone();
    runtime.block_on(async move { tokio::spawn(async move { system.fire(call(&system)).await }).await.unwrap() })
}

#[test]
fn a_multi_thread_runtime_drives_events_without_being_told() {
    let dir = tempfile::tempdir().unwrap();
    let (witness, seen) = witness();
    let system = system(dir.path(), [witness, command("exit 3")]);
    for workers in [1, 2] {
        let runtime = multi_thread(workers);
        for outcome in [in_a_task(&runtime, &system), runtime.block_on(system.fire(call(&system)))] {
            // `fire` was called outside of the runtime in the second case, so the engine drove it.
            assert!(outcome.runs.iter().any(|run| run.exit_code == Some(3)), "{:?}", outcome.runs);
        }
        let outcome = runtime.block_on(async { system.fire(call(&system)).await });
        assert_eq!(outcome.runs.len(), 2, "{:?}", outcome.diagnostics);
        assert_eq!(seen.lock().unwrap().take(), Some(runtime.handle().id()));
    }
    system.shutdown_blocking();
}

#[test]
fn a_current_thread_runtime_does_not_unless_it_is_lent() {
    let dir = tempfile::tempdir().unwrap();
    let (witness, seen) = witness();
    let system = system(dir.path(), [witness]);
    let runtime = current_thread();
    runtime.block_on(async { system.fire(call(&system)).await });
    assert_ne!(seen.lock().unwrap().unwrap(), runtime.handle().id());
}

#[test]
fn a_runtime_without_timers_or_input_and_output_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let (witness, seen) = witness();
    let system = system(dir.path(), [witness, command("exit 3")]);
    let bare = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    for _ in 0..2 {
        let outcome = in_a_task(&bare, &system);
        assert!(outcome.runs.iter().any(|run| run.exit_code == Some(3)), "{:?}", outcome.diagnostics);
        assert_ne!(seen.lock().unwrap().unwrap(), bare.handle().id());
    }
}

#[test]
fn hooks_may_fire_further_events_from_one_worker() {
    let dir = tempfile::tempdir().unwrap();
    let inner: Arc<Mutex<Vec<HookSystem>>> = Arc::default();
    let take = |shared: &Arc<Mutex<Vec<HookSystem>>>| shared.lock().unwrap().pop();
    let exit_code = |outcome: &Outcome| outcome.runs.iter().find_map(|run| run.exit_code);
    let blocking = {
        let shared = Arc::clone(&inner);
        NativeHook::new(move |_| match take(&shared) {
            Some(system) => Effects::deny(format!("blocking {:?}", exit_code(&system.fire_blocking(call(&system))))),
            None => Effects::none(),
        })
    };
    let waiting = {
        let shared = Arc::clone(&inner);
        NativeHook::waiting(move |_| {
            let system = take(&shared);
            async move {
                match system {
                    Some(system) => {
                        Effects::deny(format!("waiting {:?}", exit_code(&system.fire(call(&system)).await)))
                    }
                    None => Effects::none(),
                }
            }
        })
    };
    for (name, native) in [("blocking", blocking), ("waiting", waiting)] {
        let system = system(dir.path(), [command("exit 3"), closure(native)]);
        inner.lock().unwrap().push(system.clone());
        let outcome = in_a_task(&multi_thread(1), &system);
        assert_eq!(outcome.effects.reason, Some(format!("{name} Some(3)")));
    }
}

#[test]
fn an_event_whose_runtime_ends_is_denied_and_the_next_runtime_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [command(": > started; while [ ! -e go ]; do sleep 0.02; done; exit 3")]);
    let ending = multi_thread(2);
    let fire = {
        let _entered = ending.enter();
        system.fire(call(&system))
    };
    assert!(hookrail_testkit::wait_until(|| dir.path().join("started").exists(), HANG));
    ending.shutdown_timeout(HANG);
    let outcome = current_thread().block_on(fire);
    assert!(outcome.is_denied(), "silence is not consent: {outcome:?}");
    std::fs::write(dir.path().join("go"), "").unwrap();
    let later = multi_thread(1);
    assert_eq!(in_a_task(&later, &system).runs[0].exit_code, Some(3));
    later.block_on(system.shutdown());
    assert!(in_a_task(&later, &system).is_denied(), "nothing is fired after the shutdown");
}

#[test]
fn a_future_that_is_dropped_ends_its_hooks_and_the_shutdown_waits_for_that() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [command("trap '' TERM; echo $$ > new; mv new pid; while :; do sleep 0.05; done")]);
    let runtime = multi_thread(1);
    let pid = dir.path().join("pid");
    runtime.block_on(async {
        let fire = system.fire(call(&system));
        while !pid.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(fire);
        system.shutdown().await;
    });
    let process = Path::new("/proc").join(std::fs::read_to_string(&pid).unwrap().trim());
    assert!(!process.exists(), "nothing is left");
}

#[test]
fn one_token_cancels_several_events_and_no_event_cancels_the_token() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [command(": > started; sleep 60")]);
    let token = CancelToken::new();
    let options = || FireOptions::new().cancelled_by(&token);
    drop(system.fire_with(call(&system), options()));
    assert!(!token.is_cancelled());
    let ended = |outcome: Outcome| outcome.runs[0].end.name();
    let started = || dir.path().join("started").exists();
    let cancelling = std::thread::spawn({
        let (token, started) = (token.clone(), dir.path().join("started"));
        move || {
            assert!(hookrail_testkit::wait_until(|| started.exists(), HANG));
            token.cancel();
        }
    });
    assert_eq!(ended(system.fire_blocking_with(call(&system), options())), "cancelled");
    cancelling.join().unwrap();
    assert!(started());
    assert_eq!(
        ended(multi_thread(1).block_on(async { system.fire_with(call(&system), options()).await })),
        "cancelled"
    );
}

/// A runner whose modules block the thread they are called on until a task of the same runtime lets them go.
struct BlockingRunner {
    called_here: Arc<AtomicUsize>,
    /// The thread of the last call.
    last_thread: Arc<Mutex<Option<std::thread::ThreadId>>>,
    go: Mutex<mpsc::Receiver<()>>,
}

impl ModuleRunner for BlockingRunner {
    fn call<'a>(&'a self, _call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        Box::pin(std::future::ready(ModuleReturn::new(RawEnd::Returned(None))))
    }

    fn call_here<'a>(&'a self, _call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        Box::pin(async {
            *self.last_thread.lock().unwrap() = Some(std::thread::current().id());
            self.called_here.fetch_add(1, Ordering::Relaxed);
            let how = match self.go.lock().unwrap().recv_timeout(HANG) {
                Ok(()) => RawEnd::Returned(None),
                Err(error) => RawEnd::Threw(error.to_string()),
            };
            ModuleReturn::new(how)
        })
    }

    fn shutdown(&self) -> HostFuture<'_, Vec<CutOffProcess>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

/// Lets the call of that number go, by a task of the runtime whose worker it blocks.
fn let_go_at_call(runtime: &Runtime, called: &Arc<AtomicUsize>, number: usize, go: &mpsc::Sender<()>) {
    let (called, go) = (Arc::clone(called), go.clone());
    runtime.spawn(async move {
        while called.load(Ordering::Relaxed) < number {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let _ = go.send(());
    });
}

#[test]
fn a_module_answers_on_the_callers_thread_and_other_tasks_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let (sender, go) = mpsc::channel();
    let called_here = Arc::new(AtomicUsize::new(0));
    let last_thread = Arc::default();
    let runner = BlockingRunner {
        called_here: Arc::clone(&called_here),
        last_thread: Arc::clone(&last_thread),
        go: Mutex::new(go),
    };
    let system = builder(dir.path()).runner(runner).hook(module_hook(KIND, "/m.ts")).build();
    let runtime = multi_thread(1);
    let_go_at_call(&runtime, &called_here, 1, &sender);
    let outcome = in_a_task(&runtime, &system);
    assert_eq!(outcome.runs[0].end.name(), "silent", "{:?}", outcome.diagnostics);
    assert_eq!(called_here.load(Ordering::Relaxed), 1);
    // As soon as the workers are known, the task that awaits the event is the one that blocks.
    let mut calls = 1;
    let is_in_place = |calls: usize| {
        let_go_at_call(&runtime, &called_here, calls, &sender);
        let system = system.clone();
        let fired = async move {
            let before = std::thread::current().id();
            let outcome = system.fire(call(&system)).await;
            (outcome, before, std::thread::current().id())
        };
        let (outcome, before, after) = runtime.block_on(async { tokio::spawn(fired).await.unwrap() });
        assert_eq!(outcome.runs[0].end.name(), "silent", "{:?}", outcome.diagnostics);
        assert_eq!(called_here.load(Ordering::Relaxed), calls);
        before == after && *last_thread.lock().unwrap() == Some(before)
    };
    let seen = (0..20).any(|_| {
        calls += 1;
        is_in_place(calls)
    });
    assert!(seen, "no event was answered by the thread that awaits it");
    calls += 1;
    // In a `LocalSet` blocking in place would panic.
    let_go_at_call(&runtime, &called_here, calls, &sender);
    let outcome = runtime.block_on(tokio::task::LocalSet::new().run_until(async {
        let system = system.clone();
        tokio::task::spawn_local(async move { system.fire(call(&system)).await }).await.unwrap()
    }));
    assert_eq!(outcome.runs[0].end.name(), "silent", "{:?}", outcome.diagnostics);
    assert_eq!(called_here.load(Ordering::Relaxed), calls);
    // From a current-thread runtime it must not block the engine's thread.
    let outcome = current_thread().block_on(async { system.fire(call(&system)).await });
    assert_eq!(outcome.runs[0].end.name(), "silent", "{:?}", outcome.diagnostics);
    assert_eq!(called_here.load(Ordering::Relaxed), calls);
}
