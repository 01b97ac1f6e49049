// The bridge between a module's world and the host, and how the globals of that world come into being.
//
// Evaluated once per runtime, before any code of the module, as a function of `native`, the functions that the host
// gives. Compiling is most of what loading a module costs, so only what every module needs stands here and in api.js;
// everything else is a part, which is compiled when it is first touched. The module may have replaced built-ins by
// then, so what parts need is taken from the built-ins here, and a module that replaces them harms only itself.
// Loops go by index and descriptors have no prototype for the same reason.
//
// Every part begins with a comma and not with a parenthesis: the engine would read all of it twice to see whether that
// parenthesis is the head of an arrow function.
0, function (native) {
	const { parse, stringify } = JSON;
	const { create, defineProperty, freeze, fromEntries, keys, setPrototypeOf } = Object;
	const { Promise, Error, TypeError, InternalError, String, Number, Boolean, Symbol, Proxy, Map, Set, Date, RegExp, Uint8Array } = globalThis;
	const { apply, get: read, defineProperty: reflectDefine, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, has, isExtensible, ownKeys, preventExtensions, set } = Reflect;
	const { bind, call } = Function.prototype;
	// A method of a prototype as a function of its object.
	const free = bind.bind(call);
	const slice = free(String.prototype.slice);

	// ---- errors ----

	// The beginning of a text for people, with a mark where it was cut.
	function readable(text) {
		return text.length > 10000 ? `${slice(text, 0, 10000)} […]` : text;
	}

	// What went wrong in words, with the stack, whatever was thrown. It is here because memory may have run out.
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
		if (about.code !== null) error.code = about.code;
		if (about.syscall !== null) error.syscall = about.syscall;
		if (about.path !== null) error.path = about.path;
		return error;
	}

	// ---- host operations: an answer is [0, value] or [1, error] ----

	const waiting = create(null);

	// A list or an object as JSON, whatever its prototype has become.
	function encode(value) {
		return stringify(setPrototypeOf(value, null));
	}

	// An operation with its named fields, as the host reads it: an enum of groups, each an enum of operations.
	function operation(group, name, fields) {
		return `{"${group}":{"${name}":${encode(fields)}}}`;
	}

	function sync(group, name, fields) {
		const answer = parse(native.sync(operation(group, name, fields)));
		if (answer[0] === 1) throw hostError(answer[1]);
		return answer[1] ?? undefined;
	}

	// Begins something that takes time; `begun` hears its number, which can be cancelled.
	function begin(call, group, name, fields, begun) {
		let id;
		// This is not done inside of the promise, which would take an interruption for a rejection: a module that catches
		// those in a loop would never end.
		try {
			id = native.start(call, operation(group, name, fields));
		} catch (error) {
			return new Promise((_, reject) => reject(error));
		}
		if (id === 0) throw new Error("the module has to stop");
		return new Promise((resolve, reject) => {
			waiting[id] = [resolve, reject];
			if (begun) begun(id);
		});
	}

	function settle(id, text) {
		const entry = waiting[id];
		if (entry === undefined) return;
		delete waiting[id];
		const answer = parse(text);
		if (answer[0] === 1) entry[1](hostError(answer[1]));
		else entry[0](answer[1] ?? undefined);
	}

	const text = (value) => (typeof value === "string" ? value : String(value));

	// A number as the host takes it, from zero to 32 bits.
	const whole = (value) => (value > 0 ? value >>> 0 : 0);

	// ---- what is not here ----

	// Members that the engine, JSON and transpilers look for on any object, so reading them is no use of the object.
	const isProbe = (key) => typeof key === "symbol" || key === "then" || key === "default" || key === "__esModule" || key === "toJSON";

	// A function that modules know from elsewhere and that does not exist here: using it, or a member of it, throws an error
	// that names it. Deriving a class from it works, so that a module with an unused class can be loaded.
	function missing(name, how) {
		const refuse = (used) => {
			throw new Error(`${used} is not available to module hooks${how ? `: ${how}` : ""}`);
		};
		const get = (target, key, self) => (isProbe(key) || key in target ? read(target, key, self) : refuse(`${name}.${key}`));
		return new Proxy(function () { refuse(name); }, { __proto__: null, get });
	}

	// The same for something whose members modules take out before they use them: only a call throws.
	function missingDeep(name, how) {
		const get = (target, key, self) => (isProbe(key) || key in target ? read(target, key, self) : missingDeep(`${name}.${key}`, how));
		return new Proxy(function () { missing(name, how)(); }, { __proto__: null, get });
	}

	// An object whose unknown members throw an error that names them instead of being undefined.
	function named(name, members) {
		const get = (target, key, self) => {
			if (isProbe(key) || key in target) return read(target, key, self);
			throw new Error(`${name}.${key} is not available to module hooks; \`hookrail docs reference/modules\` lists what there is`);
		};
		return new Proxy(members, { __proto__: null, get });
	}

	// ---- parts and globals ----

	function define(name, value) {
		defineProperty(globalThis, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
	}

	const made = create(null);

	function part(script) {
		return (made[script] ??= native.script(script)(bridge));
	}

	// Globals are made when they are first touched.
	function lazily(script, names) {
		for (let at = 0; at < names.length; at++) {
			const name = names[at];
			defineProperty(globalThis, name, {
				__proto__: null,
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

	// The engine has no locales, and this is how most people expect numbers to be written.
	defineProperty(Number.prototype, "toLocaleString", {
		writable: true,
		configurable: true,
		value: function toLocaleString(_locale, options) {
			return part("numbers.js")(this, options);
		},
	});
	define("global", globalThis);
	define("self", globalThis);

	// ---- what the host calls ----

	// Callbacks for when a file has changed.
	const watchers = create(null);

	function changed(id, kind, name) {
		const callback = watchers[id];
		if (callback) callback(kind, name);
	}

	function fire(id) {
		part("timers.js").fire(id);
	}

	// What the prelude tells the host about a call: a result, which may be absent, failures, and the names of members of
	// results that mean nothing, if there are any.
	function tell(call, result, failures, remarks) {
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
		native.finished(call, json, failures.length === 0 ? undefined : encode(failures), remarks === undefined ? undefined : encode(remarks));
	}

	const { prototype } = String;
	const builtins = freeze({
		__proto__: null,
		parse, stringify, create, defineProperty, setPrototypeOf, objectPrototype: Object.prototype, fromEntries, keys, isArray: Array.isArray, apply, read, now: Date.now, began: Date.now(),
		Promise, Error, TypeError, String, Number, Boolean, Symbol, Proxy, Map, Set, Date, RegExp, Uint8Array, isFinite: Number.isFinite,
		slice, endsWith: free(prototype.endsWith), indexOf: free(prototype.indexOf), toFixed: free(Number.prototype.toFixed),
		toISOString: free(Date.prototype.toISOString), toPrimitive: Symbol.toPrimitive,
		// Everything that can be done to an object that is no function.
		reflect: freeze({
			__proto__: null,
			get: read, set, has, ownKeys, deleteProperty, getOwnPropertyDescriptor, defineProperty: reflectDefine, getPrototypeOf,
			setPrototypeOf: Reflect.setPrototypeOf, isExtensible, preventExtensions,
		}),
	});
	const bridge = freeze({ native, builtins, sync, begin, text, whole, isProbe, missing, missingDeep, named, part, watchers, describe, tell });
	defineProperty(globalThis, "__hookrail", { value: bridge });

	lazily("console.js", ["console"]);
	lazily("timers.js", [
		"setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate", "queueMicrotask", "performance",
	]);
	lazily("web.js", [
		"URL", "URLSearchParams", "TextEncoder", "TextDecoder", "structuredClone", "atob", "btoa", "crypto", "Intl", "Blob", "WebSocket", "XMLHttpRequest", "Worker",
	]);
	lazily("abort.js", ["AbortController", "AbortSignal", "Event", "EventTarget", "DOMException", "CustomEvent"]);
	lazily("node.js", ["process", "Buffer"]);
	lazily("bun.js", ["Bun"]);
	// What the transpiler makes of decorators calls these.
	lazily("decorators.js", ["babelHelpers"]);
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
};
