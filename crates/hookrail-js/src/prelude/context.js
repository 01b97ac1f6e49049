// What handlers reach through `ctx`: dialogs and components, the session, models, and what only commands can do.
0, function ({ builtins, sync, begin, text, missing, part }, { Context, components, list }) {
	const { defineProperty, apply, Promise, Boolean } = builtins;
	const { plain } = part("actions.js");

	// A member that a class does not write out.
	function member({ prototype }, name, value) {
		defineProperty(prototype, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
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

	class Ui {
		#call;
		#has;
		constructor(call, has) {
			this.#call = call;
			this.#has = has;
		}
		select(title, options, { signal } = {}) {
			return this.#has ? dialog(this.#call, "select", { title: text(title), options: list(options) }, signal) : Promise.resolve(undefined);
		}
		confirm(title, message = "", { signal } = {}) {
			return this.#has ? dialog(this.#call, "confirm", { title: text(title), message: text(message) }, signal) : Promise.resolve(false);
		}
		input(title, placeholder, { signal } = {}) {
			return this.#has ? dialog(this.#call, "input", { title: text(title), placeholder: given(placeholder) }, signal) : Promise.resolve(undefined);
		}
		editor(title, prefill, { signal } = {}) {
			return this.#has ? dialog(this.#call, "edit", { title: text(title), text: given(prefill) }, signal) : Promise.resolve(undefined);
		}
		notify(message, type = "info") {
			if (this.#has) sync("host", "notify", { call: this.#call, message: text(message), level: text(type) });
		}
		setStatus(key, value) {
			if (this.#has) sync("host", "setStatus", { call: this.#call, key: text(key), text: value === undefined || value === null ? null : text(value) });
		}
		custom(factory) {
			return this.#has ? custom(this.#call, factory) : Promise.resolve(undefined);
		}
		setEditorText(value) {
			if (this.#has) sync("host", "setEditorText", { call: this.#call, text: text(value) });
		}
		getEditorText() {
			return this.#has ? sync("host", "editorText", { call: this.#call }) : "";
		}
		get theme() {
			return part("theme.js");
		}
	}
	const others = ["setWidget", "setTitle", "setFooter", "setHeader", "setWorkingMessage", "pasteToEditor", "setEditorComponent"];
	for (let at = 0; at < others.length; at++) {
		member(Ui, others[at], missing(`ctx.ui.${others[at]}`, "it belongs to the agent's extension API, which hookrail does not have"));
	}

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

	// ---- commands ----

	class CommandContext extends Context {
		waitForIdle() {
			return begin(this._call(), "host", "waitForIdle", {});
		}
		async newSession(options) {
			const parent = options?.parentSession;
			const result = await begin(this._call(), "host", "newSession", { parent: parent === undefined ? null : text(parent) });
			if (!result.cancelled && options?.setup) await options.setup(new WritableSessionManager(this._call()));
			return result;
		}
		branch(entryId) {
			return begin(this._call(), "host", "branch", { entry: text(entryId) });
		}
		navigateTree(targetId, options) {
			return begin(this._call(), "host", "navigate", { target: text(targetId), summarize: Boolean(options?.summarize) });
		}
	}

	return { Ui, SessionManager, ModelRegistry, CommandContext };
};
