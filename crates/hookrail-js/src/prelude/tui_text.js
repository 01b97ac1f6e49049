// How wide text is on a terminal, and cutting and wrapping it without losing its colours.
0, function ({ sync }) {
	const escapes = /\u001b\[[0-9;:?]*[ -/]*[@-~]|\u001b[\]_P^X][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]/g;
	const wideTab = "   ";
	const bare = (text) => String(text).replace(escapes, "").replaceAll("\t", wideTab);

	function visibleWidth(text) {
		const shown = bare(text);
		return /^[\u0020-\u007e]*$/.test(shown) ? shown.length : sync("text", "width", { text: shown });
	}

	// The text as pieces: escape sequences, which have no width, and what a reader sees as one letter.
	function pieces(text) {
		const found = [];
		let at = 0;
		const letters = (part) => {
			const plain = /^[\u0020-\u007e]*$/.test(part);
			for (const letter of plain ? part : sync("text", "letters", { text: part })) found.push(plain ? { text: letter, width: 1 } : { text: letter[0], width: letter[1] });
		};
		for (const match of text.matchAll(escapes)) {
			letters(text.slice(at, match.index));
			found.push({ text: match[0], width: 0, escape: true });
			at = match.index + match[0].length;
		}
		letters(text.slice(at));
		return found;
	}

	const reset = "\u001b[0m";

	function truncateToWidth(text, width, ellipsis = "...", pad = false) {
		const line = String(text).replaceAll("\t", wideTab);
		const whole = visibleWidth(line);
		if (whole <= width) return pad ? line + " ".repeat(width - whole) : line;
		const mark = visibleWidth(ellipsis) <= width ? ellipsis : "";
		const room = width - visibleWidth(mark);
		let [out, used, styled] = ["", 0, false];
		for (const piece of pieces(line)) {
			if (piece.escape) {
				out += piece.text;
				styled = true;
			} else if (used + piece.width > room) break;
			else {
				out += piece.text;
				used += piece.width;
			}
		}
		const missing = pad ? " ".repeat(Math.max(0, width - used - visibleWidth(mark))) : "";
		return out + (styled ? reset : "") + mark + missing;
	}

	// Lines of at most so many columns, broken at spaces where there are any. Colours go on in the next line.
	function wrapTextWithAnsi(text, width) {
		const room = Math.max(1, width);
		const lines = [];
		let colours = "";
		for (const paragraph of String(text).replaceAll("\t", wideTab).split("\n")) {
			let [line, used] = [colours, 0];
			let [word, length] = ["", 0];
			let space = "";
			const end = () => {
				lines.push(colours && !line.endsWith(reset) ? line + reset : line);
				[line, used, space] = [colours, 0, ""];
			};
			// A colour counts from where its word stands, not from where it was read.
			let marks = [];
			const place = () => {
				if (length > 0) {
					if (used > 0 && used + space.length + length > room) end();
					line += space;
					used += space.length;
				}
				line += word;
				used += length;
				for (const mark of marks) colours = /^\u001b\[0*m$/.test(mark) ? "" : colours + mark;
				if (length > 0) space = "";
				[word, length, marks] = ["", 0, []];
			};
			for (const piece of pieces(paragraph)) {
				if (piece.escape) {
					word += piece.text;
					if (/^\u001b\[[0-9;:]*m$/.test(piece.text)) marks.push(piece.text);
				} else if (piece.text === " ") {
					place();
					space += " ";
				} else {
					// A word that is longer than a line is broken.
					if (length + piece.width > room) {
						place();
						end();
					}
					word += piece.text;
					length += piece.width;
				}
			}
			place();
			end();
		}
		return lines;
	}

	return { visibleWidth, truncateToWidth, wrapTextWithAnsi, pieces };
};
