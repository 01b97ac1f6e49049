// node:util: the few that hooks use.
const { named, part } = globalThis.__hookrail;
const { shown, line } = part("console.js");
const custom = Symbol.for("nodejs.util.promisify.custom");
export const promisify = Object.assign(
	(work) => work[custom] ?? ((...args) => new Promise((resolve, reject) => work(...args, (error, value) => (error ? reject(error) : resolve(value))))),
	{ custom },
);
// A text stands in single quotes, as Node writes it.
export const inspect = (value) => (typeof value === "string" ? `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'` : shown(value, 1));
export const format = (first, ...rest) => {
	if (typeof first !== "string") return line([first, ...rest]);
	const text = first.replace(/%[sdifjoO%]/g, (mark) => (mark === "%%" ? "%" : rest.length ? (mark === "%j" ? JSON.stringify(rest.shift()) : shown(rest.shift(), mark === "%s" ? 0 : 1)) : mark));
	return rest.length ? `${text} ${line(rest)}` : text;
};
export function isDeepStrictEqual(a, b, seen = []) {
	if (Object.is(a, b)) return true;
	if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
	if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
	// Two that are being compared already are as equal as the rest of them.
	if (seen.some(([one, other]) => one === a && other === b)) return true;
	const pairs = [...seen, [a, b]];
	const same = (one, other) => isDeepStrictEqual(one, other, pairs);
	if (a instanceof Date) return a.getTime() === b.getTime();
	if (a instanceof RegExp) return String(a) === String(b);
	if (a instanceof Error && (a.name !== b.name || a.message !== b.message)) return false;
	if (a instanceof Map) return a.size === b.size && [...a].every(([key, value]) => b.has(key) && same(value, b.get(key)));
	if (a instanceof Set) return a.size === b.size && [...a].every((value) => b.has(value) || [...b].some((other) => same(value, other)));
	const [mine, theirs] = [Object.keys(a), Object.keys(b)];
	return mine.length === theirs.length && mine.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}
export const stripVTControlCharacters = (text) => text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");
export const callbackify = (work) => (...args) => {
	const done = args.pop();
	work(...args).then((value) => done(null, value), (error) => done(error));
};
export const inherits = (made, from) => void Object.setPrototypeOf(made.prototype, from.prototype);
export const deprecate = (work) => work;
export const debuglog = () => Object.assign(() => {}, { enabled: false });
export const toUSVString = (text) => String(text).toWellFormed();

// The words of a command line, as Node's function of that name reads them.
export function parseArgs({ args = [], options = {}, strict = true, allowPositionals = !strict } = {}) {
	const values = Object.create(null);
	const positionals = [];
	for (const [name, about] of Object.entries(options)) if (about.default !== undefined) values[name] = about.default;
	const given = new Set();
	const refuse = (message, code) => {
		throw Object.assign(new TypeError(message), { code });
	};
	const set = (name, value, shownAs) => {
		const about = options[name];
		if (strict && !about) refuse(`Unknown option '${shownAs}'`, "ERR_PARSE_ARGS_UNKNOWN_OPTION");
		if (strict && about.type === "string" && value === undefined) refuse(`Option '${shownAs} <value>' argument missing`, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE");
		if (strict && about.type === "boolean" && value !== undefined) refuse(`Option '${shownAs}' does not take an argument`, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE");
		const read = value ?? true;
		values[name] = about?.multiple ? [...(given.has(name) ? values[name] : []), read] : read;
		given.add(name);
	};
	const words = [...args];
	while (words.length) {
		const word = words.shift();
		if (word === "--") {
			positionals.push(...words.splice(0));
		} else if (word.startsWith("--")) {
			const at = word.indexOf("=");
			const name = at < 0 ? word.slice(2) : word.slice(2, at);
			const value = at >= 0 ? word.slice(at + 1) : options[name]?.type === "string" && words.length && !words[0].startsWith("-") ? words.shift() : undefined;
			set(name, value, `--${name}`);
		} else if (word.startsWith("-") && word.length > 1) {
			for (let at = 1; at < word.length; at++) {
				const name = Object.keys(options).find((known) => options[known].short === word[at]) ?? word[at];
				const takes = options[name]?.type === "string";
				const value = takes ? word.slice(at + 1) || (words.length && !words[0].startsWith("-") ? words.shift() : undefined) : undefined;
				set(name, value, `-${word[at]}`);
				if (takes) break;
			}
		} else {
			if (!allowPositionals) refuse(`Unexpected argument '${word}'. This command does not take positional arguments`, "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL");
			positionals.push(word);
		}
	}
	return { values, positionals };
}

const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);
const isOne = (made) => (value) => value instanceof made;
const typedArrays = ["Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"];
const checks = {
	isPromise: isOne(Promise), isRegExp: isOne(RegExp), isDate: isOne(Date), isMap: isOne(Map), isSet: isOne(Set), isWeakMap: isOne(WeakMap), isWeakSet: isOne(WeakSet),
	isNativeError: isOne(Error), isArrayBuffer: isOne(ArrayBuffer), isDataView: isOne(DataView), isArrayBufferView: (value) => ArrayBuffer.isView(value),
	isAnyArrayBuffer: (value) => ["ArrayBuffer", "SharedArrayBuffer"].includes(tagOf(value)), isSharedArrayBuffer: (value) => tagOf(value) === "SharedArrayBuffer",
	isTypedArray: (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
	isAsyncFunction: (value) => typeof value === "function" && tagOf(value).startsWith("Async"),
	isGeneratorFunction: (value) => typeof value === "function" && tagOf(value).endsWith("GeneratorFunction"),
	isGeneratorObject: (value) => tagOf(value) === "Generator", isArgumentsObject: (value) => tagOf(value) === "Arguments",
	isMapIterator: (value) => tagOf(value) === "Map Iterator", isSetIterator: (value) => tagOf(value) === "Set Iterator",
	isBoxedPrimitive: (value) => typeof value === "object" && ["Number", "String", "Boolean", "Symbol", "BigInt"].includes(tagOf(value)),
	isNumberObject: isOne(Number), isStringObject: isOne(String), isBooleanObject: isOne(Boolean), isModuleNamespaceObject: (value) => tagOf(value) === "Module",
};
for (const name of typedArrays) checks[`is${name}`] = (value) => tagOf(value) === name;
export const types = named("util.types", checks);
export const TextEncoder = globalThis.TextEncoder;
export const TextDecoder = globalThis.TextDecoder;
export default named("node:util", {
	promisify, callbackify, inspect, format, isDeepStrictEqual, stripVTControlCharacters, inherits, deprecate, debuglog, toUSVString, parseArgs, types, TextEncoder, TextDecoder,
});
