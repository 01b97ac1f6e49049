//! A recorder is called exactly once for every fired event, before its outcome is handed out, whatever drives the
//! event.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::common::{hook, json, plugin_hook};
use hookrail::guard::{Approval, Approver, Guard, ToolCall, ToolEnd, ToolOutput};
use hookrail::host::HostFuture;
use hookrail::recorder::{
    Entry, EntryKind, Interest, OnRecordFailure, RecordError, RecordErrorKind, Recorded, Recorder,
};
use hookrail::sources::SourceKind;
use hookrail::{
    Builder, Code, Decision, Effects, Environment, Event, EventKind, Hook, HookSystem, Json, NativeHook, OnFailure,
};

const KIND: EventKind = EventKind::BeforeTool;

/// Keeps one line for every entry.
#[derive(Default)]
struct Lines {
    lines: Mutex<Vec<String>>,
    starts: Mutex<Vec<Option<Duration>>>,
    interest: Interest,
    failure: Option<RecordErrorKind>,
    syncs: bool,
}

impl Recorder for Lines {
    fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
        let line = match &entry.kind {
            EntryKind::Fired(fired) => {
                assert_eq!(fired.outcome.recorded_as.as_deref(), Some(fired.fire));
                assert!(fired.runs.iter().all(|run| run.id.len() == 16 && run.fingerprint.len() == 64));
                *self.starts.lock().unwrap() = fired.runs.iter().map(|run| run.start).collect();
                let decision = fired.outcome.effects.decision.map_or("none", Decision::name);
                let ends: Vec<&str> = fired.runs.iter().map(|run| run.end.name()).collect();
                format!("{} {decision} {}", fired.event.kind(), ends.join(","))
            }
            EntryKind::Late(late) => format!("late {} {} {}", late.event, late.why, late.run.end),
            EntryKind::Answered(answered) => {
                assert!(answered.fire.is_some());
                format!("answered {} {}", answered.operation, answered.answer.name())
            }
            EntryKind::Corrected(corrected) => {
                format!("corrected {} {}", corrected.decision.map_or("none", Decision::name), corrected.reason)
            }
            EntryKind::Lost(lost) => format!("lost {}", lost.loss),
            EntryKind::Trust(trust) => format!("trust {}", trust.change),
        };
        self.lines.lock().unwrap().push(line);
        match self.failure {
            Some(RecordErrorKind::Panicked) => panic!("a recorder that panics"),
            Some(kind) => Err(RecordError::new(kind, "no space left on device")),
            None if self.syncs => Ok(Recorded::Syncing(Box::pin(SecondPoll(false)))),
            None => Ok(Recorded::Done),
        }
    }

    fn interest(&self) -> Interest {
        self.interest
    }
}

/// Is ready when it is polled a second time.
struct SecondPoll(bool);

