// The client against servers that do what a server must not do. No call hangs, and none ends in a permission.

import assert from "node:assert/strict";
import { unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  AnswerTooLargeError,
  BusError,
  Client,
  ClosedError,
  ConnectFailedError,
  InvalidAnswerError,
  InvalidInputError,
  NotGuarded,
  ProgramMissingError,
  RequestTooLargeError,
  TimedOutError,
} from "hookrail-client";
import { BLOCKED, HANG, Sandbox, waitUntil } from "./support.mjs";

/** A test with a client of a server that behaves like that. */
async function against(t, behave, options = {}) {
  const path = await new Sandbox(t).fake(behave);
  const client = await Client.connect(path, { timeout: HANG, reconnect: false, ...options });
  t.after(() => client.close());
  return { path, client, ask: (more) => client.execute("BeforeTool", BLOCKED, more) };
}
const fakeTest = (name, run) => test(name, { timeout: 3 * HANG }, run);
const is = (kind) => (error) => error instanceof kind && error instanceof NotGuarded;

fakeTest("an error under a made-up name fails everything that waits", async (t) => {
  const { ask } = await against(t, async (peer) => {
    const first = await peer.payload();
    const second = await peer.payload();
    peer.refuse("made-up", "line_too_long");
    // Late answers to failed requests are not answers.
    for (const late of [first, second, await peer.payload()]) peer.answer(late.correlationId);
    await peer.payload();
  });
  await Promise.all([ask(), ask()].map((one) => assert.rejects(one, is(RequestTooLargeError))));
  assert((await ask()).mayProceed);
});

fakeTest("the late error of a request that was given up fails nothing else", async (t) => {
  const { ask } = await against(t, async (peer) => {
    const first = await peer.payload();
    assert.equal((await peer.payload("cancel")).correlationId, first.correlationId);
    const second = await peer.payload();
    peer.refuse(first.correlationId, "cancelled");
    peer.answer(second.correlationId, "deny");
    await peer.payload();
  });
  await assert.rejects(ask({ timeout: 200 }), is(TimedOutError));
  assert((await ask()).isDenied);
});

const NAMED = '{"type":"HOOK_EXECUTION_RESPONSE","payload":{"correlationId":"me",';
const good = (decision) =>
  `${NAMED}"success":true,"output":{},"outcome":{"decision":${decision},"stop":false,"toolInput":null}}}`;
const RUBBISH = [
  ["nonsense", InvalidAnswerError],
  [Buffer.from([0xff, 0xfe, 0]), InvalidAnswerError],
  ["[]", InvalidAnswerError],
  ["null", InvalidAnswerError],
  ['{"type":1,"payload":{}}', InvalidAnswerError],
  ['{"type":"HOOK_EXECUTION_RESPONSE"}', InvalidAnswerError],
  ['{"type":"HOOK_EXECUTION_RESPONSE","payload":{}}', BusError],
  ["[".repeat(100_000), InvalidAnswerError],
  [`${NAMED}"outcome":${"[".repeat(100_000)}`, InvalidAnswerError],
  [`${NAMED.slice(0, -1)}}}`, BusError],
  [`${NAMED}"success":"true","output":{},"outcome":{"decision":null,"stop":false}}}`, BusError],
  [`${NAMED}"success":true}}`, InvalidAnswerError],
  [`${NAMED}"success":true,"output":{},"outcome":{}}}`, InvalidAnswerError],
  [`${NAMED}"success":true,"output":{},"outcome":null}}`, InvalidAnswerError],
  [`${NAMED}"success":false,"error":5}}`, BusError],
  [`${NAMED}"success":false,"output":{},"outcome":{"decision":"allow","stop":false}}}`, BusError],
  [good('"maybe"'), InvalidAnswerError],
  [good("true"), InvalidAnswerError],
  [good("[]"), InvalidAnswerError],
  [good("NaN"), InvalidAnswerError],
  [good("null").replace('"stop":false', '"stop":0'), InvalidAnswerError],
  [good("null").replace('"toolInput":null', '"toolInput":[]'), InvalidAnswerError],
  [good("null").replace("HOOK_EXECUTION_RESPONSE", "pong"), InvalidAnswerError],
];

