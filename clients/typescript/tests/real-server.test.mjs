// The client against the real server, on pipes and on a socket.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  AbortedError,
  BusError,
  Client,
  ClosedError,
  InvalidInputError,
  NotGuarded,
  RequestTooLargeError,
  TimedOutError,
} from "hookrail-client";
import { BLOCKED, HANG, Sandbox, program, skipOrFail, tool, waitUntil } from "./support.mjs";

const OPTIONS = { timeout: HANG };
const code = (expected) => (error) => error instanceof BusError && error instanceof NotGuarded && error.code === expected;
const MIB = 1024 * 1024;

/** A test that gets a sandbox; skipped by name when there is no server. */
function serverTest(name, run) {
  test(name, { timeout: 3 * HANG }, async (t) => {
    if (program() === undefined) return skipOrFail(t, "the program hookrail");
    await run(new Sandbox(t), t);
  });
}

/** Both ways to the server of one project, one after the other. */
async function inBothWays(sandbox, project, run, options = OPTIONS) {
  const { path } = await sandbox.serve(project);
  const spawned = { program: program(), args: ["--trust-project"], project, env: sandbox.env, ...options };
  for (const client of [Client.spawn(spawned), await Client.connect(path, options)]) {
    try {
      await run(client);
    } finally {
      await client.close();
    }
  }
}

/** A request and a response as a provider has them, with parts that no hook sees. */
const REQUEST = {
  model: "m",
  safetySettings: ["kept"],
  contents: [
    { role: "user", parts: [{ text: "look" }, { inlineData: { mimeType: "image/png", data: "AA" } }] },
    { role: "model", parts: [{ functionCall: { id: "1", name: "read", args: { path: "a" } } }] },
    { role: "user", parts: [{ functionResponse: { id: "1", name: "read", response: { output: "x" } } }] },
  ],
};
const CALL = { functionCall: { id: "2", name: "write", args: {} } };
const RESPONSE = {
  responseId: "kept",
  candidates: [{ content: { role: "model", parts: [{ text: "secret" }, CALL] }, finishReason: "STOP" }],
};
const MODEL_HOOKS = {
  BeforeModel: `printf '{"hookSpecificOutput":{"hookEventName":"BeforeModel","llm_request":{"model":"other"}}}'`,
  AfterModel: `printf '{"hookSpecificOutput":{"hookEventName":"AfterModel","llm_response":{"text":"redacted"}}}'`,
};

serverTest("a host gets its own documents with the changes of hooks", async (sandbox) => {
  await inBothWays(sandbox, sandbox.project({}, MODEL_HOOKS), async (client) => {
    let answer = await client.execute("BeforeModel", { llm_request: REQUEST });
    assert.deepEqual(answer.modelRequest, { ...REQUEST, model: "other" });
    assert.notDeepEqual(answer.modelRequest, answer.outcome.llmRequest);
    answer = await client.execute("AfterModel", { llm_request: REQUEST, llm_response: RESPONSE });
    assert.equal(answer.modelResponse.responseId, "kept");
    assert.deepEqual(answer.modelResponse.candidates[0].content.parts, [{ text: "redacted" }, CALL]);
    // A document in the neutral form has no other one.
    answer = await client.execute("BeforeModel", {
      llm_request: { model: "m", messages: [{ role: "user", content: "hi" }] },
    });
    assert.deepEqual(answer.modelRequest, answer.outcome.llmRequest);
    assert.equal(answer.modelRequest.model, "other");
    assert.equal((await client.execute("BeforeTool", BLOCKED)).modelRequest, null);
  });
});

serverTest("everything in both ways", async (sandbox) => {
  await inBothWays(sandbox, sandbox.project(), async (client) => {
    const welcome = await client.hello();
    assert.equal(welcome.protocol, 1);
    assert(welcome.capabilities.includes("cancel"));
    await client.ping();
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let answer = await client.execute("BeforeTool", BLOCKED, { traceparent });
    assert(answer.isDenied && answer.denied && !answer.mustStop && !answer.mayProceed);
    assert.equal(answer.decision, "deny");
    assert.equal(answer.reason, "no");
    assert.equal(answer.output.success, false);
    assert.throws(() => answer == true, TypeError);
    answer = await client.execute("PreToolUse", tool("write"), { correlationId: "mine" });
    assert.equal(answer.correlationId, "mine");
    assert.deepEqual(answer.toolInput, { path: "b" });
    assert(answer.mayProceed && answer.durationMs > 0);
    answer = await client.execute("BeforeTool", tool("asks"));
    assert(answer.mustAsk && !answer.mayProceed && !answer.isDenied);
    await assert.rejects(client.execute("Nonsense", {}), code("unsupported_event"));
    await assert.rejects(client.execute("BeforeTool", { tool_name: 1 }), code("invalid_request"));
    await assert.rejects(client.execute("BeforeTool", BLOCKED, { project: "/missing" }), code("invalid_project"));
    const many = await Promise.all(Array.from({ length: 100 }, () => client.execute("BeforeTool", BLOCKED)));
    assert(many.every((one) => one.isDenied));
    client.onLifecycle((news) => news.phase === "hook-started" && client.cancel("slow"));
    await assert.rejects(client.execute("BeforeTool", tool("slow"), { correlationId: "slow" }), code("cancelled"));
    client.onLifecycle(null);
    await client.close();
    await assert.rejects(client.ping(), ClosedError);
  });
});

