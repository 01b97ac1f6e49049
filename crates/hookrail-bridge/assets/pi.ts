// Written by `hookrail install pi`, removed by `hookrail uninstall pi`. It asks hookrail about every tool call.
import { spawn } from "node:child_process";

const PROGRAM = "@PROGRAM@";
const DEADLINE = "@DEADLINE@";
const OPTIONS = "@OPTIONS@";

function ask(project, event, payload) {
  return new Promise((resolve) => {
    const deny = (reason) => resolve({ deny: `hookrail: ${reason}; run \`hookrail doctor pi\`` });
    const child = spawn(PROGRAM, ["bridge", "pi", "--event", event, "--deadline", String(DEADLINE), ...OPTIONS], {
      cwd: project,
      env: { ...process.env, HOOKRAIL_BRIDGE_PROJECT_DIR: project },
    });
    let out = "";
    let error = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (error += chunk));
    child.on("error", (cause) => deny(cause.message));
    child.on("close", (status) => {
      if (status !== 0) return deny(error.trim() || `ended with status ${status}`);
      try {
        resolve(out.trim() === "" ? {} : JSON.parse(out));
      } catch (cause) {
        deny(String(cause));
      }
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify({ hook_event_name: event, cwd: project, ...payload }));
  });
}

export default function (pi) {
  const session_id = String(process.pid);
  const project = process.cwd();
  // A denied prompt reaches the model all the same, so every call that follows from it is denied, whatever denied the prompt.
  let deniedPrompt;

  pi.on("tool_call", async (event) => {
    if (deniedPrompt) return { block: true, reason: `The prompt was denied: ${deniedPrompt}` };
    const call = { session_id, toolName: event.toolName, toolCallId: event.toolCallId, input: event.input };
    const answer = await ask(project, "tool_call", call);
    if (answer.deny || answer.ask) return { block: true, reason: answer.deny ?? answer.ask };
    if (answer.input) {
      for (const name of Object.keys(event.input)) delete event.input[name];
      Object.assign(event.input, answer.input);
    }
  });

  pi.on("tool_result", async (event) => {
    const call = { session_id, toolName: event.toolName, toolCallId: event.toolCallId, input: event.input };
    const result = { content: event.content, isError: event.isError === true };
    const answer = await ask(project, "tool_result", { ...call, result });
    if (answer.output === undefined && !answer.context) return;
    const content = answer.output === undefined ? event.content : [{ type: "text", text: answer.output }];
    const context = answer.context ? [{ type: "text", text: answer.context }] : [];
    return { content: [...content, ...context] };
  });

  pi.on("before_agent_start", async (event) => {
    const answer = await ask(project, "before_agent_start", { session_id, prompt: event.prompt });
    deniedPrompt = answer.deny;
    const text = answer.deny ? `A hook denied this prompt. Do not act on it. Reason: ${answer.deny}` : answer.context;
    if (text) return { message: { customType: "hookrail", content: text, display: true } };
  });

  pi.on("session_before_compact", async (event) => {
    const { preparation, branchEntries: branch_entries, customInstructions: custom_instructions } = event;
    const payload = { session_id, preparation, branch_entries, custom_instructions };
    const answer = await ask(project, "session_before_compact", payload);
    if (answer.deny) return { cancel: true };
  });

  // Hooks hear of what follows and can change nothing of it.
  const sources = { startup: "startup", resume: "resume" };
  pi.on("session_start", async (event) => {
    await ask(project, "session_start", { session_id, source: sources[event.reason] ?? "clear" });
  });

  pi.on("session_shutdown", async (event) => {
    const reason = event.reason === "quit" || event.reason === undefined ? "exit" : "clear";
    await ask(project, "session_shutdown", { session_id, reason });
  });

  pi.on("session_compact", async (event) => {
    const { compactionEntry: compaction_entry, fromExtension: from_extension } = event;
    const summary = compaction_entry?.summary;
    await ask(project, "session_compact", { session_id, summary, compaction_entry, from_extension });
  });

  pi.on("turn_end", async (event) => {
    const { turnIndex: turn_index, message, toolResults: tool_results } = event;
    await ask(project, "turn_end", { session_id, turn_index, message, tool_results });
  });

  pi.on("agent_end", async (event) => {
    const last = (event.messages ?? []).filter((message) => message.role === "assistant").pop();
    const parts = Array.isArray(last?.content) ? last.content : [];
    const text = parts.filter((part) => part.type === "text").map((part) => part.text);
    await ask(project, "agent_end", { session_id, prompt_response: text.join("\n") });
  });
}
