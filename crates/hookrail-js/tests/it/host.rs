//! What modules ask of the host: dialogs, the session, models, commands, components, renderers.

use std::sync::Arc;
use std::time::Duration;

use super::common::{Project, Scripted, ask, block_on, eventually, json, limits, reason, runner, tool_call};
use hookrail::host::SessionMove;
use hookrail::process::RawEnd;
use hookrail::{EventKind, FireOptions, Host};

fn handler(body: &str) -> String {
    format!("export default (pi) => {{ pi.on('tool_call', async (event, ctx) => {{ {body} }}); }};")
}

#[test]
fn every_member_of_ui() {
    let project = Project::new();
    let system = project.module(&handler(
        "const out = [ctx.hasUI, await ctx.ui.select('Which?', ['a', 'b']), await ctx.ui.confirm('Sure', 'really'), await ctx.ui.input('Name', 'you'), await ctx.ui.editor('Text', 'old'), ctx.ui.getEditorText()];\n\
         ctx.ui.notify('plain'); ctx.ui.notify('bad', 'error'); ctx.ui.setEditorText('new');\n\
         ctx.ui.setStatus('b', ctx.ui.theme.fg('accent', 'two')); ctx.ui.setStatus('a', 'one\\nline\\t\\tmore'); ctx.ui.setStatus('c', 'gone'); ctx.ui.setStatus('c', undefined);\n\
         return { block: true, reason: JSON.stringify(out) };",
    ));
    let host = Scripted::new(&["b", "yes", "me", "edited"]);
    assert_eq!(reason(&ask(&system, &host)), r#"[true,"b",true,"me","edited","typed"]"#);
    let heard = host.heard();
    assert_eq!(
        heard,
        [
            r#"select Which? ["a", "b"]"#,
            "confirm Sure: really",
            r#"input Name Some("you")"#,
            r#"edit Text Some("old")"#,
            "notify Info plain",
            "notify Error bad",
            "editor new"
        ]
    );
    assert_eq!(host.status.lock().unwrap().line(80), "one line more <fg:accent>two</>");
}

#[test]
fn a_dialog_that_is_dismissed_gives_nothing() {
    let project = Project::new();
    let system = project.module(&handler(
        "return { block: true, reason: JSON.stringify([await ctx.ui.select('t', []), await ctx.ui.confirm('t', 'm'), await ctx.ui.input('t')]) };",
    ));
    assert_eq!(reason(&ask(&system, &Scripted::new(&[]))), "[null,false,null]");
}

#[test]
fn a_signal_ends_a_dialog() {
    let project = Project::new();
    let system = project.module(&handler(
        "const c = new AbortController(); setTimeout(() => c.abort(), 20); const text = await ctx.ui.editor('t', '', { signal: c.signal }); return { block: true, reason: String(text) };",
    ));
    let host = Arc::new(Scripted { thinks: Duration::from_secs(3), ..Scripted::default() });
    host.answers.lock().unwrap().push_back("too late".to_owned());
    assert_eq!(reason(&ask(&system, &host)), "undefined");
}

#[test]
fn the_session_is_read_at_once() {
    let project = Project::new();
    let system = project.module(&handler(
        "const s = ctx.sessionManager; return { block: true, reason: JSON.stringify([s.getSessionFile(), s.getSessionId(), s.getEntries().length, s.getLeafEntry().id, s.getEntry('e9').id, s.getBranch().length, s.getHeader() === undefined, s.getTree()]) };",
    ));
    let outcome = ask(&system, &Scripted::new(&[]));
    assert_eq!(reason(&outcome), r#"["/s/1.jsonl","s1",2,"e2","e9",1,true,[]]"#);
}

#[test]
fn the_agent_and_its_models() {
    let project = Project::new();
    project.write(
        "x.ts",
        "import { complete, getModel } from '@f5xc-salesdemos/pi-ai';\nexport default (pi) => { pi.on('tool_call', async (event, ctx) => {\n\
         const answer = await complete(getModel('p', 'm'), { messages: [] }, { apiKey: await ctx.modelRegistry.getApiKey(ctx.model), maxTokens: 5 });\n\
         ctx.abort(); pi.logger.warn('careful', { a: 1 });\n\
         return { block: true, reason: JSON.stringify([ctx.model.id, ctx.isIdle(), ctx.hasQueuedMessages(), answer.content[0].text, ctx.modelRegistry.getAvailable()]) }; }); };",
    );
    let system = project.system(&["x.ts"]);
    let host = Scripted::new(&[]);
    assert_eq!(reason(&ask(&system, &host)), r#"["current",false,true,"summary",[]]"#);
    let heard = host.heard();
    assert!(heard[0].starts_with("complete ") && heard[0].contains("key-of-current"), "{heard:?}");
    assert_eq!(heard[1..], ["abort", r#"log Warning careful {"a":1}"#]);
}

#[test]
fn a_command_with_a_new_session_and_its_setup() {
    let project = Project::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/modules/handoff-command.ts");
    project.write("x.ts", std::fs::read_to_string(path).unwrap());
    let system = project.system(&["x.ts"]);
    let offers = system.commands();
    assert_eq!(offers.len(), 1);
    assert_eq!(offers[0].name, "handoff");
    assert_eq!(offers[0].description.as_deref(), Some("Create a new session with setup message"));
    let host = Scripted::new(&[]);
    let returned = block_on(system.run_command("handoff", "", host.clone() as Arc<dyn Host>)).unwrap();
    assert_eq!(returned.how, RawEnd::Returned(None));
    let heard = host.heard();
    assert_eq!(heard[0], r#"new session after Some("/s/1.jsonl")"#);
    assert!(heard[1].starts_with("message {") && heard[1].contains("Continue from prior session"), "{heard:?}");
    assert!(block_on(system.run_command("nothing", "", host)).is_none());
}

#[test]
fn a_cancelled_move_and_one_that_fails() {
    let project = Project::new();
    let system = project.module(
        "export default (pi) => { pi.registerCommand('go', { handler: async (args, ctx) => {\n\
         const tree = await ctx.navigateTree('t1', { summarize: true });\n\
         let why = ''; try { await ctx.branch('e1'); } catch (e) { why = e.message; }\n\
         let setUp = false; const made = await ctx.newSession({ setup: () => { setUp = true; } });\n\
         pi.sendMessage({ customType: 'r', content: JSON.stringify([args, tree, why, made, setUp]) }); } }); };",
    );
    let host = Scripted::new(&[]);
    *host.on_new_session.lock().unwrap() = Some(Box::new(|| SessionMove::Cancelled));
    let returned = block_on(system.run_command("go", "  a b ", host.clone() as Arc<dyn Host>)).unwrap();
    let content = returned.messages[0].as_object().unwrap().get("content").unwrap().as_str().unwrap();
    assert_eq!(content, r#"["  a b ",{"cancelled":true},"Invalid entry ID for branching",{"cancelled":true},false]"#);
    assert_eq!(host.heard(), ["navigate t1 true", "branch e1", "new session after None"]);
}

#[test]
fn a_command_may_lead_to_an_event_of_the_same_module() {
    let project = Project::new();
    let system = project.module(
        "let seen = 0; export default (pi) => {\n\
         pi.on('session_before_switch', async () => { seen++; await new Promise((r) => setTimeout(r, 20)); return { cancel: true }; });\n\
         pi.registerCommand('new', { handler: async (_, ctx) => { const { cancelled } = await ctx.newSession(); pi.appendEntry('seen', { seen, cancelled }); } }); };",
    );
    let host = Scripted::new(&[]);
    let inner = system.clone();
    *host.on_new_session.lock().unwrap() = Some(Box::new(move || {
        // The host asks the hooks on a thread of its own while the command still waits.
        let system = inner.clone();
        let asked = std::thread::spawn(move || {
            system.fire_blocking(system.event(EventKind::SessionBeforeSwitch).with_text("reason", "new")).is_denied()
        });
        drop(asked);
        SessionMove::Done
    }));
    let returned = block_on(system.run_command("new", "", host as Arc<dyn Host>)).unwrap();
    assert_eq!(returned.how, RawEnd::Returned(None), "{returned:?}");
    eventually("the event was handled", || {
        let entry = block_on(system.run_command("new", "", Scripted::new(&[]) as Arc<dyn Host>)).unwrap();
        entry.entries.first().is_some_and(|entry| entry.text().contains(r#""seen":1"#))
    });
}

#[test]
fn a_command_that_throws_is_told_to_the_host() {
    let project = Project::new();
    let system = project.module(
        "export default (pi) => { pi.registerCommand('bad', { handler: () => { throw new Error('oops'); } }); };",
    );
    let host = Scripted::new(&[]);
    let returned = block_on(system.run_command("bad", "", host.clone() as Arc<dyn Host>)).unwrap();
    assert_eq!(returned.how, RawEnd::Threw("oops".to_owned()));
    assert_eq!(host.heard(), ["failed x.ts command: oops"]);
}

#[test]
fn the_first_command_and_the_first_renderer_of_a_name_count() {
    let project = Project::new();
    let module = |name: &str| {
        format!(
            "import {{ Text }} from '@oh-my-pi/pi-tui';\nexport default (pi) => {{ pi.registerCommand('c', {{ description: '{name}', handler: () => pi.appendEntry('{name}') }});\n\
             pi.registerMessageRenderer('t', (message, {{ expanded }}, theme) => new Text(`{name} ${{theme.bold(message.content)}} ${{expanded}}`, 0, 0)); }};"
        )
    };
    project.write("a.ts", module("a"));
    project.write("b.ts", module("b"));
    let system = project.system(&["a.ts", "b.ts"]);
    let names: Vec<_> = system.commands().into_iter().map(|offer| offer.description.unwrap()).collect();
    assert_eq!(names, ["a", "b"], "all commands are listed");
    let host = Scripted::new(&[]);
    let returned = block_on(system.run_command("c", "", host.clone() as Arc<dyn Host>)).unwrap();
    assert_eq!(returned.entries[0].text(), r#"{"customType":"a"}"#);
    let message = json(r#"{"customType":"t","content":"hi"}"#);
    let lines = block_on(system.render_message(&message, true, 40, host.clone() as Arc<dyn Host>)).unwrap();
    assert_eq!(lines[0].trim_end(), "a <bold>hi</> true");
    assert_eq!(lines[0].len(), 40, "a text fills its width");
    let unknown = json(r#"{"customType":"u","content":"hi"}"#);
    assert!(block_on(system.render_message(&unknown, true, 40, host)).is_none());
}

#[test]
fn a_renderer_that_fails_means_the_default_drawing() {
    let project = Project::new();
    let system = project.module("export default (pi) => { pi.registerMessageRenderer('t', () => { throw 1; }); pi.registerMessageRenderer('n', () => undefined); };");
    for kind in ["t", "n"] {
        let message = json(&format!(r#"{{"customType":"{kind}","content":"hi"}}"#));
        assert!(block_on(system.render_message(&message, false, 40, Scripted::new(&[]))).is_none());
    }
}

#[test]
fn a_component_draws_itself_takes_keys_and_is_done() {
    let project = Project::new();
    let system = project.module(
        "export default (pi) => { pi.registerCommand('play', { handler: async (_, ctx) => {\n\
         const result = await ctx.ui.custom((tui, theme, done) => { let keys = ''; return {\n\
           render: (width) => [`${keys} ${width}`],\n\
           handleInput(data) { if (data === 'q') done(keys); else { keys += data; tui.requestRender(); } },\n\
           dispose() { pi.appendEntry('disposed'); } }; });\n\
         pi.appendEntry('result', result); } }); };",
    );
    let host = Scripted::new(&[]);
    let returned = block_on(system.run_command("play", "", host.clone() as Arc<dyn Host>)).unwrap();
    assert_eq!(returned.how, RawEnd::Returned(None));
    let entries: Vec<_> = returned.entries.iter().map(|entry| entry.text().to_owned()).collect();
    assert_eq!(entries, [r#"{"customType":"disposed"}"#, r#"{"customType":"result","data":"x"}"#]);
    assert_eq!(host.heard()[..2], [r#"drew [" 20"]"#, r#"drew ["x 20"]"#]);
}

#[test]
fn a_file_watcher_sends_messages_between_events() {
    let project = Project::new();
    project.write("trigger.txt", "");
    let system = project.module(
        "import * as fs from 'node:fs';\nexport default (pi) => { pi.on('session_start', async (_event, ctx) => {\n\
         const file = `${ctx.cwd}/trigger.txt`;\n\
         fs.watch(file, async () => { const content = (await Bun.file(file).text()).trim(); if (!content) return;\n\
           pi.sendMessage({ customType: 'file-trigger', content, display: true }, true); await Bun.write(file, ''); });\n\
         if (ctx.hasUI) ctx.ui.notify(`Watching ${file}`, 'info'); }); };",
    );
    let host = Scripted::new(&[]);
    block_on(system.fire_with(system.event(EventKind::SessionStart), FireOptions::new().host(host.clone())));
    assert!(host.heard()[0].starts_with("notify Info Watching"));
    project.write("trigger.txt", "do it");
    eventually("the message arrives", || host.heard().len() > 1);
    let sent = &host.heard()[1];
    assert!(sent.starts_with("sent {") && sent.contains("do it") && sent.contains(r#""triggerTurn":true"#), "{sent}");
}

#[test]
fn git_helpers_call_exec_and_keep_state_between_events() {
    let project = Project::new();
    let system = project.module(
        "export default (pi) => { const seen = new Map();\n\
         pi.on('turn_start', async (event) => { const { stdout, code } = await pi.exec('sh', ['-c', 'echo ref']); if (code === 0) seen.set(event.turnIndex, stdout.trim()); });\n\
         pi.on('session_before_branch', async (event, ctx) => { const choice = await ctx.ui.select('Restore?', ['Yes', 'No']); ctx.ui.notify(`${choice} ${seen.get(1)}`); });\n\
         pi.on('agent_end', () => seen.clear()); };",
    );
    let host = Scripted::new(&["Yes"]);
    let fire = |event| block_on(system.fire_with(event, FireOptions::new().host(host.clone())));
    fire(system.event(EventKind::TurnStart).with("turn_index", json("1")));
    fire(system.event(EventKind::SessionBeforeBranch).with_text("entry_id", "e"));
    assert_eq!(host.heard()[1], "notify Info Yes ref");
}

#[test]
fn reloading_puts_a_changed_module_in_force_and_keeps_the_state_of_an_unchanged_one() {
    let project = Project::new();
    let counter = "let n = 0; export default (pi) => { pi.on('tool_call', () => console.log(++n)); };";
    project.write("kept.ts", counter);
    project.write("lib.ts", "export const word = 'old';");
    project.write("x.ts", "import { word } from './lib'; export default (pi) => { pi.on('tool_call', () => ({ block: true, reason: word })); };");
    let system = project.system(&["kept.ts", "x.ts"]);
    assert_eq!(reason(&system.fire_blocking(tool_call(&system))), "old");
    project.write("lib.ts", "export const word = 'new';");
    assert_eq!(reason(&system.fire_blocking(tool_call(&system))), "old", "nothing changes under a running session");
    system.reload();
    let outcome = system.fire_blocking(tool_call(&system));
    assert_eq!(reason(&outcome), "new");
    assert_eq!(outcome.runs[0].stdout, "3\n");
}

#[test]
fn capabilities_can_be_narrowed() {
    let project = Project::new();
    project.write(
        "x.ts",
        "import { readFileSync, writeFileSync } from 'node:fs';\nexport default (pi) => { pi.on('tool_call', async () => { const out = [];\n\
         for (const work of [() => readFileSync('x.ts'), () => writeFileSync('y', ''), () => pi.exec('true', [])]) { try { await work(); out.push('ok'); } catch (e) { out.push(e.code); } }\n\
         return { block: true, reason: out.join() }; }); };",
    );
    let with = |names: &[&str]| {
        let capabilities = hookrail::module::Capabilities::parse(names.iter().copied()).unwrap();
        let system = project.builder(&["x.ts"]).runner(runner(limits())).capabilities(capabilities).build();
        reason(&system.fire_blocking(tool_call(&system)))
    };
    assert_eq!(with(&["read", "write", "run"]), "ok,ok,ok");
    assert_eq!(with(&["read"]), "ok,EACCES,EACCES");
    assert_eq!(with(&[]), "EACCES,EACCES,EACCES");
}

#[test]
fn a_file_that_is_replaced_is_still_watched_and_a_folder_too() {
    let project = Project::new();
    project.write("d/watched.txt", "");
    let system = project.module(
        "import * as fs from 'node:fs';\nexport default (pi) => { pi.on('session_start', async (_event, ctx) => {\n\
         fs.watch(`${ctx.cwd}/d/watched.txt`, (kind, name) => pi.sendMessage({ customType: 'file', content: `${name} ${fs.readFileSync('d/watched.txt', 'utf8')}` }));\n\
         fs.watch(`${ctx.cwd}/d`, { recursive: true }, (kind, name) => pi.sendMessage({ customType: 'folder', content: name })); }); };",
    );
    let host = Scripted::new(&[]);
    block_on(system.fire_with(system.event(EventKind::SessionStart), FireOptions::new().host(host.clone())));
    let fresh = project.write("fresh.txt", "replaced");
    std::fs::rename(fresh, project.project.join("d/watched.txt")).unwrap();
    let heard = |kind: &str, what: &str| {
        let kind = format!("\"customType\":\"{kind}\"");
        host.heard().iter().any(|heard| heard.contains(&kind) && heard.contains(what))
    };
    eventually("the file that was put in its place is seen", || heard("file", "watched.txt replaced"));
    project.write("d/inside/new.txt", "x");
    eventually("the folder tells of what is new in it", || heard("folder", "inside"));
    assert!(!heard("file", "inside"), "a file's watcher hears of that file only");
}

#[test]
fn handlers_that_come_late_count() {
    let project = Project::new();
    let system = project.module(
        "export default async (pi) => { await new Promise((done) => setTimeout(done, 20));\n\
         pi.on('tool_call', () => { pi.on('tool_call', () => ({ block: true, reason: 'late' })); pi.on('turn_end', () => pi.appendEntry('late')); }); };",
    );
    let host = Scripted::new(&[]);
    ask(&system, &host);
    assert_eq!(
        reason(&ask(&system, &host)),
        "late",
        "what an async factory registers counts, and so does a late handler"
    );
    let outcome = block_on(system.fire_with(system.event(EventKind::TurnEnd), FireOptions::new().host(host)));
    assert_eq!(
        outcome.effects.entries.len(),
        2,
        "the module is asked in an event that is new to it, once per registration"
    );
}
