//! A machine that has no thread left: nothing panics, a guard module fails closed, and nothing of that is remembered.
//!
//! Threads are taken away by a limit on the address space, which leaves no room for a large stack. The limit counts for the
//! whole process, so this file has one test.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

#[path = "it/common.rs"]
mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Project, block_on, limits, reason, runner, tool_call};
use hookrail::module::{ModuleContext, ModuleInspection};
use hookrail::{EndKind, Environment, EventKind, ModuleRunner as _};
use hookrail_js::Modules;
use rustix::process::{Resource, getrlimit, setrlimit};

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// While this exists, no thread with a large stack can be started.
struct Starved(rustix::process::Rlimit);

impl Starved {
    fn begin() -> Self {
        let before = getrlimit(Resource::As);
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
        let mut starved = before;
        starved.current = Some((kib << 10) + (6 << 20));
        setrlimit(Resource::As, starved).unwrap();
        Self(before)
    }
}

impl Drop for Starved {
    fn drop(&mut self) {
        setrlimit(Resource::As, self.0).unwrap();
    }
}

#[test]
fn a_machine_without_threads_fails_a_guard_closed_and_nothing_is_kept_of_that() {
    std::panic::set_hook(Box::new(|panicked| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        eprintln!("{panicked}");
    }));
    let project = Project::new();
    project.write("x.ts", "export default (pi) => { pi.on('tool_call', () => ({ block: true, reason: 'asked' })); };");
    // The hooks are found with small stacks, which the system keeps for later threads; large ones were never there.
    let found = project.system(&["x.ts"]);
    let mut large = limits();
    large.stack = 12 << 20;
    let mut builder = project.builder(&[]).runner(runner(large));
    let location = hookrail::sources::Location::whole_file(std::path::Path::new("host"));
    let origin = hookrail::sources::Origin { kind: hookrail::sources::SourceKind::Native, location };
    let native = hookrail::hook::Action::Native(hookrail::NativeHook::new(|_| hookrail::Effects::default()));
    // An event without modules.
    builder =
        builder.hook(hookrail::Hook::new(EventKind::BeforeModel, hookrail::DialectId::Native, "host", native, origin));
    for hook in found.snapshot().hooks() {
        builder = builder.hook(hookrail::Hook::clone(hook));
    }
    let system = builder.build();
    // The engine's own thread is there before the machine is starved.
    assert_eq!(block_on(system.fire(system.event(EventKind::BeforeModel))).runs.len(), 1);

    let modules = Modules::with_limits(large);
    let world = ModuleContext::new(&project.project, Environment::default().into());
    let file = project.project.join("x.ts");
    {
        let _starved = Starved::begin();
        for _ in 0..2 {
            let outcome = block_on(system.fire(tool_call(&system)));
            assert!(outcome.is_denied(), "{outcome:?}");
            assert_eq!(outcome.runs[0].end, EndKind::SpawnFailed, "{outcome:?}");
            assert!(reason(&outcome).contains("no thread"), "{}", reason(&outcome));
        }
        let inspected = modules.inspect(&file, &world);
        assert!(matches!(inspected, ModuleInspection::OutOfResources(_)), "{inspected:?}");

        // A module that could not be inspected is asked in every event, and fails there.
        let unknown = project.builder(&["x.ts"]).runner(runner(large)).build();
        let outcome = unknown.fire_blocking(tool_call(&unknown));
        assert!(outcome.is_denied(), "{outcome:?}");
        assert_eq!(unknown.snapshot().hooks().len(), 1);
        assert_eq!(unknown.snapshot().diagnostics().len(), 1);
    }
    assert_eq!(reason(&block_on(system.fire(tool_call(&system)))), "asked", "the next event finds it well");
    assert!(matches!(modules.inspect(&file, &world), ModuleInspection::Registered(_)));
    assert_eq!(PANICS.load(Ordering::Relaxed), 0, "nothing has panicked");
}
