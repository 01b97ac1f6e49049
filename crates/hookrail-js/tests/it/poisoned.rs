//! Most of a module's world is compiled when it is first touched. A module may have spoiled every built-in by then; what
//! is compiled afterwards must not notice.

use std::sync::Arc;

use super::common::{Project, Scripted, ask, block_on, reason};
use hookrail::Host;
use hookrail::process::RawEnd;

/// Spoils whatever the language allows to be spoiled: members of built-ins and of their prototypes, globals, and what
/// property descriptors and options inherit. Two members stay: the engine makes template strings with `concat`, and
/// `toLocaleString` is what is asked for.
const SPOIL: &str = r"
const { ownKeys, getOwnPropertyDescriptor: look, defineProperty: define } = Reflect;
const spoiled = (what) => function () { throw `${what} is spoiled`; };
const shown = String;
const iterator = Object.getPrototypeOf([][Symbol.iterator]());
const prototypes = [Array, String, Number, Boolean, Map, Set, Date, RegExp, Promise, Function, Error, Uint8Array, BigInt];
const owners = [JSON, Object, Reflect, Math, Promise, Array, Number, String, Symbol, Date, iterator];
for (const one of prototypes) owners[owners.length] = one.prototype;
const stays = { __proto__: null, constructor: 1, concat: 1, toLocaleString: 1 };
const globals = ['Array', 'Boolean', 'Date', 'Error', 'Function', 'InternalError', 'JSON', 'Map', 'Math', 'Number', 'Object', 'Promise',
    'Proxy', 'RangeError', 'Reflect', 'RegExp', 'Set', 'String', 'Symbol', 'TypeError', 'Uint8Array', 'WeakMap', 'WeakSet', 'ArrayBuffer'];
for (let at = 0; at < owners.length; at++) {
    const keys = ownKeys(owners[at]);
    for (let key = 0; key < keys.length; key++) {
        const { configurable, value } = look(owners[at], keys[key]);
        if (!configurable || typeof value !== 'function' || stays[keys[key]]) continue;
        define(owners[at], keys[key], { __proto__: null, value: spoiled(shown(keys[key])), writable: true, configurable: true });
    }
}
for (let at = 0; at < globals.length; at++) define(globalThis, globals[at], { __proto__: null, value: spoiled(globals[at]), writable: true });
const inherited = ['get', 'set', 'value', 'writable', 'enumerable', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'defineProperty', 'call'];
for (let at = 0; at < inherited.length; at++) define({}.__proto__, inherited[at], { __proto__: null, value: 1, configurable: true });
";

/// What a module says after it has spoiled everything, each part on a line of its own.
fn says(body: &str, answers: &[&str]) -> (String, Vec<String>) {
    let project = Project::new();
    let system = project.module(&format!(
        "{SPOIL}\nexport default (pi) => {{ pi.on('tool_call', async (event, ctx) => {{ let said = ''; {body}; return {{ block: true, reason: said }}; }}); }};"
    ));
    let host = Scripted::new(answers);
    let outcome = ask(&system, &host);
    (reason(&outcome), host.heard())
}

#[test]
fn every_global_can_still_be_had() {
    let names = [
        "console",
        "setTimeout",
        "setInterval",
        "setImmediate",
        "clearTimeout",
        "clearInterval",
        "clearImmediate",
        "queueMicrotask",
        "performance",
        "URL",
        "URLSearchParams",
        "TextEncoder",
        "TextDecoder",
        "structuredClone",
        "atob",
        "btoa",
        "crypto",
        "Intl",
        "WebSocket",
        "XMLHttpRequest",
        "Worker",
        "AbortController",
        "AbortSignal",
        "Event",
        "EventTarget",
        "DOMException",
        "CustomEvent",
        "process",
        "Buffer",
        "Bun",
        "fetch",
        "Headers",
        "Request",
        "Response",
    ];
    let asked: Vec<String> = names.iter().map(|name| format!("said += typeof {name} + ' '")).collect();
    let kinds = names.map(|name| match name {
        "console" | "performance" | "crypto" | "Intl" | "process" | "Bun" => "object ",
        _ => "function ",
    });
    assert_eq!(says(&asked.join(";"), &[]).0, kinds.concat());
}

