//! The engine with real processes: concurrency, cancellation, notifications, reload, shutdown.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::common::{hook, json};
use hookrail::dialect::llxprt::AggregatedHookResult;
use hookrail::hook::{Action, GroupOrder};
use hookrail::host::Notification;
use hookrail::sources::{Origin, SourceKind};
use hookrail::{
    Code, Decision, DialectId, Effects, Environment, Event, EventKind, Hook, HookSystem, NativeHook, OnFailure, Outcome,
};

const KIND: EventKind = EventKind::BeforeTool;

fn environment() -> Environment {
    [("PATH", "/usr/bin:/bin")].into_iter().collect()
}

fn system(dir: &Path, hooks: impl IntoIterator<Item = Hook>) -> HookSystem {
    let builder = HookSystem::builder(dir).environment(environment());
    hooks.into_iter().fold(builder, |builder, hook| builder.hook(hook)).build()
}

fn command(text: &str) -> Hook {
    hook(KIND, text, SourceKind::User)
}

fn call(system: &HookSystem) -> Event {
    system.event(KIND).session("s").with_text("tool_name", "write_file").with("tool_input", json(r#"{"path":"a"}"#))
}

fn native(answer: impl Fn(hookrail::NativeCall) -> Effects + Send + Sync + 'static) -> Hook {
    let origin = Origin::without_file(SourceKind::Native);
    Hook::new(KIND, DialectId::Native, "native", Action::Native(NativeHook::new(answer)), origin)
}

/// Something that should take milliseconds and must not take this long.
fn within_a_hang_guard<T>(work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let result = work();
    assert!(began.elapsed() < Duration::from_secs(20), "took {:?}", began.elapsed());
    result
}

#[test]
fn a_hook_receives_its_event_and_its_variables() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"cat > stdin.json; printf '%s\n' "$LLXPRT_PROJECT_DIR" "$GEMINI_PROJECT_DIR" "$CLAUDE_PROJECT_DIR" "$HOOKRAIL_PROTOCOL" "$HOOKRAIL_DEPTH" "${HOOKRAIL_RUN_ID:+set}" "$PWD" > env.txt"#;
    let system = system(dir.path(), [command(script)]);
    let outcome = system.fire_blocking(call(&system));
    assert_eq!(outcome.runs[0].end.name(), "silent", "{:?}", outcome.diagnostics);
    let stdin: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("stdin.json")).unwrap()).unwrap();
    assert_eq!(stdin["hook_event_name"], "BeforeTool");
    assert_eq!(stdin["tool_input"]["path"], "a");
    let project = dir.path().display();
    let expected = format!("{project}\n{project}\n{project}\n1\n1\nset\n{project}\n");
    assert_eq!(std::fs::read_to_string(dir.path().join("env.txt")).unwrap(), expected);
}

/// Environments are kept for the next run that needs the same, and never given to one that needs another.
#[test]
fn every_run_finds_the_variables_and_the_directory_of_its_own_event() {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    let system = system(dir.path(), [command(r#"echo "$TRACE $LLXPRT_PROJECT_DIR $PWD" >&2; exit 2"#)]);
    for round in 0..24 {
        let (trace, cwd) = ((round % 12).to_string(), if round < 12 { inside.as_path() } else { dir.path() });
        let payload = json(&serde_json::json!({"cwd": cwd}).to_string());
        let event = call(&system).with_payload(&payload).unwrap().variable("TRACE", &trace);
        let expected = format!("{trace} {0} {0}", cwd.display());
        // Twice, because the second run finds what was kept for it.
        for _ in 0..2 {
            let outcome = system.fire_blocking(event.clone());
            assert_eq!(outcome.effects.reason.as_deref(), Some(&*expected));
        }
    }
}

#[test]
fn an_event_without_hooks_starts_no_thread_and_plans_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [command("exit 2")]);
    assert!(!system.has_hooks_for(EventKind::AfterModel));
    let outcome = system.fire_blocking(system.event(EventKind::AfterModel));
    assert!(outcome.runs.is_empty() && AggregatedHookResult::from_outcome(&outcome).success);
}

#[test]
fn hooks_side_by_side_really_run_at_once() {
    let dir = tempfile::tempdir().unwrap();
    // Each waits for the other's file: one after the other they would wait for ever.
    let meet =
        |own: &str, other: &str| command(&format!("touch {own}; while [ ! -e {other} ]; do :; done; echo '{{}}'"));
    let system = system(dir.path(), [meet("a", "b"), meet("b", "a")]);
    let outcome = within_a_hang_guard(|| system.fire_blocking(call(&system)));
    assert!(outcome.runs.iter().all(|run| run.end.name() == "answered"), "{:?}", outcome.diagnostics);
}

#[test]
fn many_events_at_once_from_many_threads() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [command("cat > /dev/null; echo '{\"decision\":\"deny\",\"reason\":\"no\"}'")]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..8 {
                    assert!(system.fire_blocking(call(&system)).is_denied());
                }
            });
        }
    });
}

