// node:util: the few that hooks use.
const { named, shown, line } = globalThis.__hookrail;
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
export const isDeepStrictEqual = (a, b) => inspect(a) === inspect(b);
export const stripVTControlCharacters = (text) => text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");
export const TextEncoder = globalThis.TextEncoder;
export const TextDecoder = globalThis.TextDecoder;
export default named("node:util", { promisify, inspect, format, isDeepStrictEqual, stripVTControlCharacters, TextEncoder, TextDecoder });
