// node:child_process, through the same process control as command hooks: no process outlives its time or its limits.
import { EventEmitter } from "node:events";
const { sync, begin, named, part } = globalThis.__hookrail;
const { bytesOf, data, process } = part("node.js");

const asked = (options = {}) => ({
	cwd: options.cwd === undefined ? undefined : String(options.cwd),
	timeout: options.timeout > 0 ? options.timeout : undefined,
	env: options.env === undefined ? undefined : { ...options.env },
	input: options.input === undefined ? undefined : data(options.input),
	bytes: true,
});
const shellOf = (options) => (typeof options?.shell === "string" ? options.shell : "/bin/sh");
const words = (file, args, options) => (options?.shell ? [shellOf(options), ["-c", [file, ...args].join(" ")]] : [file, args.map(String)]);
const read = (latin1, options, otherwise) => {
	const encoding = options?.encoding === undefined ? otherwise : options.encoding;
	if (!encoding || encoding === "buffer") return bytesOf(latin1);
	return encoding.replace("-", "").toLowerCase() === "utf8" ? sync("text", "decode", { bytes: latin1, keepMark: true }) : bytesOf(latin1).toString(encoding);
};
const failure = (command, result, stdout, stderr) => Object.assign(new Error(`Command failed: ${command}\n${stderr}`), {
	code: result.killed ? null : result.code, status: result.code, killed: result.killed, signal: result.killed ? "SIGTERM" : null, cmd: command, stdout, stderr,
});

// What a process writes. All of it comes when the process has ended.
class Output extends EventEmitter {
	readable = true;
	#encoding;
	#ended;
	#whole;
	constructor() {
		super();
		this.#whole = new Promise((resolve) => (this.#ended = resolve));
	}
	setEncoding(encoding) {
		this.#encoding = encoding;
		return this;
	}
	pipe(target) {
		this.on("data", (piece) => target.write(piece));
		this.on("end", () => target.end?.());
		return target;
	}
	finish(latin1, options) {
		const all = read(latin1, this.#encoding === undefined ? options : { encoding: this.#encoding }, "utf8");
		if (all.length) this.emit("data", all);
		this.readable = false;
		this.emit("end");
		this.emit("close");
		this.#ended(all);
	}
	async *[Symbol.asyncIterator]() {
		const all = await this.#whole;
		if (all.length) yield all;
	}
}

// What a process is given. It is written whole when the process starts: at the end of this input, or once nothing more
// has come for a moment.
class Input extends EventEmitter {
	writable = true;
	#text = "";
	#start;
	#timer;
	constructor(start) {
		super();
		this.#start = start;
	}
	#add(value, encoding, done) {
		if (typeof encoding === "function") [encoding, done] = [undefined, encoding];
		if (!this.writable) {
			const error = Object.assign(new Error("write after the process has started: its input must be complete or written at once"), { code: "EPIPE" });
			if (!this.emit("error", error)) throw error;
			return done;
		}
		if (value !== undefined && value !== null && typeof value !== "function") {
			this.#text += data(typeof value === "string" && encoding !== undefined ? Buffer.from(value, encoding) : value);
		}
		return done;
	}
	// Whether something was written, so that the start waits for the rest.
	get waits() {
		return this.writable && this.#timer !== undefined;
	}
	write(value, encoding, done) {
		const told = this.#add(value, encoding, done);
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.begin(), 50);
		if (told) queueMicrotask(() => told(null));
		return true;
	}
	end(value, encoding, done) {
		if (typeof value === "function") [value, done] = [undefined, value];
		// A process that has started without input has reached the end of it.
		const told = value === undefined && !this.writable ? done : this.#add(value, encoding, done);
		this.begin();
		if (told) queueMicrotask(told);
		return this;
	}
	begin() {
		clearTimeout(this.#timer);
		if (!this.writable) return;
		this.writable = false;
		this.#start(this.#text);
	}
	destroy() {
		this.begin();
		return this;
	}
	cork() {}
	uncork() {}
}

function run(file, args, options, signal) {
	let stop;
	return begin(0, "process", "exec", { program: file, args, options: asked(options) }, (id) => {
		stop = () => sync("process", "cancel", { task: id });
		if (signal?.aborted) stop();
		else signal?.addEventListener("abort", stop);
		if (options?.started) options.started(stop);
	}).finally(() => signal?.removeEventListener("abort", stop));
}

