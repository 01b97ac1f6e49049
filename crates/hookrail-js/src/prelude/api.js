// `pi` and `ctx`: what a module's factory and its handlers are given, and how the handlers of one event are called and
// their results combined. Every payload is parsed anew for every handler, so no handler can change what another sees.
(function ({ sync, begin, missing, named, part, describe, tell }) {
	const { parse, stringify } = JSON;
	const { create, defineProperty, freeze, setPrototypeOf } = Object;
	const { Promise, Error, TypeError, String, Boolean } = globalThis;

	const handlers = create(null); // event -> functions, in the order of their registration
	const events = []; // the events, in the order of their first handler
	const commands = create(null);
	const commandNames = [];
	const renderers = create(null);
	const rendererNames = [];
	let ready = false; // whether the factory is over

	// ---- pi ----

	const text = (value) => (typeof value === "string" ? value : String(value));

	function plain(value, what) {
		try {
			const json = stringify(value);
			return json === undefined ? undefined : parse(json);
		} catch (error) {
			throw new TypeError(`${what} must be plain data: ${error.message}`);
		}
	}

	async function exec(command, args, options) {
		const { signal, timeout, cwd } = options ?? {};
		const list = [];
		for (let at = 0; at < (args?.length ?? 0); at++) list[at] = text(args[at]);
		const given = [text(command), list, { __proto__: null, timeout: timeout > 0 ? Number(timeout) : undefined, cwd: cwd === undefined ? undefined : text(cwd) }];
		let stop;
		const listen = (id) => {
			if (!signal) return;
			stop = () => sync("cancel", id);
			if (signal.aborted) stop();
			else signal.addEventListener("abort", stop);
		};
		try {
			return await begin(0, "exec", given, listen);
		} finally {
			if (stop) signal.removeEventListener("abort", stop);
		}
	}

	const logged = (level) => (message, details) =>
		sync("host.log", 0, level, details === undefined ? text(message) : `${text(message)} ${stringify(details)}`);

	const elsewhere = "it belongs to the agent's extension API, which hookrail does not have";
	const pi = {
		on(event, handler) {
			if (typeof handler !== "function") throw new TypeError(`pi.on("${text(event)}"): the handler must be a function`);
			const name = text(event);
			if (handlers[name] === undefined) {
				if (ready) sync("late", name);
				handlers[name] = [];
				events[events.length] = name;
			}
			handlers[name][handlers[name].length] = handler;
		},
		sendMessage(message, options) {
			if (!ready) throw new Error("sendMessage handler not initialized");
			const asked = options === true ? { triggerTurn: true } : (options ?? {});
			const sent = plain(message, "a message") ?? {};
			if (asked.triggerTurn !== undefined) sent.triggerTurn = Boolean(asked.triggerTurn);
			if (asked.deliverAs !== undefined) sent.deliverAs = text(asked.deliverAs);
			sync("message", sent);
		},
		appendEntry(customType, data) {
			if (!ready) throw new Error("appendEntry handler not initialized");
			sync("entry", { customType: text(customType), data: plain(data, "an entry's data") });
		},
		registerCommand(name, options) {
			const command = { name: text(name), ...options };
			if (typeof command.handler !== "function") throw new TypeError(`the command "${command.name}" has no handler`);
			if (commands[command.name] === undefined) commandNames[commandNames.length] = command.name;
			commands[command.name] = command;
		},
		registerMessageRenderer(customType, renderer) {
			if (typeof renderer !== "function") throw new TypeError("a message renderer must be a function");
			const name = text(customType);
			if (renderers[name] === undefined) rendererNames[rendererNames.length] = name;
			renderers[name] = renderer;
		},
		exec,
		logger: { error: logged("error"), warn: logged("warning"), info: logged("info"), debug: logged("debug") },
		get typebox() {
			return part("typebox.js");
		},
		get pi() {
			return named("pi.pi", part("agent_parts.js"));
		},
		get zod() {
			return missing("pi.zod", "bundle zod into the module")();
		},
		get arktype() {
			return missing("pi.arktype", "bundle arktype into the module")();
		},
		get events() {
			return missing("pi.events", "modules share nothing here; tell another one by a file or by pi.sendMessage")();
		},
		send: missing("pi.send", "use pi.sendMessage"),
	};
	for (const name of ["registerTool", "registerFlag", "getFlag", "registerShortcut", "setLabel", "sendUserMessage", "getActiveTools", "getAllTools", "setActiveTools", "setModel", "getThinkingLevel", "setThinkingLevel", "registerProvider"]) {
		pi[name] = missing(`pi.${name}`, elsewhere);
	}

	// ---- ctx ----

	const components = create(null);
	let lastComponent = 0;

	// Shows a component until it calls `done`. The component stays here; the host sees its lines and sends it keys.
	function custom(call, factory) {
		return new Promise((resolve, reject) => {
			const id = ++lastComponent;
			let over = false;
			let component;
			const done = (value) => {
				if (over) return;
				over = true;
				delete components[id];
				component?.dispose?.();
				sync("component.done", id);
				resolve(value);
			};
			const failed = (error) => {
				over = true;
				delete components[id];
				sync("component.done", id);
				reject(error);
			};
			const tui = { requestRender: () => void (over || sync("component.changed", id)), terminal: { columns: 80, rows: 24 } };
			const made = async () => (factory.length >= 4 ? factory(tui, part("theme.js"), {}, done) : factory(tui, part("theme.js"), done));
			sync("component.made", id);
			made().then((made) => {
				component = made;
				if (over) return made?.dispose?.();
				components[id] = made;
				begin(call, "host.show", [id]).then(() => done(undefined), failed);
			}, failed);
		});
	}

	// A dialog that a signal can end: what the host still says is then not heard.
	function dialog(call, name, args, signal) {
		const asked = begin(call, name, args);
		if (!signal) return asked;
		return new Promise((resolve, reject) => {
			const gone = () => resolve(undefined);
			if (signal.aborted) gone();
			else signal.addEventListener("abort", gone);
			asked.then(resolve, reject);
		});
	}

	const list = (values) => {
		const texts = [];
		for (let at = 0; at < (values?.length ?? 0); at++) texts[at] = text(values[at]);
		return texts;
	};

	class Ui {
		#call;
		#has;
		constructor(call, has) {
			this.#call = call;
			this.#has = has;
		}
		select(title, options, { signal } = {}) {
			return this.#has ? dialog(this.#call, "host.select", [text(title), list(options)], signal) : Promise.resolve(undefined);
		}
		confirm(title, message = "", { signal } = {}) {
			return this.#has ? dialog(this.#call, "host.confirm", [text(title), text(message)], signal) : Promise.resolve(false);
		}
		input(title, placeholder, { signal } = {}) {
			return this.#has ? dialog(this.#call, "host.input", [text(title), placeholder], signal) : Promise.resolve(undefined);
		}
		editor(title, prefill, { signal } = {}) {
			return this.#has ? dialog(this.#call, "host.edit", [text(title), prefill], signal) : Promise.resolve(undefined);
		}
		notify(message, type = "info") {
			if (this.#has) sync("host.notify", this.#call, text(message), text(type));
		}
		setStatus(key, value) {
			if (this.#has) sync("host.set_status", this.#call, text(key), value === undefined || value === null ? null : text(value));
		}
		custom(factory) {
			return this.#has ? custom(this.#call, factory) : Promise.resolve(undefined);
		}
		setEditorText(value) {
			if (this.#has) sync("host.set_editor_text", this.#call, text(value));
		}
		getEditorText() {
			return this.#has ? sync("host.editor_text", this.#call) : "";
		}
		get theme() {
			return part("theme.js");
		}
	}
	for (const name of ["setWidget", "setTitle", "setFooter", "setHeader", "setWorkingMessage", "pasteToEditor", "setEditorComponent"]) {
		Ui.prototype[name] = missing(`ctx.ui.${name}`, elsewhere);
	}

	const reads = ["cwd", "sessionDir", "sessionId", "sessionFile", "sessionName", "leafId", "leafEntry", "header", "entries", "tree", "usageStatistics", "artifactsDir"];
	const empty = { entries: [], tree: [], branch: [] };

	class SessionManager {
		#call;
		constructor(call) {
			this.#call = call;
		}
		getEntry(id) {
			return sync("host.session", this.#call, "entry", text(id));
		}
		getLabel(id) {
			return sync("host.session", this.#call, "label", text(id));
		}
		getArtifactPath(id) {
			return sync("host.session", this.#call, "artifactPath", text(id));
		}
		getBranch(leaf) {
			return sync("host.session", this.#call, "branch", leaf === undefined ? null : text(leaf)) ?? [];
		}
		saveArtifact(content, type) {
			return sync("host.write_session", this.#call, "artifact", { content: text(content), type });
		}
		static read(name) {
			return function () {
				return sync("host.session", this.#call, name, null) ?? empty[name];
			};
		}
		static write(name, shape) {
			return function (...args) {
				return sync("host.write_session", this.#call, name, plain(shape(...args), "a session entry"));
			};
		}
	}
	for (const name of reads) {
		SessionManager.prototype[`get${name[0].toUpperCase()}${name.slice(1)}`] = SessionManager.read(name);
	}
	for (const name of ["allocateArtifactPath", "putBlob"]) {
		SessionManager.prototype[name] = missing(`ctx.sessionManager.${name}`, "the host keeps artifacts; use saveArtifact");
	}

	// The manager that a new session is set up with can write.
	class WritableSessionManager extends SessionManager {}
	WritableSessionManager.prototype.appendMessage = SessionManager.write("message", (message) => message);
	WritableSessionManager.prototype.appendCustomEntry = SessionManager.write("entry", (customType, data) => ({ customType, data }));
	WritableSessionManager.prototype.appendCustomMessageEntry = SessionManager.write("customMessage", (customType, content, display, details) => ({ customType, content, display, details }));

	class ModelRegistry {
		#call;
		constructor(call) {
			this.#call = call;
		}
		find(provider, id) {
			return sync("host.models", this.#call, "find", text(provider), text(id));
		}
		getAll() {
			return sync("host.models", this.#call, "all") ?? [];
		}
		getAvailable() {
			return sync("host.models", this.#call, "available") ?? [];
		}
		getApiKey(model) {
			return begin(this.#call, "host.api_key", [plain(model, "a model")]);
		}
	}

	class Context {
		#call;
		#parts;
		constructor(call) {
			this.#call = call;
		}
		get hasUI() {
			return ((this.#parts ??= create(null)).hasUI ??= ({ value: sync("host.has_user", this.#call) })).value;
		}
		get ui() {
			return ((this.#parts ??= create(null)).ui ??= new Ui(this.#call, this.hasUI));
		}
		get cwd() {
			return sync("cwd");
		}
		get sessionManager() {
			return ((this.#parts ??= create(null)).session ??= new SessionManager(this.#call));
		}
		get modelRegistry() {
			return ((this.#parts ??= create(null)).models ??= new ModelRegistry(this.#call));
		}
		get model() {
			return ((this.#parts ??= create(null)).model ??= ({ value: sync("host.models", this.#call, "current") })).value;
		}
		isIdle() {
			return sync("host.is_idle", this.#call);
		}
		abort() {
			sync("host.abort", this.#call);
		}
		hasQueuedMessages() {
			return sync("host.has_queued_messages", this.#call);
		}
		// The older name.
		hasPendingMessages() {
			return this.hasQueuedMessages();
		}
		_call() {
			return this.#call;
		}
	}
	defineProperty(Context.prototype, "_call", { enumerable: false });

	class CommandContext extends Context {
		waitForIdle() {
			return begin(this._call(), "host.wait_for_idle", []);
		}
		async newSession(options) {
			const parent = options?.parentSession;
			const result = await begin(this._call(), "host.new_session", [parent === undefined ? null : text(parent)]);
			if (!result.cancelled && options?.setup) await options.setup(new WritableSessionManager(this._call()));
			return result;
		}
		branch(entryId) {
			return begin(this._call(), "host.branch", [text(entryId)]);
		}
		navigateTree(targetId, options) {
			return begin(this._call(), "host.navigate", [text(targetId), Boolean(options?.summarize)]);
		}
	}

	// ---- events ----

	const rules = {
		__proto__: null,
		tool_call: "block",
		tool_result: "object",
		context: "messages",
		before_agent_start: "message",
		session_before_switch: "cancel",
		session_before_branch: "cancel",
		session_before_compact: "cancel",
		session_before_tree: "cancel",
		"session.compacting": "last",
	};
	const signals = create(null); // call -> AbortController, for the events that carry a signal

	function payloadOf(call, event, json) {
		const payload = parse(json);
		if (event === "session_before_compact" || event === "session_before_tree") {
			signals[call] ??= new (part("abort.js").AbortController)();
			payload.signal = signals[call].signal;
		}
		return payload;
	}

	// Takes one handler's answer. Gives whether the others still run.
	function combine(rule, answer, state) {
		switch (rule) {
			case "block":
				if (!answer) return true;
				state.result = answer.block ? { __proto__: null, block: true, reason: answer.reason } : answer;
				return !answer.block;
			case "cancel":
				if (!answer) return true;
				state.result = answer.cancel ? { __proto__: null, ...answer, cancel: true } : answer;
				return !answer.cancel;
			case "object":
				if (answer && typeof answer === "object") state.result = answer;
				return true;
			case "last":
				if (answer) state.result = answer;
				return true;
			case "message":
				if (answer?.message && !state.result) state.result = { message: answer.message };
				return true;
			case "messages":
				if (answer?.messages) {
					state.messages = plain(answer.messages, "`messages`");
					state.result = { messages: state.messages };
				}
				return true;
			default:
				return true;
		}
	}

	// Runs something for a call, and tells the host how it ended. Nothing here is left to a promise's own methods,
	// which a module may have replaced.
	async function answer(call, work) {
		const failures = [];
		let result;
		try {
			result = await work(failures);
		} catch (error) {
			failures[failures.length] = describe(error);
		}
		delete signals[call];
		tell(call, result, failures);
	}

	// An event is what modules are asked most often, so this makes as little as it can.
	async function dispatch(call, event, json) {
		const wanted = handlers[event];
		const context = new Context(call);
		const failures = [];
		const state = { __proto__: null, result: undefined, messages: undefined };
		for (let at = 0; at < (wanted?.length ?? 0); at++) {
			try {
				const handler = wanted[at];
				const payload = payloadOf(call, event, json);
				if (state.messages !== undefined) payload.messages = parse(stringify(state.messages));
				let answer = handler(payload, context);
				// Only these can be promises; whoever answers at once is not made to wait.
				if (typeof answer === "object" || typeof answer === "function") answer = await answer;
				if (!combine(rules[event], answer, state)) break;
			} catch (error) {
				const failure = describe(error);
				failures[failures.length] = failure;
				// A guard that fails ends the chain; whoever runs the tool hears of it and blocks.
				if (event === "tool_call") {
					if (failure.kind === "value") failure.message = `Hook failed, blocking execution: ${failure.message}`;
					state.result = undefined;
					break;
				}
			}
		}
		delete signals[call];
		tell(call, state.result, failures);
	}

	function command(call, name, args) {
		answer(call, async () => {
			const found = commands[name];
			if (found === undefined) throw new Error(`there is no command "${name}"`);
			await found.handler(args, new CommandContext(call));
		});
	}

	function render(call, json, expanded, width) {
		answer(call, async () => {
			const message = parse(json);
			const component = await renderers[message.customType]?.(message, { expanded }, part("theme.js"));
			return component ? list(component.render(width)) : null;
		});
	}

	// What the host asks of a component that is shown.
	function draw(call, id, width) {
		answer(call, async () => list(components[id]?.render(width) ?? []));
	}

	function key(id, data) {
		components[id]?.handleInput?.(data);
	}

	// The host does not want the answer of a call any more.
	function abandon(call) {
		signals[call]?.abort();
		delete signals[call];
	}

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
		tell(0, registered(), []);
	}

	// A copy without a prototype, which nothing a module did can show through.
	const bare = (values) => {
		const copy = [];
		for (let at = 0; at < values.length; at++) copy[at] = values[at];
		return setPrototypeOf(copy, null);
	};

	function registered() {
		const offers = [];
		for (let at = 0; at < commandNames.length; at++) {
			const { name, description } = commands[commandNames[at]];
			offers[at] = { __proto__: null, name, description: description === undefined ? null : text(description) };
		}
		return { __proto__: null, events: bare(events), commands: bare(offers), renderers: bare(rendererNames) };
	}

	return { load, dispatch, command, render, draw, key, abandon };
});
