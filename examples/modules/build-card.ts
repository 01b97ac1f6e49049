// A command that puts a message into the conversation, and a renderer that draws it.
import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";
import { Box, Text } from "@f5xc-salesdemos/pi-tui";

export default function (pi: HookAPI): void {
	pi.registerCommand("build", {
		description: "Build the project and show how that went",
		handler: async (args) => {
			const { code, stdout, stderr } = await pi.exec("sh", ["-c", args || "make"]);
			const content = code === 0 ? "the build works" : `the build fails: ${stderr.trim()}`;
			pi.sendMessage({ customType: "build", content, display: true, details: { code, lines: stdout.trim().split("\n").length } });
		},
	});
	pi.registerMessageRenderer<{ code: number; lines: number }>("build", (message, { expanded }, theme) => {
		const colour = message.details?.code === 0 ? "success" : "error";
		const box = new Box(1, 0);
		box.addChild(new Text(theme.fg(colour, theme.bold(`build: exit status ${message.details?.code}`)), 0, 0));
		box.addChild(new Text(String(message.content), 2, 0));
		if (expanded) box.addChild(new Text(`${message.details?.lines} lines of output`, 2, 0));
		return box;
	});
}
