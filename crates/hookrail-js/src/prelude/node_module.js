// node:module: `require` for ES modules.
const { named, part } = globalThis.__hookrail;
const pathOf = (place) => {
	const text = String(place);
	return text.startsWith("file://") ? decodeURIComponent(text.slice(7)) : text;
};
export const createRequire = (place) => part("commonjs.js").requireFrom(pathOf(place));
export default named("node:module", { createRequire });
