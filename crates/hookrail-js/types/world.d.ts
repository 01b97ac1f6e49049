// The world around a hook module, written by `hookrail types` (hookrail VERSION): globals, and what there is of Node and Bun.
// Do not edit: the command replaces this file. Leave it out of a project that has `@types/node` or the library `DOM`.

// ---- globals ----

interface Console {
	log(...values: unknown[]): void;
	info(...values: unknown[]): void;
	debug(...values: unknown[]): void;
	dir(...values: unknown[]): void;
	table(...values: unknown[]): void;
	error(...values: unknown[]): void;
	warn(...values: unknown[]): void;
	trace(...values: unknown[]): void;
	group(...values: unknown[]): void;
	groupEnd(): void;
	assert(condition: unknown, ...values: unknown[]): void;
	count(label?: string): void;
	time(label?: string): void;
	timeEnd(label?: string): void;
}
declare var console: Console;

interface Timeout {
	ref(): this;
	unref(): this;
	hasRef(): boolean;
	refresh(): this;
}
declare function setTimeout<A extends unknown[]>(callback: (...args: A) => void, delay?: number, ...args: A): Timeout;
declare function setInterval<A extends unknown[]>(callback: (...args: A) => void, delay?: number, ...args: A): Timeout;
declare function setImmediate<A extends unknown[]>(callback: (...args: A) => void, ...args: A): Timeout;
declare function clearTimeout(timeout: Timeout | number | undefined): void;
declare function clearInterval(timeout: Timeout | number | undefined): void;
declare function clearImmediate(timeout: Timeout | number | undefined): void;
interface NodeRequire {
	(specifier: string): any;
	resolve(specifier: string): string;
	readonly cache: Record<string, unknown>;
}
declare var require: NodeRequire;
declare var module: { exports: any; readonly filename: string; readonly id: string };
declare var exports: any;
declare const __filename: string;
declare const __dirname: string;
declare function queueMicrotask(callback: () => void): void;
declare var performance: { now(): number; timeOrigin: number };

