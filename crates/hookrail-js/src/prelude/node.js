// Globals that modules know from Node: process and Buffer.
0, function ({ native, builtins, sync, whole, missing }) {
	const { String, Number, Uint8Array } = builtins;
	const bytesOf = (latin1) => {
		const bytes = new Buffer(latin1.length);
		for (let at = 0; at < latin1.length; at++) bytes[at] = latin1.charCodeAt(at);
		return bytes;
	};
	const latin1Of = (bytes) => {
		let text = "";
		for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
		return text;
	};

	class Buffer extends Uint8Array {
		static from(value, encoding = "utf8") {
			if (typeof value === "string") {
				switch (String(encoding).toLowerCase()) {
					case "utf8":
					case "utf-8":
						return bytesOf(sync("text", "encode", { text: value }));
					case "hex":
						return bytesOf((value.match(/[0-9a-f]{2}/gi) ?? []).map((pair) => String.fromCharCode(parseInt(pair, 16))).join(""));
					case "base64":
					case "base64url":
						return bytesOf(atob(value));
					case "latin1":
					case "binary":
					case "ascii":
						return bytesOf(value);
					default:
						throw new TypeError(`Unknown encoding: ${encoding}`);
				}
			}
			const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : Uint8Array.from(value);
			const copy = new Buffer(bytes.length);
			copy.set(bytes);
			return copy;
		}
		static alloc(size, fill = 0) {
			return new Buffer(size).fill(fill);
		}
		static isBuffer(value) {
			return value instanceof Buffer;
		}
		static byteLength(value) {
			return typeof value === "string" ? sync("text", "encode", { text: value }).length : value.byteLength;
		}
		static concat(list) {
			const all = new Buffer(list.reduce((total, part) => total + part.length, 0));
			let at = 0;
			for (const part of list) {
				all.set(part, at);
				at += part.length;
			}
			return all;
		}
		toString(encoding = "utf8", from = 0, to = this.length) {
			const bytes = this.subarray(from, to);
			switch (String(encoding).toLowerCase()) {
				case "utf8":
				case "utf-8":
					return sync("text", "decode", { bytes: latin1Of(bytes), keepMark: true });
				case "hex":
					return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
				case "base64":
					return btoa(latin1Of(bytes));
				case "base64url":
					return btoa(latin1Of(bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
				case "latin1":
				case "binary":
				case "ascii":
					return latin1Of(bytes);
				default:
					throw new TypeError(`Unknown encoding: ${encoding}`);
			}
		}
		equals(other) {
			return this.length === other.length && this.every((byte, at) => byte === other[at]);
		}
		toJSON() {
			return { type: "Buffer", data: Array.from(this) };
		}
	}

	const about = sync("process", "about", {});
	const write = (stream) => ({
		write(text) {
			native.write(stream, typeof text === "string" ? text : new TextDecoder().decode(text));
			return true;
		},
		isTTY: false,
		columns: 80,
	});
	const hrtime = () => [Math.floor(performance.now() / 1000), 0];
	hrtime.bigint = () => BigInt(Math.round(performance.now() * 1e6));
	const process = {
		env: { ...sync("process", "env", {}) },
		cwd: () => sync("process", "cwd", {}),
		platform: about.platform,
		arch: about.arch,
		pid: about.pid,
		argv: ["hookrail"],
		argv0: "hookrail",
		execPath: "hookrail",
		execArgv: [],
		title: "hookrail",
		version: "v20.0.0",
		versions: { hookrail: about.version },
		release: { name: "hookrail" },
		exitCode: undefined,
		stdout: write(1),
		stderr: write(2),
		stdin: { isTTY: false },
		uptime: () => performance.now() / 1000,
		hrtime,
		memoryUsage: () => ({ heapUsed: 0, heapTotal: 0, rss: 0, external: 0, arrayBuffers: 0 }),
		nextTick: (callback, ...args) => queueMicrotask(() => callback(...args)),
		emitWarning: (warning) => native.write(2, `${warning?.message ?? warning}\n`),
		exit: missing("process.exit", "a module cannot end the program it is a part of; throw or return"),
		abort: missing("process.abort", "a module cannot end the program it is a part of; throw or return"),
		// Whether a process is there may be asked; ending one that is not the module's own may not.
		kill(pid, signal = "SIGTERM") {
			if (signal === 0) return sync("process", "alive", { pid: whole(pid) });
			return missing("process.kill", "start the process with pi.exec and abort it with a signal")();
		},
		chdir: missing("process.chdir", "pass `cwd` to pi.exec"),
	};
	process.on = process.once = process.off = process.removeListener = process.addListener = () => process;

	const data = (value) => {
		if (typeof value === "string") return sync("text", "encode", { text: value });
		if (value instanceof ArrayBuffer) return latin1Of(new Uint8Array(value));
		if (ArrayBuffer.isView(value)) return latin1Of(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
		return sync("text", "encode", { text: String(value) });
	};

	return { process, Buffer, bytesOf, latin1Of, data };
};
