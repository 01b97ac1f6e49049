//! The other suites once more, with every event answered on the thread that waits for it.

#![allow(clippy::duplicate_mod, reason = "each suite brings what it stands on")]

#[path = "common.rs"]
mod common;
#[path = "documented.rs"]
mod documented;
#[path = "host.rs"]
mod host;
#[path = "misbehaviour.rs"]
mod misbehaviour;
#[path = "packages.rs"]
mod packages;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread::{self, ThreadId};
use std::time::Duration;

use self::common::Project;
use hookrail::host::NoticeLevel;
use hookrail::module::{ModuleCall, ModuleContext, ModuleReturn};
use hookrail::process::RawEnd;
use hookrail::{Environment, Host, ModuleRunner as _};
use hookrail_js::Modules;

/// A host that remembers on which threads it was spoken to.
#[derive(Default)]
struct Listener(Mutex<Vec<ThreadId>>);

impl Host for Listener {
    fn has_user(&self) -> bool {
        true
    }

    fn notify(&self, _text: &str, _level: NoticeLevel) {
        self.0.lock().unwrap().push(thread::current().id());
    }
}

/// Asks a module that speaks to its host, and gives the threads it did that on.
fn asked(modules: &Modules, file: &Path, payload: &str) -> (Vec<ThreadId>, ModuleReturn) {
    let host = Arc::new(Listener::default());
    let world = ModuleContext::new("/", Arc::new(Environment::default()));
    let call = ModuleCall {
        module: file,
        event: "tool_call",
        payload,
        timeout: Duration::from_secs(20),
        world,
        host: Arc::clone(&host) as Arc<dyn Host>,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let returned = runtime.block_on(modules.call_here(call));
    let threads = host.0.lock().unwrap().clone();
    (threads, returned)
}

const SPEAKS: &str = "export default (pi) => { pi.on('tool_call', async (event, ctx) => { ctx.ui.notify('first'); \
    if (event.waits) { await new Promise((done) => setTimeout(done, 1)); ctx.ui.notify('second'); } }); };";

#[test]
fn a_loaded_module_answers_on_the_thread_that_waits_and_goes_on_on_its_own() {
    let project = Project::new();
    let file = project.write("x.ts", SPEAKS);
    let modules = hookrail_js::modules();
    let own = asked(&modules, &file, "{}").0;
    let here = thread::current().id();
    assert_ne!(own, [here], "loading is for its own thread");
    assert_eq!(asked(&modules, &file, "{}").0, [here]);
    let (threads, returned) = asked(&modules, &file, r#"{"waits":true}"#);
    assert_eq!(threads, [here, own[0]]);
    assert!(matches!(returned.how, RawEnd::Returned(None)), "{returned:?}");
}

#[test]
fn an_event_does_not_overtake_one_that_was_sent_before() {
    let project = Project::new();
    let source = "const seen = []; export default (pi) => { pi.on('tool_call', (event) => { if (event.n) seen.push(event.n); \
        return { block: true, reason: seen.join() }; }); };";
    let file = project.write("x.ts", source);
    let modules = hookrail_js::modules();
    asked(&modules, &file, "{}");
    for _ in 0..20 {
        let world = ModuleContext::new("/", Arc::new(Environment::default()));
        let time = Duration::from_secs(20);
        let call = ModuleCall {
            module: &file,
            event: "tool_call",
            payload: r#"{"n":1}"#,
            timeout: time,
            world,
            host: Arc::new(Listener::default()),
        };
        let mut sent = modules.call(call);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        // Asked once, it is on its way.
        let answer = runtime.block_on(std::future::poll_fn(|context| Poll::Ready(sent.as_mut().poll(context))));
        asked(&modules, &file, r#"{"n":2}"#);
        if answer.is_pending() {
            runtime.block_on(sent);
        }
    }
    let RawEnd::Returned(Some(result)) = asked(&modules, &file, "{}").1.how else { panic!("it always blocks") };
    let reason = result.to_value()["reason"].as_str().unwrap().to_owned();
    assert_eq!(reason, ["1,2"; 20].join(","));
}

#[test]
fn a_thread_with_little_stack_is_left_alone() {
    let project = Project::new();
    let file = project.write("x.ts", SPEAKS);
    let modules = Arc::new(hookrail_js::modules());
    let own = asked(&modules, &file, "{}").0;
    // The C library may hand out a stack that another thread has left, of up to four times this size.
    let small = thread::Builder::new().stack_size(256 << 10);
    let threads = small.spawn(move || asked(&modules, &file, "{}").0).unwrap().join().unwrap();
    assert_eq!(threads, own);
}

#[test]
fn while_one_thread_has_the_module_another_waits_for_it() {
    let project = Project::new();
    let source = "export default (pi) => { pi.on('tool_call', () => { for (const end = Date.now() + 100; Date.now() < end; ); }); };";
    let file = project.write("x.ts", source);
    let modules = Arc::new(hookrail_js::modules());
    asked(&modules, &file, "{}");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (modules, file) = (Arc::clone(&modules), file.clone());
            thread::spawn(move || asked(&modules, &file, "{}").1)
        })
        .collect();
    for thread in threads {
        let returned = thread.join().unwrap();
        assert!(matches!(returned.how, RawEnd::Returned(None)), "{returned:?}");
    }
}

/// Asks a module from a task of a runtime with several threads, as a host does: the first poll is made where blocking is
/// allowed, and gives the answer if the module was idle.
async fn asked_in_place(modules: Arc<Modules>, file: PathBuf) -> (bool, Vec<ThreadId>, ModuleReturn) {
    let host = Arc::new(Listener::default());
    let world = ModuleContext::new("/", Arc::new(Environment::default()));
    let (time, told) = (Duration::from_secs(20), Arc::clone(&host) as Arc<dyn Host>);
    let mut calling = modules.call_here(ModuleCall {
        module: &file,
        event: "tool_call",
        payload: "{}",
        timeout: time,
        world,
        host: told,
    });
    let first =
        std::future::poll_fn(|context| Poll::Ready(tokio::task::block_in_place(|| calling.as_mut().poll(context))));
    let here = thread::current().id();
    let (at_once, returned) = match first.await {
        Poll::Ready(returned) => (true, returned),
        Poll::Pending => (false, calling.await),
    };
    let threads = host.0.lock().unwrap().clone();
    (at_once && threads == [here], threads, returned)
}

#[test]
fn a_task_of_a_runtime_gets_the_answer_of_an_idle_module_on_its_own_thread() {
    let project = Project::new();
    let file = project.write("x.ts", SPEAKS);
    let modules = Arc::new(hookrail_js::modules());
    asked(&modules, &file, "{}");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for _ in 0..20 {
        let task = runtime.spawn(asked_in_place(Arc::clone(&modules), file.clone()));
        let (in_place, threads, returned) = runtime.block_on(task).unwrap();
        assert!(in_place, "{threads:?}");
        assert!(matches!(returned.how, RawEnd::Returned(None)), "{returned:?}");
    }
}

#[test]
fn tasks_that_ask_at_once_get_their_answers_whatever_thread_gives_them() {
    let project = Project::new();
    let file = project.write("x.ts", SPEAKS);
    let modules = Arc::new(hookrail_js::modules());
    // The module is not loaded yet.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let tasks: Vec<_> = (0..16).map(|_| runtime.spawn(asked_in_place(Arc::clone(&modules), file.clone()))).collect();
    for task in tasks {
        let (_, threads, returned) = runtime.block_on(task).unwrap();
        assert_eq!(threads.len(), 1);
        assert!(matches!(returned.how, RawEnd::Returned(None)), "{returned:?}");
    }
    // An answer that comes at once needs no timers.
    let untimed = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let task = untimed.spawn(asked_in_place(Arc::clone(&modules), file));
    assert!(untimed.block_on(task).unwrap().0);
}

/// A host that asks another module, on the same thread, whenever it is spoken to.
struct Relay {
    modules: Modules,
    other: PathBuf,
    heard: Mutex<Vec<String>>,
}

impl Host for Relay {
    fn has_user(&self) -> bool {
        true
    }

    fn notify(&self, text: &str, _level: NoticeLevel) {
        let world = ModuleContext::new("/", Arc::new(Environment::default()));
        let (time, host) = (Duration::from_secs(20), Arc::new(Listener::default()));
        let call = ModuleCall { module: &self.other, event: "tool_call", payload: "{}", timeout: time, world, host };
        let returned = common::block_on(self.modules.call_here(call));
        let RawEnd::Returned(Some(result)) = returned.how else { panic!("{returned:?}") };
        self.heard.lock().unwrap().push(format!("{text}: {}", result.text()));
    }
}

#[test]
fn a_module_goes_on_as_itself_after_another_one_ran_on_its_thread() {
    let project = Project::new();
    let outer = project.write(
        "outer.ts",
        "export default (pi) => { pi.on('tool_call', (_, ctx) => { console.log('before'); ctx.ui.notify('first'); \
         console.log('between'); ctx.ui.notify('second'); console.log('after'); \
         return { block: true, reason: 'outer' }; }); };",
    );
    let inner = project.write(
        "inner.ts",
        "let calls = 0; export default (pi) => { pi.on('tool_call', () => { console.log('inner'); \
         return { block: true, reason: `inner ${++calls}` }; }); };",
    );
    let modules = hookrail_js::modules();
    asked(&modules, &inner, "{}");
    let relay = Arc::new(Relay { modules, other: inner, heard: Mutex::default() });
    let world = ModuleContext::new("/", Arc::new(Environment::default()));
    for count in [2, 4] {
        // The first time it is loaded and asked on its own thread, the second time here.
        let host = Arc::clone(&relay) as Arc<dyn Host>;
        let time = Duration::from_secs(20);
        let call =
            ModuleCall { module: &outer, event: "tool_call", payload: "{}", timeout: time, world: world.clone(), host };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let returned = runtime.block_on(relay.modules.call_here(call));
        let printed = String::from_utf8(returned.stdout.bytes.clone()).unwrap();
        assert_eq!(printed, "before\nbetween\nafter\n", "{returned:?}");
        assert!(
            matches!(&returned.how, RawEnd::Returned(Some(result)) if result.text().contains("outer")),
            "{returned:?}"
        );
        let heard = relay.heard.lock().unwrap();
        assert_eq!(heard.len(), count);
        assert!(heard.last().unwrap().contains(&format!("inner {}", count + 1)), "{heard:?}");
    }
}
