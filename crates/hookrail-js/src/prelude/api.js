// `pi`: what a module's factory is given, and what it registers. How the handlers are called is in events.js.
0, function (bridge) {
	const { native, builtins, sync, text, missing, missingDeep, named, part, describe, tell } = bridge;
	const { parse, stringify, create, defineProperty, isArray, setPrototypeOf, apply, Error, TypeError } = builtins;

	const handlers = create(null); // event -> functions, in the order of their registration
	const wanted = create(null); // the events that the module has to be asked in
	const events = []; // the same, in the order of their first handler
	const commands = create(null);
	const commandNames = [];
	const renderers = create(null);
	const rendererNames = [];
	const mistakes = []; // registrations that cannot be called
	let ready = false; // whether the factory is over

	function during(name) {
		if (!ready) throw new Error(`${name} handler not initialized`);
	}

	// A name that need not be a text.
	function nameOf(value) {
		try {
			return text(value);
		} catch {
			return "something that has no name";
		}
	}

	// A value in the words of an error message.
	const shown = (value) => (typeof value === "string" ? `"${value}"` : typeof value === "object" && value !== null ? `an instance of ${isArray(value) ? "Array" : "Object"}` : nameOf(value));

	// A registration that cannot be called costs itself and not the module.
	function report(kind, name, value) {
		const given = shown(value);
		mistakes[mistakes.length] = { __proto__: null, kind, name, given };
		if (ready) sync("host", "log", { level: "warning", message: `the ${kind} for "${name}" is ${given}, which is not a function` });
	}

	function addHandler(name, handler) {
		(handlers[name] ??= [])[handlers[name].length] = handler;
	}

	// A handler that is no function fails when it is called, as it would anywhere.
	function addMistake(name, value) {
		report("handler", name, value);
		const message = `handler is not a function. (In 'handler(event, ctx)', 'handler' is ${shown(value)})`;
		addHandler(name, () => {
			throw new TypeError(message);
		});
		// A guard must not be lost, so it is asked and blocks.
		return parse(native.rules)[name]?.combine === "block";
	}

	const pi = {
		on(event, handler) {
			const name = nameOf(event);
			const counts = typeof handler === "function" ? (addHandler(name, handler), true) : addMistake(name, handler);
			if (!counts) return;
			if (ready) sync("host", "late", { event: name });
			if (wanted[name]) return;
			wanted[name] = true;
			events[events.length] = name;
		},
		sendMessage(message, options) {
			during("sendMessage");
			part("actions.js").sendMessage(message, options);
		},
		appendEntry(customType, data) {
			during("appendEntry");
			part("actions.js").appendEntry(customType, data);
		},
		registerCommand(name, options) {
			const command = { __proto__: null, name: nameOf(name), ...options };
			command.name = nameOf(command.name);
			if (typeof command.handler !== "function") return report("command", command.name, command.handler);
			if (commands[command.name] === undefined) commandNames[commandNames.length] = command.name;
			commands[command.name] = command;
		},
		registerMessageRenderer(customType, renderer) {
			const name = nameOf(customType);
			if (typeof renderer !== "function") return report("renderer", name, renderer);
			if (renderers[name] === undefined) rendererNames[rendererNames.length] = name;
			renderers[name] = renderer;
		},
		exec(command, args, options) {
			return part("actions.js").exec(command, args, options);
		},
	};

	const logged = (level) => (message, details) => part("actions.js").log(level, message, details);
	pi.logger = { error: logged("error"), warn: logged("warning"), info: logged("info"), debug: logged("debug") };
	const getter = (name, get) => defineProperty(pi, name, { get, enumerable: true, configurable: true });
	getter("typebox", () => part("typebox.js"));
	getter("pi", () => named("pi.pi", part("agent_parts.js")));
	pi.zod = missingDeep("pi.zod", "bundle zod into the module");
	pi.arktype = missingDeep("pi.arktype", "bundle arktype into the module");
	pi.send = missing("pi.send", "use pi.sendMessage");

	// ---- the agent's extension API, which came after hooks and is not here ----

	// A module that only sets itself up with it keeps what it registered, guards above all, and a warning names the call.
	// Where a handler relies on it, it fails by name.
	const extension = "it belongs to the agent's extension API, which hookrail does not have";
	const unsupported = [];
	function tolerate(name, how, value) {
		if (ready) return missing(name, how)();
		for (let at = 0; at < unsupported.length; at++) if (unsupported[at] === name) return value;
		unsupported[unsupported.length] = name;
		return value;
	}
	const actions = [
		"registerTool", "registerFlag", "getFlag", "registerShortcut", "registerProvider", "setLabel", "sendUserMessage", "setActiveTools",
		"setModel", "getThinkingLevel", "setThinkingLevel", "getSessionName", "setSessionName",
	];
	for (let at = 0; at < actions.length; at++) pi[actions[at]] = () => tolerate(`pi.${actions[at]}`, extension, undefined);
	const lists = ["getActiveTools", "getAllTools", "getCommands"];
	for (let at = 0; at < lists.length; at++) pi[lists[at]] = () => tolerate(`pi.${lists[at]}`, extension, []);
	const silent = (value) => () => tolerate("pi.events", "modules share nothing here; tell another one by a file or by pi.sendMessage", value);
	pi.events = { on: silent(() => {}), off: silent(), emit: silent() };

	// ---- loading ----

	async function load(namespace) {
		const factory = namespace.default;
		if (typeof factory !== "function") {
			return tell(0, undefined, [{ __proto__: null, message: "Hook must export a default function", kind: "shape", stack: "" }]);
		}
		try {
			await factory(pi);
		} catch (error) {
			return tell(0, undefined, [describe(error)]);
		}
		ready = true;
		tell(0, registered(namespace.enforce, namespace.if), []);
	}

	// A copy without a prototype, which nothing a module did can show through.
	const bare = (values) => {
		const copy = [];
		for (let at = 0; at < values.length; at++) copy[at] = values[at];
		return setPrototypeOf(copy, null);
	};

	function registered(enforce, condition) {
		const offers = [];
		for (let at = 0; at < commandNames.length; at++) {
			const { name, description } = commands[commandNames[at]];
			offers[at] = { __proto__: null, name, description: description === undefined ? null : text(description) };
		}
		return { __proto__: null, events: bare(events), commands: bare(offers), renderers: bare(rendererNames), unsupported: bare(unsupported), mistakes: bare(mistakes), enforce: enforcement(enforce), condition: conditionText(condition) };
	}

	// What a module exports as `enforce`, in the words of the engine.
	const enforcement = (enforce) => (enforce === undefined || enforce === true ? "enforced" : enforce === false ? "shadow" : "not-boolean");

	// What a module exports as `if`, as JSON. What cannot be written so is an empty text, which is no condition.
	function conditionText(condition) {
		if (condition === undefined) return null;
		try {
			return stringify(condition) ?? "";
		} catch {
			return "";
		}
	}

	// ---- calls ----

	let calls;
	const inCalls = () => (calls ??= native.script("events.js")(bridge, { __proto__: null, handlers, commands, renderers }));
	const later = (name) => (...args) => apply(inCalls()[name], undefined, args);

	// An event is what modules are asked most often, so its way is the shortest.
	let dispatching;
	function dispatch(call, event, json) {
		(dispatching ??= inCalls().dispatch)(call, event, json);
	}

	return { load, dispatch, command: later("command"), render: later("render"), draw: later("draw"), key: later("key"), abandon: later("abandon") };
};
