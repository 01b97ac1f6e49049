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
	child.stdout = new EventEmitter();
	child.stderr = new EventEmitter();
	child.stdin = { write() {}, end() {} };
	child.killed = false;
	const done = run(file, args, { ...options, started: (stop) => (child.kill = () => ((child.killed = true), stop(), true)) }, options?.signal);
	done.then(
		(result) => {
			const [stdout, stderr] = [read(result.stdout, options, "utf8"), read(result.stderr, options, "utf8")];
			child.exitCode = result.code;
			if (stdout.length) child.stdout.emit("data", stdout);
			if (stderr.length) child.stderr.emit("data", stderr);
			child.stdout.emit("end");
			child.stderr.emit("end");
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
