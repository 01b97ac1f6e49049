// What the agent's own package offers to hooks as values.
0, function ({ begin, missing, part }) {
	const textOf = (content) =>
		typeof content === "string" ? content : (content ?? []).filter((piece) => piece.type === "text").map((piece) => piece.text).join("\n");
	const spoken = (message, text) => ({ role: "user", content: [{ type: "text", text }], timestamp: message.timestamp });

	// Messages as a model gets them: what is no message of its own kind goes as the user's.
	function convertToLlm(messages) {
		return messages.flatMap((message) => {
			switch (message.role) {
				case "user":
				case "assistant":
				case "toolResult":
					return [message];
				case "custom":
				case "hookMessage":
					return [{ role: "user", content: typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content, timestamp: message.timestamp }];
				case "bashExecution":
					return [spoken(message, `Ran \`${message.command}\`\n${message.output ?? ""}`)];
				case "branchSummary":
				case "compactionSummary":
					return [spoken(message, `Summary of what came before:\n${message.summary}`)];
				default:
					return [];
			}
		});
	}

	function serializeConversation(messages) {
		const lines = [];
		for (const message of messages) {
			const text = textOf(message.content);
			if (message.role === "user" && text) lines.push(`[User]: ${text}`);
			if (message.role === "toolResult" && text) lines.push(`[Tool result]: ${text}`);
			if (message.role !== "assistant") continue;
			const pieces = Array.isArray(message.content) ? message.content : [];
			const thought = pieces.filter((piece) => piece.type === "thinking").map((piece) => piece.thinking).join("\n");
			const calls = pieces.filter((piece) => piece.type === "toolCall").map((piece) => {
				const given = Object.entries(piece.arguments ?? {}).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
				return `${piece.name}(${given.join(", ")})`;
			});
			if (thought) lines.push(`[Assistant thinking]: ${thought}`);
			if (text) lines.push(`[Assistant]: ${text}`);
			if (calls.length) lines.push(`[Assistant tool calls]: ${calls.join("; ")}`);
		}
		return lines.join("\n\n");
	}

	// Four characters are about one token.
	const estimateTokens = (message) => Math.ceil(JSON.stringify(message?.content ?? message?.summary ?? "").length / 4);

	const isResultOf = (name) => (event) => event?.toolName === name;
	const guards = {};
	for (const name of ["Bash", "Read", "Edit", "Write", "Grep", "Find", "Ls"]) guards[`is${name}ToolResult`] = isResultOf(name.toLowerCase());
	const isToolCallEventType = (name, event) => event?.toolName === name;

	const execCommand = (command, args, cwd, options) => begin(0, "process", "exec", { program: String(command), args: args.map(String), options: { cwd, timeout: options?.timeout } });

	// ---- drawing ----

	const colour = (name) => (text) => part("theme.js").fg(name, text);
	const getMarkdownTheme = () => ({
		heading: colour("mdHeading"), link: colour("mdLink"), linkUrl: colour("mdLinkUrl"), code: colour("mdCode"), codeBlock: colour("mdCodeBlock"),
		codeBlockBorder: colour("mdCodeBlockBorder"), quote: colour("mdQuote"), quoteBorder: colour("mdQuoteBorder"), hr: colour("mdHr"),
		listBullet: colour("mdListBullet"), bold: part("theme.js").bold, italic: part("theme.js").italic,
		underline: part("theme.js").underline, strikethrough: part("theme.js").strikethrough,
	});
	const getSelectListTheme = () => ({
		selectedPrefix: colour("accent"), selectedText: colour("accent"), description: colour("muted"), scrollInfo: colour("muted"), noMatch: colour("muted"),
	});

	class DynamicBorder {
		constructor(paint = colour("border")) {
			this.paint = paint;
		}
		render(width) {
			return [this.paint("─".repeat(Math.max(1, width)))];
		}
		invalidate() {}
	}

	const { Container, CancellableLoader, Text, Spacer } = part("tui_components.js");

	// A message while something is being waited for, which Escape ends.
	class BorderedLoader extends Container {
		#loader;
		constructor(tui, theme, message) {
			super();
			const paint = (name) => (text) => theme.fg(name, text);
			this.#loader = new CancellableLoader(tui, paint("accent"), paint("muted"), message);
			const parts = [new DynamicBorder(paint("border")), this.#loader, new Spacer(1), new Text(theme.fg("muted", "esc cancel"), 1, 0), new DynamicBorder(paint("border"))];
			for (const child of parts) this.addChild(child);
		}
		get signal() {
			return this.#loader.signal;
		}
		set onAbort(heard) {
			this.#loader.onAbort = heard;
		}
		get onAbort() {
			return this.#loader.onAbort;
		}
		handleInput(data) {
			this.#loader.handleInput(data);
		}
	}

	const elsewhere = "it is the agent itself, which hookrail is not";
	const unsupported = {};
	for (const name of ["createAgentSession", "discoverHooks", "AgentSession", "main"]) unsupported[name] = missing(name, elsewhere);
	unsupported.SessionManager = missing("SessionManager", "use ctx.sessionManager");
	unsupported.ModelRegistry = missing("ModelRegistry", "use ctx.modelRegistry");
	unsupported.SettingsManager = missing("SettingsManager", "read a file of your own");
	unsupported.messageTransformer = missing("messageTransformer", "it is called convertToLlm");
	return {
		convertToLlm, serializeConversation, estimateTokens, ...guards, isToolCallEventType, execCommand, getMarkdownTheme, getSelectListTheme,
		DynamicBorder, BorderedLoader, ...part("hook_classes.js"), ...unsupported,
	};
};
