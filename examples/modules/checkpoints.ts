// A git helper: remembers the state of the working tree at the beginning of every turn, and offers to bring it back
// when the conversation branches.
import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";

export default function (pi: HookAPI): void {
	const states = new Map<string, string>();
	let entry: string | undefined;

	pi.on("turn_start", async (_event, ctx) => {
		entry = ctx.sessionManager.getLeafId();
		const { stdout, code } = await pi.exec("git", ["stash", "create"]);
		if (code === 0 && entry && stdout.trim()) states.set(entry, stdout.trim());
	});

	pi.on("session_before_branch", async (event, ctx) => {
		const state = states.get(event.entryId);
		if (!state || !ctx.hasUI) return;
		const choice = await ctx.ui.select("Bring the files back as well?", ["Keep the files", "Bring them back"]);
		if (choice !== "Bring them back") return;
		const { code, stderr } = await pi.exec("git", ["checkout", state, "--", "."]);
		ctx.ui.notify(code === 0 ? "the files are as they were" : stderr, code === 0 ? "info" : "error");
	});
}
