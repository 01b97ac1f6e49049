//! Rows about what a module does to its surroundings: the language, its processes, its own loading.

use crate::misbehaviour::modules::{Row, handler, module};

pub(crate) const ROWS: &[Row] = &[
    handler("gives every object a block", "Object.prototype.block = true; return {};").blocks(),
    handler("teaches every object to describe itself", "Object.prototype.toJSON = () => 'evil'; return { block: true };").blocks(),
    handler("takes JSON away", "JSON.parse = JSON.stringify = () => { throw 1; }; globalThis.JSON = null; return { block: true };").blocks(),
    handler("takes promises away", "Promise.prototype.then = null; Promise.resolve = null; globalThis.Promise = null; return { block: true };")
        .blocks(),
    handler("takes iteration away", "Array.prototype[Symbol.iterator] = Map.prototype.get = Array.prototype.push = null; return { block: true };")
        .blocks(),
    handler("takes calling away", "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = null; return { block: true };")
        .blocks(),
    handler("puts a trap on every object", "Object.defineProperty(Object.prototype, 'failures', { get() { throw 1; }, set() { throw 2; } }); Object.defineProperty(Object.prototype, 'message', { get() { throw 3; } }); return { block: true };")
        .blocks(),
    handler("takes everything away", "for (const key of Reflect.ownKeys(globalThis)) { try { delete globalThis[key]; } catch {} } return { block: true };")
        .blocks(),
    handler("takes errors away and throws", "globalThis.Error = globalThis.TypeError = null; null.x;").throws(),
    handler("freezes the language", "Object.freeze(Object.prototype); Object.freeze(globalThis); return { block: true };").blocks(),
    handler("ends the process", "process.exit(0);").throws(),
    handler("kills the process", "process.kill(process.pid, 'SIGKILL');").throws(),
    handler("aborts the process", "process.abort();").throws(),
    handler("starts a process and waits too long", "await pi.exec('sleep', ['600']);").times_out(),
    handler("starts a process that ignores the signal to end", "await pi.exec('sh', ['-c', \"trap '' TERM; sleep 600; sleep 600\"]);").times_out(),
    handler("starts a process in a session of its own", "await pi.exec('sh', ['-c', 'setsid sleep 600 & sleep 600']);").times_out(),
    handler("starts a process and forgets it", "pi.exec('sleep', ['600']); return { block: true };").blocks(),
    handler("starts 60 processes and waits for none", "for (let i = 0; i < 60; i++) pi.exec('sleep', ['600']); await new Promise((go) => setTimeout(go, 6e5));")
        .times_out(),
    handler("starts a process that leaves a child", "await pi.exec('sh', ['-c', 'sleep 30 &']); return { block: true };").blocks(),
    handler("starts a process that prints more than is kept", "await pi.exec('head', ['-c', '17000000', '/dev/zero']); return { block: true };").throws(),
    handler("starts a process that is not there", "await pi.exec('/no/such/program', []);").throws(),
    handler("waits for a process and blocks its thread", "(await import('node:child_process')).execSync('sleep 600');").times_out(),
    handler("imports what is not there", "await import('./nope.ts');").throws(),
    handler("imports what works for ever", "(await import('node:fs')).writeFileSync('loop.ts', 'for (;;) {}'); await import('./loop.ts');")
        .times_out(),
    handler("deletes itself", "(await import('node:fs')).rmSync('bad.ts'); return { block: true };").throws(),
    handler("deletes its folder", "(await import('node:fs')).rmSync(process.cwd(), { recursive: true, force: true }); return { block: true };").throws(),
    module("works for ever when it is loaded", "for (;;) {}").is_not_loaded(),
    module("waits for ever when it is loaded", "await new Promise(() => {}); export default () => {};").is_not_loaded(),
    module("fills its memory when it is loaded", "const all = []; for (;;) all.push(new Uint8Array(1 << 20));").is_not_loaded(),
    module("calls itself for ever when it is loaded", "const f = () => f() + 1; f(); export default () => {};").is_not_loaded(),
    module("throws when it is loaded", "throw new Error('broken');").is_not_loaded(),
    module("has a factory that throws", "export default () => { throw null; };").is_not_loaded(),
    module("has a factory that never settles", "export default () => new Promise(() => {});").is_not_loaded(),
    module("has a factory that works for ever", "export default () => { for (;;) {} };").is_not_loaded(),
    module("has no factory", "export const x = 1;").is_not_loaded(),
    module("is no JavaScript", "export default (pi) => {").is_not_loaded(),
    module("is empty", "").is_not_loaded(),
    module("registers 1 000 handlers", "export default (pi) => { for (let i = 0; i < 1e3; i++) { pi.on('tool_call', () => {}); pi.on('tool_result', () => {}); } };")
        .ends("silent", ["none"; 2]),
    module("registers for an event that is none", "export default (pi) => { pi.on('tool_cal', () => ({ block: true })); };")
        .ends("not loaded", ["none"; 2])
        .reports(&["module-event"]),
    module("registers no function", "export default (pi) => { pi.on('tool_call', { block: true }); pi.on('tool_result', () => { throw 1; }); };")
        .fails("threw")
        .reports(&["module-registration", "hook-threw"]),
];
