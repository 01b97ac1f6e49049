// node:crypto: hashes and random values.
const { sync, whole, named, part } = globalThis.__hookrail;
const { bytesOf, data } = part("node.js");
class Hash {
	#algorithm;
	#input = "";
	constructor(algorithm) {
		this.#algorithm = String(algorithm).toLowerCase().replace("-", "");
		sync("text", "hash", { algorithm: this.#algorithm, bytes: "" });
	}
	update(value, encoding) {
		this.#input += typeof value === "string" && encoding ? data(part("node.js").Buffer.from(value, encoding)) : data(value);
		return this;
	}
	copy() {
		const copy = new Hash(this.#algorithm);
		copy.#input = this.#input;
		return copy;
	}
	digest(encoding) {
		const digest = bytesOf(sync("text", "hash", { algorithm: this.#algorithm, bytes: this.#input }));
		return encoding && encoding !== "buffer" ? digest.toString(encoding) : digest;
	}
}
export const createHash = (algorithm) => new Hash(algorithm);
export const hash = (algorithm, value, encoding = "hex") => createHash(algorithm).update(value).digest(encoding);
export const randomUUID = () => sync("text", "uuid", {});
export const randomBytes = (count) => bytesOf(sync("text", "random", { count: whole(count) }));
export const randomInt = (low, high) => {
	const [from, to] = high === undefined ? [0, low] : [low, high];
	return from + Math.floor(Math.random() * (to - from));
};
export const getHashes = () => ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];
export const timingSafeEqual = (a, b) => a.length === b.length && a.reduce((all, byte, at) => all | (byte ^ b[at]), 0) === 0;
export const webcrypto = globalThis.crypto;
export default named("node:crypto", { createHash, hash, randomUUID, randomBytes, randomInt, getHashes, timingSafeEqual, webcrypto });
