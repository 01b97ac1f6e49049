// Custom compaction: lists what was asked for instead of letting a model write the summary.
import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";

export default function (pi: HookAPI): void {
	pi.on("session_before_compact", (event) => {
		const { messagesToSummarize, turnPrefixMessages, previousSummary, firstKeptEntryId, tokensBefore } = event.preparation;
		const asked = [...messagesToSummarize, ...turnPrefixMessages]
			.filter(message => message.role === "user")
			.flatMap(message => (typeof message.content === "string" ? [message.content] : message.content.filter(part => part.type === "text").map(part => part.text)))
			.map(text => `- ${text.split("\n")[0]}`);
		const summary = [...(previousSummary ? [previousSummary] : ["What was asked for:"]), ...asked].join("\n");
		return { compaction: { summary, firstKeptEntryId, tokensBefore } };
	});
}
