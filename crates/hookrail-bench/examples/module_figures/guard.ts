// A hook of sixty lines, as its author would write it: it refuses dangerous commands and writes to protected files.
import type { HookAPI, HookContext, ToolCallEvent } from "@f5xc-salesdemos/xcsh/hooks";
import * as path from "node:path";

interface Rule {
	readonly name: string;
	readonly pattern: RegExp;
	readonly severity: Severity;
}

enum Severity {
	Warn = 1,
	Block = 2,
}

type Verdict = { block: true; reason: string } | undefined;

const RULES: readonly Rule[] = [
	{ name: "recursive delete", pattern: /\brm\s+(-[a-z]*r[a-z]*|--recursive)\b/i, severity: Severity.Block },
	{ name: "superuser", pattern: /\bsudo\b/, severity: Severity.Block },
	{ name: "open permissions", pattern: /\bchmod\b.*\b777\b/, severity: Severity.Warn },
	{ name: "raw disk", pattern: /\bdd\b.*\bof=\/dev\//, severity: Severity.Block },
];

const PROTECTED: readonly string[] = [".env", ".git", "node_modules"];

class Guard {
	private readonly seen = new Map<string, number>();

	constructor(private readonly rules: readonly Rule[]) {}

	command(text: string): Verdict {
		for (const rule of this.rules) {
			if (!rule.pattern.test(text)) continue;
			this.seen.set(rule.name, (this.seen.get(rule.name) ?? 0) + 1);
			if (rule.severity === Severity.Block) return { block: true, reason: `${rule.name} is not allowed` };
		}
		return undefined;
	}

	file(name: string): Verdict {
		const parts = path.normalize(name).split("/");
		const found = parts.find((part) => PROTECTED.includes(part));
		return found === undefined ? undefined : { block: true, reason: `${found} is protected` };
	}
}

export default function (pi: HookAPI): void {
	const guard = new Guard(RULES);
	pi.on("tool_call", async (event: ToolCallEvent, _ctx: HookContext): Promise<Verdict> => {
		const input = event.input as Record<string, unknown>;
		switch (event.toolName) {
			case "bash":
				return guard.command(String(input.command));
			case "write":
			case "edit":
				return guard.file(String(input.path));
			default:
				return undefined;
		}
	});
}
