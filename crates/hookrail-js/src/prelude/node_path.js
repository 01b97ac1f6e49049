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

// ---- the paths of Windows, for hooks that judge them ----

const slashes = (path) => String(path).replaceAll("/", "\\");
// The drive or the share of a path, and whether it begins at its root.
function rootOf(path) {
	const text = slashes(path);
	const device = /^(\\\\[^\\]+\\[^\\]+|[A-Za-z]:)/.exec(text)?.[0] ?? "";
	const rest = text.slice(device.length);
	return { device, rooted: rest.startsWith("\\") || device.startsWith("\\\\"), rest };
}
const windows = {
	sep: "\\",
	delimiter: ";",
	isAbsolute: (path) => rootOf(path).rooted,
	normalize(path) {
		const { device, rooted, rest } = rootOf(path);
		const text = normalizeParts(rest.split("\\"), rooted).join("\\");
		const slash = rest.endsWith("\\") && text ? "\\" : "";
		return device + (rooted ? "\\" : "") + text + slash || ".";
	},
	join(...parts) {
		const text = parts.filter((part) => part !== "").join("\\");
		return text ? windows.normalize(text) : ".";
	},
	resolve(...parts) {
		let [device, rest] = ["", ""];
		for (const part of [...parts].reverse()) {
			if (!part) continue;
			const root = rootOf(part);
			if (device && root.device && root.device.toLowerCase() !== device.toLowerCase()) continue;
			device ||= root.device;
			if (!rest.startsWith("\\")) rest = rest ? `${root.rest}\\${rest}` : root.rest;
			if (device && rest.startsWith("\\")) break;
		}
		return `${device}\\${normalizeParts(rest.split("\\"), true).join("\\")}`;
	},
	dirname(path) {
		const { device, rooted, rest } = rootOf(path);
		const trimmed = rest.replace(/\\+$/, "");
		const at = trimmed.lastIndexOf("\\");
		return device + (at > 0 ? trimmed.slice(0, at).replace(/\\+$/, "") : rooted ? "\\" : "") || ".";
	},
	basename: (path, suffix = "") => basename(rootOf(path).rest.replaceAll("\\", "/"), suffix),
	extname: (path) => extname(rootOf(path).rest.replaceAll("\\", "/")),
	relative(from, to) {
		const [a, b] = [from, to].map((path) => windows.resolve(path).split("\\").filter(Boolean));
		let same = 0;
		while (same < a.length && same < b.length && a[same].toLowerCase() === b[same].toLowerCase()) same++;
		if (same === 0) return windows.resolve(to);
		return [...a.slice(same).map(() => ".."), ...b.slice(same)].join("\\");
	},
	parse(path) {
		const { device, rooted } = rootOf(path);
		const [base, ext] = [windows.basename(path), windows.extname(path)];
		const dir = /[\\/]/.test(path) ? windows.dirname(path) : device;
		return { root: device + (rooted ? "\\" : ""), dir, base, ext, name: ext ? base.slice(0, -ext.length) : base };
	},
	format({ dir, root, base, name, ext }) {
		const file = base ?? `${name ?? ""}${ext ?? ""}`;
		const folder = dir ?? root ?? "";
		return folder ? (folder.endsWith("\\") ? folder + file : `${folder}\\${file}`) : file;
	},
	toNamespacedPath: (path) => path,
};
export const win32 = globalThis.__hookrail.named("node:path.win32", windows);
export { path as posix };
path.posix = windows.posix = path;
path.win32 = windows.win32 = win32;
export default path;
