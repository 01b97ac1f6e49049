// What handlers reach through `ctx`: dialogs and components, the session, models, and what only commands can do.
0, function ({ builtins, sync, begin, text, missing, part }, { components, list }) {
	const { defineProperty, apply, Promise, Boolean } = builtins;
	const { plain } = part("actions.js");

	// A member that a class does not write out.
	function member({ prototype }, name, value) {
		defineProperty(prototype, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
	}

	// A member that is there and not listed.
	function hidden(object, name, value) {
		defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
	}

	// ---- dialogs and components ----

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
				sync("component", "done", { id });
				resolve(value);
			};
			const failed = (error) => {
				over = true;
				delete components[id];
				sync("component", "done", { id });
				reject(error);
			};
			const tui = { requestRender: () => void (over || sync("component", "changed", { id })), terminal: { columns: 80, rows: 24 } };
			const made = async () => (factory.length >= 4 ? factory(tui, part("theme.js"), {}, done) : factory(tui, part("theme.js"), done));
			sync("component", "made", { id });
			made().then((made) => {
				component = made;
				if (over) return made?.dispose?.();
				components[id] = made;
				begin(call, "host", "show", { component: id }).then(() => done(undefined), failed);
			}, failed);
		});
	}

	// A dialog that a signal can end: what the host still says is then not heard.
	function dialog(call, name, fields, signal) {
		const asked = begin(call, "host", name, fields);
		if (!signal) return asked;
		return new Promise((resolve, reject) => {
			const gone = () => resolve(undefined);
			if (signal.aborted) gone();
			else signal.addEventListener("abort", gone);
			asked.then(resolve, reject);
		});
	}

	// A text that may be left out; what is no text counts as left out.
	const given = (value) => (typeof value === "string" ? value : undefined);

	// A plain object: handlers take functions out of it, copy it and list it.
	function uiOf(call, has) {
		const nothing = (value) => Promise.resolve(value);
		const ui = {
			select: (title, options, { signal } = {}) => (has ? dialog(call, "select", { title: text(title), options: list(options) }, signal) : nothing()),
			confirm: (title, message = "", { signal } = {}) => (has ? dialog(call, "confirm", { title: text(title), message: text(message) }, signal) : nothing(false)),
			input: (title, placeholder, { signal } = {}) => (has ? dialog(call, "input", { title: text(title), placeholder: given(placeholder) }, signal) : nothing()),
			notify(message, type = "info") {
				if (has) sync("host", "notify", { call, message: text(message), level: text(type) });
			},
			setStatus(key, value) {
				if (has) sync("host", "setStatus", { call, key: text(key), text: value === undefined || value === null ? null : text(value) });
			},
			custom: (factory) => (has ? custom(call, factory) : nothing()),
			setEditorText(value) {
				if (has) sync("host", "setEditorText", { call, text: text(value) });
			},
			getEditorText: () => (has ? sync("host", "editorText", { call }) : ""),
			editor: (title, prefill, { signal } = {}) => (has ? dialog(call, "edit", { title: text(title), text: given(prefill) }, signal) : nothing()),
			get theme() {
				return part("theme.js");
			},
		};
		for (let at = 0; at < others.length; at++) {
			hidden(ui, others[at], missing(`ctx.ui.${others[at]}`, "it belongs to the agent's extension API, which hookrail does not have"));
		}
		return ui;
	}
	const others = ["setWidget", "setTitle", "setFooter", "setHeader", "setWorkingMessage", "pasteToEditor", "setEditorComponent"];

	// ---- the session ----

	const empty = { __proto__: null, entries: [], tree: [] };

	class SessionManager {
		#call;
		constructor(call) {
			this.#call = call;
		}
		getEntry(id) {
			return sync("session", "read", { call: this.#call, query: { __proto__: null, entry: text(id) } });
		}
		getLabel(id) {
			return sync("session", "read", { call: this.#call, query: { __proto__: null, label: text(id) } });
		}
		getArtifactPath(id) {
			return sync("session", "read", { call: this.#call, query: { __proto__: null, artifactPath: text(id) } });
		}
		getBranch(leaf) {
			return sync("session", "read", { call: this.#call, query: { __proto__: null, branch: leaf === undefined ? null : text(leaf) } }) ?? [];
		}
		saveArtifact(content, type) {
			return sync("session", "write", { call: this.#call, change: { __proto__: null, artifact: { content: text(content), type } } });
		}
		static read(name) {
			return function () {
				return sync("session", "read", { call: this.#call, query: name }) ?? empty[name];
			};
		}
		static write(name, shape) {
			return function (...args) {
				return sync("session", "write", { call: this.#call, change: { __proto__: null, [name]: plain(apply(shape, undefined, args), "a session entry") ?? null } });
			};
		}
	}

	// Each with what the host calls it.
	const reads = [
		"getCwd", "cwd", "getSessionDir", "dir", "getSessionId", "id", "getSessionFile", "file", "getSessionName", "name",
		"getLeafId", "leafId", "getLeafEntry", "leafEntry", "getHeader", "header", "getEntries", "entries", "getTree", "tree",
		"getUsageStatistics", "usage", "getArtifactsDir", "artifactsDir",
	];
	for (let at = 0; at < reads.length; at += 2) member(SessionManager, reads[at], SessionManager.read(reads[at + 1]));
	member(SessionManager, "allocateArtifactPath", missing("ctx.sessionManager.allocateArtifactPath", "the host keeps artifacts; use saveArtifact"));
	member(SessionManager, "putBlob", missing("ctx.sessionManager.putBlob", "the host keeps artifacts; use saveArtifact"));

	// The manager that a new session is set up with can write.
	class WritableSessionManager extends SessionManager {}
	member(WritableSessionManager, "appendMessage", SessionManager.write("message", (message) => message));
	member(WritableSessionManager, "appendCustomEntry", SessionManager.write("entry", (customType, data) => ({ customType, data })));
	member(WritableSessionManager, "appendCustomMessageEntry", SessionManager.write("customMessage", (customType, content, display, details) => ({ customType, content, display, details })));

	// ---- models ----

	class ModelRegistry {
		#call;
		constructor(call) {
			this.#call = call;
		}
		find(provider, id) {
			return sync("host", "models", { call: this.#call, query: { __proto__: null, find: { __proto__: null, provider: text(provider), id: text(id) } } });
		}
		getAll() {
			return sync("host", "models", { call: this.#call, query: "all" }) ?? [];
		}
		getAvailable() {
			return sync("host", "models", { call: this.#call, query: "available" }) ?? [];
		}
		getApiKey(model) {
			return begin(this.#call, "host", "apiKey", { model: plain(model, "a model") });
		}
	}

	// ---- ctx ----

	// A member that is made when it is first read.
	function lazily(object, name, make) {
		let made;
		const get = () => (made ??= { __proto__: null, value: make() }).value;
		const set = (value) => void (made = { __proto__: null, value });
		defineProperty(object, name, { __proto__: null, get, set, enumerable: true, configurable: true });
	}

	function fill(context, call) {
		lazily(context, "ui", () => uiOf(call, context.hasUI));
		lazily(context, "hasUI", () => sync("host", "hasUser", { call }));
		lazily(context, "cwd", () => sync("process", "cwd", {}));
		lazily(context, "sessionManager", () => new SessionManager(call));
		lazily(context, "modelRegistry", () => new ModelRegistry(call));
		lazily(context, "model", () => sync("host", "models", { call, query: "current" }));
		context.isIdle = () => sync("host", "isIdle", { call });
		context.abort = () => sync("host", "abort", { call });
		context.hasQueuedMessages = () => sync("host", "hasQueuedMessages", { call });
		// The older name.
		hidden(context, "hasPendingMessages", context.hasQueuedMessages);
	}

	function commandContext(call) {
		const context = {};
		fill(context, call);
		context.waitForIdle = () => begin(call, "host", "waitForIdle", {});
		context.newSession = async (options) => {
			const parent = options?.parentSession;
			const result = await begin(call, "host", "newSession", { parent: parent === undefined ? null : text(parent) });
			if (!result.cancelled && options?.setup) await options.setup(new WritableSessionManager(call));
			return result;
		};
		context.branch = (entryId) => begin(call, "host", "branch", { entry: text(entryId) });
		context.navigateTree = (targetId, options) => begin(call, "host", "navigate", { target: text(targetId), summarize: Boolean(options?.summarize) });
		return context;
	}

	return { fill, commandContext };
};
