// node:path, in its POSIX form.
function normalizeParts(parts, absolute) {
	const out = [];
	for (const part of parts) {
		if (part === "" || part === ".") continue;
		if (part === "..") {
			if (out.length && out.at(-1) !== "..") out.pop();
			else if (!absolute) out.push("..");
		} else out.push(part);
	}
	return out;
}
export const sep = "/";
export const delimiter = ":";
export function isAbsolute(path) {
	return String(path).startsWith("/");
}
export function normalize(path) {
	const absolute = isAbsolute(path);
	const text = normalizeParts(path.split("/"), absolute).join("/");
	const slash = path.endsWith("/") && text ? "/" : "";
	return (absolute ? "/" : "") + text + slash || ".";
}
export function join(...parts) {
	const text = parts.filter((part) => part !== "").join("/");
	return text ? normalize(text) : ".";
}
export function resolve(...parts) {
	let path = "";
	for (const part of [...parts].reverse()) {
		if (!part) continue;
		path = path ? `${part}/${path}` : String(part);
		if (isAbsolute(path)) break;
	}
	if (!isAbsolute(path)) path = `${globalThis.__hookrail.sync("process", "cwd", {})}/${path}`;
	return `/${normalizeParts(path.split("/"), true).join("/")}`;
}
export function dirname(path) {
	const trimmed = path.replace(/\/+$/, "");
	const at = trimmed.lastIndexOf("/");
	if (at < 0) return path.startsWith("/") ? "/" : ".";
	return trimmed.slice(0, at).replace(/\/+$/, "") || "/";
}
export function basename(path, suffix = "") {
	const name = path.replace(/\/+$/, "").split("/").at(-1) ?? "";
	return suffix && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}
export function extname(path) {
	const name = basename(path);
	const at = name.lastIndexOf(".");
	return at > 0 ? name.slice(at) : "";
}
export function relative(from, to) {
	const [a, b] = [resolve(from).split("/").filter(Boolean), resolve(to).split("/").filter(Boolean)];
	let same = 0;
	while (same < a.length && same < b.length && a[same] === b[same]) same++;
	return [...a.slice(same).map(() => ".."), ...b.slice(same)].join("/");
}
export function parse(path) {
	const base = basename(path);
	const ext = extname(path);
	const root = isAbsolute(path) ? "/" : "";
	const dir = path.includes("/") ? dirname(path) : "";
	return { root, dir, base, ext, name: ext ? base.slice(0, -ext.length) : base };
}
export function format({ dir, root, base, name, ext }) {
	const file = base ?? `${name ?? ""}${ext ?? ""}`;
	const folder = dir ?? root ?? "";
	return folder ? (folder.endsWith("/") ? folder + file : `${folder}/${file}`) : file;
}
export const toNamespacedPath = (path) => path;
const path = globalThis.__hookrail.named("node:path", { sep, delimiter, isAbsolute, normalize, join, resolve, dirname, basename, extname, relative, parse, format, toNamespacedPath });
export { path as posix };
path.posix = path;
export default path;