function execFileLater(file, args, options, callback, shown) {
	const child = new EventEmitter();
	child.stdout = new Output();
	child.stderr = new Output();
	child.killed = false;
	child.exitCode = null;
	child.ref = child.unref = () => {};
	child.kill = () => ((child.killed = true), child.stdin.begin(), true);
	const started = (stop) => {
		child.kill = () => ((child.killed = true), stop(), true);
		if (child.killed) stop();
	};
	let go;
	const done = new Promise((resolve) => (go = resolve)).then((input) =>
		run(file, args, { ...options, started, ...(input === "" ? {} : { input: Buffer.from(input, "latin1") }) }, options?.signal),
	);
	child.stdin = new Input(go);
	// The module may write to it at once.
	queueMicrotask(() => child.stdin.waits || child.stdin.begin());
	done.then(
		(result) => {
			const [stdout, stderr] = [read(result.stdout, options, "utf8"), read(result.stderr, options, "utf8")];
			child.exitCode = result.code;
			child.stdout.finish(result.stdout, options);
			child.stderr.finish(result.stderr, options);
			child.emit("exit", result.killed ? null : result.code, result.killed ? "SIGTERM" : null);
			child.emit("close", result.killed ? null : result.code, result.killed ? "SIGTERM" : null);
			callback?.(result.code === 0 && !result.killed ? null : failure(shown, result, stdout, stderr), stdout, stderr);
		},
		(error) => {
			if (callback) callback(error, "", "");
			else if (!child.emit("error", error)) Promise.reject(error);
		},
	);
	return child;
}

const last = (values) => values.findLast((value) => typeof value === "function");
const object = (values) => values.find((value) => typeof value === "object" && value !== null && !Array.isArray(value));

export function exec(command, ...rest) {
	const options = object(rest);
	return execFileLater(shellOf(options), ["-c", String(command)], options, last(rest), command);
}
export function execFile(file, ...rest) {
	const options = object(rest);
	const args = rest.find(Array.isArray) ?? [];
	return execFileLater(...words(String(file), args, options), options, last(rest), [file, ...args].join(" "));
}
export function spawn(file, ...rest) {
	const options = { encoding: "buffer", ...object(rest) };
	const args = rest.find(Array.isArray) ?? [];
	return execFileLater(...words(String(file), args, options), options, undefined, [file, ...args].join(" "));
}
const promised = (work) => (...args) =>
	new Promise((resolve, reject) => work(...args, (error, stdout, stderr) => (error ? reject(error) : resolve({ stdout, stderr }))));
const custom = Symbol.for("nodejs.util.promisify.custom");
exec[custom] = promised(exec);
execFile[custom] = promised(execFile);

function wait(file, given, options) {
	const [program, args] = words(file, given, options);
	return sync("process", "wait", { program, args, options: asked(options) });
}

export function spawnSync(file, ...rest) {
	const options = object(rest);
	const args = rest.find(Array.isArray) ?? [];
	try {
		const result = wait(String(file), args, options);
		const [stdout, stderr] = [read(result.stdout, options, null), read(result.stderr, options, null)];
		return { pid: 0, status: result.killed ? null : result.code, signal: result.killed ? "SIGTERM" : null, stdout, stderr, output: [null, stdout, stderr] };
	} catch (error) {
		return { pid: 0, status: null, signal: null, stdout: read("", options, null), stderr: read("", options, null), output: [], error };
	}
}
export function execFileSync(file, ...rest) {
	const options = object(rest);
	const args = rest.find(Array.isArray) ?? [];
	const result = wait(String(file), args, options);
	const [stdout, stderr] = [read(result.stdout, options, null), read(result.stderr, options, null)];
	if (result.code !== 0 || result.killed) throw failure([file, ...args].join(" "), result, stdout, stderr);
	return stdout;
}
export const execSync = (command, options) => execFileSync(shellOf(options), ["-c", String(command)], options);
export default named("node:child_process", { exec, execFile, spawn, spawnSync, execFileSync, execSync });