impl Future for SecondPoll {
    type Output = Result<(), RecordError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(Ok(()));
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Lines {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

fn builder(recorder: &Arc<Lines>) -> Builder {
    let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    HookSystem::builder(std::env::temp_dir()).environment(environment).recorder(Arc::clone(recorder))
}

fn denying() -> Hook {
    Hook::native(KIND, "guard", NativeHook::new(|_| Effects::deny("not today")))
}

fn call(system: &HookSystem) -> Event {
    system.event(KIND).session("s").with_text("tool_name", "write_file").with("tool_input", json(r#"{"path":"a"}"#))
}

fn multi_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

#[test]
fn every_way_to_fire_records_once() {
    for syncs in [false, true] {
        let recorder = Arc::new(Lines { syncs, ..Lines::default() });
        let system = builder(&recorder).hook(denying()).build();
        let denied = "before-tool deny answered";
        assert!(system.fire_blocking(call(&system)).recorded_as.is_some());
        assert_eq!(recorder.take(), [denied], "on the calling thread");
        let runtime = multi_thread();
        runtime.block_on(async { system.fire(call(&system)).await });
        assert_eq!(recorder.take(), [denied], "in a multi-thread runtime");
        let current = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        current.block_on(async { system.fire(call(&system)).await });
        assert_eq!(recorder.take(), [denied], "on the engine's thread");
        current.block_on(async { system.fire_before_tool("write_file", json("{}")).await });
        assert_eq!(recorder.take(), [denied], "by the method of the event");
        runtime.block_on(async { system.fire_blocking(call(&system)) });
        assert_eq!(recorder.take(), [denied], "blocking inside a runtime");
    }
}

#[test]
fn a_nested_fire_is_recorded_too() {
    let recorder = Arc::new(Lines::default());
    let slot: Arc<Mutex<Option<HookSystem>>> = Arc::default();
    let inner = Arc::clone(&slot);
    let firing = NativeHook::new(move |_| {
        let system = inner.lock().unwrap().clone().unwrap();
        let _ = system.fire_blocking(system.event(EventKind::Prompt).with_text("prompt", "p"));
        Effects::none()
    });
    let prompt = Hook::native(EventKind::Prompt, "inner", NativeHook::new(|_| Effects::none()));
    let system = builder(&recorder).hook(Hook::native(KIND, "outer", firing)).hook(prompt).build();
    *slot.lock().unwrap() = Some(system.clone());
    system.fire_blocking(call(&system));
    assert_eq!(recorder.take(), ["prompt none silent", "before-tool none silent"]);
    *slot.lock().unwrap() = None;
}

#[test]
fn an_event_that_no_hook_wants_is_recorded_only_when_it_is_asked_for() {
    let fire_three = |interest| {
        let recorder = Arc::new(Lines { interest, ..Lines::default() });
        let system = builder(&recorder).build();
        system.fire_blocking(call(&system));
        system.fire_blocking(system.event(EventKind::AfterTool));
        let runtime = multi_thread();
        runtime.block_on(async { system.fire_before_tool("write_file", json("{}")).await });
        assert!(!system.has_hooks_for(KIND), "interest is no hook");
        recorder.take()
    };
    assert!(fire_three(Interest::Asked).is_empty());
    assert_eq!(fire_three(Interest::Gating), ["before-tool none ", "before-tool none "]);
    assert_eq!(fire_three(Interest::All), ["before-tool none ", "after-tool none ", "before-tool none "]);
}

#[test]
fn what_the_engine_itself_refuses_is_recorded() {
    let recorder = Arc::new(Lines::default());
    let environment: Environment = [("PATH", "/usr/bin:/bin"), ("HOOKRAIL_DEPTH", "9")].into_iter().collect();
    let system = builder(&recorder).environment(environment).hook(denying()).build();
    system.fire_blocking(call(&system));
    assert_eq!(recorder.take(), ["before-tool deny "], "nested too deep");
    system.shutdown_blocking();
    system.fire_blocking(call(&system));
    multi_thread().block_on(async { system.fire(call(&system)).await });
    assert_eq!(recorder.take(), ["before-tool deny ", "before-tool deny "], "after the shutdown");
}

#[test]
fn an_event_whose_runtime_is_gone_is_recorded_as_abandoned() {
    let recorder = Arc::new(Lines::default());
    let system = builder(&recorder).hook(hook(KIND, "sleep 30", SourceKind::User)).build();
    let runtime = multi_thread();
    let fire = {
        let _inside = runtime.enter();
        system.fire(call(&system))
    };
    runtime.shutdown_timeout(Duration::from_secs(5));
    let current = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = current.block_on(fire);
    assert!(outcome.is_denied());
    // A client of the bus that knows one dialect reads nothing but this.
    let told = hookrail::dialect::llxprt::AggregatedHookResult::from_outcome(&outcome).final_output;
    assert!(told.is_some_and(|told| told.is_blocking_decision()), "{outcome:?}");
    assert_eq!(recorder.take(), ["before-tool deny "]);
}

#[test]
fn a_fire_that_is_dropped_is_recorded_as_cancelled() {
    let recorder = Arc::new(Lines::default());
    let system = builder(&recorder).hook(hook(KIND, "sleep 30", SourceKind::User)).build();
    let runtime = multi_thread();
    runtime.block_on(async {
        drop(system.fire(call(&system)));
        system.shutdown().await;
    });
    let lines = recorder.take();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].ends_with("cancelled"), "{lines:?}");
}

/// A host that has to refer to an event before it has an outcome names it.
#[test]
fn an_event_is_recorded_under_the_name_that_its_host_gives() {
    let recorder = Arc::new(Lines::default());
    let system = builder(&recorder).hook(hook(KIND, "true", SourceKind::User)).build();
    let outcome = system.fire_blocking(call(&system).recorded_as("mine"));
    assert_eq!(outcome.recorded_as.as_deref(), Some("mine"));
    assert_ne!(system.fire_blocking(call(&system)).recorded_as.as_deref(), Some("mine"));
}

#[test]
fn a_detached_hook_gets_an_entry_of_its_own_when_it_has_ended() {
    let recorder = Arc::new(Lines::default());
    let system = builder(&recorder).hook(plugin_hook(EventKind::SessionStart, "exit 3")).build();
    system.fire_blocking(system.event(EventKind::SessionStart).with_text("source", "startup"));
    system.shutdown_blocking();
    assert_eq!(recorder.take(), ["session-start none detached", "late session-start detached exited"]);
}

#[test]
fn runs_have_their_start() {
    let recorder = Arc::new(Lines::default());
    let mut first = hook(KIND, "sleep 0.05", SourceKind::User);
    first.order = hookrail::hook::GroupOrder::Sequential;
    let second = hook(KIND, "true", SourceKind::User);
    let system = builder(&recorder).hook(first).hook(second).build();
    system.fire_blocking(call(&system));
    let starts = recorder.starts.lock().unwrap().clone();
    let (first, second) = (starts[0].unwrap(), starts[1].unwrap());
    assert!(second >= first + Duration::from_millis(50), "{starts:?}");
}

#[test]
fn a_failure_to_record_warns_or_blocks() {
    for kind in [RecordErrorKind::NoSpace, RecordErrorKind::Panicked] {
        for (policy, expected) in [(OnRecordFailure::Warn, None), (OnRecordFailure::Block, Some(Decision::Deny))] {
            let recorder = Arc::new(Lines { failure: Some(kind), ..Lines::default() });
            let rewriting = NativeHook::new(|_| Effects::none().with_tool_input(json(r#"{"path":"b"}"#)));
            let system = builder(&recorder)
                .hook(Hook::native(KIND, "rewrites", rewriting))
                .hook(Hook::native(EventKind::AfterTool, "looks", NativeHook::new(|_| Effects::none())))
                .on_record_failure(policy)
                .build();
            let outcome = system.fire_blocking(call(&system));
            assert_eq!(outcome.effects.decision, expected);
            assert_eq!(outcome.effects.tool_input.is_none(), expected.is_some(), "a denied call has no new input");
            assert!(outcome.recorded_as.is_none());
            assert!(outcome.diagnostics.iter().any(|finding| finding.code == Code::RecordFailed));
            // What cannot be denied is never blocked.
            let after = system.fire_blocking(system.event(EventKind::AfterTool));
            assert_eq!(after.effects.decision, None);
            assert_eq!(recorder.take().len(), 2);
        }
    }
}

/// Too much waits for being copied: what is recorded is the outcome that the host gets.
#[test]
fn a_backlog_is_recorded_with_the_outcome_that_it_causes() {
    #[derive(Default)]
    struct Limited(Lines);
    impl Recorder for Limited {
        fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
            let EntryKind::Fired(fired) = &entry.kind else { panic!("{entry:?}") };
            match fired.outcome.diagnostics.iter().any(|finding| finding.code == Code::RecordFailed) {
                true => self.0.record(entry),
                false => Err(RecordError::new(RecordErrorKind::Backlog, "3 wait")),
            }
        }
    }
    for (policy, expected) in [(OnRecordFailure::Warn, None), (OnRecordFailure::Block, Some(Decision::Deny))] {
        let recorder = Arc::new(Limited::default());
        let looks = Hook::native(KIND, "looks", NativeHook::new(|_| Effects::none()));
        let builder = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(looks);
        let system = builder.recorder(Arc::clone(&recorder)).on_record_failure(policy).build();
        let outcome = system.fire_blocking(call(&system));
        assert_eq!(outcome.effects.decision, expected);
        assert!(outcome.recorded_as.is_some(), "it is recorded");
        let messages: Vec<&str> = outcome.diagnostics.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, ["3 wait"]);
        let decision = expected.map_or("none", Decision::name);
        assert_eq!(recorder.0.take(), [format!("before-tool {decision} silent")]);
    }
}

/// A record that is written and cannot be made safe is followed by one that has the outcome of the host.
#[test]
fn a_record_that_is_not_safe_is_corrected() {
    #[derive(Default)]
    struct Unsafe(Lines);
    impl Recorder for Unsafe {
        fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
            self.0.record(entry)?;
            let failed = RecordError::new(RecordErrorKind::Io, "the disk is gone");
            Ok(Recorded::Syncing(Box::pin(std::future::ready(Err(failed)))))
        }
    }
    for (policy, expected) in [(OnRecordFailure::Warn, None), (OnRecordFailure::Block, Some(Decision::Deny))] {
        let recorder = Arc::new(Unsafe::default());
        let looks = Hook::native(KIND, "looks", NativeHook::new(|_| Effects::none()));
        let builder = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(looks);
        let system = builder.recorder(Arc::clone(&recorder)).on_record_failure(policy).build();
        let decision = expected.map_or("none", Decision::name);
        let expected_lines = [
            "before-tool none silent".to_owned(),
            format!("corrected {decision} the event was not recorded: the disk is gone"),
        ];
        assert_eq!(system.fire_blocking(call(&system)).effects.decision, expected);
        assert_eq!(recorder.0.take(), expected_lines);
        multi_thread().block_on(async { system.fire(call(&system)).await });
        assert_eq!(recorder.0.take(), expected_lines);
    }
}

/// Events in which no hook takes part wait for their records together, on one thread that goes on meanwhile.
#[test]
fn events_without_hooks_share_a_wait_and_block_no_thread() {
    /// Makes no record safe before there are that many.
    struct Together(tokio::sync::watch::Sender<usize>);
    impl Recorder for Together {
        fn record(&self, _: &Entry<'_>) -> Result<Recorded, RecordError> {
            self.0.send_modify(|count| *count += 1);
            let mut count = self.0.subscribe();
            Ok(Recorded::Syncing(Box::pin(async move {
                count.wait_for(|count| *count >= 16).await.unwrap();
                Ok(())
            })))
        }

        fn interest(&self) -> Interest {
            Interest::All
        }
    }
    let recorder = Together(tokio::sync::watch::channel(0).0);
    let system = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).recorder(recorder).build();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let all: Vec<_> = (0..16).map(|_| tokio::spawn(system.fire(call(&system)))).collect();
        for one in all {
            assert!(one.await.unwrap().recorded_as.is_some());
        }
    });
}

