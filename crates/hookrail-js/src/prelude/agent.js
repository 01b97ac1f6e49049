// The part of the agent's own package that hook modules import as values.
const { begin, missing } = globalThis.__hookrail;

const textOf = (content) =>
	typeof content === "string" ? content : (content ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n");

// Custom messages go to a model as the user's; entries that are no messages do not go at all.
export function convertToLlm(messages) {
	return messages.flatMap((message) => {
		if (["user", "assistant", "toolResult"].includes(message.role)) return [message];
		if (message.role === "custom") return [{ role: "user", content: typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content, timestamp: message.timestamp }];
		return [];
	});
}
export function serializeConversation(messages) {
	const names = { user: "User", assistant: "Assistant", toolResult: "Tool result" };
	return messages.map((message) => `[${names[message.role] ?? message.role}]: ${textOf(message.content)}`).join("\n\n");
}
const isResultOf = (name) => (event) => event?.toolName === name;
export const isBashToolResult = isResultOf("bash");
export const isReadToolResult = isResultOf("read");
export const isEditToolResult = isResultOf("edit");
export const isWriteToolResult = isResultOf("write");
export const isGrepToolResult = isResultOf("grep");
export const isFindToolResult = isResultOf("find");
export const isLsToolResult = isResultOf("ls");
export const execCommand = (command, args, cwd, options) => begin(0, "exec", [String(command), args.map(String), { cwd, timeout: options?.timeout }]);

// A message while something is being waited for, which Escape ends.
export class BorderedLoader {
	#controller = new AbortController();
	#tui;
	constructor(tui, theme, message) {
		this.#tui = tui;
		this.message = message;
		this.onAbort = undefined;
	}
	get signal() {
		return this.#controller.signal;
	}
	render() {
		return [this.message];
	}
	handleInput(data) {
		if (data !== "\u001b") return;
		this.#controller.abort();
		this.onAbort?.();
	}
	invalidate() {}
	dispose() {}
}
const elsewhere = "it is the agent itself, which hookrail is not";
export const createAgentSession = missing("createAgentSession", elsewhere);
export const SessionManager = missing("SessionManager", "use ctx.sessionManager");
export const discoverAndLoadHooks = missing("discoverAndLoadHooks", elsewhere);
export const HookRunner = missing("HookRunner", elsewhere);
