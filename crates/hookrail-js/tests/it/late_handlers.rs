//! Handlers that a module registers while it runs count from then on, and are not lost silently.

use hookrail::{Decision, Event, EventKind, HookSystem};

use super::common::{Project, block_on, json, reason, tool_call};

const GUARD: &str = "export default (pi) => {
    pi.on('session_start', () => { pi.on('tool_call', () => ({ block: true, reason: 'late' })); });
    pi.on('turn_start', () => { for (;;) {} });
};";

fn start(system: &HookSystem) -> Event {
    system.event(EventKind::SessionStart).with_text("source", "startup")
}

#[test]
fn a_guard_that_a_handler_registers_is_asked_from_then_on() {
    let project = Project::new();
    let system = project.module(GUARD);
    let before = block_on(system.fire(tool_call(&system)));
    assert_eq!(before.effects.decision, None, "it is not there before the session starts");
    assert!(!system.wants(EventKind::BeforeTool));
    block_on(system.fire(start(&system)));
    for _ in 0..2 {
        let after = block_on(system.fire(tool_call(&system)));
        assert_eq!((after.effects.decision, reason(&after).as_str()), (Some(Decision::Deny), "late"));
    }
    assert!(system.snapshot().hooks().iter().any(|hook| hook.event == EventKind::BeforeTool));
    assert!(!system.wants(EventKind::AfterTool), "other events are as cheap as before");
}

#[test]
fn a_blocking_caller_asks_it_too() {
    let project = Project::new();
    let system = project.module(GUARD);
    system.fire_blocking(start(&system));
    assert_eq!(reason(&system.fire_blocking(tool_call(&system))), "late");
}

#[test]
fn a_guard_whose_runtime_was_ended_blocks() {
    let project = Project::new();
    let system = project.module(GUARD);
    block_on(system.fire(start(&system)));
    assert_eq!(reason(&block_on(system.fire(tool_call(&system)))), "late");
    // It works without end, so its runtime is ended, and a new one has not heard that the session started.
    block_on(system.fire(system.event(EventKind::TurnStart).with("turn_index", json("0"))));
    let lost = block_on(system.fire(tool_call(&system)));
    assert_eq!(lost.effects.decision, Some(Decision::Deny));
    assert!(reason(&lost).contains("is gone with its runtime"), "{}", reason(&lost));
    block_on(system.fire(start(&system)));
    assert_eq!(reason(&block_on(system.fire(tool_call(&system)))), "late", "it is there again");
}

#[test]
fn a_new_version_that_registers_at_once_needs_no_session() {
    let project = Project::new();
    let system = project.module(GUARD);
    block_on(system.fire(start(&system)));
    assert_eq!(reason(&block_on(system.fire(tool_call(&system)))), "late");
    project.write("x.ts", "export default (pi) => pi.on('tool_call', () => ({ block: true, reason: 'new' }));");
    system.reload();
    assert_eq!(reason(&block_on(system.fire(tool_call(&system)))), "new");
}