#[test]
fn dropping_the_future_ends_the_hook() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [command("echo $$ > pid; exec sleep 600")]);
    let mut notifications = system.subscribe();
    let fire = system.fire(call(&system));
    let pid_file = dir.path().join("pid");
    assert!(hookrail_testkit::wait_until(
        || std::fs::read_to_string(&pid_file).is_ok_and(|pid| pid.ends_with('\n')),
        Duration::from_secs(20)
    ));
    let pid: u32 = std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
    drop(fire);
    within_a_hang_guard(|| system.shutdown_blocking());
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "the process is gone");
    let ended = std::iter::from_fn(|| notifications.try_next())
        .any(|told| matches!(told, Notification::Ended { how: hookrail::process::RawEnd::Cancelled, .. }));
    assert!(ended, "its end is told as cancelled");
}

#[test]
fn a_cancelled_guard_is_not_an_allow() {
    let dir = tempfile::tempdir().unwrap();
    let mut guard = command("touch started; exec sleep 600");
    guard.on_failure = OnFailure::Block;
    let system = system(dir.path(), [guard]);
    let fire = system.fire(call(&system));
    let started = dir.path().join("started");
    assert!(hookrail_testkit::wait_until(|| started.exists(), Duration::from_secs(20)));
    fire.cancel();
    let outcome = within_a_hang_guard(|| block_on(fire));
    assert_eq!(outcome.runs[0].end.name(), "cancelled");
    assert!(outcome.is_denied());
}

/// A future can be driven by any executor; here the smallest there is.
fn block_on(fire: hookrail::Fire) -> Outcome {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut fire = std::pin::pin!(fire);
    loop {
        match fire.as_mut().poll(&mut context) {
            std::task::Poll::Ready(outcome) => return outcome,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn the_outcome_is_given_at_the_deadline_and_shutdown_waits_for_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let mut stubborn = command("trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done");
    stubborn.timeout = Duration::from_millis(300);
    let system = system(dir.path(), [stubborn]);
    let outcome = within_a_hang_guard(|| system.fire_blocking(call(&system)));
    assert_eq!(outcome.runs[0].end.name(), "timed-out");
    assert_eq!(outcome.effects.decision, None);
    assert!(
        outcome.diagnostics.iter().any(|found| found.code == Code::HookTimedOut && found.message.contains("300 ms"))
    );
    let pid = std::fs::read_to_string(dir.path().join("pid")).unwrap();
    assert!(Path::new(&format!("/proc/{}", pid.trim())).exists(), "the termination still runs");
    within_a_hang_guard(|| system.shutdown_blocking());
    assert!(!Path::new(&format!("/proc/{}", pid.trim())).exists(), "nothing is left");
}

#[test]
fn a_missing_working_directory_is_named_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [command("true")]);
    let gone = dir.path().join("gone");
    let event = Event::new(KIND, &gone).with_text("tool_name", "t");
    let outcome = system.fire_blocking(event);
    assert_eq!(outcome.runs[0].end.name(), "silent");
    let message = &outcome.diagnostics[0].message;
    assert!(message.contains("working directory") && message.contains(&*gone.to_string_lossy()), "{message}");
}

#[test]
fn a_background_child_neither_delays_nor_loses_the_answer() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [command("sleep 5 & echo '{\"decision\":\"deny\",\"reason\":\"now\"}'")]);
    let began = Instant::now();
    let outcome = system.fire_blocking(call(&system));
    assert!(began.elapsed() < Duration::from_secs(4), "it did not wait for the child");
    assert_eq!(outcome.effects.reason.as_deref(), Some("now"));
    assert!(outcome.diagnostics.iter().any(|found| found.code == Code::Survivors));
}

