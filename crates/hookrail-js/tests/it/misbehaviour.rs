//! Modules that misbehave fail alone, in a typed way, within their budget, and the next event finds them usable.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::common::{Project, Scripted, ask, block_on, eventually, json, limits, reason, runner, tool_call};
use hookrail::{Code, EndKind, EventKind, FireOptions, HookSystem};
use hookrail_js::RuntimeLimits;

/// A module that misbehaves at its first tool call and is well afterwards; its neighbour is always well. Both have been
/// loaded before, because a module is always loaded on its own thread.
fn check(body: &str, end: EndKind) {
    let project = Project::new();
    let source = format!(
        "import {{ existsSync, writeFileSync }} from 'node:fs';\nexport default (pi) => {{ pi.on('turn_start', () => {{}}); pi.on('tool_call', async () => {{\n  \
         if (existsSync('done')) return {{ block: true, reason: 'well again' }};\n  writeFileSync('done', '');\n  {body}\n}}); }};"
    );
    project.write("bad.ts", &source);
    project.write("good.ts", "let n = 0; export default (pi) => { pi.on('turn_start', () => {}); pi.on('tool_call', () => console.log(++n)); };");
    let mut limits = limits();
    if end == EndKind::Limit {
        // The limit that is meant has to be the first one to be reached.
        (limits.memory, limits.cpu) = (16 << 20, Duration::from_secs(5));
    }
    let system = project.system_with(&["good.ts", "bad.ts"], limits);
    assert_eq!(system.fire_blocking(system.event(EventKind::TurnStart)).runs.len(), 2);
    let began = Instant::now();
    let outcome = system.fire_blocking(tool_call(&system));
    assert!(began.elapsed() < Duration::from_secs(8), "{body}");
    assert!(outcome.is_denied(), "a guard that fails blocks: {body}");
    assert_eq!(outcome.runs[1].end, end, "{body}: {outcome:?}");
    assert_eq!(outcome.runs[0].stdout, "1\n");
    let again = system.fire_blocking(tool_call(&system));
    assert_eq!(reason(&again), "well again", "{body}");
    assert_eq!(again.runs[0].stdout, "2\n", "the neighbour kept its state");
}

#[test]
fn an_endless_loop() {
    check("for (;;) {}", EndKind::TimedOut);
}

#[test]
fn an_endless_loop_while_another_event_waits_for_the_module_to_be_loaded() {
    let project = Project::new();
    let system = project.module(
        "import { existsSync, writeFileSync } from 'node:fs';\nexport default async (pi) => {\n  \
         pi.on('tool_call', () => { if (existsSync('done')) return { block: true, reason: 'well' }; writeFileSync('done', ''); for (;;) {} });\n  \
         await new Promise((done) => setTimeout(done, 200));\n};",
    );
    let other = system.clone();
    let began = Instant::now();
    let asked = std::thread::spawn(move || other.fire_blocking(tool_call(&other)));
    let outcomes = [system.fire_blocking(tool_call(&system)), asked.join().unwrap()];
    assert!(began.elapsed() < Duration::from_secs(8));
    let mut ends = outcomes.map(|outcome| outcome.runs[0].end);
    ends.sort_by_key(|end| *end == EndKind::TimedOut);
    assert_eq!(ends, [EndKind::Answered, EndKind::TimedOut]);
}

#[test]
fn an_endless_loop_in_a_catch() {
    check("for (;;) { try { for (;;) {} } catch {} }", EndKind::TimedOut);
}

#[test]
fn endless_microtasks() {
    check(
        "const again = () => { Promise.resolve().then(again); }; again(); await new Promise(() => {});",
        EndKind::TimedOut,
    );
}

#[test]
fn a_loop_in_a_timer() {
    check("await new Promise(() => setTimeout(() => { for (;;) {} }, 1));", EndKind::TimedOut);
}

#[test]
fn a_memory_bomb() {
    check("const all = []; for (;;) all.push(new Array(10000).fill('x'));", EndKind::Limit);
}

#[test]
fn a_memory_bomb_that_stays_reachable() {
    check("globalThis.all = []; for (;;) globalThis.all.push(new Uint8Array(1 << 20));", EndKind::Limit);
}

#[test]
fn deep_recursion() {
    check("const f = () => f() + 1; f();", EndKind::Limit);
}