struct Says(Approval);

impl Approver for Says {
    fn approve<'a>(&'a self, _: &'a str, _: &'a Json, _: Option<&'a str>) -> HostFuture<'a, Approval> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}

#[test]
fn the_answer_of_the_user_is_recorded() {
    let runtime = multi_thread();
    let ends = [
        (Approval::Granted, "granted", ToolEnd::Ran),
        (Approval::Refused("no".to_owned()), "refused", ToolEnd::Denied),
        (Approval::Unavailable, "unavailable", ToolEnd::Denied),
    ];
    for (approval, word, end) in ends {
        let recorder = Arc::new(Lines::default());
        let asks = Hook::native(KIND, "asks", NativeHook::new(|_| Effects::ask("sure?")));
        let system = builder(&recorder).hook(asks).build();
        let guard = Guard::new(system, "s").approver(Says(approval));
        let call = ToolCall::new("1", "write_file", Json::empty_object());
        let result = runtime.block_on(guard.tool_call(call, |_| async { Ok(ToolOutput::text("done")) }));
        assert_eq!(result.end, end);
        assert_eq!(recorder.take(), ["before-tool ask answered", &format!("answered write_file {word}")]);
    }
}

/// Keeps the id and the fingerprint of every run.
#[derive(Default)]
struct Ids(Mutex<Vec<(String, String)>>);
impl Recorder for Ids {
    fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
        if let EntryKind::Fired(fired) = &entry.kind {
            let ids = fired.runs.iter().map(|run| (run.id.clone(), run.fingerprint.clone()));
            self.0.lock().unwrap().extend(ids);
        }
        Ok(Recorded::Done)
    }
}

