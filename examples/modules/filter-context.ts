// Keeps messages that are only for debugging away from the model.
import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";

export default function (pi: HookAPI): void {
	pi.on("context", async (event) => {
		const filtered = event.messages.filter((msg) => !(msg.role === "custom" && msg.customType === "debug-only"));
		return { messages: filtered };
	});
}
