// node:fs. Every operation is checked by the host against the module's capabilities.
const { sync, whole, named, part, watchers } = globalThis.__hookrail;
const { bytesOf, data } = part("node.js");

const pathOf = (path) => (path instanceof URL ? decodeURIComponent(path.pathname) : path instanceof Uint8Array ? path.toString() : String(path));
const encodingOf = (options) => (typeof options === "string" ? options : options?.encoding);
const decoded = (latin1, options) => {
	const encoding = encodingOf(options);
	if (!encoding || encoding === "buffer") return bytesOf(latin1);
	return encoding.replace("-", "").toLowerCase() === "utf8" ? sync("text", "decode", { bytes: latin1, keepMark: true }) : bytesOf(latin1).toString(encoding);
};

class Stats {
	constructor(about) {
		Object.assign(this, { size: about.size, mode: about.mode, mtimeMs: about.mtimeMs, atimeMs: about.mtimeMs, ctimeMs: about.mtimeMs, birthtimeMs: about.mtimeMs });
		this.mtime = this.atime = this.ctime = this.birthtime = new Date(about.mtimeMs);
		Object.defineProperty(this, "kind", { value: about.kind });
	}
	isFile() {
		return this.kind === "file";
	}
	isDirectory() {
		return this.kind === "directory";
	}
	isSymbolicLink() {
		return this.kind === "link";
	}
	isFIFO() {
		return this.kind === "fifo";
	}
	isSocket() {
		return this.kind === "socket";
	}
}

class Dirent extends Stats {
	constructor(about, folder) {
		super(about);
		this.name = about.name;
		this.parentPath = this.path = folder;
	}
}

const write = (path, bytes, flag) => void sync("fs", "write", { path, bytes, flag: String(flag) });

export const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 };
export const readFileSync = (path, options) => decoded(sync("fs", "read", { path: pathOf(path) }), options);
export const writeFileSync = (path, value, options) => write(pathOf(path), data(value), (typeof options === "object" && options?.flag) || "w");
export const appendFileSync = (path, value) => write(pathOf(path), data(value), "a");
export const existsSync = (path) => sync("fs", "exists", { path: pathOf(path) });
export const accessSync = (path, mode = 0) => void sync("fs", "access", { path: pathOf(path), mode: whole(mode) });
const stat = (follow) => (path, options) => {
	try {
		return new Stats(sync("fs", "stat", { path: pathOf(path), follow }));
	} catch (error) {
		if (options?.throwIfNoEntry === false && error.code === "ENOENT") return undefined;
		throw error;
	}
};
export const statSync = stat(true);
export const lstatSync = stat(false);
export const readdirSync = (path, options) => {
	const entries = sync("fs", "readdir", { path: pathOf(path), recursive: Boolean(options?.recursive) });
	return options?.withFileTypes ? entries.map((entry) => new Dirent(entry, pathOf(path))) : entries.map((entry) => entry.name);
};
export const mkdirSync = (path, options) => sync("fs", "mkdir", { path: pathOf(path), recursive: Boolean(typeof options === "object" && options?.recursive) });
export const mkdtempSync = (prefix) => sync("fs", "mkdtemp", { prefix: pathOf(prefix) });
export const rmSync = (path, options) => void sync("fs", "rm", { path: pathOf(path), recursive: Boolean(options?.recursive), force: Boolean(options?.force) });
export const unlinkSync = (path) => void sync("fs", "rm", { path: pathOf(path) });
export const rmdirSync = (path, options) => void sync("fs", "rmdir", { path: pathOf(path), recursive: Boolean(options?.recursive) });
export const renameSync = (from, to) => void sync("fs", "rename", { from: pathOf(from), to: pathOf(to) });
export const copyFileSync = (from, to) => void sync("fs", "copy", { from: pathOf(from), to: pathOf(to) });
export const realpathSync = (path) => sync("fs", "realpath", { path: pathOf(path) });
export const readlinkSync = (path) => sync("fs", "readlink", { path: pathOf(path) });
export const chmodSync = (path, mode) => void sync("fs", "chmod", { path: pathOf(path), mode: whole(typeof mode === "string" ? parseInt(mode, 8) : mode) });

export const truncateSync = (path, length = 0) => write(pathOf(path), sync("fs", "read", { path: pathOf(path) }).slice(0, length).padEnd(length, "\0"), "w");
export const symlinkSync = (to, path) => void sync("fs", "symlink", { path: pathOf(path), to: pathOf(to) });
export const utimesSync = (path, _read, changed) => void sync("fs", "utimes", { path: pathOf(path), modified: (changed instanceof Date ? changed.getTime() : Number(changed) * 1000) || 0 });
export const cpSync = (from, to, options) => {
	if (!statSync(from).isDirectory()) return copyFileSync(from, to);
	if (!options?.recursive) throw Object.assign(new Error(`cpSync: '${from}' is a directory, and \`recursive\` is not set`), { code: "ERR_FS_EISDIR" });
	mkdirSync(to, { recursive: true });
	for (const entry of readdirSync(from)) cpSync(`${pathOf(from)}/${entry}`, `${pathOf(to)}/${entry}`, options);
};

// ---- open files: a number stands for a path and how far it has been read ----

