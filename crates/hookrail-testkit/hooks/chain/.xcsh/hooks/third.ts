import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";

/** Agrees to what both hooks before it have changed, and to nothing in between. */
export default function (pi: HookAPI): void {
	pi.on("tool_call", async (event) => {
		const content = String(event.input.content);
		if (event.toolName === "write" && (content.includes("DRAFT") || content.includes("changed once"))) {
			return { block: true, reason: "the last of the chain was asked about an earlier content" };
		}
	});
}