#[test]
fn the_console_the_timers_and_numbers_work() {
    let project = Project::new();
    let system = project.module(&format!(
        "{SPOIL}\nexport default (pi) => {{ pi.on('tool_call', () => {{ console.log('a', 1, [true, {{ b: 'c' }}]); console.assert(false, 'no'); console.count(); }}); }};"
    ));
    let outcome = ask(&system, &Scripted::new(&[]));
    assert_eq!(outcome.runs[0].stdout, "a 1 [ true, { b: \"c\" } ]\ndefault: 1\n", "{outcome:?}");
    assert!(outcome.runs[0].stderr.contains("Assertion failed: no\n"), "{outcome:?}");

    let (said, _) = says(
        "const heard = { then(done) { setTimeout((a, b) => done(a + b), 1, 'to', 'gether'); } }; said += await heard;\n\
         const never = setInterval(() => { said += 'never' }, 1); clearInterval(never);\n\
         const soon = { then(done) { queueMicrotask(() => done(' soon')); } }; said += await soon;\n\
         said += ` ${performance.now() >= 0} ${(1234567.891).toLocaleString()} ${(-1234).toLocaleString()} ${(1e21).toLocaleString()}`;\n\
         said += ` ${(0.5).toLocaleString('en', { minimumFractionDigits: 2 })} ${(1234).toLocaleString('en', { useGrouping: false })}`",
        &[],
    );
    assert_eq!(said, "together soon true 1,234,567.891 -1,234 1e+21 0.50 1234");
}

#[test]
fn what_pi_and_ctx_reach_works() {
    let (said, heard) = says(
        "const ran = await pi.exec('echo', ['x']); said += ran.stdout;\n\
         pi.logger.warn('careful', { a: 1 });\n\
         said += `${ctx.hasUI} ${await ctx.ui.select('Which?', ['a', 'b'])} ${await ctx.ui.confirm('Sure', 'really')} ${ctx.ui.getEditorText()}\\n`;\n\
         ctx.ui.notify('hello');\n\
         const s = ctx.sessionManager; said += `${s.getSessionId()} ${s.getEntries().length} ${s.getTree().length} ${s.getEntry('e9').id} ${s.getBranch().length}\\n`;\n\
         said += `${ctx.model.id} ${ctx.modelRegistry.find('p', 'm').id} ${await ctx.modelRegistry.getApiKey({ id: 'k' })} ${ctx.isIdle()}\\n`;\n\
         try { ctx.ui.setWidget(); } catch (error) { said += error.message; }\n\
         try { s.putBlob(); } catch (error) { said += `\\n${error.message}`; }",
        &["b", "yes"],
    );
    assert_eq!(
        said,
        "x\ntrue b true typed\ns1 2 0 e9 1\ncurrent m key-of-k false\n\
         ctx.ui.setWidget is not available to module hooks: it belongs to the agent's extension API, which hookrail does not have\n\
         ctx.sessionManager.putBlob is not available to module hooks: the host keeps artifacts; use saveArtifact"
    );
    assert_eq!(
        heard,
        [r#"log Warning careful {"a":1}"#, r#"select Which? ["a", "b"]"#, "confirm Sure: really", "notify Info hello"]
    );
}

#[test]
fn a_command_works() {
    let project = Project::new();
    let system = project.module(&format!(
        "{SPOIL}\nexport default (pi) => {{ pi.registerCommand('go', {{ description: 'goes', handler: async (args, ctx) => {{\n\
         const tree = await ctx.navigateTree('t1'); await ctx.newSession({{ setup: async (s) => {{ s.appendMessage({{ role: 'user' }}); }} }});\n\
         pi.sendMessage({{ customType: 'r', content: `${{args}} ${{tree.cancelled}}` }}, {{ triggerTurn: true }}); pi.appendEntry('e', {{ a: 1 }}); }} }}); }};"
    ));
    assert_eq!(system.commands()[0].description.as_deref(), Some("goes"));
    let host = Scripted::new(&[]);
    let returned = block_on(system.run_command("go", "now", host.clone() as Arc<dyn Host>)).unwrap();
    assert_eq!(returned.how, RawEnd::Returned(None), "{returned:?}");
    assert_eq!(returned.messages[0].text(), r#"{"customType":"r","content":"now true","triggerTurn":true}"#);
    assert_eq!(returned.entries[0].text(), r#"{"customType":"e","data":{"a":1}}"#);
    assert_eq!(host.heard(), ["navigate t1 false", "new session after None", r#"message {"role":"user"}"#]);
}

#[test]
fn what_a_global_is_before_it_is_touched_does_not_show() {
    let project = Project::new();
    let system = project.module(
        "export default (pi) => { pi.on('tool_call', () => {\n\
         const visible = Object.keys(globalThis).filter((name) => name !== 'event');\n\
         const log = console.log; setTimeout = 7; globalThis.performance = 'mine';\n\
         const { writable, enumerable, configurable, get } = Object.getOwnPropertyDescriptor(globalThis, 'console');\n\
         return { block: true, reason: JSON.stringify([visible, typeof log, log === console.log, setTimeout, performance, typeof setInterval, writable, enumerable, configurable, typeof get]) }; }); };",
    );
    assert_eq!(
        reason(&ask(&system, &Scripted::new(&[]))),
        r#"[[],"function",true,7,"mine","function",true,false,true,"undefined"]"#
    );
}