impl Ids {
    fn take(&self) -> Vec<(String, String)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Two hooks of one name, such as guards for two tools, are told apart, and each keeps its id.
#[test]
fn hooks_of_one_name_have_ids_of_their_own() {
    let ids = Arc::new(Ids::default());
    let fire = |policies: &[OnFailure]| {
        let builder = HookSystem::builder(std::env::temp_dir()).environment(Environment::new());
        let named = policies.iter().map(|policy| {
            let mut guard = Hook::native(KIND, "guard", NativeHook::new(|_| Effects::none()));
            guard.on_failure = *policy;
            guard
        });
        let system = named.fold(builder.recorder(Arc::clone(&ids)), Builder::hook).build();
        system.fire_blocking(call(&system));
        ids.take().into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    let both = fire(&[OnFailure::Allow, OnFailure::Allow]);
    assert_eq!(both.len(), 2);
    assert_ne!(both[0], both[1]);
    assert_eq!(fire(&[OnFailure::Block, OnFailure::Allow]), both);
    assert_eq!(fire(&[OnFailure::Allow]), both[..1]);
}

/// The version in a record is that of the script that ran, also of one outside of the project and in a process that goes on.
#[test]
fn the_fingerprint_follows_the_files_of_a_hook() {
    let place = tempfile::tempdir().unwrap();
    let (home, project) = (place.path().join("home"), place.path().join("project"));
    std::fs::create_dir_all(home.join("hooks")).unwrap();
    std::fs::create_dir_all(&project).unwrap();
    let script = home.join("hooks/guard.sh");
    std::fs::write(&script, "exit 0\n").unwrap();
    let environment = Environment::new().with("PATH", "/usr/bin:/bin").with("HOME", &home);
    for command in ["sh ~/hooks/guard.sh", "sh $HOME/hooks/guard.sh", &format!("sh {}", script.display())] {
        let ids = Arc::new(Ids::default());
        let system = || {
            let builder = HookSystem::builder(&project).environment(environment.clone());
            builder.recorder(Arc::clone(&ids)).hook(hook(KIND, command, SourceKind::User)).build()
        };
        let running = system();
        let fired = |system: &HookSystem| {
            assert_eq!(system.fire_blocking(call(system)).runs.len(), 1);
            ids.take().remove(0)
        };
        let (id, first) = fired(&running);
        assert_eq!(fired(&running), (id.clone(), first.clone()), "{command}");
        std::fs::write(&script, "exit 2 # now it denies\n").unwrap();
        let (same, second) = fired(&running);
        assert_eq!(same, id);
        assert_ne!(second, first, "{command}");
        assert_eq!(fired(&system()), (same, second), "another process: {command}");
        std::fs::write(&script, "exit 0\n").unwrap();
        assert_eq!(fired(&running), (id, first), "{command}");
    }
    // What a hook writes is no part of it.
    let ids = Arc::new(Ids::default());
    let builder = HookSystem::builder(&project).environment(environment);
    let keeps_a_log = hook(KIND, "tee -a ~/hooks.log", SourceKind::User);
    let system = builder.recorder(Arc::clone(&ids)).hook(keeps_a_log).build();
    (0..3).for_each(|_| drop(system.fire_blocking(call(&system))));
    let ids = ids.take();
    assert!(home.join("hooks.log").exists() && ids.windows(2).all(|pair| pair[0] == pair[1]), "{ids:?}");
}

#[test]
fn a_hook_keeps_its_id_when_its_definition_changes() {
    let ids = Arc::new(Ids::default());
    for policy in [OnFailure::Allow, OnFailure::Block] {
        let mut changed = hook(KIND, "true", SourceKind::User);
        changed.on_failure = policy;
        let system = HookSystem::builder(std::env::temp_dir())
            .environment([("PATH", "/usr/bin:/bin")].into_iter().collect())
            .recorder(Arc::clone(&ids))
            .hook(changed)
            .build();
        system.fire_blocking(call(&system));
    }
    let ids = ids.take();
    assert_eq!(ids[0].0, ids[1].0);
    assert_ne!(ids[0].1, ids[1].1);
}

/// What a record and the document of the outcome say about a run is the same.
#[test]
fn a_document_names_runs_as_the_record_does() {
    type Named = (String, String, Option<Duration>);
    #[derive(Default)]
    struct Runs(Mutex<Vec<Named>>, Mutex<String>);
    impl Recorder for Runs {
        fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
            if let EntryKind::Fired(fired) = &entry.kind {
                let runs = fired.runs.iter().map(|run| (run.id.clone(), run.fingerprint.clone(), run.start));
                self.0.lock().unwrap().extend(runs);
                *self.1.lock().unwrap() = fired.configuration.hex();
            }
            Ok(Recorded::Done)
        }
    }
    let recorder = Arc::new(Runs::default());
    let system = HookSystem::builder(std::env::temp_dir())
        .environment([("PATH", "/usr/bin:/bin")].into_iter().collect())
        .recorder(Arc::clone(&recorder))
        .hook(hook(KIND, "true", SourceKind::User))
        .build();
    let document = hookrail::document::outcome_document(&system.fire_blocking(call(&system))).to_value();
    let (id, fingerprint, start) = recorder.0.lock().unwrap()[0].clone();
    let run = &document["runs"][0];
    assert_eq!((run["id"].as_str(), run["fingerprint"].as_str()), (Some(&*id), Some(&*fingerprint)));
    let milliseconds = start.unwrap().as_secs_f64() * 1e3;
    assert!((run["startedMs"].as_f64().unwrap() - milliseconds).abs() < 0.01, "{run} {milliseconds}");
    assert_eq!(document["configuration"]["digest"].as_str(), Some(&**recorder.1.lock().unwrap()));
    let untouched = system.fire_blocking(system.event(EventKind::AfterTool));
    assert!(hookrail::document::outcome_document(&untouched).to_value()["configuration"].is_null());
}
