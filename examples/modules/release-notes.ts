// A command with dialogs: asks for a kind, asks the model for a text, lets it be edited, and puts it into the prompt.
import { complete } from "@f5xc-salesdemos/pi-ai";
import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";
import { BorderedLoader, convertToLlm, serializeConversation } from "@f5xc-salesdemos/xcsh";

export default function (pi: HookAPI): void {
	pi.registerCommand("notes", {
		description: "Write release notes about this conversation",
		handler: async (_args, ctx) => {
			if (!ctx.hasUI || !ctx.model) return;
			const kind = await ctx.ui.select("Which kind?", ["short", "long"]);
			if (!kind) return;
			const messages = ctx.sessionManager.getBranch().filter(entry => entry.type === "message").map(entry => entry.message);
			const said = serializeConversation(convertToLlm(messages));
			const text = await ctx.ui.custom<string | null>((tui, theme, done) => {
				const loader = new BorderedLoader(tui, theme, "Asking the model …");
				loader.onAbort = () => done(null);
				const ask = async () => {
					const apiKey = await ctx.modelRegistry.getApiKey(ctx.model!);
					const content = [{ type: "text" as const, text: `Write ${kind} release notes about this:\n\n${said}` }];
					const answer = await complete(ctx.model!, { messages: [{ role: "user", content, timestamp: Date.now() }] }, { apiKey, signal: loader.signal });
					return answer.content.filter(part => part.type === "text").map(part => part.text).join("\n");
				};
				ask().then(done, error => {
					console.error(error);
					done(null);
				});
				return loader;
			});
			if (text === null) return ctx.ui.notify("no notes were written", "warning");
			const edited = await ctx.ui.editor("Release notes", text);
			if (edited === undefined) return ctx.ui.notify("the notes were thrown away", "warning");
			ctx.ui.setEditorText(edited);
		},
	});
}
