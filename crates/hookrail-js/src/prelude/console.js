// The console, and values as text for people.
0, function ({ native, builtins }) {
	const { stringify, create, keys, fromEntries, isArray, now, Error, String, Map, Set, Date, RegExp, toISOString } = builtins;

	function shown(value, depth) {
		if (typeof value === "string") return depth > 0 ? stringify(value) : value;
		if (typeof value === "bigint") return `${value}n`;
		if (typeof value === "function") return `[Function: ${value.name || "(anonymous)"}]`;
		if (typeof value !== "object" || value === null) return String(value);
		if (value instanceof Error) return value.stack ? `${value.name}: ${value.message}\n${value.stack}`.trimEnd() : String(value);
		if (depth > 3) return isArray(value) ? "[Array]" : "[Object]";
		if (value instanceof Map) return `Map(${value.size}) ${shown(fromEntries(value), depth)}`;
		if (value instanceof Set) return `Set(${value.size}) ${shown([...value], depth)}`;
		if (value instanceof Date) return toISOString(value);
		if (value instanceof RegExp) return String(value);
		if (isArray(value)) {
			let text = "";
			for (let at = 0; at < value.length && at < 100; at++) text += (at ? ", " : "") + shown(value[at], depth + 1);
			return `[ ${text} ]`;
		}
		const names = keys(value);
		let text = "";
		for (let at = 0; at < names.length && at < 100; at++) text += `${at ? ", " : ""}${names[at]}: ${shown(value[names[at]], depth + 1)}`;
		return text ? `{ ${text} }` : "{}";
	}

	function line(values) {
		let text = "";
		for (let at = 0; at < values.length; at++) text += (at ? " " : "") + shown(values[at], 0);
		return text;
	}

	const print = (stream) => (...values) => native.write(stream, line(values) + "\n");
	const counts = create(null);
	const times = create(null);
	const console = {
		log: print(1),
		info: print(1),
		debug: print(1),
		dir: print(1),
		table: print(1),
		error: print(2),
		warn: print(2),
		trace: print(2),
		group: print(1),
		groupEnd() {},
		assert(condition, ...values) {
			if (!condition) native.write(2, `Assertion failed${values.length ? ": " + line(values) : ""}\n`);
		},
		count(label = "default") {
			counts[label] = (counts[label] ?? 0) + 1;
			native.write(1, `${label}: ${counts[label]}\n`);
		},
		time(label = "default") {
			times[label] = now();
		},
		timeEnd(label = "default") {
			if (times[label] !== undefined) native.write(1, `${label}: ${now() - times[label]}ms\n`);
			delete times[label];
		},
	};
	return { console, shown, line };
};
