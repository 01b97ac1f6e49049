// A command with a component of its own: it draws itself, takes keys, and keeps the best result in the session.
import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";
import { isEscape, matchesKey, truncateToWidth } from "@f5xc-salesdemos/pi-tui";

const LOWEST = 1;
const HIGHEST = 9;

export default function (pi: HookAPI): void {
	pi.registerCommand("guess", {
		description: "Guess a number between 1 and 9",
		handler: async (args, ctx) => {
			if (!ctx.hasUI) return;
			const entries = ctx.sessionManager.getEntries();
			const best = entries.findLast(entry => entry.type === "custom" && entry.customType === "guess-best")?.data;
			const secret = Number(args) || LOWEST + Math.floor(Math.random() * HIGHEST);
			const tries = await ctx.ui.custom<number | undefined>((tui, theme, done) => {
				let shown = LOWEST;
				let count = 0;
				let hint = "left and right choose, Enter guesses, Escape gives up";
				return {
					render: (width: number) => {
						const row = Array.from({ length: HIGHEST }, (_, at) => (at + LOWEST === shown ? theme.inverse(` ${at + LOWEST} `) : ` ${at + LOWEST} `));
						return [theme.bold("Guess the number"), row.join(""), hint].map(line => truncateToWidth(line, width));
					},
					handleInput(key: string) {
						if (isEscape(key)) done(undefined);
						else if (matchesKey(key, "left")) shown = Math.max(LOWEST, shown - 1);
						else if (matchesKey(key, "right")) shown = Math.min(HIGHEST, shown + 1);
						else if (matchesKey(key, "enter")) {
							count += 1;
							if (shown === secret) done(count);
							else hint = shown < secret ? "more than that" : "less than that";
						}
						tui.requestRender();
					},
				};
			});
			if (tries === undefined) return ctx.ui.notify("maybe another time");
			ctx.ui.notify(`right after ${tries} ${tries === 1 ? "try" : "tries"}`);
			if (best === undefined || tries < best) pi.appendEntry("guess-best", tries);
		},
	});
}
