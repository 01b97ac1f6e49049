//! The packages and runtimes that published modules were written for: keys, text and components of a terminal, schemas,
//! files by descriptor, processes as Bun starts them.

use std::sync::Arc;

use super::common::{Project, Scripted, ask, block_on, reason, tool_call};
use hookrail::Host;
use serde_json::Value;

/// What an expression gives inside a handler, as JSON.
fn gives(imports: &str, expression: &str) -> Value {
    let project = Project::new();
    let system = project.module(&format!(
        "{imports}\nexport default (pi) => {{ pi.on('tool_call', async (event, ctx) => ({{ block: true, reason: JSON.stringify({expression}) ?? 'undefined' }})); }};"
    ));
    let outcome = system.fire_blocking(tool_call(&system));
    let text = reason(&outcome);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}\n{:?}", system.snapshot().diagnostics()))
}

/// Lines that an expression draws at a width, without their colours and what fills them.
fn draws(expression: &str) -> Vec<String> {
    let imports = "import { Text, Box, Markdown, SelectList, Input, Container, Spacer, TruncatedText } from '@oh-my-pi/pi-tui'; import { DynamicBorder, getMarkdownTheme } from '@oh-my-pi/pi-coding-agent';";
    serde_json::from_value(gives(imports, &format!("{expression}.map((line) => line.trimEnd())"))).unwrap()
}

#[test]
fn keys_have_the_names_of_the_terminal_package() {
    let tui = "import { Key, matchesKey, parseKey, isArrowUp, isCtrlC, isEscape, isShiftTab, isAltEnter } from '@mariozechner/pi-tui';";
    let all = "[isArrowUp('\\x1b[A'), isArrowUp('\\x1bOA'), isArrowUp('w'), isEscape('\\x1b'), isEscape('\\x1b[27u'), isCtrlC('\\x03'), isCtrlC('\\x1b[99;5u'), \
               isShiftTab('\\x1b[Z'), isAltEnter('\\x1b\\r'), matchesKey('q', 'q'), matchesKey('Q', 'shift+q'), matchesKey('Q', 'q'), matchesKey('\\x1b[1;5C', Key.ctrl('right')), \
               matchesKey('\\x1b[6~', Key.pageDown), matchesKey('+', '+'), parseKey('\\x1b[B'), parseKey('\\x04'), parseKey('x'), parseKey('\\x1b[99~') ?? null]";
    assert_eq!(
        gives(tui, all),
        json_value(
            r#"[true,true,false,true,true,true,true,true,true,true,true,false,true,true,true,"down","ctrl+d","x",null]"#
        )
    );
}