#[test]
fn notifications_tell_the_life_of_an_event_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = command("echo 1");
    first.order = GroupOrder::Sequential;
    let system = system(dir.path(), [first, command("exit 2")]);
    let mut notifications = system.subscribe();
    system.fire_blocking(call(&system));
    let told: Vec<String> = std::iter::from_fn(|| notifications.try_next())
        .map(|told| match told {
            Notification::Planned { hooks, .. } => format!("planned {}", hooks.len()),
            Notification::Started { run, .. } => format!("started {}", run.index()),
            Notification::Ended { run, how, .. } => format!("ended {} {how:?}", run.index()),
            Notification::Folded { decision, .. } => format!("folded {decision:?}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        told,
        ["planned 2", "started 0", "ended 0 Exited(0)", "started 1", "ended 1 Exited(2)", "folded Some(Deny)"]
    );
}

#[test]
fn closures_take_part_after_all_others_and_may_fail() {
    let dir = tempfile::tempdir().unwrap();
    let rewrite = command(r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"b"}}}'"#);
    let system = system(dir.path(), [rewrite]);
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    system.register(native(move |call| {
        counter.fetch_add(1, Ordering::Relaxed);
        assert_eq!(call.event.field("tool_input").unwrap().text(), r#"{"path":"b"}"#);
        Effects::deny("closure").with_context("ignored")
    }));
    let outcome = system.fire_blocking(call(&system));
    assert_eq!((outcome.effects.decision, outcome.effects.reason.as_deref()), (Some(Decision::Deny), Some("closure")));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let mut panicking = native(|_| panic!("a closure that panics"));
    panicking.on_failure = OnFailure::Block;
    let other = HookSystem::builder(dir.path()).environment(environment()).hook(panicking).build();
    let outcome = other.fire_blocking(call(&other));
    assert_eq!(outcome.runs[0].end.name(), "threw");
    assert!(outcome.is_denied());
}

#[test]
fn hooks_off_and_the_emergency_switch() {
    let dir = tempfile::tempdir().unwrap();
    let hooks = || [command("exit 2"), hook(KIND, "exit 2 # system", SourceKind::System)];
    let off = hooks().into_iter().fold(HookSystem::builder(dir.path()).environment(environment()), |b, h| b.hook(h));
    let off = off.hooks_off("--no-hooks").build();
    assert!(!off.has_hooks_for(KIND));
    let disabled = environment().with("HOOKRAIL_DISABLE", "1");
    let only_system =
        hooks().into_iter().fold(HookSystem::builder(dir.path()).environment(disabled), |b, h| b.hook(h)).build();
    let outcome = only_system.fire_blocking(call(&only_system));
    assert_eq!(outcome.runs.len(), 1);
    assert_eq!(outcome.skipped.iter().next().unwrap().why.name(), "hooks-off");
    assert!(outcome.diagnostics.iter().any(|found| found.code == Code::HooksDisabled));
}

#[test]
fn a_program_with_arguments_runs_without_a_shell() {
    let dir = tempfile::tempdir().unwrap();
    let mut plain = command("x");
    let words = ["printf", "%s|", "a b", "$HOME", "'quoted'"].map(str::to_owned);
    plain.action = Action::Program(words.into());
    let system = system(dir.path(), [plain]);
    let outcome = system.fire_blocking(call(&system));
    assert_eq!(outcome.effects.system_message.as_deref(), Some("a b|$HOME|'quoted'|"));
}

#[test]
fn after_a_shutdown_a_gate_stays_shut() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [command("true")]);
    system.shutdown_blocking();
    assert!(system.fire_blocking(call(&system)).is_denied(), "silence is not consent");
}

#[test]
fn hooks_that_are_registered_at_once_are_all_there() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..20 {
        let system = system(dir.path(), []);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| system.register(native(|_| Effects::none())));
            }
        });
        assert_eq!(system.snapshot().hooks().len(), 4);
        assert!(system.has_hooks_for(KIND));
    }
}

#[test]
fn a_blocking_fire_inside_the_runtime_of_a_host_works() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [command("exit 2")]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let outcome = within_a_hang_guard(|| runtime.block_on(async { system.fire_blocking(call(&system)) }));
    assert_eq!(outcome.runs.first().and_then(|run| run.exit_code), Some(2));
    // The system may also end there.
    runtime.block_on(async move { drop(system) });
}

#[test]
fn a_hook_on_the_callers_thread_may_fire_another_event() {
    let dir = tempfile::tempdir().unwrap();
    let other = system(dir.path(), [command("exit 2")]);
    let forwarding = native(move |_| {
        let outcome = other.fire_blocking(call(&other));
        Effects::deny(format!("the other one: {:?}", outcome.runs.first().and_then(|run| run.exit_code)))
    });
    let outer = system(dir.path(), [forwarding]);
    let outcome = within_a_hang_guard(|| outer.fire_blocking(call(&outer)));
    assert_eq!(outcome.effects.reason.as_deref(), Some("the other one: Some(2)"));
}
