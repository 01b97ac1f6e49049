// Written by `hookrail install opencode`, removed by `hookrail uninstall opencode`. It asks hookrail about every tool call.
import { spawn } from "node:child_process";

const PROGRAM = "@PROGRAM@";
const DEADLINE = "@DEADLINE@";
const OPTIONS = "@OPTIONS@";

function ask(project, event, payload) {
  return new Promise((resolve) => {
    const deny = (reason) => resolve({ deny: `hookrail: ${reason}; run \`hookrail doctor opencode\`` });
    const child = spawn(PROGRAM, ["bridge", "opencode", "--event", event, "--deadline", String(DEADLINE), ...OPTIONS], {
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
        deny(cause.message);
      }
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify({ hook_event_name: event, cwd: project, ...payload }));
  });
}

function replaceMembers(target, source) {
  for (const name of Object.keys(target)) delete target[name];
  Object.assign(target, source);
}

// The text of one part of a result, as OpenCode shows it to the model; undefined for images and other data.
function partText(part) {
  if (part.type === "text") return part.text;
  return part.type === "resource" ? part.resource?.text : undefined;
}

// The result of a tool of an MCP server comes in parts, that of any other tool as one text.
const isInParts = (output) => typeof output.output !== "string" && Array.isArray(output.content);

function resultText(output) {
  if (!isInParts(output)) return output.output;
  return output.content.map(partText).filter((text) => text !== undefined).join("\n\n");
}

function replaceText(output, text) {
  if (!isInParts(output)) output.output = text;
  else output.content = [{ type: "text", text }, ...output.content.filter((part) => partText(part) === undefined)];
}

function addText(output, text) {
  if (isInParts(output)) output.content = [...output.content, { type: "text", text }];
  else output.output = output.output ? `${output.output}\n\n${text}` : text;
}

export const HookrailPlugin = async ({ directory, worktree }) => {
  const project = directory || worktree || process.cwd();
  // The end of a call does not repeat its arguments.
  const calls = new Map();
  return {
    // Hooks hear of the start of a session, of a compaction and of the end of an answer, and can change nothing of it.
    event: async ({ event }) => {
      const properties = event?.properties ?? {};
      const session_id = properties.sessionID ?? properties.info?.id;
      if (event?.type === "session.created" && !properties.info?.parentID) {
        await ask(project, "session.created", { session_id, source: "startup" });
      }
      if (event?.type === "session.idle") await ask(project, "session.idle", { session_id });
    },
    "experimental.session.compacting": async (input) => {
      await ask(project, "experimental.session.compacting", { session_id: input.sessionID });
    },
    "tool.execute.before": async (input, output) => {
      const call = { session_id: input.sessionID, tool: input.tool, callID: input.callID, args: output.args };
      const answer = await ask(project, "tool.execute.before", call);
      if (answer.deny || answer.ask) throw new Error(answer.deny || answer.ask);
      if (answer.input) replaceMembers(output.args, answer.input);
      calls.set(input.callID, output.args);
    },
    "tool.execute.after": async (input, output) => {
      const args = calls.get(input.callID) ?? input.args ?? {};
      calls.delete(input.callID);
      const result = resultText(output);
      const call = { session_id: input.sessionID, tool: input.tool, callID: input.callID, args, output: result };
      const answer = await ask(project, "tool.execute.after", call);
      if (answer.output !== undefined) replaceText(output, answer.output);
      if (answer.context) addText(output, answer.context);
    },
    "chat.message": async (input, output) => {
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const prompt = texts.map((part) => part.text).join("\n");
      const answer = await ask(project, "chat.message", { session_id: input.sessionID, prompt });
      if (answer.deny || answer.stop) throw new Error(answer.deny || answer.stop);
      if (texts.length === 0) return;
      const last = texts[texts.length - 1];
      if (answer.prompt !== undefined) {
        for (const part of texts) part.text = "";
        last.text = answer.prompt;
      } else if (answer.context) {
        last.text = `${last.text}\n\n${answer.context}`;
      }
    },
  };
};
