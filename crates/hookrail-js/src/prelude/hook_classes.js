// The agent's own loader, runner and tool wrapper of hooks, for modules that load hooks themselves. What they load runs in this
// module's world: with its trust, its capabilities and its limits.
0, function ({ native, sync, part }) {
	const { process } = part("node.js");

	// ---- loading ----

	function resolvePath(path, cwd) {
		const text = String(path).replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ");
		const inside = text.startsWith("file://") ? decodeURIComponent(text.slice(7)) : text;
		const whole = inside.startsWith("~") ? `${process.env.HOME ?? ""}/${inside.slice(1).replace(/^[/\\]+/, "")}` : inside.startsWith("/") ? inside : `${cwd}/${inside}`;
		const parts = [];
		for (const name of whole.split("/")) {
			if (name === "..") parts.pop();
			else if (name !== "" && name !== ".") parts.push(name);
		}
		return `/${parts.join("/")}`;
	}

	class LoadedHook {
		handlers = new Map();
		messageRenderers = new Map();
		commands = new Map();
		#send;
		#append;
		constructor(path, resolvedPath) {
			this.path = path;
			this.resolvedPath = resolvedPath;
		}
		setSendMessageHandler(send) {
			this.#send = send;
		}
		setAppendEntryHandler(append) {
			this.#append = append;
		}
		api(cwd) {
			return {
				on: (event, handler) => void this.handlers.set(event, [...(this.handlers.get(event) ?? []), handler]),
				sendMessage: (message, options) => {
					if (!this.#send) throw new Error("sendMessage handler not initialized");
					this.#send(message, options);
				},
				appendEntry: (customType, data) => {
					if (!this.#append) throw new Error("appendEntry handler not initialized");
					this.#append(customType, data);
				},
				registerMessageRenderer: (customType, renderer) => void this.messageRenderers.set(customType, renderer),
				registerCommand: (name, options) => void this.commands.set(name, { name, ...options }),
				exec: (command, args, options) => part("actions.js").exec(command, args, { cwd, ...options }),
				logger: { error: logged("error"), warn: logged("warning"), info: logged("info"), debug: logged("debug") },
				get typebox() {
					return part("typebox.js");
				},
				get pi() {
					return part("agent_parts.js");
				},
			};
		}
	}
	const logged = (level) => (message, details) => part("actions.js").log(level, message, details);

	async function load(path, resolvedPath, cwd) {
		// Whether this module may load the file is decided as for every import.
		const { default: factory } = await import(native.resolve("/", resolvedPath));
		if (typeof factory !== "function") return { path, error: "Hook must export a default function" };
		const hook = new LoadedHook(path, resolvedPath);
		await factory(hook.api(cwd));
		return hook;
	}

	async function loadHooks(paths, cwd = process.cwd()) {
		const result = { hooks: [], errors: [] };
		for (const path of paths) {
			let loaded;
			try {
				loaded = await load(path, resolvePath(path, cwd), cwd);
			} catch (error) {
				loaded = { path, error: `Failed to load hook: ${messageOf(error)}` };
			}
			result[loaded instanceof LoadedHook ? "hooks" : "errors"].push(loaded);
		}
		return result;
	}
	const messageOf = (error) => (error instanceof Error ? error.message : String(error));

	async function discoverAndLoadHooks(configuredPaths = [], cwd = process.cwd()) {
		const errors = [];
		const paths = [];
		const seen = new Set();
		const add = (path) => {
			const resolved = resolvePath(path, cwd);
			if (!seen.has(resolved)) paths.push(path);
			seen.add(resolved);
		};
		try {
			for (const { path, refused } of sync("process", "discover", { cwd: String(cwd), home: process.env.HOME })) {
				if (refused === null) add(path);
				else errors.push({ path, error: `Failed to load hook: ${refused}` });
			}
		} catch (error) {
			errors.push({ path: String(cwd), error: messageOf(error) });
		}
		for (const path of configuredPaths) add(path);
		const result = await loadHooks(paths, cwd);
		return { hooks: result.hooks, errors: [...errors, ...result.errors] };
	}

	// ---- running ----

	const noUi = {
		select: async () => undefined,
		confirm: async () => false,
		input: async () => undefined,
		notify() {},
		setStatus() {},
		custom: async () => undefined,
		setEditorText() {},
		getEditorText: () => "",
		editor: async () => undefined,
		get theme() {
			return part("theme.js");
		},
	};

	class HookRunner {
		#listeners = new Set();
		#ui = noUi;
		#hasUI = false;
		#host = { isIdle: () => true, waitForIdle: async () => {}, abort() {}, hasQueuedMessages: () => false };
		#moves = { newSession: async () => ({ cancelled: false }), branch: async () => ({ cancelled: false }), navigateTree: async () => ({ cancelled: false }) };
		#getModel = () => undefined;
		constructor(hooks, cwd, sessionManager, modelRegistry) {
			Object.assign(this, { hooks, cwd, sessionManager, modelRegistry });
		}
		initialize(options = {}) {
			this.#getModel = options.getModel ?? (() => undefined);
			this.#host = {
				isIdle: options.isIdle ?? (() => true),
				waitForIdle: options.waitForIdle ?? (async () => {}),
				abort: options.abort ?? (() => {}),
				hasQueuedMessages: options.hasQueuedMessages ?? (() => false),
			};
			if (options.newSessionHandler) this.#moves.newSession = options.newSessionHandler;
			if (options.branchHandler) this.#moves.branch = options.branchHandler;
			if (options.navigateTreeHandler) this.#moves.navigateTree = options.navigateTreeHandler;
			for (const hook of this.hooks) {
				hook.setSendMessageHandler(options.sendMessageHandler);
				hook.setAppendEntryHandler(options.appendEntryHandler);
			}
			this.#ui = options.uiContext ?? noUi;
			this.#hasUI = options.hasUI ?? false;
		}
		getUIContext() {
			return this.#ui;
		}
		getHasUI() {
			return this.#hasUI;
		}
		getHookPaths() {
			return this.hooks.map((hook) => hook.path);
		}
		onError(listener) {
			this.#listeners.add(listener);
			return () => this.#listeners.delete(listener);
		}
		emitError(error) {
			for (const listener of this.#listeners) listener(error);
		}
		hasHandlers(event) {
			return this.hooks.some((hook) => hook.handlers.get(event)?.length > 0);
		}
		getMessageRenderer(customType) {
			return this.hooks.find((hook) => hook.messageRenderers.has(customType))?.messageRenderers.get(customType);
		}
		getRegisteredCommands() {
			return this.hooks.flatMap((hook) => [...hook.commands.values()]);
		}
		getCommand(name) {
			return this.hooks.find((hook) => hook.commands.has(name))?.commands.get(name);
		}
		createContext() {
			const { isIdle, abort, hasQueuedMessages } = this.#host;
			return {
				ui: this.#ui, hasUI: this.#hasUI, cwd: this.cwd, sessionManager: this.sessionManager, modelRegistry: this.modelRegistry,
				model: this.#getModel(), isIdle: () => isIdle(), abort: () => abort(), hasQueuedMessages: () => hasQueuedMessages(),
			};
		}
		createCommandContext() {
			const { newSession, branch, navigateTree } = this.#moves;
			return {
				...this.createContext(),
				waitForIdle: () => this.#host.waitForIdle(),
				newSession: (options) => newSession(options),
				branch: (entryId) => branch(entryId),
				navigateTree: (targetId, options) => navigateTree(targetId, options),
			};
		}
		*#handlersOf(type) {
			for (const hook of this.hooks) for (const handler of hook.handlers.get(type) ?? []) yield [hook, handler];
		}
		#failed(hook, event, error) {
			this.emitError({ hookPath: hook.path, event, error: messageOf(error) });
		}
		async emit(event) {
			const ctx = this.createContext();
			const isBefore = event.type.startsWith("session_before_");
			const keeps = isBefore || event.type === "tool_result" || event.type === "session.compacting";
			let result;
			for (const [hook, handler] of this.#handlersOf(event.type)) {
				try {
					const answer = await handler(event, ctx);
					if (!keeps || !answer) continue;
					result = answer;
					if (isBefore && answer.cancel) return answer;
				} catch (error) {
					this.#failed(hook, event.type, error);
				}
			}
			return result;
		}
		// A handler that fails is the caller's business: it must not let the tool run.
		async emitToolCall(event) {
			const ctx = this.createContext();
			let result;
			for (const [, handler] of this.#handlersOf("tool_call")) {
				const answer = await handler(event, ctx);
				if (!answer) continue;
				result = answer;
				if (answer.block) return answer;
			}
			return result;
		}
		async emitContext(messages) {
			const ctx = this.createContext();
			let current = structuredClone(messages);
			for (const [hook, handler] of this.#handlersOf("context")) {
				try {
					const answer = await handler({ type: "context", messages: current }, ctx);
					if (answer?.messages) current = answer.messages;
				} catch (error) {
					this.#failed(hook, "context", error);
				}
			}
			return current;
		}
		async emitBeforeAgentStart(prompt, images) {
			const ctx = this.createContext();
			let result;
			for (const [hook, handler] of this.#handlersOf("before_agent_start")) {
				try {
					const answer = await handler({ type: "before_agent_start", prompt, images }, ctx);
					if (answer?.message && !result) result = answer;
				} catch (error) {
					this.#failed(hook, "before_agent_start", error);
				}
			}
			return result;
		}
	}

	// ---- tools ----

	class HookToolWrapper {
		constructor(tool, hookRunner) {
			this.tool = tool;
			this.hookRunner = hookRunner;
			// What is not a call of the tool stays the tool's own.
			for (let from = tool; from && from !== Object.prototype; from = Object.getPrototypeOf(from)) {
				for (const name of Object.getOwnPropertyNames(from)) {
					if (name === "constructor" || name in this) continue;
					const get = () => (typeof tool[name] === "function" ? tool[name].bind(tool) : tool[name]);
					Object.defineProperty(this, name, { get, enumerable: true, configurable: true });
				}
			}
		}
		async execute(toolCallId, params, signal, onUpdate, context) {
			const about = { toolName: this.tool.name, toolCallId, input: structuredClone(params) };
			if (this.hookRunner.hasHandlers("tool_call")) {
				let answer;
				try {
					answer = await this.hookRunner.emitToolCall({ type: "tool_call", ...about });
				} catch (error) {
					throw error instanceof Error ? error : new Error(`Hook failed, blocking execution: ${String(error)}`);
				}
				if (answer?.block) throw new Error(answer.reason || "Tool execution was blocked by a hook");
			}
			const hears = this.hookRunner.hasHandlers("tool_result");
			let result;
			try {
				result = await this.tool.execute(toolCallId, params, signal, onUpdate, context);
			} catch (error) {
				const content = [{ type: "text", text: messageOf(error) }];
				if (hears) await this.hookRunner.emit({ type: "tool_result", ...about, content, details: undefined, isError: true });
				throw error;
			}
			if (!hears) return result;
			const answer = await this.hookRunner.emit({ type: "tool_result", ...about, content: result.content, details: result.details, isError: false });
			return answer ? { content: answer.content ?? result.content, details: answer.details ?? result.details } : result;
		}
	}
	const wrapToolWithHooks = (tool, hookRunner) => new HookToolWrapper(tool, hookRunner);
	const wrapToolsWithHooks = (tools, hookRunner) => tools.map((tool) => wrapToolWithHooks(tool, hookRunner));

	return { loadHooks, discoverAndLoadHooks, HookRunner, HookToolWrapper, wrapToolWithHooks, wrapToolsWithHooks };
};
