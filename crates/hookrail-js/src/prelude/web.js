// Globals that modules know from browsers: text encoding, URLs, blobs, structured clones, random identifiers.
0, function ({ sync, missing, named }) {

	class TextEncoder {
		encoding = "utf-8";
		encode(input = "") {
			const text = String(input);
			const bytes = [];
			for (let at = 0; at < text.length; at++) {
				let code = text.codePointAt(at);
				if (code > 0xffff) at++;
				else if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
				if (code < 0x80) bytes.push(code);
				else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
				else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
				else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
			}
			return new Uint8Array(bytes);
		}
	}

	class TextDecoder {
		constructor(encoding = "utf-8", options = {}) {
			const name = String(encoding).toLowerCase();
			if (!["utf-8", "utf8", "latin1", "ascii", "iso-8859-1"].includes(name)) {
				throw new RangeError(`TextDecoder knows utf-8 and latin1, not ${encoding}`);
			}
			this.encoding = name.startsWith("utf") ? "utf-8" : "iso-8859-1";
			this.fatal = Boolean(options.fatal);
			this.ignoreBOM = Boolean(options.ignoreBOM);
		}
		decode(input) {
			if (input === undefined) return "";
			const bytes = input instanceof ArrayBuffer ? new Uint8Array(input) : new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
			if (this.encoding !== "utf-8") return latin1(bytes);
			return sync("text", "decode", { bytes: latin1(bytes), fatal: this.fatal, keepMark: this.ignoreBOM });
		}
	}

	function latin1(bytes) {
		let text = "";
		for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
		return text;
	}

	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	function btoa(input) {
		const text = String(input);
		let out = "";
		for (let at = 0; at < text.length; at += 3) {
			const [a, b, c] = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)];
			if (a > 255 || b > 255 || c > 255) throw new Error("btoa: the text has characters beyond Latin-1");
			out += alphabet[a >> 2] + alphabet[((a & 3) << 4) | (b >> 4)];
			out += at + 1 < text.length ? alphabet[((b & 15) << 2) | (c >> 6)] : "=";
			out += at + 2 < text.length ? alphabet[c & 63] : "=";
		}
		return out;
	}

	function atob(input) {
		const text = String(input).replace(/[\s=]+/g, "").replace(/-/g, "+").replace(/_/g, "/");
		let out = "";
		let bits = 0;
		let value = 0;
		for (const letter of text) {
			const code = alphabet.indexOf(letter);
			if (code < 0) throw new Error("atob: the text is not base64");
			value = ((value << 6) | code) & 0xffffff;
			bits += 6;
			if (bits >= 8) {
				bits -= 8;
				out += String.fromCharCode((value >> bits) & 255);
			}
		}
		return out;
	}

	function structuredClone(value, seen = new Map()) {
		if (typeof value === "function" || typeof value === "symbol") throw new TypeError(`${String(value)} could not be cloned`);
		if (typeof value !== "object" || value === null) return value;
		if (seen.has(value)) return seen.get(value);
		const keep = (copy) => {
			seen.set(value, copy);
			return copy;
		};
		if (value instanceof Date) return keep(new Date(value.getTime()));
		if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
		if (value instanceof ArrayBuffer) return keep(value.slice(0));
		if (ArrayBuffer.isView(value)) return keep(new value.constructor(value));
		if (value instanceof Map) {
			const copy = keep(new Map());
			for (const [key, inner] of value) copy.set(structuredClone(key, seen), structuredClone(inner, seen));
			return copy;
		}
		if (value instanceof Set) {
			const copy = keep(new Set());
			for (const inner of value) copy.add(structuredClone(inner, seen));
			return copy;
		}
		if (value instanceof Error) {
			const copy = keep(new Error(value.message));
			copy.name = value.name;
			return copy;
		}
		const copy = keep(Array.isArray(value) ? [] : {});
		for (const key of Object.keys(value)) copy[key] = structuredClone(value[key], seen);
		return copy;
	}

	// ---- URLs ----

	const escape = (text, keep) => encodeURI(text).replace(/%25([0-9a-f]{2})/gi, "%$1").replace(keep, encodeURIComponent);
	const ports = { "http:": "80", "https:": "443", "ftp:": "21", "ws:": "80", "wss:": "443" };
	const shape = /^([a-z][a-z0-9+.-]*:)?(?:\/\/(?:([^/?#@]*)@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?)?([^?#]*)(\?[^#]*)?(#.*)?$/is;

	function withoutDots(path) {
		const out = [];
		const parts = path.split("/");
		parts.forEach((part, at) => {
			const last = at === parts.length - 1;
			if (part === "..") {
				if (out.length > 1) out.pop();
				if (last) out.push("");
			} else if (part === ".") {
				if (last) out.push("");
			} else out.push(part);
		});
		return out.join("/") || "/";
	}

	class URLSearchParams {
		#pairs = [];
		#changed = () => {};
		constructor(init = "", changed) {
			if (changed) this.#changed = changed;
			if (typeof init === "string") {
				for (const pair of init.replace(/^\?/, "").split("&")) {
					if (!pair) continue;
					const at = pair.indexOf("=");
					const decode = (text) => {
						try {
							return decodeURIComponent(text.replace(/\+/g, " "));
						} catch {
							return text;
						}
					};
					this.#pairs.push(at < 0 ? [decode(pair), ""] : [decode(pair.slice(0, at)), decode(pair.slice(at + 1))]);
				}
			} else {
				const pairs = init[Symbol.iterator] ? init : Object.entries(init);
				for (const [key, value] of pairs) this.#pairs.push([String(key), String(value)]);
			}
		}
		get size() {
			return this.#pairs.length;
		}
		get(name) {
			return this.#pairs.find(([key]) => key === name)?.[1] ?? null;
		}
		getAll(name) {
			return this.#pairs.filter(([key]) => key === name).map(([, value]) => value);
		}
		has(name) {
			return this.#pairs.some(([key]) => key === name);
		}
		append(name, value) {
			this.#pairs.push([String(name), String(value)]);
			this.#changed();
		}
		set(name, value) {
			const at = this.#pairs.findIndex(([key]) => key === name);
			const rest = this.#pairs.filter(([key], index) => key !== name || index === at);
			if (at < 0) rest.push([String(name), String(value)]);
			else rest.find(([key]) => key === name)[1] = String(value);
			this.#pairs = rest;
			this.#changed();
		}
		delete(name) {
			this.#pairs = this.#pairs.filter(([key]) => key !== name);
			this.#changed();
		}
		sort() {
			this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
			this.#changed();
		}
		forEach(callback) {
			for (const [key, value] of this.#pairs) callback(value, key, this);
		}
		keys() {
			return this.#pairs.map(([key]) => key).values();
		}
		values() {
			return this.#pairs.map(([, value]) => value).values();
		}
		entries() {
			return this.#pairs.map((pair) => [...pair]).values();
		}
		[Symbol.iterator]() {
			return this.entries();
		}
		toString() {
			const encode = (text) => encodeURIComponent(text).replace(/%20/g, "+").replace(/[!'()~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
			return this.#pairs.map(([key, value]) => `${encode(key)}=${encode(value)}`).join("&");
		}
	}

	class URL {
		constructor(input, base) {
			const text = String(input).trim();
			const parts = shape.exec(text);
			let [, protocol, user, host, port, path, search, hash] = parts ?? [];
			if (!protocol) {
				if (base === undefined) throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: text });
				const on = new URL(base);
				protocol = on.protocol;
				if (host === undefined || !text.startsWith("//")) {
					[user, host, port] = [on.username + (on.password ? `:${on.password}` : ""), on.hostname, on.port];
					if (!path) [path, search] = [on.pathname, search ?? on.search];
					else if (!path.startsWith("/")) path = on.pathname.replace(/[^/]*$/, "") + path;
				}
			}
			this.protocol = protocol.toLowerCase();
			const special = this.protocol in ports || this.protocol === "file:";
			if (special && this.protocol !== "file:" && !host) throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: text });
			const [name, ...secret] = (user ?? "").split(":");
			this.username = name;
			this.password = secret.join(":");
			this.hostname = special ? (host ?? "").toLowerCase() : (host ?? "");
			this.port = !port || ports[this.protocol] === port ? "" : String(Number(port));
			this.pathname = special ? withoutDots(escape((path || "/").replace(/\\/g, "/").replace(/^([^/])/, "/$1"), /[?#]/g)) : path;
			this.search = search && search !== "?" ? escape(search, /#/g) : "";
			this.hash = hash && hash !== "#" ? escape(hash, /(?!)/g) : "";
			this.searchParams = new URLSearchParams(this.search, () => {
				const text = this.searchParams.toString();
				this.search = text ? `?${text}` : "";
			});
		}
		get host() {
			return this.hostname + (this.port ? `:${this.port}` : "");
		}
		get origin() {
			return this.protocol in ports ? `${this.protocol}//${this.host}` : "null";
		}
		get href() {
			const user = this.username ? `${this.username}${this.password ? `:${this.password}` : ""}@` : "";
			const slashes = this.hostname || this.protocol === "file:" ? "//" : "";
			return `${this.protocol}${slashes}${user}${this.host}${this.pathname}${this.search}${this.hash}`;
		}
		toString() {
			return this.href;
		}
		toJSON() {
			return this.href;
		}
		static canParse(input, base) {
			return URL.parse(input, base) !== null;
		}
		static parse(input, base) {
			try {
				return new URL(input, base);
			} catch {
				return null;
			}
		}
	}

	const crypto = named("crypto", {
		randomUUID: () => sync("text", "uuid", {}),
		getRandomValues(array) {
			const bytes = sync("text", "random", { count: array.byteLength });
			const view = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
			for (let at = 0; at < view.length; at++) view[at] = bytes.charCodeAt(at);
			return array;
		},
	});

	// Bytes with a type. They are copied when it is made, so changing a part afterwards changes nothing.
	class Blob {
		#bytes;
		constructor(parts = [], { type = "" } = {}) {
			const pieces = [];
			let size = 0;
			for (const part of parts) {
				const piece = Blob.#bytesOf(part);
				pieces.push(piece);
				size += piece.length;
			}
			this.#bytes = new Uint8Array(size);
			let at = 0;
			for (const piece of pieces) {
				this.#bytes.set(piece, at);
				at += piece.length;
			}
			Object.defineProperty(this, "type", { __proto__: null, value: String(type).toLowerCase(), enumerable: true });
		}
		static #bytesOf(part) {
			if (part instanceof Blob) return part.#bytes;
			if (part instanceof ArrayBuffer) return new Uint8Array(part);
			if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
			return new TextEncoder().encode(part);
		}
		get size() {
			return this.#bytes.length;
		}
		async text() {
			return new TextDecoder().decode(this.#bytes);
		}
		async json() {
			return JSON.parse(await this.text());
		}
		async bytes() {
			return this.#bytes.slice();
		}
		async arrayBuffer() {
			return this.#bytes.slice().buffer;
		}
		slice(start, end, type = "") {
			return new Blob([this.#bytes.slice(start, end)], { type });
		}
		get [Symbol.toStringTag]() {
			return "Blob";
		}
	}
	Blob.prototype.stream = missing("Blob.stream", "there are no streams; use arrayBuffer() or text()");

	return {
		TextEncoder, TextDecoder, btoa, atob, URL, URLSearchParams, crypto, Blob,
		structuredClone: (value) => structuredClone(value),
		Intl: named("Intl", {}),
		WebSocket: missing("WebSocket", "there are no sockets; use fetch with the network capability"),
		XMLHttpRequest: missing("XMLHttpRequest", "use fetch with the network capability"),
		Worker: missing("Worker", "a module has one thread"),
	};
};
