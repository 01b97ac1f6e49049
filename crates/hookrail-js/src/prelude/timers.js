// Timers and the clock.
0, function ({ native, builtins }) {
	const { create, apply, now, began, TypeError, Number, toPrimitive } = builtins;
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
		[toPrimitive]() {
			return this.id;
		}
	}

	function timer(callback, delay, args, repeats) {
		if (typeof callback !== "function") throw new TypeError("The timer's callback must be a function");
		const wait = Number(delay);
		const every = wait >= 1 && wait <= 2147483647 ? wait : 1;
		const id = native.timer(every);
		timers[id] = { __proto__: null, callback, args, every: repeats ? every : 0 };
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
		apply(entry.callback, entry, entry.args);
	}

	const setTimeout = (callback, delay, ...args) => timer(callback, delay, args, false);
	const setInterval = (callback, delay, ...args) => timer(callback, delay, args, true);
	const setImmediate = (callback, ...args) => timer(callback, 0, args, false);
	const queueMicrotask = (callback) => {
		(async () => {
			await undefined;
			callback();
		})();
	};
	const performance = { now: () => now() - began, timeOrigin: began };
	return {
		setTimeout, setInterval, setImmediate, clearTimeout: clear, clearInterval: clear, clearImmediate: clear,
		queueMicrotask, performance, fire,
	};
};
