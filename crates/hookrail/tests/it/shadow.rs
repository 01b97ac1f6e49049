//! A hook that is not enforced runs, is reported, delays nothing and has no effect, whatever it does.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{hook, json, plugin_hook};
use crate::granting::World;
use hookrail::document::{explain_document, list_document, outcome_document};
use hookrail::hook::{Action, GroupOrder};
use hookrail::plan::SkipReason;
use hookrail::recorder::{Entry, EntryKind, LateReason, RecordError, Recorded, Recorder};
use hookrail::sources::SourceKind;
use hookrail::{
    Builder, Code, Decision, Effects, EndKind, Environment, Event, EventKind, FireOptions, Hook, HookSystem,
    NativeHook, OnFailure, Outcome,
};
use serde_json::{Value, json as value};

const KIND: EventKind = EventKind::BeforeTool;

fn builder() -> Builder {
    let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    HookSystem::builder(std::env::temp_dir()).environment(environment)
}

fn call(system: &HookSystem) -> Event {
    system.event(KIND).session("s").with_text("tool_name", "write_file").with("tool_input", json(r#"{"path":"a"}"#))
}

fn fire_all(system: &HookSystem) -> Outcome {
    system.fire_blocking_with(call(system), FireOptions::new().wait_for_all())
}

fn shell(command: &str) -> Hook {
    hook(KIND, command, SourceKind::User)
}

fn denying() -> Hook {
    Hook::native(KIND, "guard", NativeHook::new(|_| Effects::deny("not today")))
}

/// A closure that answers when it is let go on, and the way to let it.
fn held() -> (Hook, std::sync::mpsc::Sender<()>) {
    let (go, wait) = channel();
    let wait: Arc<Mutex<Receiver<()>>> = Arc::new(Mutex::new(wait));
    let answer = NativeHook::new(move |_| {
        let _ = wait.lock().unwrap().recv();
        Effects::deny("late")
    });
    (Hook::native(KIND, "held", answer), go)
}

/// Keeps a line for every entry.
#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Recorder for Lines {
    fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
        let line = match &entry.kind {
            EntryKind::Fired(fired) => {
                let shadow: Vec<&str> = fired.shadow.iter().map(|run| run.end.name()).collect();
                format!("fired {} [{}]", fired.fire, shadow.join(","))
            }
            EntryKind::Late(late) => {
                assert_eq!((late.why, late.session, late.event), (LateReason::Shadow, "s", KIND));
                assert!(late.run.start.is_some());
                let decision = late.run.decision.map_or("none", Decision::name);
                format!("late {} {} {decision} {}", late.fire, late.run.end, late.reason.unwrap_or_default())
            }
            other => panic!("{other:?}"),
        };
        self.0.lock().unwrap().push(line);
        Ok(Recorded::Done)
    }
}

