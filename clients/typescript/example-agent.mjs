// An agent loop whose every tool call is guarded by hooks.
//
//   node example-agent.mjs [--socket PATH | --program HOOKRAIL] [--project DIR] [--trust-project]
//
// The "model" is a list of calls, so that the example runs anywhere; the guard is the real thing.

import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { BusError, Client, ClosedError } from "./hookrail-client.mjs";

const CALLS = [
  ["read_file", { path: "README.md" }],
  ["write_file", { path: ".env", content: "SECRET=1" }],
  ["write_file", { path: "notes.txt", content: "hello" }],
];

const runTool = (name, input) => ({ llmContent: `${name} ${input.path}: done`, returnDisplay: "done" });

async function guarded(hooks, session_id, tool_name, tool_input) {
  const call = { session_id, tool_name, tool_input };
  let before;
  try {
    before = await hooks.execute("BeforeTool", call);
  } catch (error) {
    // A guard that cannot be asked has not said yes.
    if (error instanceof BusError || error instanceof ClosedError) return `not run: ${error.message}`;
    throw error;
  }
  if (before.denied || before.mustAsk) return `blocked: ${before.reason}`;
  const input = before.toolInput ?? tool_input;
  const tool_response = runTool(tool_name, input);
  const after = await hooks.execute("AfterTool", { ...call, tool_input: input, tool_response });
  const context = after.outcome.additionalContext;
  return tool_response.llmContent + (context ? ` [${context}]` : "");
}

const { values: options } = parseArgs({
  options: {
    socket: { type: "string" },
    program: { type: "string", default: "hookrail" },
    project: { type: "string", default: "." },
    "trust-project": { type: "boolean", default: false },
  },
});
const { socket, program, project } = options;
const args = options["trust-project"] ? ["--trust-project"] : [];
const hooks = socket ? await Client.connect(socket) : Client.spawn({ program, project, args });
const session = randomUUID();
await hooks.hello("example-agent.mjs");
await hooks.execute("SessionStart", { session_id: session, source: "startup" });
for (const [name, input] of CALLS) {
  console.log(`${name} ${input.path} -> ${await guarded(hooks, session, name, input)}`);
}
await hooks.execute("SessionEnd", { session_id: session, reason: "exit" });
await hooks.close();
