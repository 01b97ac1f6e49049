import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";

export default function (pi: HookAPI): void {
	pi.on("tool_call", async (event) => {
		if (event.toolName === "write" && String(event.input.path).endsWith(".key")) {
			return { block: true, reason: "no key files, says xcsh" };
		}
	});

	pi.on("tool_result", async (event) => {
		if (event.toolName === "bash") {
			return { content: [{ type: "text", text: "replaced by xcsh" }] };
		}
	});
}