serverTest("a request that is too long fails, and the next one does not", async (sandbox) => {
  await inBothWays(sandbox, sandbox.project(), async (client) => {
    for (const long of [client.execute("BeforeTool", tool("blocked", { content: "x".repeat(17 * MIB) }))]) {
      await assert.rejects(long, (error) => error instanceof RequestTooLargeError && error.code === "line_too_long");
      assert((await client.execute("BeforeTool", BLOCKED)).isDenied);
    }
  });
});

serverTest("a limit that only the server knows", async (sandbox) => {
  mkdirSync(join(sandbox.env.HOME, ".config/hookrail"), { recursive: true });
  writeFileSync(join(sandbox.env.HOME, ".config/hookrail/config.toml"), "[bus]\nline-kib = 64\n");
  const long = tool("blocked", { content: "x".repeat(100_000) });
  await inBothWays(sandbox, sandbox.project(), async (client) => {
    // Nothing tells this client the limit, so the server skips the line.
    await assert.rejects(client.execute("BeforeTool", long), RequestTooLargeError);
    assert((await client.execute("BeforeTool", BLOCKED)).isDenied);
    assert.equal((await client.hello()).lineLimit, 65536);
    await assert.rejects(client.execute("BeforeTool", long), RequestTooLargeError);
  });
});

serverTest("a large answer and a deeply nested one do not end the reader", async (sandbox) => {
  const verbose = "head -c 6000000 /dev/zero | tr '\\0' x >&2; exit 2";
  const deep =
    `printf '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"path":'; ` +
    `head -c 5000 /dev/zero | tr '\\0' '['; head -c 5000 /dev/zero | tr '\\0' ']'; printf '}}}'`;
  await inBothWays(sandbox, sandbox.project({ verbose, deep }), async (client) => {
    assert((await client.execute("BeforeTool", tool("verbose"))).isDenied);
    await client.execute("BeforeTool", tool("deep")).catch((error) => assert(error instanceof NotGuarded));
    assert((await client.execute("BeforeTool", BLOCKED)).isDenied);
  });
});

serverTest("input without a JSON form is refused before it is sent", async (sandbox) => {
  const loop = {};
  loop.loop = loop;
  let deep = [];
  for (let at = 0; at < 200_000; at += 1) deep = [deep];
  const bad = [NaN, Infinity, -Infinity, new Number(NaN), 1n, () => {}, Symbol("x"), new Map(), new Set(), "\ud800", loop, deep];
  const raises = { toJSON: () => assert.fail("no") };
  await inBothWays(sandbox, sandbox.project(), async (client) => {
    for (const value of [...bad, raises]) {
      await assert.rejects(client.execute("BeforeTool", tool("blocked", { value })), InvalidInputError);
    }
    await assert.rejects(client.execute("BeforeTool", BLOCKED, { timeout: NaN }), InvalidInputError);
    // Text that only looks like one is text.
    const escaped = tool("blocked", { value: "\\ud800 \\\\ud800 \u{1f600}" });
    assert((await client.execute("BeforeTool", escaped)).isDenied);
  });
});

serverTest("a listener that throws or rejects is reported and harms nothing", async (sandbox) => {
  const seen = [];
  await inBothWays(
    sandbox,
    sandbox.project(),
    async (client) => {
      const faults = [
        () => {
          throw new Error("thrown");
        },
        async () => {
          throw new Error("rejected");
        },
      ];
      for (const listener of faults) {
        seen.length = 0;
        client.onLifecycle(listener);
        assert((await client.execute("BeforeTool", BLOCKED)).isDenied);
        await waitUntil(() => seen.length > 0);
        assert(/thrown|rejected/.test(seen[0].message));
      }
      client.onLifecycle(null);
      assert((await client.execute("BeforeTool", BLOCKED)).isDenied);
    },
    { ...OPTIONS, onError: (error) => seen.push(error) },
  );
});