declare class URLSearchParams {
	constructor(init?: string | Iterable<[string, string]> | Record<string, string>);
	readonly size: number;
	get(name: string): string | null;
	getAll(name: string): string[];
	has(name: string): boolean;
	append(name: string, value: string): void;
	set(name: string, value: string): void;
	delete(name: string): void;
	sort(): void;
	forEach(callback: (value: string, key: string, params: URLSearchParams) => void): void;
	keys(): IterableIterator<string>;
	values(): IterableIterator<string>;
	entries(): IterableIterator<[string, string]>;
	[Symbol.iterator](): IterableIterator<[string, string]>;
	toString(): string;
}
declare class URL {
	constructor(input: string | URL, base?: string | URL);
	protocol: string;
	username: string;
	password: string;
	hostname: string;
	port: string;
	pathname: string;
	search: string;
	hash: string;
	readonly searchParams: URLSearchParams;
	readonly host: string;
	readonly origin: string;
	readonly href: string;
	toString(): string;
	toJSON(): string;
	static canParse(input: string, base?: string): boolean;
	static parse(input: string, base?: string): URL | null;
}
declare class TextEncoder {
	readonly encoding: string;
	encode(input?: string): Uint8Array;
}
declare class TextDecoder {
	constructor(encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
	readonly encoding: string;
	readonly fatal: boolean;
	readonly ignoreBOM: boolean;
	decode(input?: ArrayBuffer | ArrayBufferView): string;
}
declare class Blob {
	constructor(parts?: Iterable<string | ArrayBuffer | ArrayBufferView | Blob>, options?: { type?: string });
	readonly type: string;
	readonly size: number;
	text(): Promise<string>;
	json(): Promise<any>;
	bytes(): Promise<Uint8Array>;
	arrayBuffer(): Promise<ArrayBuffer>;
	slice(start?: number, end?: number, type?: string): Blob;
}
declare function structuredClone<T>(value: T): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;
declare var crypto: { randomUUID(): string; getRandomValues<T extends ArrayBufferView>(array: T): T };

declare class DOMException extends Error {
	constructor(message?: string, name?: string);
	readonly code: number;
}
declare class Event {
	constructor(type: string, options?: { cancelable?: boolean; bubbles?: boolean });
	readonly type: string;
	readonly cancelable: boolean;
	readonly bubbles: boolean;
	readonly defaultPrevented: boolean;
	readonly target: EventTarget | null;
	preventDefault(): void;
	stopPropagation(): void;
	stopImmediatePropagation(): void;
}
declare class CustomEvent<T = any> extends Event {
	constructor(type: string, options?: { cancelable?: boolean; bubbles?: boolean; detail?: T });
	readonly detail: T | null;
}
type EventListener = ((event: Event) => void) | { handleEvent(event: Event): void };
declare class EventTarget {
	addEventListener(type: string, listener: EventListener, options?: { once?: boolean } | boolean): void;
	removeEventListener(type: string, listener: EventListener): void;
	dispatchEvent(event: Event): boolean;
}
declare class AbortSignal extends EventTarget {
	readonly aborted: boolean;
	readonly reason: any;
	onabort: ((event: Event) => void) | null;
	throwIfAborted(): void;
	static abort(reason?: unknown): AbortSignal;
	static timeout(delay: number): AbortSignal;
	static any(signals: Iterable<AbortSignal>): AbortSignal;
}
declare class AbortController {
	readonly signal: AbortSignal;
	abort(reason?: unknown): void;
}

declare class Headers {
	constructor(init?: Iterable<[string, string]> | Record<string, string>);
	append(name: string, value: string): void;
	set(name: string, value: string): void;
	get(name: string): string | null;
	getSetCookie(): string[];
	has(name: string): boolean;
	delete(name: string): void;
	forEach(callback: (value: string, name: string, headers: Headers) => void): void;
	keys(): IterableIterator<string>;
	values(): IterableIterator<string>;
	entries(): IterableIterator<[string, string]>;
	[Symbol.iterator](): IterableIterator<[string, string]>;
}
type BodyInit = string | ArrayBuffer | ArrayBufferView | Blob | URLSearchParams | null;
interface Body {
	readonly bodyUsed: boolean;
	text(): Promise<string>;
	json(): Promise<any>;
	bytes(): Promise<Uint8Array>;
	arrayBuffer(): Promise<ArrayBuffer>;
	blob(): Promise<Blob>;
}
interface ResponseInit {
	status?: number;
	statusText?: string;
	headers?: Iterable<[string, string]> | Record<string, string>;
}
interface Response extends Body {}
declare class Response {
	constructor(body?: BodyInit, init?: ResponseInit);
	readonly status: number;
	readonly statusText: string;
	readonly headers: Headers;
	readonly url: string;
	readonly redirected: boolean;
	readonly ok: boolean;
	readonly type: string;
	clone(): Response;
	static json(value: unknown, init?: ResponseInit): Response;
	static error(): Response;
}
interface RequestInit {
	method?: string;
	headers?: Iterable<[string, string]> | Record<string, string>;
	body?: BodyInit;
	signal?: AbortSignal;
	redirect?: "follow" | "manual" | "error";
}
interface Request extends Body {}
declare class Request {
	constructor(input: string | URL | Request, init?: RequestInit);
	readonly url: string;
	readonly method: string;
	readonly headers: Headers;
	readonly signal: AbortSignal | undefined;
	readonly redirect: string;
}
/** Needs the capability `network`. */
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;

type BufferEncoding = "utf8" | "utf-8" | "hex" | "base64" | "base64url" | "latin1" | "binary" | "ascii";
interface Buffer extends Uint8Array {
	toString(encoding?: BufferEncoding, from?: number, to?: number): string;
	equals(other: Uint8Array): boolean;
	toJSON(): { type: "Buffer"; data: number[] };
}
interface BufferConstructor {
	from(value: string, encoding?: BufferEncoding): Buffer;
	from(value: ArrayBuffer | Iterable<number>): Buffer;
	alloc(size: number, fill?: number): Buffer;
	isBuffer(value: unknown): value is Buffer;
	byteLength(value: string | ArrayBuffer | ArrayBufferView): number;
	concat(list: readonly Uint8Array[]): Buffer;
}
declare var Buffer: BufferConstructor;

interface ProcessStream {
	write(text: string | Uint8Array): boolean;
	isTTY: boolean;
	columns: number;
}
interface Process {
	env: Record<string, string | undefined>;
	cwd(): string;
	readonly platform: string;
	readonly arch: string;
	readonly pid: number;
	readonly argv: string[];
	readonly argv0: string;
	readonly execPath: string;
	readonly execArgv: string[];
	title: string;
	readonly version: string;
	readonly versions: Record<string, string>;
	readonly release: { name: string };
	exitCode: number | undefined;
	readonly stdout: ProcessStream;
	readonly stderr: ProcessStream;
	readonly stdin: { isTTY: boolean };
	uptime(): number;
	hrtime: { (): [number, number]; bigint(): bigint };
	memoryUsage(): { heapUsed: number; heapTotal: number; rss: number; external: number; arrayBuffers: number };
	nextTick<A extends unknown[]>(callback: (...args: A) => void, ...args: A): void;
	emitWarning(warning: string | Error): void;
	/** Says whether a process exists. */
	kill(pid: number, signal: 0): boolean;
	/** Events of the process do not reach modules; listeners are never called. */
	on(event: string, listener: (...args: any[]) => void): Process;
	once(event: string, listener: (...args: any[]) => void): Process;
	off(event: string, listener: (...args: any[]) => void): Process;
	removeListener(event: string, listener: (...args: any[]) => void): Process;
	addListener(event: string, listener: (...args: any[]) => void): Process;
}
declare var process: Process;
declare var global: typeof globalThis;
declare var self: typeof globalThis;
interface ImportMeta {
	readonly url: string;
}

// Classes under names that a module can use for its own exports.
type GlobalURL = typeof URL;
type GlobalURLSearchParams = typeof URLSearchParams;
type GlobalTextEncoder = typeof TextEncoder;
type GlobalTextDecoder = typeof TextDecoder;
type GlobalBlob = typeof Blob;

// ---- Bun ----

interface BunFile {
	readonly name: string;
	readonly size: number;
	text(): Promise<string>;
	json(): Promise<any>;
	bytes(): Promise<Uint8Array>;
	arrayBuffer(): Promise<ArrayBuffer>;
	exists(): Promise<boolean>;
	delete(): Promise<void>;
	write(value: string | Uint8Array | ArrayBuffer): Promise<number>;
}
interface BunProcessOutput extends AsyncIterable<Uint8Array> {
	text(): Promise<string>;
	json(): Promise<any>;
	bytes(): Promise<Uint8Array>;
	arrayBuffer(): Promise<ArrayBuffer>;
}
interface BunSpawnOptions {
	cwd?: string;
	env?: Record<string, string | undefined>;
	timeout?: number;
	signal?: AbortSignal;
	stdin?: "pipe" | "ignore" | "inherit" | string | Uint8Array | null;
	stdout?: "pipe" | "ignore" | "inherit";
	stderr?: "pipe" | "ignore" | "inherit";
	onExit?(child: BunProcess, exitCode: number | null, signalCode: string | null): void;
}
interface BunProcess {
	readonly pid: number;
	readonly exitCode: number | null;
	readonly signalCode: string | null;
	readonly killed: boolean;
	readonly stdin: { write(value: string | Uint8Array): void; flush(): void; end(value?: string | Uint8Array): void } | undefined;
	readonly stdout: BunProcessOutput;
	readonly stderr: BunProcessOutput;
	readonly exited: Promise<number>;
	kill(): void;
	ref(): void;
	unref(): void;
}
interface BunSyncResult {
	pid: number;
	exitCode: number;
	success: boolean;
	signalCode: string | null;
	stdout: Buffer;
	stderr: Buffer;
}
interface BunShellOutput {
	stdout: Buffer;
	stderr: Buffer;
	exitCode: number;
	text(): string;
	json(): any;
}
interface BunShellCommand extends Promise<BunShellOutput> {
	cwd(path: string): this;
	env(values: Record<string, string | undefined>): this;
	quiet(): this;
	nothrow(): this;
	throws(wanted: boolean): this;
	text(): Promise<string>;
	json(): Promise<any>;
	arrayBuffer(): Promise<ArrayBuffer>;
	lines(): AsyncIterable<string>;
}
declare var Bun: typeof import("bun");
declare module "bun" {
	export function file(path: string | URL): BunFile;
	export function write(path: string | URL | BunFile, value: string | Uint8Array | ArrayBuffer | Blob | BunFile | Response): Promise<number>;
	export function spawn(command: string[], options?: BunSpawnOptions): BunProcess;
	export function spawn(options: BunSpawnOptions & { cmd: string[] }): BunProcess;
	export function spawnSync(command: string[], options?: BunSpawnOptions): BunSyncResult;
	export function spawnSync(options: BunSpawnOptions & { cmd: string[] }): BunSyncResult;
	export function which(name: string): string | null;
	/** The machine's shell, with every value quoted. */
	export function $(texts: TemplateStringsArray, ...values: unknown[]): BunShellCommand;
	export const env: Record<string, string | undefined>;
	export function sleep(delay: number): Promise<void>;
	export function nanoseconds(): number;
	export const version: string;
}

// ---- Node ----

declare module "node:path" {
	interface ParsedPath {
		root: string;
		dir: string;
		base: string;
		ext: string;
		name: string;
	}
	export const sep: string;
	export const delimiter: string;
	export function isAbsolute(path: string): boolean;
	export function normalize(path: string): string;
	export function join(...parts: string[]): string;
	export function resolve(...parts: string[]): string;
	export function dirname(path: string): string;
	export function basename(path: string, suffix?: string): string;
	export function extname(path: string): string;
	export function relative(from: string, to: string): string;
	export function parse(path: string): ParsedPath;
	export function format(parts: Partial<ParsedPath>): string;
	export function toNamespacedPath(path: string): string;
	export const posix: typeof import("node:path");
	export const win32: typeof import("node:path");
	const path: typeof import("node:path");
	export default path;
}
declare module "node:fs" {
	export type PathLike = string | URL | Uint8Array;
	type Data = string | ArrayBuffer | ArrayBufferView;
	type EncodingOption = BufferEncoding | { encoding: BufferEncoding; flag?: string };
	type Callback<T> = (error: Error | null, value?: T) => void;
	export interface Stats {
		size: number;
		mode: number;
		mtimeMs: number;
		atimeMs: number;
		ctimeMs: number;
		birthtimeMs: number;
		mtime: Date;
		atime: Date;
		ctime: Date;
		birthtime: Date;
		isFile(): boolean;
		isDirectory(): boolean;
		isSymbolicLink(): boolean;
		isFIFO(): boolean;
		isSocket(): boolean;
	}
	export interface Dirent extends Stats {
		name: string;
		path: string;
		parentPath: string;
	}
	export interface FSWatcher {
		close(): void;
		on(event: string, listener: (kind: string, name: string) => void): this;
		once(event: string, listener: (kind: string, name: string) => void): this;
		addListener(event: string, listener: (kind: string, name: string) => void): this;
		ref(): this;
		unref(): this;
	}
	export interface WriteStream {
		readonly path: PathLike;
		write(value: Data, callback?: () => void): boolean;
		end(value?: Data | (() => void), callback?: () => void): this;
		on(event: string, listener: () => void): this;
		once(event: string, listener: () => void): this;
		addListener(event: string, listener: () => void): this;
		destroy(): this;
		close(): this;
	}
	export const constants: { F_OK: 0; R_OK: 4; W_OK: 2; X_OK: 1; COPYFILE_EXCL: 1 };
	export function readFileSync(path: PathLike, options: EncodingOption): string;
	export function readFileSync(path: PathLike, options?: null | { encoding?: null }): Buffer;
	export function writeFileSync(path: PathLike, value: Data, options?: string | { encoding?: string; flag?: string; mode?: number }): void;
	export function appendFileSync(path: PathLike, value: Data, options?: string | object): void;
	export function existsSync(path: PathLike): boolean;
	export function accessSync(path: PathLike, mode?: number): void;
	export function statSync(path: PathLike): Stats;
	export function statSync(path: PathLike, options: { throwIfNoEntry: false }): Stats | undefined;
	export function lstatSync(path: PathLike): Stats;
	export function lstatSync(path: PathLike, options: { throwIfNoEntry: false }): Stats | undefined;
	export function readdirSync(path: PathLike, options: { withFileTypes: true; recursive?: boolean }): Dirent[];
	export function readdirSync(path: PathLike, options?: { withFileTypes?: false; recursive?: boolean }): string[];
	export function mkdirSync(path: PathLike, options?: { recursive?: boolean } | number): string | undefined;
	export function mkdtempSync(prefix: string): string;
	export function rmSync(path: PathLike, options?: { recursive?: boolean; force?: boolean }): void;
	export function unlinkSync(path: PathLike): void;
	export function rmdirSync(path: PathLike, options?: { recursive?: boolean }): void;
	export function renameSync(from: PathLike, to: PathLike): void;
	export function copyFileSync(from: PathLike, to: PathLike): void;
	export function realpathSync(path: PathLike): string;
	export function readlinkSync(path: PathLike): string;
	export function chmodSync(path: PathLike, mode: number | string): void;
	export function truncateSync(path: PathLike, length?: number): void;
	export function symlinkSync(target: PathLike, path: PathLike): void;
	export function utimesSync(path: PathLike, read: number | Date, changed: number | Date): void;
	export function cpSync(from: PathLike, to: PathLike, options?: { recursive?: boolean }): void;
	export function openSync(path: PathLike, flags?: string): number;
	export function closeSync(fd: number): void;
	export function writeSync(fd: number, value: string | Uint8Array, offset?: number, length?: number): number;
	export function readSync(fd: number, buffer: Uint8Array, offset?: number, length?: number, position?: number | null): number;
	export function fstatSync(fd: number): Stats;
	export function fsyncSync(fd: number): void;
	export function createWriteStream(path: PathLike, options?: string | { flags?: string }): WriteStream;
	export function watch(path: PathLike, listener?: (kind: string, name: string) => void): FSWatcher;
	export function watch(path: PathLike, options: { recursive?: boolean } | undefined, listener?: (kind: string, name: string) => void): FSWatcher;
	export function watchFile(path: PathLike, listener: (now: Stats, before: Stats) => void): FSWatcher;
	export function watchFile(path: PathLike, options: object, listener: (now: Stats, before: Stats) => void): FSWatcher;
	export function unwatchFile(path: PathLike): void;
	export const promises: typeof import("node:fs/promises");
	export function readFile(path: PathLike, options: EncodingOption, callback: Callback<string>): void;
	export function readFile(path: PathLike, callback: Callback<Buffer>): void;
	export function writeFile(path: PathLike, value: Data, callback: Callback<void>): void;
	export function appendFile(path: PathLike, value: Data, callback: Callback<void>): void;
	export function access(path: PathLike, callback: Callback<void>): void;
	export function stat(path: PathLike, callback: Callback<Stats>): void;
	export function statLater(path: PathLike, callback: Callback<Stats>): void;
	export function lstat(path: PathLike, callback: Callback<Stats>): void;
	export function readdir(path: PathLike, callback: Callback<string[]>): void;
	export function mkdir(path: PathLike, callback: Callback<string>): void;
	export function mkdtemp(prefix: string, callback: Callback<string>): void;
	export function rm(path: PathLike, callback: Callback<void>): void;
	export function unlink(path: PathLike, callback: Callback<void>): void;
	export function rmdir(path: PathLike, callback: Callback<void>): void;
	export function rename(from: PathLike, to: PathLike, callback: Callback<void>): void;
	export function copyFile(from: PathLike, to: PathLike, callback: Callback<void>): void;
	export function realpath(path: PathLike, callback: Callback<string>): void;
	export function readlink(path: PathLike, callback: Callback<string>): void;
	export function chmod(path: PathLike, mode: number | string, callback: Callback<void>): void;
	export function truncate(path: PathLike, length: number, callback: Callback<void>): void;
	export function symlink(target: PathLike, path: PathLike, callback: Callback<void>): void;
	export function utimes(path: PathLike, read: number | Date, changed: number | Date, callback: Callback<void>): void;
	export function cp(from: PathLike, to: PathLike, options: { recursive?: boolean }, callback: Callback<void>): void;
	const fs: typeof import("node:fs");
	export default fs;
}
declare module "node:fs/promises" {
	import type { Dirent, PathLike, Stats } from "node:fs";
	type Data = string | ArrayBuffer | ArrayBufferView;
	export function readFile(path: PathLike, options: BufferEncoding | { encoding: BufferEncoding }): Promise<string>;
	export function readFile(path: PathLike, options?: null): Promise<Buffer>;
	export function writeFile(path: PathLike, value: Data, options?: string | { encoding?: string; flag?: string }): Promise<void>;
	export function appendFile(path: PathLike, value: Data): Promise<void>;
	export function access(path: PathLike, mode?: number): Promise<void>;
	export function stat(path: PathLike): Promise<Stats>;
	export function lstat(path: PathLike): Promise<Stats>;
	export function readdir(path: PathLike, options: { withFileTypes: true; recursive?: boolean }): Promise<Dirent[]>;
	export function readdir(path: PathLike, options?: { withFileTypes?: false; recursive?: boolean }): Promise<string[]>;
	export function mkdir(path: PathLike, options?: { recursive?: boolean }): Promise<string | undefined>;
	export function mkdtemp(prefix: string): Promise<string>;
	export function rm(path: PathLike, options?: { recursive?: boolean; force?: boolean }): Promise<void>;
	export function unlink(path: PathLike): Promise<void>;
	export function rmdir(path: PathLike, options?: { recursive?: boolean }): Promise<void>;
	export function rename(from: PathLike, to: PathLike): Promise<void>;
	export function copyFile(from: PathLike, to: PathLike): Promise<void>;
	export function realpath(path: PathLike): Promise<string>;
	export function readlink(path: PathLike): Promise<string>;
	export function chmod(path: PathLike, mode: number | string): Promise<void>;
	export function truncate(path: PathLike, length?: number): Promise<void>;
	export function symlink(target: PathLike, path: PathLike): Promise<void>;
	export function utimes(path: PathLike, read: number | Date, changed: number | Date): Promise<void>;
	export function cp(from: PathLike, to: PathLike, options?: { recursive?: boolean }): Promise<void>;
	export const constants: typeof import("node:fs").constants;
	const promises: typeof import("node:fs/promises");
	export default promises;
}
declare module "node:os" {
	export const EOL: string;
	export function homedir(): string;
	export function tmpdir(): string;
	export function platform(): string;
	export function arch(): string;
	export function type(): string;
	export function hostname(): string;
	export function cpus(): { model: string; speed: number; times: object }[];
	export function availableParallelism(): number;
	export function userInfo(): { username: string; homedir: string; shell: string | null; uid: number; gid: number };
	export function endianness(): "LE";
	const os: typeof import("node:os");
	export default os;
}
declare module "node:child_process" {
	import { EventEmitter } from "node:events";
	export interface ProcessOptions {
		cwd?: string | URL;
		env?: Record<string, string | undefined>;
		timeout?: number;
		input?: string | Uint8Array;
		shell?: boolean | string;
		signal?: AbortSignal;
		encoding?: BufferEncoding | "buffer" | null;
		stdio?: unknown;
		maxBuffer?: number;
	}
	/** What the process writes comes when it has ended. */
	export interface ChildProcess extends EventEmitter {
		/** What is written is given to the process when this ends, or once nothing more has come for a moment. */
		readonly stdin: EventEmitter & { write(value: unknown, encoding?: unknown, done?: () => void): boolean; end(value?: unknown, encoding?: unknown, done?: () => void): void };
		readonly stdout: EventEmitter & AsyncIterable<string | Buffer> & { setEncoding(encoding: BufferEncoding): void };
		readonly stderr: EventEmitter & AsyncIterable<string | Buffer> & { setEncoding(encoding: BufferEncoding): void };
		readonly killed: boolean;
		readonly exitCode: number | null;
		kill(): boolean;
	}
	type ExecCallback = (error: (Error & { code?: number | null; killed?: boolean; stdout?: string; stderr?: string }) | null, stdout: string, stderr: string) => void;
	export function exec(command: string, callback?: ExecCallback): ChildProcess;
	export function exec(command: string, options: ProcessOptions, callback?: ExecCallback): ChildProcess;
	export function execFile(file: string, args?: readonly string[], callback?: ExecCallback): ChildProcess;
	export function execFile(file: string, args: readonly string[], options: ProcessOptions, callback?: ExecCallback): ChildProcess;
	export function spawn(file: string, args?: readonly string[], options?: ProcessOptions): ChildProcess;
	export interface SpawnSyncResult<T> {
		pid: number;
		status: number | null;
		signal: string | null;
		stdout: T;
		stderr: T;
		output: (T | null)[];
		error?: Error;
	}
	export function spawnSync(file: string, args: readonly string[], options: ProcessOptions & { encoding: BufferEncoding }): SpawnSyncResult<string>;
	export function spawnSync(file: string, args?: readonly string[], options?: ProcessOptions): SpawnSyncResult<Buffer>;
	export function execFileSync(file: string, args: readonly string[], options: ProcessOptions & { encoding: BufferEncoding }): string;
	export function execFileSync(file: string, args?: readonly string[], options?: ProcessOptions): Buffer;
	export function execSync(command: string, options: ProcessOptions & { encoding: BufferEncoding }): string;
	export function execSync(command: string, options?: ProcessOptions): Buffer;
	const child_process: typeof import("node:child_process");
	export default child_process;
}
declare module "node:crypto" {
	export interface Hash {
		update(value: string | Uint8Array, encoding?: BufferEncoding): this;
		copy(): Hash;
		digest(encoding: BufferEncoding): string;
		digest(): Buffer;
	}
	/** One of md5, sha1, sha224, sha256, sha384 and sha512. */
	export function createHash(algorithm: string): Hash;
	export function hash(algorithm: string, value: string | Uint8Array, encoding?: BufferEncoding): string;
	export function randomUUID(): string;
	export function randomBytes(count: number): Buffer;
	export function randomInt(low: number, high?: number): number;
	export function getHashes(): string[];
	export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
	export const webcrypto: typeof globalThis.crypto;
	const nodeCrypto: typeof import("node:crypto");
	export default nodeCrypto;
}
declare module "node:events" {
	type Listener = (...args: any[]) => void;
	export class EventEmitter {
		on(event: string | symbol, listener: Listener): this;
		once(event: string | symbol, listener: Listener): this;
		off(event: string | symbol, listener: Listener): this;
		addListener(event: string | symbol, listener: Listener): this;
		removeListener(event: string | symbol, listener: Listener): this;
		removeAllListeners(event?: string | symbol): this;
		emit(event: string | symbol, ...args: unknown[]): boolean;
		listenerCount(event: string | symbol): number;
		setMaxListeners(count: number): this;
	}
	export function once(emitter: EventEmitter, event: string | symbol): Promise<any[]>;
	export default EventEmitter;
}
declare module "node:util" {
	export const promisify: { <T>(work: (...args: any[]) => any): (...args: any[]) => Promise<T>; readonly custom: symbol };
	export function inspect(value: unknown): string;
	export function format(first?: unknown, ...rest: unknown[]): string;
	export function isDeepStrictEqual(a: unknown, b: unknown): boolean;
	export function stripVTControlCharacters(text: string): string;
	export function callbackify(work: (...args: any[]) => Promise<unknown>): (...args: any[]) => void;
	export function inherits(made: Function, from: Function): void;
	export function deprecate<T>(work: T): T;
	export function debuglog(section: string): ((...args: unknown[]) => void) & { readonly enabled: boolean };
	export function toUSVString(text: string): string;
	export interface ParseArgsOption {
		type: "string" | "boolean";
		short?: string;
		multiple?: boolean;
		default?: unknown;
	}
	/** `args` has to be given: a module has no command line. */
	export function parseArgs(config?: { args?: string[]; options?: Record<string, ParseArgsOption>; strict?: boolean; allowPositionals?: boolean }): { values: Record<string, any>; positionals: string[] };
	/** Checks by the names that Node has for them, such as `isPromise`. */
	export const types: Record<string, (value: unknown) => boolean>;
	export const TextEncoder: GlobalTextEncoder;
	export const TextDecoder: GlobalTextDecoder;
	const util: typeof import("node:util");
	export default util;
}
declare module "node:module" {
	/** `require` for the files of this folder. */
	export function createRequire(place: string | URL): NodeRequire;
	const nodeModule: typeof import("node:module");
	export default nodeModule;
}
declare module "node:url" {
	export const URL: GlobalURL;
	export const URLSearchParams: GlobalURLSearchParams;
	export function fileURLToPath(url: string | URL): string;
	export function pathToFileURL(path: string): URL;
	const url: typeof import("node:url");
	export default url;
}
declare module "node:timers/promises" {
	export function setTimeout<T = void>(delay?: number, value?: T): Promise<T>;
	export function setImmediate<T = void>(value?: T): Promise<T>;
	export const scheduler: { wait(delay?: number): Promise<void> };
	const timers: typeof import("node:timers/promises");
	export default timers;
}
declare module "node:timers" {
	export const setTimeout: typeof globalThis.setTimeout;
	export const setInterval: typeof globalThis.setInterval;
	export const setImmediate: typeof globalThis.setImmediate;
	export const clearTimeout: typeof globalThis.clearTimeout;
	export const clearInterval: typeof globalThis.clearInterval;
	export const clearImmediate: typeof globalThis.clearImmediate;
	const timers: typeof import("node:timers");
	export default timers;
}
declare module "node:perf_hooks" {
	export const performance: typeof globalThis.performance;
	const hooks: typeof import("node:perf_hooks");
	export default hooks;
}
declare module "node:assert" {
	export class AssertionError extends Error {
		constructor(about: { message?: string; actual?: unknown; expected?: unknown });
		readonly code: string;
		readonly actual: unknown;
		readonly expected: unknown;
	}
	export function ok(value: unknown, message?: string | Error): asserts value;
	export function fail(message?: string | Error): never;
	export function equal(a: unknown, b: unknown, message?: string | Error): void;
	export function notEqual(a: unknown, b: unknown, message?: string | Error): void;
	export function strictEqual(a: unknown, b: unknown, message?: string | Error): void;
	export function notStrictEqual(a: unknown, b: unknown, message?: string | Error): void;
	export function deepStrictEqual(a: unknown, b: unknown, message?: string | Error): void;
	export function deepEqual(a: unknown, b: unknown, message?: string | Error): void;
	export function match(text: string, pattern: RegExp, message?: string | Error): void;
	export function throws(work: () => void, message?: string): void;
	function assert(value: unknown, message?: string | Error): asserts value;
	namespace assert {
		export { ok, fail, equal, notEqual, strictEqual, notStrictEqual, deepStrictEqual, deepEqual, match, throws, AssertionError };
		export { assert as strict };
	}
	export default assert;
}
declare module "node:process" {
	export const env: Process["env"];
	export const cwd: Process["cwd"];
	export const platform: string;
	export const arch: string;
	export const argv: string[];
	export const pid: number;
	export const stdout: ProcessStream;
	export const stderr: ProcessStream;
	export const nextTick: Process["nextTick"];
	export const version: string;
	export const versions: Record<string, string>;
	const current: Process;
	export default current;
}
declare module "node:buffer" {
	export const Buffer: BufferConstructor;
	export const Blob: GlobalBlob;
	export const atob: typeof globalThis.atob;
	export const btoa: typeof globalThis.btoa;
	const buffer: typeof import("node:buffer");
	export default buffer;
}

// ---- the other names of the same modules ----

declare module "node:path/posix" {
	export * from "node:path";
	export { default } from "node:path";
}
declare module "node:assert/strict" {
	export * from "node:assert";
	export { default } from "node:assert";
}
declare module "path" {
	export * from "node:path";
	export { default } from "node:path";
}
declare module "fs" {
	export * from "node:fs";
	export { default } from "node:fs";
}
declare module "fs/promises" {
	export * from "node:fs/promises";
	export { default } from "node:fs/promises";
}
declare module "os" {
	export * from "node:os";
	export { default } from "node:os";
}
declare module "child_process" {
	export * from "node:child_process";
	export { default } from "node:child_process";
}
declare module "crypto" {
	export * from "node:crypto";
	export { default } from "node:crypto";
}
declare module "events" {
	export * from "node:events";
	export { default } from "node:events";
}
declare module "util" {
	export * from "node:util";
	export { default } from "node:util";
}
declare module "url" {
	export * from "node:url";
	export { default } from "node:url";
}
declare module "timers/promises" {
	export * from "node:timers/promises";
	export { default } from "node:timers/promises";
}
declare module "timers" {
	export * from "node:timers";
	export { default } from "node:timers";
}
declare module "perf_hooks" {
	export * from "node:perf_hooks";
	export { default } from "node:perf_hooks";
}
declare module "assert" {
	export * from "node:assert";
	export { default } from "node:assert";
}
declare module "process" {
	export * from "node:process";
	export { default } from "node:process";
}
declare module "buffer" {
	export * from "node:buffer";
	export { default } from "node:buffer";
}
declare module "path/posix" {
	export * from "node:path/posix";
	export { default } from "node:path/posix";
}
declare module "assert/strict" {
	export * from "node:assert/strict";
	export { default } from "node:assert/strict";
}