#[test]
fn a_stack_without_a_limit_is_not_to_be_had() {
    for stack in [0, 12 << 20, usize::MAX] {
        let project = Project::new();
        let mut limits = limits();
        (limits.stack, limits.cpu, limits.memory) = (stack, Duration::from_secs(20), 1 << 30);
        project
            .write("x.ts", "export default (pi) => { pi.on('tool_call', () => { const f = () => f() + 1; f(); }); };");
        let system = project.system_with(&["x.ts"], limits);
        let outcome = system.fire_blocking(tool_call(&system));
        assert!(outcome.is_denied(), "{stack}: {outcome:?}");
        assert_eq!(outcome.runs[0].end, EndKind::Limit, "{stack}: {outcome:?}");
    }
}

#[test]
fn deep_nesting_in_a_result() {
    check("let a = { block: false }; for (let i = 0; i < 1e5; i++) a = { a }; return a;", EndKind::Limit);
}

#[test]
fn a_lost_rejection() {
    check("Promise.reject(new Error('lost'));", EndKind::Threw);
}

#[test]
fn a_promise_that_never_settles() {
    check("await new Promise(() => {});", EndKind::Threw);
}

#[test]
fn a_getter_that_throws() {
    check("return { get block() { throw new Error('gotcha'); } };", EndKind::Threw);
}

#[test]
fn an_error_that_cannot_be_shown() {
    check("throw { toString() { throw 1; } };", EndKind::Threw);
}

/// A tool call with a time limit, of a module that has been loaded before.
fn with_time(project: &Project, source: &str, time: Duration, limits: RuntimeLimits) -> HookSystem {
    let path =
        project.write("x.ts", format!("export default (pi) => {{ pi.on('turn_start', () => {{}}); {source} }};"));
    let found = project.system(&["x.ts"]);
    let mut builder = project.builder(&[]).runner(runner(limits));
    for hook in found.snapshot().hooks() {
        let mut hook = hookrail::Hook::clone(hook);
        if hook.event == EventKind::BeforeTool {
            hook.timeout = time;
        }
        builder = builder.hook(hook);
    }
    let system = builder.build();
    let loaded = system.fire_blocking(system.event(EventKind::TurnStart));
    assert_eq!(loaded.runs.len(), 1, "{} is loaded", path.display());
    system
}

/// Fires a tool call whose first handler takes longer than its time, and one that is well.
fn check_time(source: &str) {
    let project = Project::new();
    let mut limits = limits();
    limits.cpu = Duration::from_secs(20);
    let source = format!(
        "pi.on('tool_call', async () => {{ if (!existsSync('done')) {{ writeFileSync('done', ''); {source} }} }});"
    );
    let imports = "const { existsSync, writeFileSync } = await import('node:fs'); const { execSync } = await import('node:child_process');";
    let source = source.replace("async () => {", &format!("async () => {{ {imports}"));
    let system = with_time(&project, &source, Duration::from_millis(200), limits);
    let began = Instant::now();
    let outcome = system.fire_blocking(tool_call(&system));
    assert_eq!(outcome.runs[0].end, EndKind::TimedOut, "{outcome:?}");
    assert!(outcome.is_denied());
    assert!(began.elapsed() < Duration::from_secs(5), "the answer does not wait for the module");
    // Not another tool call: a machine that is busy may need longer than its time to load the module anew.
    let next = system.fire_blocking(system.event(EventKind::TurnStart));
    assert_eq!(next.runs[0].end, EndKind::Silent, "the next event finds it usable");
}

#[test]
fn the_wall_clock_ends_what_blocks_too_long() {
    check_time("execSync('sleep 20');");
}

#[test]
fn the_wall_clock_ends_what_works_too_long() {
    check_time("for (;;) {}");
}

#[test]
fn the_wall_clock_ends_what_waits_too_long() {
    check_time("await new Promise((done) => setTimeout(done, 20_000));");
}

#[test]
fn a_host_that_panics_fails_the_handler_and_nothing_else() {
    let project = Project::new();
    let system = project.module(
        "let n = 0; export default (pi) => { pi.on('turn_start', () => console.log(++n)); pi.on('tool_call', (_, ctx) => { ctx.ui.notify('panic'); }); };",
    );
    assert_eq!(system.fire_blocking(system.event(EventKind::TurnStart)).runs.len(), 1);
    let host = Scripted::new(&[]);
    let outcome = ask(&system, &host);
    assert_eq!(outcome.runs[0].end, EndKind::Threw, "{outcome:?}");
    assert_eq!(reason(&outcome), "the host panicked at `host.notify`");
    assert_eq!(system.fire_blocking(system.event(EventKind::TurnStart)).runs[0].stdout, "2\n");
}