fn json_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn text_is_measured_cut_and_wrapped_with_its_colours() {
    let tui = "import { visibleWidth, truncateToWidth, wrapTextWithAnsi } from '@mariozechner/pi-tui'; const red = (t) => `\\x1b[31m${t}\\x1b[0m`;";
    assert_eq!(
        gives(tui, "[visibleWidth(red('abc')), visibleWidth('日本'), visibleWidth('e\\u0301'), visibleWidth('\\t')]"),
        json_value("[3,4,1,3]")
    );
    assert_eq!(
        gives(
            tui,
            "[truncateToWidth('abcdef', 5), truncateToWidth('abc', 5, '…', true), truncateToWidth('日本語', 5, '…'), truncateToWidth(red('abcdef'), 4, '')]"
        ),
        json_value(r#"["ab...","abc  ","日本…","\u001b[31mabcd\u001b[0m"]"#)
    );
    assert_eq!(
        gives(tui, "wrapTextWithAnsi(`one ${red('two three')} four`, 8)"),
        json_value(r#"["one \u001b[31mtwo\u001b[0m","\u001b[31mthree\u001b[0m","four"]"#)
    );
    assert_eq!(gives(tui, "wrapTextWithAnsi('abcdefgh\\n\\nij', 3)"), json_value(r#"["abc","def","gh","","ij"]"#));
}

#[test]
fn components_draw_lines() {
    assert_eq!(draws("new Text('one two three', 1, 0).render(9)"), [" one two", " three"]);
    assert_eq!(draws("new Text('x').render(5)"), ["", " x", ""]);
    assert_eq!(draws("new Box(2, 0).render(9)"), Vec::<String>::new());
    let nested = "(() => { const box = new Box(2, 1, (line) => `[${line}]`); const inner = new Container(); inner.addChild(new Text('hi', 0, 0)); inner.addChild(new Spacer(1)); \
                  inner.addChild(new TruncatedText('much too long')); box.addChild(inner); return box.render(12); })()";
    assert_eq!(
        draws(nested),
        ["[            ]", "[  hi        ]", "[            ]", "[  much ...  ]", "[            ]"]
    );
    assert_eq!(draws("new DynamicBorder((text) => text).render(4)"), ["────"]);
    let markdown = "new Markdown('# Title\\n\\nsome **bold** and `code`\\n- item\\n> said\\n```js\\nx()\\n```', 0, 0, getMarkdownTheme()).render(40)";
    assert_eq!(draws(markdown), ["Title", "", "some bold and code", "- item", "│ said", "```js", "  x()", "```"]);
    let list = "(() => { let got = ''; const list = new SelectList([{ value: 'a', label: 'Alpha' }, { value: 'b', label: 'Beta', description: 'second' }, { value: 'c' }], 2, {}); \
                list.onSelect = (item) => (got = item.value); list.handleInput('\\x1b[B'); list.handleInput('\\r'); return [...list.render(30), got]; })()";
    assert_eq!(draws(list), ["  Alpha", "→ Beta  second", "  (2/3)", "b"]);
    let input = "(() => { let got; const input = new Input(); input.onSubmit = (value) => (got = value); for (const key of ['a', 'b', '\\x1b[D', 'x', '\\x7f', '\\x7f', 'é', '\\r']) input.handleInput(key); return [got, ...input.render(20)]; })()";
    assert_eq!(draws(input), ["éb", "> é\u{1b}[7mb\u{1b}[27m"]);
}

#[test]
fn a_loader_turns_until_escape_ends_it() {
    let project = Project::new();
    let system = project.module(
        "import { BorderedLoader } from '@f5xc-salesdemos/xcsh';\nexport default (pi) => { pi.registerCommand('wait', { handler: async (_, ctx) => {\n\
         const result = await ctx.ui.custom((tui, theme, done) => { const loader = new BorderedLoader(tui, theme, 'Asking...'); loader.onAbort = () => done('gone');\n\
           pi.appendEntry('lines', loader.render(60).map((line) => line.trimEnd())); loader.handleInput('x'); pi.appendEntry('aborted', loader.signal.aborted); loader.handleInput('\\x1b'); pi.appendEntry('aborted', loader.signal.aborted); return loader; });\n\
         pi.appendEntry('result', result); } }); };",
    );
    let returned = block_on(system.run_command("wait", "", Scripted::new(&[]) as Arc<dyn Host>)).unwrap();
    let entries: Vec<_> = returned.entries.iter().map(|entry| entry.text().to_owned()).collect();
    assert!(entries[0].contains("<fg:accent>⠋</> <fg:muted>Asking...</>"), "{entries:?}");
    assert_eq!(
        entries[1..],
        [
            r#"{"customType":"aborted","data":false}"#,
            r#"{"customType":"aborted","data":true}"#,
            r#"{"customType":"result","data":"gone"}"#
        ]
    );
}

#[test]
fn schemas_are_built_as_typebox_builds_them() {
    let expected = json_value(
        r#"{"type":"object","required":["action"],"properties":{"action":{"type":"string","enum":["a","b"]},"ids":{"type":"array","items":{"type":"number"}}},"description":"d"}"#,
    );
    for import in [
        "import { Type } from '@sinclair/typebox'; import { StringEnum } from '@mariozechner/pi-ai';",
        "import { Type } from 'typebox'; import { StringEnum } from '@oh-my-pi/pi-ai';",
        "import { Type, StringEnum } from '@oh-my-pi/pi-ai';",
    ] {
        let schema = gives(
            import,
            "Type.Object({ action: StringEnum(['a', 'b']), ids: Type.Optional(Type.Array(Type.Number())) }, { description: 'd' })",
        );
        assert_eq!(schema, expected);
    }
    assert_eq!(
        gives("", "pi.typebox.Type.Union([pi.typebox.Type.Literal(1)])"),
        json_value(r#"{"anyOf":[{"const":1,"type":"number"}]}"#)
    );
}

#[test]
fn the_agents_package_goes_by_every_scope() {
    for scope in
        ["@f5xc-salesdemos/xcsh", "@oh-my-pi/pi-coding-agent/extensibility/hooks", "@any-scope/pi-coding-agent/hooks"]
    {
        assert_eq!(
            gives(&format!("import {{ isBashToolResult }} from '{scope}';"), "isBashToolResult({ toolName: 'bash' })"),
            true
        );
    }
    assert_eq!(
        gives(
            "",
            "pi.pi.serializeConversation([{ role: 'user', content: 'a' }, { role: 'assistant', content: [{ type: 'text', text: 'b' }, { type: 'toolCall', name: 't', arguments: { x: 1 } }] }])"
        ),
        "[User]: a\n\n[Assistant]: b\n\n[Assistant tool calls]: t(x=1)"
    );
}

#[test]
fn what_is_missing_says_so_by_name() {
    for (imports, expression, name) in [
        (
            "import { SettingsList } from '@oh-my-pi/pi-tui'; class Mine extends SettingsList {}",
            "new Mine()",
            "SettingsList",
        ),
        ("import { SessionManager } from '@oh-my-pi/pi-coding-agent';", "new SessionManager()", "ctx.sessionManager"),
        ("", "pi.zod.string()", "pi.zod.string"),
        ("", "pi.events.emit('x')", "pi.events"),
        ("", "pi.pi.theThing", "pi.pi.theThing"),
        ("", "Bun.serve()", "Bun.serve"),
        ("", "ctx.ui.theme.icon", "ctx.ui.theme.icon"),
        ("", "process.kill(1)", "process.kill"),
    ] {
        let project = Project::new();
        let system = project.module(&format!(
            "{imports}\nexport default (pi) => {{ pi.on('tool_call', async (event, ctx) => ({{ block: true, reason: String({expression}) }})); }};"
        ));
        let said = reason(&ask(&system, &Scripted::new(&[])));
        assert!(said.contains(name) && said.contains("not available"), "{expression}: {said}");
    }
}

#[test]
fn files_are_opened_by_number() {
    let fs = "import { openSync, writeSync, closeSync, readSync, readFileSync, createWriteStream, unlinkSync, symlinkSync, readlinkSync, cpSync, mkdirSync, utimesSync, statSync, truncateSync } from 'node:fs';";
    let lock = "(() => { const fd = openSync('lock', 'wx'); writeSync(fd, 'one '); writeSync(fd, Buffer.from('two')); closeSync(fd); let code; try { openSync('lock', 'wx'); } catch (e) { code = e.code; } \
                const r = openSync('lock', 'r'); const b = Buffer.alloc(3); const n = [readSync(r, b), b.toString(), readSync(r, b, 0, 2, 5), b.toString()]; let bad; try { writeSync(r, 'x'); } catch (e) { bad = e.code; } closeSync(r); \
                const text = readFileSync('lock', 'utf8'); unlinkSync('lock'); return [text, code, n, bad]; })()";
    assert_eq!(gives(fs, lock), json_value(r#"["one two","EEXIST",[3,"one",2,"woe"],"EBADF"]"#));
    let more = "await (async () => { const log = createWriteStream('log', { flags: 'a' }); log.write('a\\n'); await new Promise((done) => log.end('b\\n', done)); \
                mkdirSync('d/e', { recursive: true }); createWriteStream('d/e/f').end('x'); cpSync('d', 'copy', { recursive: true }); symlinkSync('log', 'link'); utimesSync('log', 0, 100); truncateSync('d/e/f', 3); \
                return [readFileSync('log', 'utf8'), readFileSync('copy/e/f', 'utf8'), readlinkSync('link'), statSync('log').mtimeMs, readFileSync('d/e/f', 'utf8')]; })()";
    assert_eq!(gives(fs, more), json_value(r#"["a\nb\n","x","log",100000,"x\u0000\u0000"]"#));
}

#[test]
fn processes_as_bun_starts_them() {
    let piped = "await (async () => { const child = Bun.spawn(['cat'], { stdin: 'pipe', stdout: 'pipe' }); child.stdin.write('in'); child.stdin.end(); const text = await new Response(child.stdout).text(); return [text, await child.exited]; })()";
    assert_eq!(gives("", piped), json_value(r#"["in",0]"#));
    let failing = "await (async () => { const child = Bun.spawn({ cmd: ['sh', '-c', 'echo bad >&2; exit 3'] }); let all = ''; for await (const piece of child.stderr) all += piece; return [await child.exited, all]; })()";
    assert_eq!(gives("", failing), json_value(r#"[3,"bad\n"]"#));
    assert_eq!(
        gives("", "[Bun.spawnSync(['echo', 'x']).stdout.toString(), Bun.spawnSync(['false']).success]"),
        json_value(r#"["x\n",false]"#)
    );
    let shell = "await (async () => { const name = \"it's; rm -rf $HOME\"; const out = [await $`printf %s ${name}`.text(), (await $`exit 4`.nothrow()).exitCode, await $`echo ${['a', 'b c']}`.text()]; try { await $`exit 5`; } catch (e) { out.push(e.exitCode); } return out; })()";
    assert_eq!(gives("import { $ } from 'bun';", shell), json_value(r#"["it's; rm -rf $HOME",4,"a b c\n",5]"#));
    assert_eq!(gives("", "[Bun.which('sh').endsWith('/sh'), Bun.which('no such program')]"), json_value("[true,null]"));
}

#[test]
fn claims_clocks_and_numbers() {
    let assert = "import assert from 'node:assert'; import { isDeepStrictEqual } from 'node:util'; import { performance } from 'node:perf_hooks'; import { setTimeout as later } from 'node:timers';";
    let deep = "[isDeepStrictEqual({ a: [{ b: { c: { d: { e: 1 } } } }] }, { a: [{ b: { c: { d: { e: 1 } } } }] }), isDeepStrictEqual({ a: [{ b: { c: { d: { e: 1 } } } }] }, { a: [{ b: { c: { d: { e: 2 } } } }] }), isDeepStrictEqual(new Map([[1, { a: 1 }]]), new Map([[1, { a: 1 }]])), isDeepStrictEqual([1], { 0: 1 })]";
    assert_eq!(gives(assert, deep), json_value("[true,false,true,false]"));
    let thrown = "(() => { const out = []; for (const work of [() => assert(1), () => assert.equal(1, 2), () => assert.deepEqual([1], [1]), () => assert.throws(() => {})]) { try { work(); out.push('ok'); } catch (e) { out.push(e.code); } } return out; })()";
    assert_eq!(gives(assert, thrown), json_value(r#"["ok","ERR_ASSERTION","ok","ERR_ASSERTION"]"#));
    assert_eq!(gives(assert, "[typeof performance.now(), typeof later]"), json_value(r#"["number","function"]"#));
    assert_eq!(
        gives(
            "",
            "[(1234567).toLocaleString(), (-1234.5).toLocaleString(), (0.12345).toLocaleString(), (5).toLocaleString('en', { minimumFractionDigits: 2 })]"
        ),
        json_value(r#"["1,234,567","-1,234.5","0.123","5.00"]"#)
    );
}

#[test]
fn a_process_may_be_asked_about_but_not_ended() {
    assert_eq!(gives("", "process.kill(process.pid, 0)"), true);
    let gone = "(() => { try { process.kill(2147483646, 0); } catch (e) { return e.code; } })()";
    assert_eq!(gives("", gone), "ESRCH");
    // The name of the older versions of the API.
    let project = Project::new();
    let system = project.module("export default (pi) => { pi.on('tool_call', (event, ctx) => ({ block: true, reason: String(ctx.hasPendingMessages()) })); };");
    assert_eq!(reason(&ask(&system, &Scripted::new(&[]))), "true");
}

#[test]
fn a_module_of_the_older_kind_is_told_what_to_be() {
    for (source, advice) in [
        ("import 'node:fs'; module.exports = () => {};", "use `export default`"),
        ("import 'node:fs'; exports.default = () => {};", "use `export default`"),
    ] {
        let project = Project::new();
        let system = project.module(source);
        let diagnostics = system.snapshot().diagnostics().to_vec();
        assert!(diagnostics.iter().any(|found| found.message.contains(advice)), "{source}: {diagnostics:?}");
    }
}
