// CommonJS: `require`, and the modules that it loads. Which file is meant, and whether it may be loaded, the host decides as
// it does for imports.
0, function ({ native, builtins, text }) {
	const { create, apply, slice } = builtins;

	const known = create(null); // name -> module
	const folderOf = (path) => slice(path, 0, path.lastIndexOf("/")) || "/";

	function requireFrom(base) {
		const resolve = (specifier) => {
			try {
				return native.resolve(base, text(specifier));
			} catch (error) {
				error.code ??= "MODULE_NOT_FOUND";
				throw error;
			}
		};
		const require = (specifier) => load(resolve(specifier)).exports;
		require.resolve = resolve;
		require.cache = known;
		return require;
	}

	// A file that is being loaded is given as far as it is, so that two files can require each other.
	function load(name) {
		if (known[name] !== undefined) return known[name];
		const module = { exports: {}, id: name, filename: name, path: folderOf(name), loaded: false, children: [], paths: [], require: requireFrom(name) };
		known[name] = module;
		try {
			const code = native.required(name);
			const isOwn = name[0] === "/" && !name.endsWith(".json");
			if (typeof code === "function") apply(code, module.exports, [module.exports, module.require, module, name, module.path]);
			else module.exports = isOwn ? code : (code.default ?? code);
		} catch (error) {
			delete known[name];
			throw error;
		}
		module.loaded = true;
		return module;
	}

	// What an import of a CommonJS file gives as its default.
	function exported(name) {
		const { exports } = load(name);
		return { all: exports, default: exports?.__esModule && "default" in exports ? exports.default : exports };
	}

	const scope = (path) => ({ require: requireFrom(path), __filename: path, __dirname: folderOf(path) });
	return { exported, scope, requireFrom };
};
