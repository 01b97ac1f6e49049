// How the handlers of a module are called and their results combined, and the `ctx` they are given. Every payload is parsed
// anew for every handler, so no handler can change what another sees.
0, function (bridge, { handlers, commands, renderers }) {
	const { native, builtins, sync, text, part, describe, tell } = bridge;
	const { parse, stringify, create, setPrototypeOf, objectPrototype, reflect, keys, isArray, slice, Error, Proxy, Set } = builtins;

	const components = create(null); // those that are shown

	const list = (values) => {
		const texts = [];
		for (let at = 0; at < (values?.length ?? 0); at++) texts[at] = text(values[at]);
		return texts;
	};

	// ---- ctx: a plain object whose functions can be taken out ----

	let parts;
	const inContext = () => (parts ??= native.script("context.js")(bridge, { __proto__: null, components, list }));

	// Most handlers look at none of it, so it is filled when something first touches it. Until then it is a proxy around an
	// object that knows its call and nothing else; every way to touch it fills that object and then does what it would do.
	class Unfilled {
		#call;
		constructor(call) {
			this.#call = call;
		}
		static fill(target) {
			const call = target.#call;
			if (call === undefined) return target;
			target.#call = undefined;
			setPrototypeOf(target, objectPrototype);
			inContext().fill(target, call);
			return target;
		}
	}
	const traps = create(null);
	const touches = keys(reflect);
	for (let at = 0; at < touches.length; at++) {
		const touch = reflect[touches[at]];
		traps[touches[at]] = (target, one, two, three) => touch(Unfilled.fill(target), one, two, three);
	}
	const contextOf = (call) => new Proxy(new Unfilled(call), traps);

	// ---- events ----

	// What the engine's event table says about the events whose results are used.
	const rules = setPrototypeOf(parse(native.rules), null);
	const unused = { __proto__: null, combine: "ignore", signal: false, members: undefined };
	const signals = create(null); // call -> AbortController, for the events that carry a signal

	// Modules know the files of a compaction as sets, which JSON does not have.
	function filesAsSets(files) {
		for (const kind in files) files[kind] = new Set(files[kind]);
	}

	function payloadOf(call, rule, json) {
		const payload = parse(json);
		if (rule.signal) {
			filesAsSets(payload.preparation?.fileOps);
			signals[call] ??= new (part("abort.js").AbortController)();
			payload.signal = signals[call].signal;
		}
		return payload;
	}

	const has = (list, name) => {
		for (let at = 0; at < list.length; at++) if (list[at] === name) return true;
		return false;
	};

	// Adds the members of an answer that mean nothing in this event: the host warns of them. Most events ignore what
	// handlers return, and an arrow function returns whatever it calls, so there only members count that mean something
	// in another event.
	function addUnknown(rule, answer, remarks) {
		if (typeof answer !== "object" || isArray(answer)) {
			return canDeny(rule) ? addRemark(remarks, "values", isArray(answer) ? "an array" : answer === true ? "true" : `a ${typeof answer}`) : remarks;
		}
		const names = keys(answer);
		const kind = canDeny(rule) && !isReadable(rule, names) ? "strangers" : "unknown";
		for (let at = 0; at < names.length; at++) {
			const name = names[at];
			if (rule.members === undefined ? meansSomething(name) : !has(rule.members, name)) remarks = addRemark(remarks, kind, name);
		}
		return remarks;
	}

	const canDeny = (rule) => rule.combine === "block" || rule.combine === "cancel";

	// Whether an answer has a member that says what to do. A reason alone does not.
	function isReadable(rule, names) {
		for (let at = 0; at < names.length; at++) if (names[at] !== "reason" && has(rule.members, names[at])) return true;
		return false;
	}

	function addRemark(remarks, kind, text) {
		// Without a prototype a module cannot teach these to describe themselves otherwise.
		const bareList = () => setPrototypeOf([], null);
		remarks ??= { __proto__: null, unknown: bareList(), strangers: bareList(), values: bareList() };
		const list = remarks[kind];
		if (list.length < 16 && !has(list, text)) list[list.length] = slice(text, 0, 100);
		return remarks;
	}

	function meansSomething(name) {
		for (const event in rules) if (has(rules[event].members, name)) return true;
		return false;
	}

	// Takes one handler's answer. Gives whether the others still run.
	function combine(how, answer, state) {
		switch (how) {
			case "block":
				if (!answer) return true;
				state.result = answer.block ? { __proto__: null, block: true, reason: answer.reason } : answer;
				return !answer.block;
			case "cancel":
				if (!answer) return true;
				state.result = answer.cancel ? { __proto__: null, ...answer, cancel: true } : answer;
				return !answer.cancel;
			case "lastObject":
				if (answer && typeof answer === "object") state.result = answer;
				return true;
			case "last":
				if (answer) state.result = answer;
				return true;
			case "firstMessage":
				if (answer?.message && !state.result) state.result = { message: answer.message };
				return true;
			case "messages":
				if (answer?.messages) {
					state.messages = part("actions.js").plain(answer.messages, "`messages`");
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
		const rule = rules[event] ?? unused;
		const context = contextOf(call);
		const failures = [];
		const state = { __proto__: null, result: undefined, messages: undefined };
		let remarks;
		for (let at = 0; at < (wanted?.length ?? 0); at++) {
			try {
				const handler = wanted[at];
				const payload = payloadOf(call, rule, json);
				if (state.messages !== undefined) payload.messages = parse(stringify(state.messages));
				let answer = handler(payload, context);
				// Only these can be promises; a handler that answers at once is not made to wait.
				if (typeof answer === "object" || typeof answer === "function") answer = await answer;
				if (answer) remarks = addUnknown(rule, answer, remarks);
				if (!combine(rule.combine, answer, state)) break;
			} catch (error) {
				const failure = describe(error);
				failures[failures.length] = failure;
				// A guard that fails ends the chain; the engine blocks the tool.
				if (rule.combine === "block") {
					if (failure.kind === "value") failure.message = `Hook failed, blocking execution: ${failure.message}`;
					state.result = undefined;
					break;
				}
			}
		}
		delete signals[call];
		tell(call, state.result, failures, remarks);
	}

	function command(call, name, args) {
		answer(call, async () => {
			const found = commands[name];
			if (found === undefined) throw new Error(`there is no command "${name}"`);
			await found.handler(args, inContext().commandContext(call));
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

	return { dispatch, command, render, draw, key, abandon };
};