for (const [line, kind] of RUBBISH) {
  fakeTest(`rubbish is a typed error: ${String(line).slice(0, 90)}`, async (t) => {
    const { ask } = await against(t, async (peer) => {
      await peer.payload();
      peer.raw(line);
      peer.raw("\n");
      peer.answer((await peer.payload()).correlationId, "deny");
      await peer.payload();
    });
    await assert.rejects(ask({ correlationId: "me" }), is(kind));
    // The line was read to its end, so the connection is as good as before.
    assert((await ask()).isDenied);
  });
}

fakeTest("rubbish that names its request fails no other", async (t) => {
  const { ask } = await against(t, async (peer) => {
    await peer.payload();
    await peer.payload();
    peer.raw(`{"type":"HOOK_EXECUTION_RESPONSE","payload":{"correlationId":"a",${"[".repeat(100_000)}\n`);
    peer.answer("b");
    await peer.payload();
  });
  const [first, second] = [ask({ correlationId: "a" }), ask({ correlationId: "b" })];
  await assert.rejects(first, is(InvalidAnswerError));
  assert((await second).mayProceed);
});

fakeTest("an answer over the limit fails its request and is skipped", async (t) => {
  const { ask } = await against(
    t,
    async (peer) => {
      peer.answer((await peer.payload()).correlationId, null, { reason: "x".repeat(300_000) });
      peer.answer((await peer.payload()).correlationId, null, { reason: "x".repeat(50_000) });
      await peer.payload();
      peer.raw(`${"x".repeat(300_000)}\n`);
      await peer.payload();
    },
    { answerLimit: 100_000 },
  );
  await assert.rejects(ask(), is(AnswerTooLargeError));
  assert.equal((await ask()).reason.length, 50_000);
  await assert.rejects(ask(), is(AnswerTooLargeError));
});

const HALF = '{"type":"HOOK_EXECUTION_RESPONSE","payload":{"correlationId":"x","success":true';

fakeTest("half an answer and then the end", async (t) => {
  const { ask } = await against(t, async (peer) => {
    await peer.payload();
    peer.raw(HALF);
  });
  await assert.rejects(ask(), is(ClosedError));
  await assert.rejects(ask(), is(ClosedError));
});

fakeTest("half an answer and then silence", async (t) => {
  const { ask } = await against(t, async (peer) => {
    await peer.payload();
    peer.raw(HALF);
    await peer.payload();
  });
  await assert.rejects(ask({ timeout: 300 }), is(TimedOutError));
});

fakeTest("a server that never reads costs no more than the deadline", async (t) => {
  const behave = (peer) => {
    peer.socket.pause();
    return new Promise(() => {});
  };
  const { client } = await against(t, behave, { timeout: 300, controlTimeout: 300 });
  const large = { tool_name: "x", tool_input: { content: "x".repeat(8_000_000) } };
  for (let round = 0; round < 3; round += 1) {
    await assert.rejects(client.execute("BeforeTool", large), is(TimedOutError));
  }
  await assert.rejects(client.ping(), is(TimedOutError));
  await assert.rejects(client.hello(), is(TimedOutError));
});

fakeTest("a name in flight is refused", async (t) => {
  const { ask, client } = await against(t, (peer) => peer.payload("never"));
  const first = assert.rejects(ask({ correlationId: "twice" }), is(ClosedError));
  await assert.rejects(ask({ correlationId: "twice" }), is(InvalidInputError));
  await client.close();
  await first;
});

fakeTest("a correlation id must be a string", async (t) => {
  const { ask } = await against(t, (peer) => peer.payload("never"));
  await assert.rejects(ask({ correlationId: 5 }), is(InvalidInputError));
});

