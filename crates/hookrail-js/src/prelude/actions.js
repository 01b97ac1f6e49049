// What `pi` does while the agent is at work: messages, entries, processes, the log.
0, function ({ builtins, sync, begin, text }) {
	const { parse, stringify, setPrototypeOf, TypeError, Number, Boolean } = builtins;

	// A copy of plain data, as the host will see it.
	function plain(value, what) {
		try {
			const json = stringify(value);
			return json === undefined ? undefined : parse(json);
		} catch (error) {
			throw new TypeError(`${what} must be plain data: ${error.message}`);
		}
	}

	function sendMessage(message, options) {
		const asked = options === true ? { triggerTurn: true } : (options ?? {});
		const sent = plain(message, "a message") ?? {};
		if (asked.triggerTurn !== undefined) sent.triggerTurn = Boolean(asked.triggerTurn);
		if (asked.deliverAs !== undefined) sent.deliverAs = text(asked.deliverAs);
		sync("host", "message", { message: sent });
	}

	function appendEntry(customType, data) {
		sync("host", "entry", { entry: { customType: text(customType), data: plain(data, "an entry's data") } });
	}

	async function exec(command, args, options) {
		const { signal, timeout, cwd } = options ?? {};
		const list = [];
		for (let at = 0; at < (args?.length ?? 0); at++) list[at] = text(args[at]);
		// Without a prototype, through which a module could say how a list is written as JSON.
		setPrototypeOf(list, null);
		const given = { program: text(command), args: list, options: { __proto__: null, timeout: timeout > 0 ? Number(timeout) : undefined, cwd: cwd === undefined ? undefined : text(cwd) } };
		let stop;
		const listen = (id) => {
			if (!signal) return;
			stop = () => sync("process", "cancel", { task: id });
			if (signal.aborted) stop();
			else signal.addEventListener("abort", stop);
		};
		try {
			return await begin(0, "process", "exec", given, listen);
		} finally {
			if (stop) signal.removeEventListener("abort", stop);
		}
	}

	function log(level, message, details) {
		sync("host", "log", { level, message: details === undefined ? text(message) : `${text(message)} ${stringify(details)}` });
	}

	return { plain, sendMessage, appendEntry, exec, log };
};