serverTest("an aborted signal settles at once and cancels the hooks", async (sandbox) => {
  const project = sandbox.project();
  const pid = join(project, "pid");
  await inBothWays(sandbox, project, async (client) => {
    const abort = new AbortController();
    const slow = client.execute("BeforeTool", tool("slow"), { signal: abort.signal });
    await waitUntil(() => existsSync(pid));
    const hook = readFileSync(pid, "utf8").trim();
    rmSync(pid);
    abort.abort(new Error("mine"));
    await assert.rejects(slow, (error) => error instanceof AbortedError && error.name === "AbortError" && error.cause.message === "mine");
    await waitUntil(() => !existsSync(`/proc/${hook}`));
    await assert.rejects(client.execute("BeforeTool", BLOCKED, { signal: abort.signal }), AbortedError);
    assert((await client.execute("BeforeTool", BLOCKED, { signal: AbortSignal.timeout(HANG) })).isDenied);
  });
});

serverTest("a server that is stopped costs no more than the deadline", async (sandbox) => {
  const { server, path } = await sandbox.serve(sandbox.project());
  const client = await Client.connect(path, { timeout: 500, controlTimeout: 500 });
  await client.ping({ timeout: HANG });
  await sandbox.stop(server);
  const large = tool("blocked", { content: "x".repeat(3_000_000) });
  await assert.rejects(client.execute("BeforeTool", BLOCKED), TimedOutError);
  await assert.rejects(client.execute("BeforeTool", large), TimedOutError);
  await assert.rejects(client.execute("BeforeTool", large), TimedOutError);
  await assert.rejects(client.hello(), TimedOutError);
  await assert.rejects(client.ping(), TimedOutError);
  const signal = AbortSignal.timeout(200);
  await assert.rejects(client.execute("BeforeTool", large, { signal, timeout: Infinity }), AbortedError);
  server.kill("SIGCONT");
  assert((await client.execute("BeforeTool", BLOCKED, { timeout: HANG })).isDenied);
  await client.close();
});

serverTest("a server that dies fails what waits, and a new one is found", async (sandbox) => {
  const project = sandbox.project();
  const { server, path } = await sandbox.serve(project);
  const client = await Client.connect(path, OPTIONS);
  const waiting = Array.from({ length: 5 }, () => client.execute("BeforeTool", tool("slow")));
  const failed = Promise.all(waiting.map((one) => assert.rejects(one, ClosedError)));
  await waitUntil(() => existsSync(join(project, "pid")));
  server.kill("SIGKILL");
  await failed;
  await sandbox.serve(project);
  assert((await client.execute("BeforeTool", BLOCKED)).isDenied);
  await client.close();
});

serverTest("a server of its own that dies is started again", async (sandbox) => {
  const project = sandbox.project();
  // The server is the process that a hook has as its parent.
  writeFileSync(join(sandbox.base, "server"), `#!/bin/sh\necho $$ > ${sandbox.base}/server.pid\nexec ${program()} "$@"\n`, {
    mode: 0o755,
  });
  const spawned = { program: join(sandbox.base, "server"), args: ["--trust-project"], project, env: sandbox.env };
  const client = Client.spawn({ ...spawned, ...OPTIONS });
  const seen = [];
  client.onLifecycle((news) => seen.push(news.phase));
  const slow = assert.rejects(client.execute("BeforeTool", tool("slow")), ClosedError);
  await waitUntil(() => existsSync(join(project, "pid")));
  process.kill(Number(readFileSync(join(sandbox.base, "server.pid"), "utf8")), "SIGKILL");
  await slow;
  seen.length = 0;
  assert((await client.execute("BeforeTool", BLOCKED)).isDenied);
  await waitUntil(() => seen.includes("hook-ended")); // the new server was asked for reports too
  await client.close();
});

serverTest("closing a server of its own that is stopped ends", async (sandbox) => {
  writeFileSync(join(sandbox.base, "server"), `#!/bin/sh\necho $$ > ${sandbox.base}/server.pid\nexec ${program()} "$@"\n`, {
    mode: 0o755,
  });
  const spawned = { program: join(sandbox.base, "server"), project: sandbox.project(), env: sandbox.env };
  const client = Client.spawn({ ...spawned, controlTimeout: 500 });
  await client.ping({ timeout: HANG });
  const pid = Number(readFileSync(join(sandbox.base, "server.pid"), "utf8"));
  await sandbox.stop({ pid });
  await client.close();
  await waitUntil(() => !existsSync(`/proc/${pid}`));
});
