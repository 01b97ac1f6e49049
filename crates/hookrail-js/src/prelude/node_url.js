// node:url.
const { URL, URLSearchParams } = globalThis;
export { URL, URLSearchParams };
export const fileURLToPath = (url) => {
	const parsed = url instanceof URL ? url : new URL(url);
	if (parsed.protocol !== "file:") throw Object.assign(new TypeError("The URL must be of scheme file"), { code: "ERR_INVALID_URL_SCHEME" });
	return decodeURIComponent(parsed.pathname);
};
export const pathToFileURL = (path) => new URL(`file://${path.split("/").map(encodeURIComponent).join("/")}`);
export default globalThis.__hookrail.named("node:url", { URL, URLSearchParams, fileURLToPath, pathToFileURL });