#[test]
fn a_dialog_stops_the_wall_clock() {
    let project = Project::new();
    project.write(
        "ask.ts",
        "export default (pi) => { pi.on('tool_call', async (_, ctx) => { if (!(await ctx.ui.confirm('Really?', 'run it'))) return { block: true, reason: 'no' }; }); };",
    );
    let system = project.system(&["ask.ts"]);
    let mut hook = hookrail::Hook::clone(&system.snapshot().hooks()[0]);
    hook.timeout = Duration::from_millis(300);
    let system = project.builder(&[]).runner(runner(limits())).hook(hook).build();
    let host = Arc::new(Scripted { thinks: Duration::from_millis(900), ..Scripted::default() });
    host.answers.lock().unwrap().push_back("yes".to_owned());
    let outcome = ask(&system, &host);
    assert!(!outcome.is_denied(), "{outcome:?}");
    assert_eq!(host.heard(), ["confirm Really?: run it"]);
}

#[test]
fn a_failure_between_events_goes_to_the_host() {
    let project = Project::new();
    let system = project.module(
        "export default (pi) => { pi.on('tool_call', () => { setTimeout(() => { Promise.reject(new Error('later')); }, 20); setTimeout(() => { throw new Error('thrown'); }, 30); }); };",
    );
    let host = Scripted::new(&[]);
    assert!(!ask(&system, &host).is_denied());
    eventually("both are reported", || host.heard().len() == 2);
    let heard = host.heard();
    assert!(heard.iter().any(|line| line == "failed x.ts unhandledRejection: later"), "{heard:?}");
    assert!(heard.iter().any(|line| line == "failed x.ts callback: thrown"), "{heard:?}");
}

#[test]
fn error_listeners_hear_the_path_the_event_and_the_message() {
    let project = Project::new();
    let system = project.module(
        "export default (pi) => { pi.on('turn_end', () => { throw new Error('broken'); }); pi.on('tool_call', () => { throw new Error('guard'); }); };",
    );
    let host = Scripted::new(&[]);
    let outcome = block_on(system.fire_with(system.event(EventKind::TurnEnd), FireOptions::new().host(host.clone())));
    assert_eq!(host.heard(), ["failed x.ts turn_end: broken"]);
    assert!(outcome.diagnostics.iter().any(|found| found.code == Code::HookThrew && found.message.contains("broken")));
    assert_eq!(reason(&ask(&system, &host)), "guard");
    assert_eq!(host.heard().len(), 1, "the caller of the tool is told of a guard that failed, and the host is not");
}

#[test]
fn cancelling_an_event_leaves_the_module_usable() {
    let project = Project::new();
    let system = project.module(
        "let n = 0; export default (pi) => { pi.on('tool_call', async () => { if (n++ === 0) await new Promise((r) => setTimeout(r, 5000)); return { block: true, reason: String(n) }; }); };",
    );
    let fire = system.fire(tool_call(&system));
    eventually("it has begun", || true);
    std::thread::sleep(Duration::from_millis(100));
    drop(fire);
    let began = Instant::now();
    assert_eq!(reason(&system.fire_blocking(tool_call(&system))), "2");
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[test]
fn poisoned_built_ins_harm_no_other_module() {
    let project = Project::new();
    project.write(
        "poison.ts",
        "Object.prototype.toJSON = () => 'evil'; Object.prototype.block = true; JSON.parse = () => { throw 1; };\n\
         Array.prototype.push = Promise.prototype.then = Map.prototype.get = null;\n\
         Object.defineProperty(Object.prototype, 'failures', { get() { throw 1; } });\n\
         export default (pi) => { pi.on('tool_call', async (event) => { const r = await pi.exec('echo', ['x']); if (r.code !== 0) return { block: true }; }); };",
    );
    project.write(
        "well.ts",
        "export default (pi) => { pi.on('tool_call', (e) => ({ block: true, reason: JSON.stringify(e.input) })); };",
    );
    let system = project.system(&["poison.ts", "well.ts"]);
    let outcome = system.fire_blocking(tool_call(&system));
    assert_eq!(outcome.runs[0].end, EndKind::Silent, "{outcome:?}");
    assert_eq!(reason(&outcome), r#"{"command":"ls"}"#);
}

#[test]
fn many_modules_and_many_events_at_once() {
    let project = Project::new();
    let names: Vec<String> = (0..8).map(|n| format!("m{n}.ts")).collect();
    for name in &names {
        project.write(name, "let n = 0; export default (pi) => { pi.on('tool_call', async () => { n++; await new Promise((r) => setTimeout(r, 1)); }); };");
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let system = project.system_with(&names, limits());
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let system = system.clone();
            std::thread::spawn(move || {
                for _ in 0..20 {
                    let outcome = system.fire_blocking(tool_call(&system));
                    assert_eq!(outcome.runs.len(), 8);
                    assert!(outcome.runs.iter().all(|run| run.end == EndKind::Silent), "{outcome:?}");
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let _ = json("{}");
}
