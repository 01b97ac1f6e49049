// A file watcher: what is written into `inbox.txt` of the project goes into the conversation, and the agent answers.
import * as fs from "node:fs";
import * as path from "node:path";
import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";

export default function (pi: HookAPI): void {
	pi.on("session_start", (_event, ctx) => {
		const inbox = path.join(ctx.cwd, "inbox.txt");
		if (!fs.existsSync(inbox)) fs.writeFileSync(inbox, "");
		fs.watch(inbox, () => {
			const content = fs.readFileSync(inbox, "utf8").trim();
			if (!content) return;
			fs.writeFileSync(inbox, "");
			pi.sendMessage({ customType: "inbox", content: `From the inbox: ${content}`, display: true }, { triggerTurn: true });
		});
	});
}
