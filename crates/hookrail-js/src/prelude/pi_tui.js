// The part of the terminal package that hook modules import as values.
const names = {
	escape: ["\u001b"], esc: ["\u001b"], enter: ["\r", "\n"], return: ["\r", "\n"], tab: ["\t"], space: [" "], backspace: ["\u007f", "\b"],
	up: ["\u001b[A", "\u001bOA"], down: ["\u001b[B", "\u001bOB"], right: ["\u001b[C", "\u001bOC"], left: ["\u001b[D", "\u001bOD"],
	home: ["\u001b[H", "\u001b[1~"], end: ["\u001b[F", "\u001b[4~"], pageup: ["\u001b[5~"], pagedown: ["\u001b[6~"], delete: ["\u001b[3~"],
};
export function matchesKey(data, key) {
	const name = String(key).toLowerCase();
	if (names[name]) return names[name].includes(data);
	const control = /^ctrl\+([a-z])$/.exec(name);
	return control ? data === String.fromCharCode(control[1].charCodeAt(0) - 96) : data === key;
}
export const Key = Object.fromEntries(Object.keys(names).map((name) => [name, name]));
const plain = (text) => String(text).replace(/\u001b\[[0-9;]*m/g, "");
export const visibleWidth = (text) => [...plain(text)].reduce((width, letter) => width + (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(letter) ? 2 : 1), 0);
export const truncateToWidth = (text, width, ellipsis = "…") => (visibleWidth(text) <= width ? text : [...plain(text)].slice(0, Math.max(0, width - visibleWidth(ellipsis))).join("") + ellipsis);
export class Text {
	constructor(text = "", paddingX = 0, paddingY = 0) {
		Object.assign(this, { text, paddingX, paddingY });
	}
	setText(text) {
		this.text = text;
	}
	render(width) {
		const room = Math.max(1, width - 2 * this.paddingX);
		const lines = String(this.text).split("\n").flatMap((line) => {
			if (visibleWidth(line) <= room) return [line];
			const out = [];
			let current = "";
			for (const word of line.split(" ")) {
				if (current && visibleWidth(`${current} ${word}`) > room) {
					out.push(current);
					current = word;
				} else current = current ? `${current} ${word}` : word;
			}
			return [...out, current];
		});
		const side = " ".repeat(this.paddingX);
		const above = Array.from({ length: this.paddingY }, () => "");
		return [...above, ...lines.map((line) => side + line), ...above];
	}
	invalidate() {}
}
export class Spacer {
	constructor(lines = 1) {
		this.lines = lines;
	}
	render() {
		return Array.from({ length: this.lines }, () => "");
	}
	invalidate() {}
}
export class Container {
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
}
export class Box extends Container {}
