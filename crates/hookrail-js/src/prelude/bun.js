// A small Bun: files, processes and its shell.
0, function ({ sync, begin, named, part }) {
	const { process, Buffer, bytesOf, data } = part("node.js");
	const pathOf = (path) => (path instanceof URL ? decodeURIComponent(path.pathname) : String(path));

	function file(path) {
		const name = pathOf(path);
		return named("Bun.file()", {
			name,
			get size() {
				try {
					return sync("fs", "stat", { path: name, follow: true }).size;
				} catch {
					return 0;
				}
			},
			async text() {
				return sync("text", "decode", { bytes: sync("fs", "read", { path: name }) });
			},
			async json() {
				return JSON.parse(await this.text());
			},
			async bytes() {
				return new Uint8Array(bytesOf(sync("fs", "read", { path: name })));
			},
			async arrayBuffer() {
				return bytesOf(sync("fs", "read", { path: name })).buffer;
			},
			async exists() {
				return sync("fs", "exists", { path: name });
			},
			async delete() {
				sync("fs", "rm", { path: name });
			},
			async write(value) {
				return write(name, value);
			},
		});
	}

	async function write(path, value) {
		const target = typeof path === "object" && path !== null && "name" in path ? path.name : pathOf(path);
		const bytes = data(typeof value?.bytes === "function" ? await value.bytes() : typeof value?.text === "function" ? await value.text() : value);
		sync("fs", "write", { path: target, bytes, flag: "w", makeFolder: true });
		return bytes.length;
	}

	// ---- processes: what they write is there when they have ended ----

	const decode = (latin1) => sync("text", "decode", { bytes: latin1, keepMark: true });

	function asked(options, input) {
		const { cwd, env, timeout } = options ?? {};
		return {
			cwd: cwd === undefined ? undefined : String(cwd), env: env === undefined ? undefined : { ...env },
			timeout: timeout > 0 ? timeout : undefined, input, bytes: true,
		};
	}
	const inputOf = (value) => (value === undefined || value === null || ["pipe", "ignore", "inherit"].includes(value) ? undefined : data(value));

	// What a process writes: read whole, or piece by piece as one piece.
	const stream = (ended, which) => ({
		text: async () => decode((await ended())[which]),
		json: async () => JSON.parse(decode((await ended())[which])),
		bytes: async () => bytesOf((await ended())[which]),
		arrayBuffer: async () => bytesOf((await ended())[which]).buffer,
		async *[Symbol.asyncIterator]() {
			const all = bytesOf((await ended())[which]);
			if (all.length) yield all;
		},
	});

	function spawn(first, second) {
		const [command, options] = Array.isArray(first) ? [first, second] : [first.cmd, first];
		const words = command.map(String);
		let stop = () => {};
		let written = "";
		const child = { pid: 0, exitCode: null, signalCode: null, killed: false };
		const run = () => begin(0, "process", "exec", { program: words[0], args: words.slice(1), options: asked(options, options?.stdin === "pipe" ? written : inputOf(options?.stdin)) }, (id) => {
			stop = () => sync("process", "cancel", { task: id });
			if (child.killed || options?.signal?.aborted) stop();
			else options?.signal?.addEventListener("abort", () => stop());
		});
		let go;
		// With a pipe for its input, the process begins when that is complete, or when the module waits for the process.
		const begun = options?.stdin === "pipe" ? new Promise((resolve) => (go = resolve)).then(run) : run();
		const ended = () => {
			if (go) setTimeout(go, 0);
			return begun;
		};
		child.stdin = go && {
			write: (value) => void (written += data(value)),
			flush() {},
			end(value) {
				if (value !== undefined) written += data(value);
				go();
			},
		};
		child.stdout = stream(ended, "stdout");
		child.stderr = stream(ended, "stderr");
		child.kill = () => {
			child.killed = true;
			stop();
		};
		child.ref = child.unref = () => {};
		const exited = begun.then((result) => {
			child.exitCode = result.code;
			child.signalCode = result.killed ? "SIGTERM" : null;
			options?.onExit?.(child, child.exitCode, child.signalCode);
			return result.code;
		});
		// A module that does not wait for the end is not told that a process could not be started, either.
		exited.catch(() => {});
		Object.defineProperty(child, "exited", { get: () => (ended(), exited) });
		return named("the process of Bun.spawn", child);
	}

	function spawnSync(first, second) {
		const [command, options] = Array.isArray(first) ? [first, second] : [first.cmd, first];
		const words = command.map(String);
		const result = sync("process", "wait", { program: words[0], args: words.slice(1), options: asked(options, inputOf(options?.stdin)) });
		return { pid: 0, exitCode: result.code, success: result.code === 0, signalCode: result.killed ? "SIGTERM" : null, stdout: bytesOf(result.stdout), stderr: bytesOf(result.stderr) };
	}

	function which(name) {
		for (const folder of (process.env.PATH ?? "").split(":")) {
			const path = `${folder}/${name}`;
			try {
				const { kind, mode } = sync("fs", "stat", { path, follow: true });
				if (kind === "file" && (mode & 0o111) !== 0) return path;
			} catch {}
		}
		return null;
	}

	// ---- the shell: the machine's own, with every value quoted ----

	const quoted = (value) => {
		if (Array.isArray(value)) return value.map(quoted).join(" ");
		if (value !== null && typeof value === "object" && "raw" in value) return String(value.raw);
		return `'${String(value).replaceAll("'", "'\\''")}'`;
	};

	class ShellOutput {
		constructor(result) {
			Object.assign(this, { stdout: bytesOf(result.stdout), stderr: bytesOf(result.stderr), exitCode: result.code });
		}
		text() {
			return this.stdout.toString();
		}
		json() {
			return JSON.parse(this.text());
		}
	}

	class ShellCommand {
		#command;
		#options = {};
		#throws = true;
		#ended;
		constructor(command) {
			this.#command = command;
		}
		cwd(path) {
			this.#options.cwd = path;
			return this;
		}
		env(values) {
			this.#options.env = values;
			return this;
		}
		quiet() {
			return this;
		}
		nothrow() {
			this.#throws = false;
			return this;
		}
		throws(wanted) {
			this.#throws = Boolean(wanted);
			return this;
		}
		#run() {
			this.#ended ??= begin(0, "process", "exec", { program: "/bin/sh", args: ["-c", this.#command], options: asked(this.#options) }).then((result) => {
				const output = new ShellOutput(result);
				if (output.exitCode !== 0 && this.#throws) throw Object.assign(new Error(`Failed with exit code ${output.exitCode}`), output);
				return output;
			});
			return this.#ended;
		}
		then(resolve, reject) {
			return this.#run().then(resolve, reject);
		}
		catch(reject) {
			return this.#run().catch(reject);
		}
		finally(done) {
			return this.#run().finally(done);
		}
		async text() {
			return (await this.#run()).text();
		}
		async json() {
			return (await this.#run()).json();
		}
		async arrayBuffer() {
			return (await this.#run()).stdout.buffer;
		}
		async *lines() {
			yield* (await this.text()).split("\n");
		}
	}

	const $ = (texts, ...values) => new ShellCommand(texts.reduce((all, text, at) => all + quoted(values[at - 1]) + text));

	const Bun = named("Bun", {
		file, write, spawn, spawnSync, which, $,
		env: process.env,
		version: "1.0.0",
		sleep: (delay) => new Promise((resolve) => setTimeout(resolve, delay)),
		nanoseconds: () => Math.round(performance.now() * 1e6),
	});
	return { Bun };
};