impl Lines {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[test]
fn whatever_it_does_has_no_effect_and_is_reported() {
    let answer = |text: &str| format!("echo '{text}'");
    let rewrite = answer(r#"{"hookSpecificOutput":{"tool_input":{"path":"b"}}}"#);
    let cases = [
        (shell("exit 2"), EndKind::Exited, Some(Decision::Deny)),
        (shell(&answer(r#"{"decision":"ask","reason":"r"}"#)), EndKind::Answered, Some(Decision::Ask)),
        (shell(&answer(r#"{"continue":false,"stopReason":"s"}"#)), EndKind::Answered, None),
        (shell(&answer(r#"{"systemMessage":"m","suppressOutput":true}"#)), EndKind::Answered, None),
        (shell(&rewrite), EndKind::Answered, None),
        (shell("kill -9 $$"), EndKind::Signalled, Some(Decision::Deny)),
        (shell("exit 7"), EndKind::Exited, Some(Decision::Deny)),
        (shell("sleep 30"), EndKind::TimedOut, Some(Decision::Deny)),
        (hook(KIND, "/nowhere/at/all", SourceKind::System), EndKind::Exited, Some(Decision::Deny)),
        (plugin_hook(KIND, &answer(r#"{"decision":"deny","reason":"r"}"#)), EndKind::Answered, Some(Decision::Deny)),
        (plugin_hook(KIND, "exit 1"), EndKind::Exited, Some(Decision::Deny)),
        (denying(), EndKind::Answered, Some(Decision::Deny)),
        (Hook::native(KIND, "p", NativeHook::new(|_| panic!("on purpose"))), EndKind::Threw, Some(Decision::Deny)),
    ];
    for (mut hook, end, decision) in cases {
        hook.on_failure = OnFailure::Block;
        hook.order = GroupOrder::Sequential;
        hook.timeout = hook.timeout.min(Duration::from_millis(if end == EndKind::TimedOut { 50 } else { 20_000 }));
        let label = hook.label.clone();
        let system = builder().hook(hook.shadow()).hook(shell("true")).build();
        let outcome = fire_all(&system);
        assert_eq!(outcome.effects, Effects::none(), "{label}");
        assert!(outcome.diagnostics.is_empty(), "{label}: {:?}", outcome.diagnostics);
        assert_eq!(outcome.runs.iter().map(|run| run.end).collect::<Vec<_>>(), [EndKind::Silent], "{label}");
        let [verdict] = &outcome.shadow[..] else { panic!("{label}: {:?}", outcome.shadow) };
        assert_eq!((verdict.run.end, verdict.run.decision), (end, decision), "{label}");
        if *label == *rewrite {
            assert_eq!(verdict.effects.tool_input.as_ref().unwrap().text(), r#"{"path":"b"}"#);
        }
        system.shutdown_blocking();
    }
}

#[test]
fn the_document_has_the_verdicts_only_if_there_are_any() {
    let rewriting = Effects { reason: Some("r".into()), ..Effects::none().with_tool_input(json(r#"{"path": "b"}"#)) };
    let system = builder().hook(Hook::native(KIND, "w", NativeHook::new(move |_| rewriting.clone())).shadow()).build();
    let document = outcome_document(&fire_all(&system)).to_value();
    let shadow = &document["shadow"];
    assert_eq!(shadow.as_array().map(Vec::len), Some(1), "{document}");
    assert_eq!((&shadow[0]["hook"], &shadow[0]["end"]), (&value!("w"), &value!("answered")));
    assert_eq!((&shadow[0]["decision"], &shadow[0]["reason"]), (&Value::Null, &value!("r")));
    assert_eq!(shadow[0]["rewrite"], value!({"toolInput": {"path": "b"}}));
    assert_eq!((&document["toolInput"], &document["runs"]), (&Value::Null, &value!([])));
    let plain = builder().hook(denying()).build();
    assert!(outcome_document(&fire_all(&plain)).to_value().get("shadow").is_none());
}

#[test]
fn plan_and_list_show_it() {
    let system = builder().hook(denying().shadow()).hook(shell("true")).build();
    let plan = explain_document(&system.explain(&call(&system))).to_value();
    assert_eq!(plan["plan"].as_array().map(Vec::len), Some(1));
    assert_eq!(plan["shadow"][0]["hook"], "guard");
    assert_eq!(plan["skipped"], value!([]));
    let list = list_document(&system.snapshot()).to_value();
    let enforce: Vec<&Value> = list["hooks"].as_array().unwrap().iter().map(|hook| &hook["enforce"]).collect();
    assert_eq!(enforce, [&value!(false), &Value::Null]);
}

#[test]
fn it_delays_no_outcome_and_is_recorded_when_it_has_ended() {
    for enforced in [None, Some(shell("true"))] {
        let recorder = Arc::new(Lines::default());
        let (held, go) = held();
        let system = builder().recorder(Arc::clone(&recorder)).hook(held.shadow());
        let system = enforced.into_iter().fold(system, Builder::hook).build();
        // Each of these returns while the hook is held.
        let outcome = system.fire_blocking(call(&system));
        assert!(outcome.shadow.is_empty() && !outcome.is_denied());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        assert!(!runtime.block_on(system.fire(call(&system))).is_denied());
        let current = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert!(!current.block_on(system.fire(call(&system))).is_denied());
        let fired = recorder.take();
        assert!(fired.iter().all(|line| line.starts_with("fired") && line.ends_with("[]")), "{fired:?}");
        assert_eq!(fired.len(), 3);
        (0..3).for_each(|_| go.send(()).unwrap());
        assert!(system.shutdown_blocking().is_empty(), "nothing of it is reported to the host");
        let mut late = recorder.take();
        late.sort();
        let mut expected: Vec<String> =
            fired.iter().map(|line| line.replace("fired", "late").replace(" []", " answered deny late")).collect();
        expected.sort();
        assert_eq!(late, expected);
    }
}

#[test]
fn a_verdict_that_is_in_time_is_in_the_outcome_and_its_record() {
    let recorder = Arc::new(Lines::default());
    let shadow = Hook::native(KIND, "shadow", NativeHook::new(|_| Effects::deny("early"))).shadow();
    let pause = Arc::new(Mutex::new(Duration::ZERO));
    let pauses = Arc::clone(&pause);
    let waiting = NativeHook::new(move |_| {
        std::thread::sleep(*pauses.lock().unwrap());
        Effects::none()
    });
    let hooks = builder().recorder(Arc::clone(&recorder)).hook(shadow).hook(Hook::native(KIND, "waits", waiting));
    let system = hooks.build();
    // When a verdict is in cannot be seen from outside, so the event takes longer until one was in time.
    let in_time = (0..12).find_map(|round| {
        *pause.lock().unwrap() = Duration::from_millis(1 << round);
        let outcome = system.fire_blocking(call(&system));
        assert!(!outcome.is_denied());
        (!outcome.shadow.is_empty()).then_some(outcome)
    });
    let decisions = in_time.unwrap().shadow.iter().map(|one| one.run.decision).collect::<Vec<_>>();
    assert_eq!(decisions, [Some(Decision::Deny)]);
    system.shutdown_blocking();
    let lines = recorder.take();
    let fired: Vec<&String> = lines.iter().filter(|line| line.starts_with("fired")).collect();
    assert!(fired.last().unwrap().ends_with("[answered]"), "{lines:?}");
    assert_eq!(lines.len(), 2 * fired.len() - 1, "each verdict is recorded once: {lines:?}");
}

#[test]
fn a_shutdown_ends_it_and_records_that() {
    let recorder = Arc::new(Lines::default());
    let system = builder().recorder(Arc::clone(&recorder)).hook(shell("exec sleep 60").shadow()).build();
    system.fire_blocking(call(&system));
    assert!(system.shutdown_blocking().is_empty());
    let lines = recorder.take();
    assert!(lines.len() == 2 && lines[1].contains("cancelled none"), "{lines:?}");
}

/// The first system stands for a program that ends with its event, the second one for the process that it starts.
#[test]
fn it_can_be_left_to_another_process_which_has_its_whole_time() {
    for enforced in [None, Some(shell("true"))] {
        let recorder = Arc::new(Lines::default());
        // Longer than a shutdown usually waits, and short of nothing.
        let slow = || shell("sleep 1; echo late >&2; exit 2").shadow();
        let left = Arc::new(Mutex::new(Vec::new()));
        let (others, with_name) = (Arc::clone(&left), Arc::clone(&left));
        let first =
            builder().recorder(Arc::clone(&recorder)).hook(slow()).shadow_hooks_elsewhere(move |fire, event| {
                others.lock().unwrap().push((fire.map(str::to_owned), event.clone()));
                Ok(())
            });
        let first = enforced.into_iter().fold(first, Builder::hook).build();
        let outcome = first.fire_blocking(call(&first));
        assert!(outcome.shadow.is_empty() && !outcome.is_denied());
        assert!(first.shutdown_blocking().is_empty());
        let fired = recorder.take();
        assert_eq!(fired.len(), 1, "this process has run none of it: {fired:?}");

        let (fire, event) = with_name.lock().unwrap().pop().unwrap();
        assert!(left.lock().unwrap().is_empty(), "it is asked once for each event");
        let second = builder().recorder(Arc::clone(&recorder)).hook(slow()).hook(denying()).build();
        second.run_shadow_hooks(event, fire.as_deref());
        second.shutdown_blocking();
        let expected = fired[0].replace("fired", "late").replace(" []", " exited deny late");
        assert_eq!(recorder.take(), [expected], "only that hook ran, to its end, under the name of the first event");
    }
}

#[test]
fn what_cannot_be_left_to_another_process_runs_in_this_one() {
    for panics in [false, true] {
        let recorder = Arc::new(Lines::default());
        let system = builder().recorder(Arc::clone(&recorder)).hook(denying().shadow());
        let system = system.shadow_hooks_elsewhere(move |_, _| {
            assert!(!panics, "on purpose");
            Err(std::io::ErrorKind::PermissionDenied.into())
        });
        let system = system.build();
        assert!(!system.fire_blocking(call(&system)).is_denied());
        system.shutdown_blocking();
        let lines = recorder.take();
        assert!(lines.iter().any(|line| line.contains("answered deny not today")), "{lines:?}");
    }
}

#[test]
fn more_than_a_host_can_keep_are_not_started() {
    let recorder = Arc::new(Lines::default());
    let (held, go) = held();
    let system = builder().recorder(Arc::clone(&recorder)).hook(held.shadow()).build();
    (0..300).for_each(|_| drop(system.fire_blocking(call(&system))));
    (0..300).for_each(|_| go.send(()).unwrap());
    system.shutdown_blocking();
    let lines = recorder.take();
    let late: Vec<&String> = lines.iter().filter(|line| line.starts_with("late")).collect();
    assert_eq!((lines.len(), late.len()), (600, 300));
    assert_eq!(late.iter().filter(|line| line.contains("cancelled")).count(), 44);
}

#[test]
fn an_enforced_closure_has_a_thread_when_those_without_effect_hold_theirs() {
    let (held, go) = held();
    let mut held = held.shadow();
    held.timeout = Duration::from_millis(1);
    let system = builder().hook(held).hook(denying()).build();
    for _ in 0..80 {
        assert!(system.fire_blocking(call(&system)).is_denied());
    }
    drop(go);
    system.shutdown_blocking();
}

#[test]
fn it_neither_makes_a_chain_nor_drops_a_duplicate() {
    let mut same = shell("exit 2").shadow();
    same.order = GroupOrder::Sequential;
    for hooks in [vec![same.clone(), shell("exit 2")], vec![shell("exit 2"), same.clone()]] {
        let system = hooks.into_iter().fold(builder(), Builder::hook).build();
        let plan = system.explain(&call(&system));
        assert_eq!(plan.parts[0].stage.name(), "parallel");
        assert_eq!((plan.hooks().count(), plan.shadow_hooks().count(), plan.skipped.len()), (1, 1, 0));
        assert!(fire_all(&system).is_denied());
    }
    let twice = builder().hook(same.clone()).hook(same).build();
    let plan = twice.explain(&call(&twice));
    assert_eq!((plan.shadow_hooks().count(), plan.skipped.iter().next().unwrap().why), (1, SkipReason::Duplicate));
}

#[test]
fn one_that_cannot_be_used_refuses_nothing() {
    let origin = hookrail::sources::Origin::without_file(SourceKind::System);
    let unusable = Action::Unusable("broken".into());
    let mut broken = Hook::new(KIND, hookrail::DialectId::Llxprt, "broken", unusable, origin);
    broken.on_failure = OnFailure::Block;
    let system = builder().hook(broken.shadow()).build();
    let outcome = fire_all(&system);
    assert!(!outcome.is_denied() && outcome.diagnostics.is_empty(), "{outcome:?}");
    assert_eq!((outcome.shadow[0].run.end, outcome.shadow[0].run.decision), (EndKind::Unusable, Some(Decision::Deny)));
    // An input with a key twice is denied if a guard is asked, and this is none.
    let twice = call(&system).with("tool_input", json(r#"{"path":"a","path":"b"}"#));
    assert!(!system.fire_blocking_with(twice, FireOptions::new().wait_for_all()).is_denied());
}

#[test]
fn deep_inside_other_hooks_it_is_left_out_and_denies_nothing() {
    let environment: Environment = [("PATH", "/usr/bin:/bin"), ("HOOKRAIL_DEPTH", "9")].into_iter().collect();
    let recorder = Arc::new(Lines::default());
    let system = builder().environment(environment).recorder(Arc::clone(&recorder)).hook(denying().shadow()).build();
    assert!(!fire_all(&system).is_denied());
    assert!(!system.fire_blocking(call(&system)).is_denied());
    system.shutdown_blocking();
    assert!(recorder.take().iter().all(|line| !line.starts_with("late")));
}

#[test]
fn it_waits_for_no_first_prompt() {
    let start = hook(EventKind::SessionStart, "exec sleep 60", SourceKind::User).shadow();
    let prompt = hook(EventKind::Prompt, "true", SourceKind::User);
    let system = builder().hook(start).hook(prompt).build();
    system.fire_blocking(system.event(EventKind::SessionStart).with_text("source", "startup"));
    let began = std::time::Instant::now();
    system.fire_blocking(system.event(EventKind::Prompt).with_text("prompt", "p"));
    assert!(began.elapsed() < Duration::from_secs(1));
    system.shutdown_blocking();
}

impl World {
    fn configure_every_tool(&self, hook: &Value) {
        let groups = value!([{"hooks": [hook]}]);
        let settings = value!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": groups}});
        self.write("project/.llxprt/settings.json", &settings.to_string());
    }

    fn fire_and_wait(&self) -> Outcome {
        let event = Event::new(KIND, self.path("project")).with_text("tool_name", "t");
        self.builder().build().fire_blocking_with(event, FireOptions::new().wait_for_all())
    }
}

fn entry(enforce: &Value) -> Value {
    value!({"type": "command", "name": "guard", "command": "sh guard.sh", "onFailure": "block", "enforce": enforce})
}

#[test]
fn it_needs_a_grant_and_a_granted_guard_is_not_disarmed_by_the_key() {
    let world = World::empty();
    world.write("project/guard.sh", "touch ran; exit 2\n");
    world.configure_every_tool(&entry(&value!(false)));
    let untrusted = world.fire_and_wait();
    assert!(!world.ran() && untrusted.shadow.is_empty() && !untrusted.is_denied());
    assert_eq!(untrusted.skipped.iter().next().unwrap().why, SkipReason::Untrusted);
    world.grant();
    let granted = world.fire_and_wait();
    assert!(world.ran() && !granted.is_denied());
    assert_eq!(granted.shadow[0].run.decision, Some(Decision::Deny));
    // What had no effect has none when it has changed.
    world.write("project/guard.sh", "exit 0\n");
    let changed = world.fire_and_wait();
    assert!(!changed.is_denied() && changed.shadow.is_empty(), "{changed:?}");
    assert_eq!(changed.skipped.iter().next().unwrap().why, SkipReason::Untrusted);

    let world = World::empty();
    world.write("project/guard.sh", "touch ran; exit 2\n");
    world.configure_every_tool(&entry(&value!(true)));
    world.grant();
    world.configure_every_tool(&entry(&value!(false)));
    let disarmed = world.fire_and_wait();
    assert!(disarmed.is_denied() && !world.ran() && disarmed.shadow.is_empty(), "{disarmed:?}");
    assert!(disarmed.diagnostics.iter().any(|finding| finding.code == Code::TrustChanged));
}

#[test]
fn a_key_of_another_type_is_an_error_and_the_hook_is_enforced() {
    for wrong in [value!("false"), value!(0), value!(null), value!([])] {
        let world = World::empty();
        world.write("project/guard.sh", "exit 2\n");
        world.configure_every_tool(&entry(&wrong));
        world.grant();
        let system = world.builder().build();
        let snapshot = system.snapshot();
        let finding = snapshot.diagnostics().iter().find(|finding| finding.code == Code::SettingType).unwrap();
        assert!(finding.message.contains("`enforce` must be true or false"), "{}", finding.message);
        assert!(finding.location.as_ref().is_some_and(|place| place.line == 1 && place.column > 1));
        assert!(world.fire_and_wait().is_denied());
    }
}
