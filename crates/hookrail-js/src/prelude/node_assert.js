// node:assert: what is claimed, or an error.
import { isDeepStrictEqual, inspect } from "node:util";
const { named } = globalThis.__hookrail;
export class AssertionError extends Error {
	constructor({ message, actual, expected }) {
		super(message);
		Object.assign(this, { name: "AssertionError", code: "ERR_ASSERTION", actual, expected });
	}
}
function claim(holds, message, otherwise, actual, expected) {
	if (holds) return;
	if (message instanceof Error) throw message;
	throw new AssertionError({ message: message ?? otherwise, actual, expected });
}
export const ok = (value, message) => claim(value, message, "The expression evaluated to a falsy value", value, true);
export const fail = (message = "Failed") => claim(false, message);
export const equal = (a, b, message) => claim(a == b, message, `${inspect(a)} == ${inspect(b)}`, a, b);
export const notEqual = (a, b, message) => claim(a != b, message, `${inspect(a)} != ${inspect(b)}`, a, b);
export const strictEqual = (a, b, message) => claim(Object.is(a, b), message, `${inspect(a)} === ${inspect(b)}`, a, b);
export const notStrictEqual = (a, b, message) => claim(!Object.is(a, b), message, `${inspect(a)} !== ${inspect(b)}`, a, b);
export const deepStrictEqual = (a, b, message) => claim(isDeepStrictEqual(a, b), message, `${inspect(a)} and ${inspect(b)} differ`, a, b);
export const deepEqual = deepStrictEqual;
export const match = (text, pattern, message) => claim(pattern.test(text), message, `${inspect(text)} does not match ${pattern}`, text, pattern);
export function throws(work, message) {
	let threw = false;
	try {
		work();
	} catch {
		threw = true;
	}
	claim(threw, typeof message === "string" ? message : undefined, "Missing expected exception");
}
const assert = Object.assign((value, message) => ok(value, message), { ok, fail, equal, notEqual, strictEqual, notStrictEqual, deepEqual, deepStrictEqual, match, throws, AssertionError });
assert.strict = assert;
export default named("node:assert", assert);
