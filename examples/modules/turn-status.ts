// A status line that says what the agent is doing.
import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";

export default function (pi: HookAPI): void {
	let turns = 0;
	pi.on("session_start", (_event, ctx) => ctx.ui.setStatus("turns", ctx.ui.theme.fg("dim", "ready")));
	pi.on("turn_start", (_event, ctx) => ctx.ui.setStatus("turns", ctx.ui.theme.fg("accent", `turn ${++turns} …`)));
	pi.on("turn_end", (_event, ctx) => ctx.ui.setStatus("turns", ctx.ui.theme.fg("success", `${turns} done`)));
}
