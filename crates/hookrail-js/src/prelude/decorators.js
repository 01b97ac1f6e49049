// Decorators. The transpiler writes a call of `decorate` for every class and member that has some; it is given what they are
// applied to, and calls them as the language's standard says.
0, function () {
	const notHere = (what) => {
		throw new Error(`${what} of a decorator is not available to module hooks`);
	};

	function contextOf(kind, name, owner, start) {
		const isStatic = typeof owner === "function";
		const access = { has: (object) => name in object, get: (object) => object[name], set: (object, value) => void (object[name] = value) };
		return { kind, name, static: isStatic, private: false, access, metadata: {}, addInitializer: isStatic ? start : () => notHere("addInitializer") };
	}

	function decorateClass(decorators, value) {
		const started = [];
		for (const decorator of decorators.toReversed()) {
			const made = decorator(value, { kind: "class", name: value.name, metadata: {}, addInitializer: (start) => void started.push(start) });
			if (made !== undefined) value = made;
		}
		for (const start of started) start.call(value);
		return value;
	}

	function decorateMember(decorators, owner, name, described) {
		const kind = described?.get ? "getter" : described?.set ? "setter" : described ? "method" : "field";
		const slot = kind === "getter" ? "get" : kind === "setter" ? "set" : "value";
		const started = [];
		for (const decorator of decorators.toReversed()) {
			const made = decorator(described?.[slot], contextOf(kind, name, owner, (start) => void started.push(start)));
			if (made === undefined) continue;
			if (!described) notHere("the initial value");
			described[slot] = made;
		}
		if (described) Object.defineProperty(owner, name, described);
		for (const start of started) start.call(owner);
	}

	function decorate(decorators, target, name, described) {
		if (name === undefined) return decorateClass(decorators, target);
		decorateMember(decorators, target, name, described === null ? Object.getOwnPropertyDescriptor(target, name) : undefined);
	}

	return { babelHelpers: { decorate, decorateParam: () => () => notHere("a parameter"), decorateMetadata: () => () => {} } };
};
