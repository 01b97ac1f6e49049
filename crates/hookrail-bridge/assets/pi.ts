// Written by `hookrail install pi`, removed by `hookrail uninstall pi`. It asks hookrail about every tool call.
import { spawn } from "node:child_process";

const PROGRAM = "@PROGRAM@";
const DEADLINE = "@DEADLINE@";
const OPTIONS = "@OPTIONS@";

interface Answer {
  deny?: string;
  ask?: string;
  stop?: string;
  input?: Record<string, unknown>;
  output?: string;
  context?: string;
}

function ask(project: string, event: string, payload: Record<string, unknown>): Promise<Answer> {
  return new Promise((resolve) => {
    const deny = (reason: string) => resolve({ deny: `hookrail: ${reason}; run \`hookrail doctor pi\`` });
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

export default function (pi: any) {
  const session = String(process.pid);
  const project = process.cwd();

  pi.on("tool_call", async (event: any) => {
    const call = { session_id: session, toolName: event.toolName, toolCallId: event.toolCallId, input: event.input };
    const answer = await ask(project, "tool_call", call);
    if (answer.deny || answer.ask) return { block: true, reason: answer.deny ?? answer.ask };
    if (answer.input) {
      for (const name of Object.keys(event.input)) delete event.input[name];
      Object.assign(event.input, answer.input);
    }
  });

  pi.on("tool_result", async (event: any) => {
    const call = { session_id: session, toolName: event.toolName, toolCallId: event.toolCallId, input: event.input };
    const answer = await ask(project, "tool_result", { ...call, result: { content: event.content } });
    if (answer.output === undefined && !answer.context) return;
    const content = answer.output === undefined ? event.content : [{ type: "text", text: answer.output }];
    const context = answer.context ? [{ type: "text", text: answer.context }] : [];
    return { content: [...content, ...context] };
  });

  pi.on("before_agent_start", async (event: any) => {
    const answer = await ask(project, "before_agent_start", { session_id: session, prompt: event.prompt });
    const text = answer.deny ? `A hook denied this prompt. Do not act on it. Reason: ${answer.deny}` : answer.context;
    if (text) return { message: { customType: "hookrail", content: text, display: true } };
  });

  // Hooks hear of what follows and can change nothing of it.
  const sources: Record<string, string> = { startup: "startup", resume: "resume" };
  pi.on("session_start", async (event: any) => {
    await ask(project, "session_start", { session_id: session, source: sources[event.reason] ?? "clear" });
  });

  pi.on("session_shutdown", async (event: any) => {
    const reason = event.reason === "quit" || event.reason === undefined ? "exit" : "clear";
    await ask(project, "session_shutdown", { session_id: session, reason });
  });

  pi.on("agent_end", async (event: any) => {
    const last = (event.messages ?? []).filter((message: any) => message.role === "assistant").pop();
    const parts = Array.isArray(last?.content) ? last.content : [];
    const text = parts.filter((part: any) => part.type === "text").map((part: any) => part.text);
    await ask(project, "agent_end", { session_id: session, prompt_response: text.join("\n") });
  });
}
