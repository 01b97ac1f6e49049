// A hook as people write them: looks at every tool call, knows what is protected, counts, and mostly lets things pass.

interface ToolCall {
	type: "tool_call";
	toolName: string;
	toolCallId: string;
	input: Record<string, unknown>;
}

interface Block {
	block: true;
	reason: string;
}

interface Rule {
	readonly tools: readonly string[];
	readonly pattern: RegExp;
	readonly reason: string;
}

enum Severity {
	Note,
	Deny,
}

const RULES: readonly (Rule & { severity: Severity })[] = [
	{ tools: ["bash"], pattern: /\brm\s+-rf\s+\//, reason: "that would delete everything", severity: Severity.Deny },
	{ tools: ["bash"], pattern: /\bgit\s+push\s+--force\b/, reason: "history is not rewritten here", severity: Severity.Deny },
	{ tools: ["write_file", "edit"], pattern: /(^|\/)\.env(\.|$)/, reason: "secrets are not for agents", severity: Severity.Deny },
	{ tools: ["write_file", "edit"], pattern: /(^|\/)\.git\//, reason: "git keeps that itself", severity: Severity.Deny },
	{ tools: ["bash"], pattern: /\bcurl\b.*\|\s*(ba)?sh\b/, reason: "read it before you run it", severity: Severity.Deny },
	{ tools: ["bash"], pattern: /\bsudo\b/, reason: "no user is present to enter the password", severity: Severity.Deny },
	{ tools: ["write_file", "edit"], pattern: /(^|\/)node_modules\//, reason: "that is generated", severity: Severity.Note },
];

const counts = new Map<string, number>();

function subject(call: ToolCall): string {
	const { command, file_path: file } = call.input as { command?: string; file_path?: string };
	return String(command ?? file ?? "");
}

function judge(call: ToolCall): Block | undefined {
	const text = subject(call);
	if (text === "") return undefined;
	for (const rule of RULES) {
		if (!rule.tools.includes(call.toolName) || !rule.pattern.test(text)) continue;
		if (rule.severity === Severity.Deny) return { block: true, reason: rule.reason };
	}
	return undefined;
}

export default function guard(pi: {
	on(event: "tool_call", handler: (call: ToolCall) => Promise<Block | undefined>): void;
}): void {
	pi.on("tool_call", async (call) => {
		counts.set(call.toolName, (counts.get(call.toolName) ?? 0) + 1);
		return judge(call);
	});
}