fakeTest("a server that turns the client away is heard", async (t) => {
  const seen = [];
  const { ask } = await against(t, (peer) => peer.refuse("made-up", "overloaded"), { onError: (e) => seen.push(e) });
  await waitUntil(() => seen.length > 0);
  for (let round = 0; round < 2; round += 1) {
    await assert.rejects(ask(), (error) => is(BusError)(error) && error.code === "overloaded");
  }
});

fakeTest("answers to nothing are reported", async (t) => {
  const seen = [];
  const { ask } = await against(
    t,
    async (peer) => {
      peer.answer("unknown-id");
      peer.raw("rubbish\n");
      peer.say("notify", { phase: 5 });
      peer.say("of-a-newer-server", {});
      peer.raw("\n  \n");
      peer.answer((await peer.payload()).correlationId, "deny");
      await peer.payload();
    },
    {
      onError: (error) => {
        seen.push(error);
        throw new Error("a fault of the error callback");
      },
    },
  );
  await waitUntil(() => seen.length === 3);
  assert(seen.every(is(InvalidAnswerError)));
  assert((await ask()).isDenied);
});

fakeTest("a lost connection is made again with pauses", async (t) => {
  const connections = [];
  const { ask } = await against(
    t,
    async (peer) => {
      connections.push(performance.now());
      const { correlationId } = await peer.payload();
      if (connections.length <= 5) return; // the end, without an answer
      peer.answer(correlationId, "deny");
      await peer.payload();
    },
    { reconnect: true },
  );
  for (let round = 0; round < 5; round += 1) await assert.rejects(ask(), is(ClosedError));
  assert((await ask()).isDenied);
  // The pauses before the third to sixth connection are at least 25, 50, 100 and 200 ms.
  assert(connections[5] - connections[1] > 300);
});

fakeTest("a server that stays away is an error in the end", async (t) => {
  const { ask, path } = await against(t, () => {}, { reconnect: true, reconnectTimeout: 500 });
  await assert.rejects(ask(), is(ClosedError));
  unlinkSync(path);
  await assert.rejects(ask(), is(ConnectFailedError));
  await assert.rejects(ask({ timeout: 100 }), is(TimedOutError));
});

/** A program that is no server. */
function script(t, text) {
  const path = join(new Sandbox(t).base, "server");
  writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return path;
}

async function withProgram(t, text, options, run) {
  const client = Client.spawn({ program: script(t, text), timeout: HANG, reconnect: false, ...options });
  try {
    await run(client);
  } finally {
    await client.close();
  }
}

fakeTest("a program that is missing is named with the fix", async (t) => {
  const unusable = join(new Sandbox(t).base, "unusable");
  writeFileSync(unusable, "");
  for (const program of ["hookrail-that-is-not-installed", "/missing/hookrail", unusable]) {
    const client = Client.spawn({ program });
    const named = (error) => is(ProgramMissingError)(error) && error.message.includes(program) && /PATH/.test(error.message);
    await assert.rejects(client.ping(), named);
    await assert.rejects(client.execute("BeforeTool", BLOCKED), named);
    await client.close();
  }
});

fakeTest("a program that ends at once", async (t) => {
  await withProgram(t, "exit 3", {}, (client) => assert.rejects(client.execute("BeforeTool", BLOCKED), is(ClosedError)));
});

fakeTest("a program that writes rubbish", async (t) => {
  await withProgram(t, "read line; echo rubbish; cat > /dev/null", {}, (client) =>
    assert.rejects(client.execute("BeforeTool", BLOCKED), is(InvalidAnswerError)),
  );
});

fakeTest("a program that reads nothing", async (t) => {
  await withProgram(t, "exec sleep 600", { timeout: 300, controlTimeout: 300 }, async (client) => {
    await assert.rejects(client.execute("BeforeTool", { content: "x".repeat(3_000_000) }), is(TimedOutError));
    await assert.rejects(client.ping(), is(TimedOutError));
  });
});

fakeTest("a program that closes its output", async (t) => {
  await withProgram(t, "exec >&-; exec sleep 600", {}, (client) =>
    assert.rejects(client.execute("BeforeTool", BLOCKED), is(ClosedError)),
  );
});
