// The bridge between a module's world and the host, and the globals every module has.
//
// Evaluated once per runtime, before any code of the module, as a function of `native`, the functions that the host
// gives. What is needed later is taken from the built-ins here, so that a module which replaces them harms nobody
// but itself. Loops go by index for the same reason: an iterator can be replaced.
(function (native) {
	const { parse, stringify } = JSON;
	const { create, defineProperty, freeze, keys, setPrototypeOf } = Object;
	const { Promise, Error, TypeError, RangeError, String, Number, Array, Symbol } = globalThis;
	const InternalError = globalThis.InternalError;
	const isArray = Array.isArray;
	const slice = Function.prototype.call.bind(String.prototype.slice);
	const hasOwn = Object.hasOwn;

	// ---- errors ----

	// The beginning of a text that somebody has to read, with a mark where it was cut.
	function readable(text) {
		return text.length > 10000 ? `${slice(text, 0, 10000)} […]` : text;
	}

	// What went wrong in words, with the stack, whatever was thrown.
	function describe(thrown) {
		try {
			if (thrown instanceof Error) {
				const message = String(thrown.message);
				const kind =
					thrown instanceof InternalError && (message === "out of memory" || message === "string too long")
						? "memory"
						: message === "Maximum call stack size exceeded" || message === "stack overflow"
							? "stack"
							: "error";
				return { __proto__: null, message: readable(message), kind, stack: readable(String(thrown.stack ?? "")) };
			}
			// When there is no memory left even for an error, the engine throws null.
			if (thrown === null) return { __proto__: null, message: "out of memory", kind: "memory", stack: "" };
			return { __proto__: null, message: readable(String(thrown)), kind: "value", stack: "" };
		} catch {
			return { __proto__: null, message: "something that cannot be shown was thrown", kind: "value", stack: "" };
		}
	}

	function hostError(about) {
		const error = new (about.name === "TypeError" ? TypeError : Error)(about.message);
		if (about.code !== undefined) error.code = about.code;
		if (about.errno !== undefined) error.errno = about.errno;
		if (about.syscall !== undefined) error.syscall = about.syscall;
		if (about.path !== undefined) error.path = about.path;
		return error;
	}

	// ---- host operations: an answer is [0, value] or [1, error] ----

	const waiting = create(null);

	// A list as JSON, whatever its prototype has become.
	function encode(list) {
		return stringify(setPrototypeOf(list, null));
	}

	function sync(name, ...args) {
		const answer = parse(native.sync(name, encode(args)));
		if (answer[0] === 1) throw hostError(answer[1]);
		return answer[1] ?? undefined;
	}

	// Begins something that takes time; `begun` hears its number, which can be cancelled.
	function begin(call, name, args, begun) {
		return new Promise((resolve, reject) => {
			const id = native.start(call, name, encode(args));
			waiting[id] = [resolve, reject];
			if (begun) begun(id);
		});
	}

	const start = (name, ...args) => begin(0, name, args);

	function settle(id, text) {
		const entry = waiting[id];
		if (entry === undefined) return;
		delete waiting[id];
		const answer = parse(text);
		if (answer[0] === 1) entry[1](hostError(answer[1]));
		else entry[0](answer[1] ?? undefined);
	}

	// Something that modules know from elsewhere and that does not exist here says so by name.
	function missing(name, how) {
		// A class may be derived from it, and fails when it is used.
		return function () {
			throw new Error(`${name} is not available to module hooks${how ? `: ${how}` : ""}`);
		};
	}

	// An object whose unknown members say so by name instead of being undefined.
	function named(name, members) {
		return new Proxy(members, {
			get(target, key, self) {
				if (typeof key === "symbol" || key in target || key === "then" || key === "default" || key === "__esModule" || key === "toJSON") {
					return Reflect.get(target, key, self);
				}
				throw new Error(`${name}.${key} is not available to module hooks; docs/modules.md lists what there is`);
			},
		});
	}

	function define(name, value) {
		defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
	}

	// Globals that most modules never touch are made when they are first touched.
	const made = create(null);

	function part(script) {
		made[script] ??= native.script(script)(bridge);
		return made[script];
	}

	function lazily(script, names) {
		for (let at = 0; at < names.length; at++) {
			const name = names[at];
			defineProperty(globalThis, name, {
				configurable: true,
				enumerable: false,
				get() {
					const value = part(script)[name];
					define(name, value);
					return value;
				},
				set(value) {
					define(name, value);
				},
			});
		}
	}

	// ---- console ----

	function shown(value, depth) {
		if (typeof value === "string") return depth > 0 ? stringify(value) : value;
		if (typeof value === "bigint") return `${value}n`;
		if (typeof value === "function") return `[Function: ${value.name || "(anonymous)"}]`;
		if (typeof value !== "object" || value === null) return String(value);
		if (value instanceof Error) return value.stack ? `${value.name}: ${value.message}\n${value.stack}`.trimEnd() : String(value);
		if (depth > 3) return isArray(value) ? "[Array]" : "[Object]";
		if (value instanceof Map) return `Map(${value.size}) ${shown(Object.fromEntries(value), depth)}`;
		if (value instanceof Set) return `Set(${value.size}) ${shown([...value], depth)}`;
		if (value instanceof Date) return value.toISOString();
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
	define("console", {
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
			times[label] = Date.now();
		},
		timeEnd(label = "default") {
			if (times[label] !== undefined) native.write(1, `${label}: ${Date.now() - times[label]}ms\n`);
			delete times[label];
		},
	});

	// ---- numbers: the engine has no locales, and this is how most people expect them to be written ----

	const toFixed = Number.prototype.toFixed;
	defineProperty(Number.prototype, "toLocaleString", {
		writable: true,
		configurable: true,
		value: function toLocaleString(_locale, options) {
			const number = Number(this);
			if (!Number.isFinite(number)) return String(number).replace("Infinity", "∞");
			const least = options?.minimumFractionDigits ?? 0;
			const most = options?.maximumFractionDigits ?? Math.max(3, least);
			let [whole, rest = ""] = toFixed.call(number, most).split(".");
			while (rest.length > least && rest.endsWith("0")) rest = rest.slice(0, -1);
			const grouped = options?.useGrouping === false ? whole : whole.replace(/\B(?=(\d{3})+$)/g, ",");
			return rest ? `${grouped}.${rest}` : grouped;
		},
	});

	// ---- timers ----

	const timers = create(null);

	class Timeout {
		constructor(id) {
			this.id = id;
		}
		ref() {
			return this;
		}
		unref() {
			return this;
		}
		hasRef() {
			return true;
		}
		refresh() {
			return this;
		}
		[Symbol.toPrimitive]() {
			return this.id;
		}
	}

	function timer(callback, delay, args, repeats) {
		if (typeof callback !== "function") throw new TypeError("The timer's callback must be a function");
		const wait = Number(delay);
		const every = wait >= 1 && wait <= 2147483647 ? wait : 1;
		const id = native.timer(every);
		timers[id] = { callback, args, every: repeats ? every : 0 };
		return new Timeout(id);
	}

	function clear(timeout) {
		const id = typeof timeout === "object" && timeout !== null ? timeout.id : Number(timeout);
		if (timers[id] !== undefined) {
			delete timers[id];
			native.clear(id);
		}
	}

	function fire(id) {
		const entry = timers[id];
		if (entry === undefined) return;
		if (entry.every > 0) native.again(id, entry.every);
		else delete timers[id];
		entry.callback(...entry.args);
	}

	define("setTimeout", (callback, delay, ...args) => timer(callback, delay, args, false));
	define("setInterval", (callback, delay, ...args) => timer(callback, delay, args, true));
	define("setImmediate", (callback, ...args) => timer(callback, 0, args, false));
	define("clearTimeout", clear);
	define("clearInterval", clear);
	define("clearImmediate", clear);
	define("queueMicrotask", (callback) => {
		(async () => {
			await undefined;
			callback();
		})();
	});

	const began = Date.now();
	define("performance", { now: () => Date.now() - began, timeOrigin: began });
	define("global", globalThis);
	define("self", globalThis);

	// ---- watchers: callbacks that the host calls when a file changed ----

	const watchers = create(null);

	function changed(id, kind, name) {
		const callback = watchers[id];
		if (callback) callback(kind, name);
	}

	// What the prelude tells the host about a call: a result, which may be absent, and failures.
	function tell(call, result, failures) {
		let json;
		try {
			json = stringify(result);
			if (json !== undefined && json.length > native.longest) {
				json = undefined;
				failures[failures.length] = { __proto__: null, message: "its result is too long", kind: "result", stack: "" };
			}
		} catch (error) {
			failures[failures.length] = describe(error);
		}
		native.finished(call, json, failures.length === 0 ? undefined : encode(failures));
	}

	const bridge = { native, sync, start, begin, missing, named, define, part, watchers, describe, shown, line, tell };
	defineProperty(globalThis, "__hookrail", { value: freeze(bridge) });

	lazily("web.js", [
		"URL", "URLSearchParams", "TextEncoder", "TextDecoder", "structuredClone", "atob", "btoa", "crypto", "Intl", "WebSocket", "XMLHttpRequest", "Worker",
	]);
	lazily("abort.js", ["AbortController", "AbortSignal", "Event", "EventTarget", "DOMException", "CustomEvent"]);
	lazily("node.js", ["process", "Buffer"]);
	lazily("bun.js", ["Bun"]);
	lazily("fetch.js", ["fetch", "Headers", "Request", "Response"]);

	const api = native.script("api.js")(bridge);
	// Loads the module. The host hears of the end as that of call zero.
	async function open(path) {
		let namespace;
		try {
			namespace = await import(path);
		} catch (error) {
			return tell(0, undefined, [describe(error)]);
		}
		await api.load(namespace);
	}
	return { open, settle, fire, changed, ...api };
});
