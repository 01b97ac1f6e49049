// Checks the client against a real server: `test-client.mjs stdio PROGRAM PROJECT` or `test-client.mjs socket PATH`.
//
// The project has hooks for BeforeTool: `blocked` is denied with the reason `no`, `slow` runs for a long time, and
// `write` gets another path.

import assert from "node:assert/strict";
import { BusError, Client, ClosedError } from "./hookrail-client.mjs";

const tool = (tool_name) => ({ tool_name, tool_input: { path: "a" } });
const code = (expected) => (error) => error instanceof BusError && error.code === expected;
const [how, where, project] = process.argv.slice(2);

const client =
  how === "stdio"
    ? Client.spawn({ program: where, args: ["--trust-project"], project })
    : await Client.connect(where);
const welcome = await client.hello();
assert.equal(welcome.protocol, 1);
assert(welcome.capabilities.includes("cancel"));
await client.ping();
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
let answer = await client.execute("BeforeTool", tool("blocked"), { traceparent });
assert(answer.denied && !answer.mustStop);
assert.equal(answer.reason, "no");
assert.equal(answer.output.success, false);
answer = await client.execute("PreToolUse", tool("write"), { correlationId: "mine" });
assert.equal(answer.correlationId, "mine");
assert.deepEqual(answer.toolInput, { path: "b" });
assert(!answer.denied && answer.durationMs > 0);
await assert.rejects(client.execute("Nonsense", {}), code("unsupported_event"));
await assert.rejects(client.execute("BeforeTool", { tool_name: 1 }), code("invalid_request"));
await assert.rejects(client.execute("BeforeTool", tool("x"), { project: "/missing" }), code("invalid_project"));
const many = await Promise.all(Array.from({ length: 100 }, () => client.execute("BeforeTool", tool("blocked"))));
assert(many.every((one) => one.denied));
const abort = new AbortController();
client.onLifecycle((news) => news.phase === "hook-started" && abort.abort());
await assert.rejects(client.execute("BeforeTool", tool("slow"), { signal: abort.signal }), code("cancelled"));
client.onLifecycle(null);
await client.close();
await assert.rejects(client.ping(), ClosedError);
console.log("ok");
