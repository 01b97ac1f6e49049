//! The counterparts of xcsh's loader, runner and tool wrapper (`hookrail::module`), with real modules.

use std::sync::{Arc, Mutex};

use super::common::{Project, json, limits, runner};
use hookrail::guard::{Guard, Permit, ToolEnd, ToolFailure, ToolOutput};
use hookrail::module::{
    HookRunner, HookToolWrapper, HostFuture, ModuleContext, Tool, discover_and_load_hooks, load_hooks, wrap_tools,
};
use hookrail::{EventKind, Json};

const GUARD: &str = "export default (pi) => {
    pi.on('tool_call', (event) => (event.input.command === 'rm' ? { block: true, reason: 'no rm' } : undefined));
    pi.on('tool_result', (event) => (event.isError ? { content: 'hidden' } : { content: [{ type: 'text', text: 'redacted' }] }));
    pi.on('context', (event) => ({ messages: event.messages.filter((message) => message.role !== 'custom') }));
    pi.on('before_agent_start', () => ({ message: { customType: 'note', content: 'be brief', display: true } }));
    pi.registerCommand('hello', { description: 'Says hello', handler: () => {} });
    pi.registerMessageRenderer('note', () => ({ render: (width) => ['note '.padEnd(width, '.')] }));
};";

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// A tool that gives back its command, and fails if that is `fail`.
struct Shell(&'static str);

impl Tool for Shell {
    fn name(&self) -> &str {
        self.0
    }

    fn execute(&self, permit: Permit) -> HostFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let command =
                permit.input().as_object().and_then(|input| input.get("command")?.as_str()).unwrap_or_default();
            if command == "fail" { Err(ToolFailure("it failed".to_owned())) } else { Ok(ToolOutput::text(&command)) }
        })
    }
}

fn loaded(project: &Project) -> HookRunner {
    project.write("guard.ts", GUARD);
    discover_and_load_hooks(project.builder(&[]).runner(runner(limits())), ["guard.ts"]).0
}

#[test]
fn modules_are_loaded_and_errors_are_collected() {
    let project = Project::new();
    let guard = project.write("guard.ts", GUARD);
    let broken = project.write("broken.ts", "export default 7;");
    let (runner, found) =
        discover_and_load_hooks(project.builder(&[]).runner(runner(limits())), ["guard.ts", "broken.ts", "guard.ts"]);
    assert_eq!(found, runner.loaded());
    assert_eq!(found.hooks.len(), 1);
    assert_eq!(found.hooks[0].path, guard);
    let events = [EventKind::BeforeTool, EventKind::AfterTool, EventKind::BeforeModel, EventKind::Prompt];
    assert_eq!(found.hooks[0].events, events);
    assert_eq!((found.errors.len(), &found.errors[0].path), (1, &broken));
    assert_eq!(found.errors[0].error, "Hook must export a default function");
    assert_eq!(runner.hook_paths(), std::slice::from_ref(&guard));
    assert!(runner.has_handlers(EventKind::BeforeTool) && !runner.has_handlers(EventKind::TurnEnd));

    let world = ModuleContext::new(&project.project, Arc::new(std::iter::empty::<(&str, &str)>().collect()));
    let direct = load_hooks(&hookrail_js::modules(), ["broken.ts", "guard.ts", "./guard.ts"], &world);
    assert_eq!((direct.hooks.len(), direct.errors.len()), (1, 1));
    assert_eq!((&direct.hooks[0].path, &direct.hooks[0].events), (&guard, &found.hooks[0].events));
    assert_eq!(direct.hooks[0].commands[0].name, "hello");
    assert_eq!(direct.hooks[0].renderers, ["note"]);
}

#[test]
fn a_runner_asks_modules_and_offers_what_they_registered() {
    let project = Project::new();
    let runner = loaded(&project);
    block_on(async {
        let blocked = runner.emit_tool_call("1", "bash", json(r#"{"command":"rm"}"#)).await.unwrap_err();
        assert_eq!(blocked.reason, "no rm");
        runner.emit_tool_call("1", "bash", json(r#"{"command":"ls"}"#)).await.unwrap();
        let messages = vec![json(r#"{"role":"user","content":"x"}"#), json(r#"{"role":"custom","content":"y"}"#)];
        assert_eq!(runner.emit_context(messages).await.len(), 1);
        let added = runner.emit_before_agent_start("hi", None).await;
        assert_eq!(added[0].as_object().unwrap().get("customType").and_then(Json::as_str).as_deref(), Some("note"));
        assert_eq!(runner.command("hello").unwrap().description.as_deref(), Some("Says hello"));
        assert!(runner.command("other").is_none() && runner.run_command("other", "").await.is_none());
        assert!(runner.run_command("hello", "").await.is_some());
        assert!(runner.message_renderer("note").is_some() && runner.message_renderer("other").is_none());
        let drawn = runner.render_message(&json(r#"{"customType":"note","content":"x"}"#), false, 8).await;
        assert_eq!(drawn, Some(vec!["note ...".to_owned()]));
    });
}

#[test]
fn listeners_hear_of_failures_until_they_leave() {
    let project = Project::new();
    let source = "export default (pi) => { pi.on('turn_start', () => { throw new Error('oops'); }); \
        pi.on('tool_call', () => { throw new Error('guard'); }); };";
    project.write("fails.ts", source);
    let (runner, _) =
        discover_and_load_hooks(project.builder(&[]).runner(super::common::runner(limits())), ["fails.ts"]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heard);
    let listening = runner.on_error(move |failure| kept.lock().unwrap().push(failure.message.clone()));
    block_on(async {
        let event = || runner.hooks().event(EventKind::TurnStart).with("turn_index", json("1"));
        runner.emit(event()).await;
        let blocked = runner.emit_tool_call("1", "bash", json("{}")).await.unwrap_err();
        assert_eq!(blocked.reason, "guard", "a guard that fails blocks, and no listener hears of it");
        drop(listening);
        runner.emit(event()).await;
    });
    assert_eq!(*heard.lock().unwrap(), ["oops"]);
}

#[test]
fn a_wrapped_tool_is_blocked_replaced_or_fails_as_it_did() {
    let project = Project::new();
    let guard = Guard::new(loaded(&project).hooks().clone(), "s");
    let tools = wrap_tools([Shell("bash"), Shell("other")], &guard);
    assert_eq!((tools[0].name(), tools[1].tool().0), ("bash", "other"));
    block_on(async {
        let shell = HookToolWrapper::new(Shell("bash"), guard);
        let run = |command: &str| shell.execute("1", json(&format!(r#"{{"command":"{command}"}}"#)));
        let denied = run("rm").await;
        assert_eq!((denied.end, denied.content.as_str().as_deref()), (ToolEnd::Denied, Some("no rm")));
        let ran = run("ls").await;
        assert_eq!((ran.end, ran.content.text()), (ToolEnd::Ran, r#"[{"type":"text","text":"redacted"}]"#));
        let failed = run("fail").await;
        assert_eq!((failed.end, failed.content.as_str().as_deref()), (ToolEnd::Failed, Some("it failed")));
    });
}
