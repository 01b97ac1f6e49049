//! Handlers that a module registers while it runs count from then on, and are not lost silently.

use hookrail::{Decision, Event, EventKind, HookSystem};

use super::common::{Project, block_on, eventually, json, reason, tool_call};

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
    assert!(!system.has_hooks_for(EventKind::BeforeTool));
    block_on(system.fire(start(&system)));
    for _ in 0..2 {
        let after = block_on(system.fire(tool_call(&system)));
        assert_eq!((after.effects.decision, reason(&after).as_str()), (Some(Decision::Deny), "late"));
    }
    assert!(system.snapshot().hooks().iter().any(|hook| hook.event == EventKind::BeforeTool));
    assert!(!system.has_hooks_for(EventKind::AfterTool), "other events are as cheap as before");
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

/// A factory that registers a guard in this way after it has returned.
fn factory(registers: &str) -> String {
    format!(
        "import {{ readFile }} from 'node:fs';\nimport {{ readFile as read }} from 'node:fs/promises';\n\
         export default (pi) => {{ const guard = () => pi.on('tool_call', (event) =>\n\
         event.input.command === 'ls' ? {{ block: true, reason: 'late' }} : undefined);\n{registers}\n}};"
    )
}

fn another_call(system: &HookSystem) -> Event {
    let input = json(r#"{"command":"true"}"#);
    system.event(EventKind::BeforeTool).with_text("tool_name", "bash").with("tool_input", input)
}

#[test]
fn a_guard_that_the_factory_registers_later_is_asked_from_the_first_event_on() {
    let ways = [
        "Promise.resolve().then(guard);",
        "queueMicrotask(guard);",
        "setImmediate(guard);",
        "setTimeout(guard, 30);",
        "setTimeout(() => setTimeout(guard, 10), 10);",
        "const look = setInterval(() => { clearInterval(look); guard(); }, 30);",
        "read('x.ts').then(guard);",
        "readFile('x.ts', guard);",
        "import('node:os').then(guard);",
        "pi.exec('true', []).then(guard).catch(() => {});",
        "pi.on('turn_end', () => {}); (async () => { await null; await read('x.ts'); guard(); })();",
    ];
    for way in ways {
        let project = Project::new();
        let system = project.module(&factory(way));
        assert!(system.has_hooks_for(EventKind::BeforeTool), "{way}");
        for _ in 0..2 {
            let denied = block_on(system.fire(tool_call(&system)));
            assert_eq!((denied.effects.decision, reason(&denied).as_str()), (Some(Decision::Deny), "late"), "{way}");
        }
        let passed = block_on(system.fire(another_call(&system)));
        assert_eq!(passed.effects.decision, None, "{way}: {:?}", passed.effects.reason);
    }
}

#[test]
fn work_of_a_factory_that_registers_nothing_blocks_nothing() {
    for work in ["setTimeout(() => {}, 5);", "setInterval(() => {}, 5);", "pi.exec('true', []).catch(() => {});", ""] {
        let project = Project::new();
        let system = project.module(&factory(work));
        let outcome = block_on(system.fire(tool_call(&system)));
        assert_eq!(outcome.effects.decision, None, "{work}: {:?}", outcome.effects.reason);
    }
}

#[test]
fn a_guard_that_comes_after_the_first_event_is_asked_from_then_on() {
    let project = Project::new();
    let waits = "const look = setInterval(() => readFile('go', (error) => { if (!error) { clearInterval(look); guard(); } }), 5);";
    let system = project.module(&factory(waits));
    let said: Vec<String> = system.snapshot().diagnostics().iter().map(|finding| finding.message.clone()).collect();
    assert!(said.iter().any(|text| text.contains("is known only when it runs")), "{said:?}");
    block_on(system.fire(start(&system)));
    assert_eq!(block_on(system.fire(tool_call(&system))).effects.decision, None, "it is not there yet");
    project.write("go", "");
    eventually("the guard denies", || reason(&block_on(system.fire(tool_call(&system)))) == "late");
}

#[test]
fn a_factory_whose_work_had_to_be_stopped_blocks() {
    let project = Project::new();
    let system = project.module(&factory("setTimeout(() => { for (;;) {} }, 1);"));
    for _ in 0..2 {
        assert_eq!(block_on(system.fire(tool_call(&system))).effects.decision, Some(Decision::Deny));
    }
}
