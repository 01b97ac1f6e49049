// Which key a piece of terminal input is, as the terminal package names keys: classic sequences, and those of terminals
// that report keys as `CSI code ; modifiers u`.
0, function () {
	const arrows = { up: "A", down: "B", right: "C", left: "D", home: "H", end: "F" };
	const tildes = { insert: 2, delete: 3, pageup: 5, pagedown: 6, home: 1, end: 4, f5: 15, f6: 17, f7: 18, f8: 19, f9: 20, f10: 21, f11: 23, f12: 24 };
	const letters = { f1: "P", f2: "Q", f3: "R", f4: "S" };
	const codes = { escape: 27, enter: 13, tab: 9, space: 32, backspace: 127 };
	const plain = { escape: ["\u001b"], enter: ["\r", "\n", "\u001bOM"], tab: ["\t"], space: [" "], backspace: ["\u007f", "\b"] };
	const other = { esc: "escape", return: "enter", del: "delete", pgup: "pageup", pgdn: "pagedown", option: "alt", control: "ctrl" };
	const bits = { shift: 1, alt: 2, ctrl: 4, super: 8 };

	// A key's name as its modifiers and the key itself, such as `ctrl+shift+p`.
	function parsed(key) {
		const parts = String(key).toLowerCase().split("+");
		// The plus itself is a key, too.
		const last = parts.pop() || (parts.pop() ?? "", "+");
		let modifiers = 0;
		for (const part of parts) modifiers |= bits[other[part] ?? part] ?? 0;
		return { name: other[last] ?? last, modifiers };
	}

	// Everything a terminal may send for a key.
	function sequences(name, modifiers) {
		const found = [];
		const marked = modifiers ? `1;${modifiers + 1}` : "";
		if (arrows[name]) found.push(`\u001b[${marked}${arrows[name]}`, ...(modifiers ? [] : [`\u001bO${arrows[name]}`]));
		if (letters[name]) found.push(modifiers ? `\u001b[${marked}${letters[name]}` : `\u001bO${letters[name]}`);
		if (tildes[name]) found.push(`\u001b[${tildes[name]}${modifiers ? `;${modifiers + 1}` : ""}~`);
		if (name === "tab" && modifiers === bits.shift) found.push("\u001b[Z");
		const code = codes[name] ?? ([...name].length === 1 ? name.codePointAt(0) : undefined);
		if (code !== undefined) {
			found.push(`\u001b[${code}${modifiers ? `;${modifiers + 1}` : ""}u`, `\u001b[27;${modifiers + 1};${code}~`);
			const alone = plain[name] ?? [name];
			if (modifiers === 0) found.push(...alone);
			if (modifiers === bits.shift && /^[a-z]$/.test(name)) found.push(name.toUpperCase());
			if (modifiers === bits.alt) found.push(...alone.map((data) => `\u001b${data}`));
			if (modifiers === bits.ctrl && /^[a-z@[\\\]^_]$/.test(name)) found.push(String.fromCharCode(name.toUpperCase().charCodeAt(0) & 31));
			if (modifiers === bits.ctrl && name === "space") found.push("\u0000");
		}
		if (modifiers === bits.alt && (name === "left" || name === "right")) found.push(name === "left" ? "\u001bb" : "\u001bf");
		return found;
	}

	const known = new Map();
	function matchesKey(data, key) {
		let all = known.get(key);
		if (all === undefined) {
			const { name, modifiers } = parsed(key);
			known.set(key, (all = new Set(sequences(name, modifiers))));
		}
		return all.has(data);
	}

	const names = ["escape", "enter", "tab", "space", "backspace", "delete", "insert", "home", "end", "up", "down", "left", "right", ...Object.keys(letters), ...Object.keys(tildes).filter((name) => name.startsWith("f"))];
	// What a piece of input is called, where it is one key.
	function parseKey(data) {
		const marks = ["", "shift+", "ctrl+", "alt+", "ctrl+shift+"];
		for (const name of [...names, "pageUp", "pageDown"]) for (const mark of marks) if (matchesKey(data, mark + name)) return mark + name;
		if (/^[\u0001-\u001a]$/.test(data)) return `ctrl+${String.fromCharCode(data.charCodeAt(0) + 96)}`;
		if (/^\u001b[a-z]$/.test(data)) return `alt+${data[1]}`;
		return [...data].length === 1 && data >= " " ? data : undefined;
	}

	const Key = { esc: "escape", return: "enter", pageUp: "pageUp", pageDown: "pageDown" };
	for (const name of names) Key[name] = name;
	for (const mark of ["ctrl", "shift", "alt", "super", "ctrlShift", "ctrlAlt", "shiftAlt"]) {
		const prefix = mark.replace(/[A-Z]/, (letter) => `+${letter.toLowerCase()}`);
		Key[mark] = (key) => `${prefix}+${key}`;
	}

	// The helpers that each ask for one key.
	const asks = {};
	const ask = (name, key) => (asks[`is${name}`] = (data) => matchesKey(data, key));
	for (const letter of "ACDEGKLOPTUWZ") ask(`Ctrl${letter}`, `ctrl+${letter}`);
	for (const letter of "DOP") ask(`ShiftCtrl${letter}`, `ctrl+shift+${letter}`);
	for (const name of ["Up", "Down", "Left", "Right"]) ask(`Arrow${name}`, name);
	for (const name of ["Escape", "Enter", "Tab", "Backspace", "Delete", "Home", "End"]) ask(name, name);
	for (const name of ["Tab", "Enter", "Backspace", "Delete", "Space"]) ask(`Shift${name}`, `shift+${name}`);
	for (const name of ["Backspace", "Enter", "Left", "Right"]) ask(`Alt${name}`, `alt+${name}`);
	for (const name of ["Left", "Right"]) ask(`Ctrl${name}`, `ctrl+${name}`);

	return { matchesKey, parseKey, Key, ...asks };
};
