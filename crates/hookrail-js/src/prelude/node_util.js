// node:util: the few that hooks use.
const { named, part } = globalThis.__hookrail;
const { shown, line } = part("console.js");
const custom = Symbol.for("nodejs.util.promisify.custom");
export const promisify = Object.assign(
	(work) => work[custom] ?? ((...args) => new Promise((resolve, reject) => work(...args, (error, value) => (error ? reject(error) : resolve(value))))),
	{ custom },
);
export const inspect = (value) => shown(value, 1);
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
export const TextEncoder = globalThis.TextEncoder;
export const TextDecoder = globalThis.TextDecoder;
export default named("node:util", { promisify, inspect, format, isDeepStrictEqual, stripVTControlCharacters, TextEncoder, TextDecoder });
