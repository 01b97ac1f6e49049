// Components that draw themselves as lines: what the terminal package offers to hooks, as far as lines can show it.
0, function ({ part, missing }) {
	const { visibleWidth, truncateToWidth, wrapTextWithAnsi } = part("tui_text.js");
	const { matchesKey, parseKey } = part("tui_keys.js");

	const filled = (line, width, background) => {
		const whole = line + " ".repeat(Math.max(0, width - visibleWidth(line)));
		return background ? background(whole) : whole;
	};
	const blank = (count, width, background) => Array.from({ length: count }, () => filled("", width, background));

	class Text {
		constructor(text = "", paddingX = 1, paddingY = 1, background = undefined) {
			Object.assign(this, { text, paddingX, paddingY, background });
		}
		setText(text) {
			this.text = text;
		}
		setCustomBgFn(background) {
			this.background = background;
		}
		render(width) {
			const text = String(this.text);
			if (text.trim() === "") return [];
			const side = " ".repeat(this.paddingX);
			const lines = wrapTextWithAnsi(text, Math.max(1, width - 2 * this.paddingX));
			const space = () => blank(this.paddingY, width, this.background);
			return [...space(), ...lines.map((line) => filled(side + line + side, width, this.background)), ...space()];
		}
		invalidate() {}
	}

	class TruncatedText {
		constructor(text = "", paddingX = 0, paddingY = 0) {
			Object.assign(this, { text, paddingX, paddingY });
		}
		render(width) {
			const side = " ".repeat(this.paddingX);
			const line = truncateToWidth(String(this.text).split("\n")[0], Math.max(1, width - 2 * this.paddingX));
			return [...blank(this.paddingY, width), filled(side + line + side, width), ...blank(this.paddingY, width)];
		}
		invalidate() {}
	}

	class Spacer {
		constructor(lines = 1) {
			this.lines = lines;
		}
		setLines(lines) {
			this.lines = lines;
		}
		render() {
			return Array.from({ length: this.lines }, () => "");
		}
		invalidate() {}
	}

	class Container {
		children = [];
		addChild(child) {
			this.children.push(child);
		}
		removeChild(child) {
			this.children = this.children.filter((known) => known !== child);
		}
		clear() {
			this.children = [];
		}
		render(width) {
			return this.children.flatMap((child) => child.render(width));
		}
		invalidate() {
			for (const child of this.children) child.invalidate?.();
		}
		dispose() {
			for (const child of this.children) child.dispose?.();
		}
	}

	class Box extends Container {
		constructor(paddingX = 1, paddingY = 1, background = undefined) {
			super();
			Object.assign(this, { paddingX, paddingY, background });
		}
		setBgFn(background) {
			this.background = background;
		}
		render(width) {
			const inner = super.render(Math.max(1, width - 2 * this.paddingX));
			if (inner.length === 0) return [];
			const side = " ".repeat(this.paddingX);
			const space = () => blank(this.paddingY, width, this.background);
			return [...space(), ...inner.map((line) => filled(side + line, width, this.background)), ...space()];
		}
	}

	// Headings, emphasis, code, lists, quotes and rules; anything else is text.
	class Markdown {
		constructor(text = "", paddingX = 1, paddingY = 1, theme = {}, style = {}) {
			Object.assign(this, { text, paddingX, paddingY, theme, style });
		}
		setText(text) {
			this.text = text;
		}
		render(width) {
			const as = (name, text) => (typeof this.theme?.[name] === "function" ? this.theme[name](text) : text);
			const inline = (line) =>
				line
					.replace(/`([^`]+)`/g, (_, code) => as("code", code))
					.replace(/\*\*([^*]+)\*\*|__([^_]+)__/g, (_, one, two) => as("bold", one ?? two))
					.replace(/(^|[^*\w])\*([^*\s][^*]*)\*/g, (_, before, text) => before + as("italic", text))
					.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, label, url) => `${as("link", label)} ${as("linkUrl", `(${url})`)}`);
			const lines = [];
			let fenced = false;
			for (const line of String(this.text).trimEnd().split("\n")) {
				const heading = /^#{1,6}\s+(.*)$/.exec(line);
				const item = /^(\s*)([-*+]|\d+\.)\s+(.*)$/.exec(line);
				const quote = /^>\s?(.*)$/.exec(line);
				if (/^\s*```/.test(line)) {
					fenced = !fenced;
					lines.push(as("codeBlockBorder", line.trim()));
				} else if (fenced) lines.push(as("codeBlock", `  ${line}`));
				else if (heading) lines.push(as("heading", as("bold", inline(heading[1]))));
				else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) lines.push(as("hr", "─".repeat(Math.max(1, width - 2 * this.paddingX))));
				else if (item) lines.push(`${item[1]}${as("listBullet", /\d/.test(item[2]) ? item[2] : "-")} ${inline(item[3])}`);
				else if (quote) lines.push(`${as("quoteBorder", "│ ")}${as("quote", inline(quote[1]))}`);
				else lines.push(inline(line));
			}
			const colour = this.style?.color ?? ((text) => text);
			return new Text(lines.map(colour).join("\n"), this.paddingX, this.paddingY, this.style?.bgColor).render(width);
		}
		invalidate() {}
	}

	const printable = (data) => {
		const pasted = data.replace(/\u001b\[20[01]~/g, "");
		return pasted && !/[\u0000-\u001f\u007f]/.test(pasted) ? pasted : undefined;
	};

	class Input {
		#value = "";
		#at = 0;
		onSubmit = undefined;
		onEscape = undefined;
		getValue() {
			return this.#value;
		}
		setValue(value) {
			this.#value = String(value);
			this.#at = this.#value.length;
		}
		handleInput(data) {
			const key = parseKey(data);
			const typed = printable(data);
			const before = [...this.#value.slice(0, this.#at)];
			if (key === "enter") this.onSubmit?.(this.#value);
			else if (key === "escape" || key === "ctrl+c") this.onEscape?.();
			else if (key === "backspace") {
				const cut = before.pop()?.length ?? 0;
				this.#value = this.#value.slice(0, this.#at - cut) + this.#value.slice(this.#at);
				this.#at -= cut;
			} else if (key === "delete") this.#value = this.#value.slice(0, this.#at) + [...this.#value.slice(this.#at)].slice(1).join("");
			else if (key === "left") this.#at -= before.pop()?.length ?? 0;
			else if (key === "right") this.#at += [...this.#value.slice(this.#at)][0]?.length ?? 0;
			else if (key === "home" || key === "ctrl+a") this.#at = 0;
			else if (key === "end" || key === "ctrl+e") this.#at = this.#value.length;
			else if (key === "ctrl+u") [this.#value, this.#at] = [this.#value.slice(this.#at), 0];
			else if (key === "ctrl+k") this.#value = this.#value.slice(0, this.#at);
			else if (typed !== undefined) {
				this.#value = this.#value.slice(0, this.#at) + typed + this.#value.slice(this.#at);
				this.#at += typed.length;
			}
		}
		render(width) {
			const [under] = [...this.#value.slice(this.#at)];
			const line = `> ${this.#value.slice(0, this.#at)}\u001b[7m${under ?? " "}\u001b[27m${this.#value.slice(this.#at + (under?.length ?? 0))}`;
			return [truncateToWidth(line, width, "")];
		}
		invalidate() {}
	}

	class SelectList {
		onSelect = undefined;
		onCancel = undefined;
		onSelectionChange = undefined;
		#shown;
		#at = 0;
		constructor(items, maxVisible = 5, theme = {}) {
			Object.assign(this, { items, maxVisible, theme });
			this.#shown = items;
		}
		setFilter(filter) {
			const wanted = String(filter).toLowerCase();
			this.#shown = this.items.filter((item) => String(item.value).toLowerCase().startsWith(wanted));
			this.#at = 0;
		}
		setSelectedIndex(at) {
			this.#at = Math.max(0, Math.min(at, this.#shown.length - 1));
		}
		getSelectedItem() {
			return this.#shown[this.#at] ?? null;
		}
		handleInput(data) {
			const count = this.#shown.length;
			const move = (step) => {
				if (count === 0) return;
				this.#at = (this.#at + step + count) % count;
				this.onSelectionChange?.(this.#shown[this.#at]);
			};
			if (matchesKey(data, "up")) move(-1);
			else if (matchesKey(data, "down")) move(1);
			else if (matchesKey(data, "enter")) {
				const chosen = this.getSelectedItem();
				if (chosen) this.onSelect?.(chosen);
			} else if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.onCancel?.();
		}
		render(width) {
			const as = (name, text) => (typeof this.theme?.[name] === "function" ? this.theme[name](text) : text);
			const count = this.#shown.length;
			if (count === 0) return [as("noMatch", "  No matches")];
			const from = Math.max(0, Math.min(this.#at - Math.floor(this.maxVisible / 2), count - this.maxVisible));
			const lines = this.#shown.slice(from, from + this.maxVisible).map((item, index) => {
				const chosen = from + index === this.#at;
				const label = `${chosen ? "→ " : "  "}${item.label ?? item.value}`;
				const about = item.description ? `  ${String(item.description).split("\n")[0]}` : "";
				const line = truncateToWidth(label + about, width);
				if (chosen) return as("selectedText", line);
				return about && line.length > label.length ? label + as("description", line.slice(label.length)) : line;
			});
			if (count > this.maxVisible) lines.push(as("scrollInfo", `  (${this.#at + 1}/${count})`));
			return lines;
		}
		invalidate() {}
	}

	const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

	// Something is being waited for; it turns until it is stopped.
	class Loader extends Text {
		#tui;
		#frame = 0;
		#timer;
		constructor(tui, spinnerColour = (text) => text, messageColour = (text) => text, message = "Loading...") {
			super("", 1, 0);
			this.#tui = tui;
			Object.assign(this, { spinnerColour, messageColour, message });
			this.start();
		}
		start() {
			this.stop();
			this.#draw();
			this.#timer = setInterval(() => {
				this.#frame = (this.#frame + 1) % frames.length;
				this.#draw();
			}, 80);
		}
		stop() {
			if (this.#timer !== undefined) clearInterval(this.#timer);
			this.#timer = undefined;
		}
		setMessage(message) {
			this.message = message;
			this.#draw();
		}
		#draw() {
			this.setText(`${this.spinnerColour(frames[this.#frame])} ${this.messageColour(this.message)}`);
			this.#tui?.requestRender?.();
		}
		dispose() {
			this.stop();
		}
	}

	// The same, and Escape ends it.
	class CancellableLoader extends Loader {
		#controller = new AbortController();
		onAbort = undefined;
		get signal() {
			return this.#controller.signal;
		}
		get aborted() {
			return this.#controller.signal.aborted;
		}
		handleInput(data) {
			if (!matchesKey(data, "escape") && !matchesKey(data, "ctrl+c")) return;
			this.#controller.abort();
			this.onAbort?.();
		}
	}

	const unsupported = {
		Editor: missing("Editor of pi-tui", "use ctx.ui.editor"),
		SettingsList: missing("SettingsList of pi-tui", "use SelectList"),
		Image: missing("Image of pi-tui", "a component is lines of text here"),
		TUI: missing("TUI of pi-tui", "the host draws; use the one that ctx.ui.custom gives"),
		ProcessTerminal: missing("ProcessTerminal of pi-tui", "the host draws; use ctx.ui.custom"),
		CombinedAutocompleteProvider: missing("CombinedAutocompleteProvider of pi-tui", "the host has the editor"),
	};
	return { Text, TruncatedText, Spacer, Container, Box, Markdown, Input, SelectList, Loader, CancellableLoader, ...unsupported };
};