const open = new Map();
let lastOpen = 2;
const opened = (fd) => {
	const file = open.get(fd);
	if (!file) throw Object.assign(new Error("EBADF: bad file descriptor"), { code: "EBADF" });
	return file;
};
export function openSync(path, flags = "r") {
	const name = pathOf(path);
	const mode = String(flags);
	if (mode === "r" || mode === "r+" || mode === "rs+") accessSync(name);
	// Opening makes the file, or empties it, or fails because it is there; all that is written then is added.
	else write(name, "", mode.replace("+", ""));
	open.set(++lastOpen, { name, reads: mode === "r" || mode.includes("+"), writes: mode !== "r", at: 0 });
	return lastOpen;
}
export function closeSync(fd) {
	opened(fd);
	open.delete(fd);
}
export function writeSync(fd, value, ...rest) {
	const file = opened(fd);
	if (!file.writes) throw Object.assign(new Error("EBADF: bad file descriptor, write"), { code: "EBADF" });
	const bytes = typeof value === "string" ? data(value) : data(value.subarray(rest[0] ?? 0, (rest[0] ?? 0) + (rest[1] ?? value.length)));
	write(file.name, bytes, "a");
	return bytes.length;
}
export function readSync(fd, buffer, offset = 0, length = buffer.length, position = null) {
	const file = opened(fd);
	if (!file.reads) throw Object.assign(new Error("EBADF: bad file descriptor, read"), { code: "EBADF" });
	if (typeof offset === "object" && offset !== null) return readSync(fd, buffer, offset.offset, offset.length, offset.position);
	const from = position ?? file.at;
	const piece = bytesOf(sync("fs", "read", { path: file.name }).slice(from, from + length));
	buffer.set(piece, offset);
	if (position === null) file.at += piece.length;
	return piece.length;
}
export const fstatSync = (fd) => statSync(opened(fd).name);
export const fsyncSync = (fd) => void opened(fd);

// A stream to a file; every piece is written at once.
export function createWriteStream(path, options) {
	const fd = openSync(path, (typeof options === "object" && options?.flags) || "w");
	const listeners = { __proto__: null };
	const tell = (event) => queueMicrotask(() => (listeners[event] ?? []).forEach((heard) => heard()));
	const stream = {
		path,
		write(value, ...rest) {
			writeSync(fd, value);
			rest.findLast((one) => typeof one === "function")?.();
			return true;
		},
		end(value, ...rest) {
			if (value !== undefined && typeof value !== "function") writeSync(fd, value);
			closeSync(fd);
			[value, ...rest].findLast((one) => typeof one === "function")?.();
			tell("finish");
			tell("close");
			return stream;
		},
		on(event, heard) {
			(listeners[event] ??= []).push(heard);
			if (event === "open" || event === "ready") tell(event);
			return stream;
		},
	};
	stream.once = stream.addListener = stream.on;
	stream.destroy = stream.close = () => (open.has(fd) && closeSync(fd), stream);
	return stream;
}

let lastWatcher = 0;

export function watch(path, options, listener) {
	const callback = typeof options === "function" ? options : listener;
	const target = pathOf(path);
	const id = ++lastWatcher;
	const listeners = [];
	if (callback) listeners.push(["change", callback]);
	watchers[id] = (kind, name) => {
		for (const [event, heard] of [...listeners]) if (event === "change") heard(kind, name);
	};
	sync("fs", "watch", { watcher: id, path: target, recursive: Boolean(typeof options === "object" && options?.recursive) });
	const watcher = {
		close() {
			delete watchers[id];
			sync("fs", "unwatch", { watcher: id });
		},
		on(event, heard) {
			listeners.push([event, heard]);
			return watcher;
		},
		ref: () => watcher,
		unref: () => watcher,
	};
	watcher.addListener = watcher.once = watcher.on;
	return watcher;
}

const watched = { __proto__: null };

export function watchFile(path, options, listener) {
	const callback = typeof options === "function" ? options : listener;
	let before = existsSync(path) ? statSync(path) : undefined;
	const watcher = (watched[pathOf(path)] = watch(path, () => {
		const now = existsSync(path) ? statSync(path) : new Stats({ size: 0, mode: 0, mtimeMs: 0, kind: "none" });
		callback(now, before ?? now);
		before = now;
	}));
	return watcher;
}
export function unwatchFile(path) {
	watched[pathOf(path)]?.close();
	delete watched[pathOf(path)];
}

const later = (work) => async (...args) => work(...args);
const called = (work) => (...args) => {
	const callback = args.pop();
	later(work)(...args).then(
		(value) => callback(null, value),
		(error) => callback(error),
	);
};
const both = {
	readFile: readFileSync, writeFile: writeFileSync, appendFile: appendFileSync, access: accessSync, stat: statSync, lstat: lstatSync,
	readdir: readdirSync, mkdir: mkdirSync, mkdtemp: mkdtempSync, rm: rmSync, unlink: unlinkSync, rmdir: rmdirSync,
	rename: renameSync, copyFile: copyFileSync, realpath: realpathSync, readlink: readlinkSync, chmod: chmodSync,
	truncate: truncateSync, symlink: symlinkSync, utimes: utimesSync, cp: cpSync,
};
const withPromises = {};
const withCallbacks = {};
for (const [name, work] of Object.entries(both)) {
	withPromises[name] = later(work);
	withCallbacks[name] = called(work);
}
export const promises = named("node:fs/promises", { ...withPromises, constants });
export const { readFile, writeFile, appendFile, access, stat: statLater, readdir, mkdir, mkdtemp, rm, unlink, rmdir, rename, copyFile, realpath, readlink, chmod, truncate, symlink, utimes, cp } = withCallbacks;
const { stat: statCallback, lstat } = withCallbacks;
export { statCallback as stat, lstat };
export default named("node:fs", {
	constants, readFileSync, writeFileSync, appendFileSync, existsSync, accessSync, statSync, lstatSync, readdirSync, mkdirSync,
	mkdtempSync, rmSync, unlinkSync, rmdirSync, renameSync, copyFileSync, realpathSync, readlinkSync, chmodSync, truncateSync, symlinkSync,
	utimesSync, cpSync, openSync, closeSync, writeSync, readSync, fstatSync, fsyncSync, createWriteStream, watch, watchFile, unwatchFile, promises, ...withCallbacks,
});
