// An agent loop whose every tool call is guarded by hooks.
//
//   node agent.mjs [--socket PATH | --program HOOKRAIL] [--project DIR] [--trust-project]
//
// The "model" is a list of calls, so that the example runs anywhere; the guard is the real thing.

import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { Client, NotGuarded } from "hookrail-client";

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
    before = await hooks.execute("BeforeTool", call, { timeout: 60_000 });
  } catch (error) {
    // A guard that cannot be asked has not said yes.
    if (error instanceof NotGuarded) return `not run: ${error.message}`;
    throw error;
  }
  // A decision of "ask" would go to the user; this program has none.
  if (!before.mayProceed) return `blocked: ${before.reason}`;
  const input = before.toolInput ?? tool_input;
  const tool_response = runTool(tool_name, input);
  try {
    const after = await hooks.execute("AfterTool", { ...call, tool_input: input, tool_response }, { timeout: 60_000 });
    const context = after.outcome.additionalContext;
    return tool_response.llmContent + (context ? ` [${context}]` : "");
  } catch (error) {
    // The tool has run. What it returned is held back, because a hook may have wanted to replace it.
    if (error instanceof NotGuarded) return `done, and its result was not checked: ${error.message}`;
    throw error;
  }
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
await hooks.hello("agent.mjs");
await hooks.execute("SessionStart", { session_id: session, source: "startup" });
for (const [name, input] of CALLS) {
  console.log(`${name} ${input.path} -> ${await guarded(hooks, session, name, input)}`);
}
await hooks.execute("SessionEnd", { session_id: session, reason: "exit" });
await hooks.close();
