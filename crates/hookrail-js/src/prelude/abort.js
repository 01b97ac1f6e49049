// Events, event targets and abort signals.
0, function ({ builtins }) {
	const { Promise, Error, Symbol, String, Boolean } = builtins;

	class DOMException extends Error {
		#name;
		constructor(message = "", name = "Error") {
			super(message);
			this.#name = name;
		}
		get name() {
			return this.#name;
		}
		get code() {
			return this.#name === "AbortError" ? 20 : this.#name === "TimeoutError" ? 23 : 0;
		}
	}

	class Event {
		constructor(type, options = {}) {
			this.type = String(type);
			this.cancelable = Boolean(options.cancelable);
			this.bubbles = Boolean(options.bubbles);
			this.defaultPrevented = false;
			this.target = null;
		}
		preventDefault() {
			if (this.cancelable) this.defaultPrevented = true;
		}
		stopPropagation() {}
		stopImmediatePropagation() {}
	}

	class CustomEvent extends Event {
		constructor(type, options = {}) {
			super(type, options);
			this.detail = options.detail ?? null;
		}
	}

	class EventTarget {
		#listeners = [];
		addEventListener(type, listener, options) {
			if (!listener || this.#listeners.some((known) => known.type === type && known.listener === listener)) return;
			this.#listeners.push({ type, listener, once: typeof options === "object" && Boolean(options?.once) });
		}
		removeEventListener(type, listener) {
			this.#listeners = this.#listeners.filter((known) => known.type !== type || known.listener !== listener);
		}
		dispatchEvent(event) {
			event.target ??= this;
			for (const known of [...this.#listeners]) {
				if (known.type !== event.type) continue;
				if (known.once) this.removeEventListener(known.type, known.listener);
				// One listener that throws does not keep the others from hearing of it.
				try {
					typeof known.listener === "function" ? known.listener.call(this, event) : known.listener.handleEvent(event);
				} catch (error) {
					Promise.reject(error);
				}
			}
			return !event.defaultPrevented;
		}
	}

	const inside = Symbol("signal");

	class AbortSignal extends EventTarget {
		#aborted = false;
		#reason = undefined;
		onabort = null;
		get aborted() {
			return this.#aborted;
		}
		get reason() {
			return this.#reason;
		}
		throwIfAborted() {
			if (this.#aborted) throw this.#reason;
		}
		[inside](reason) {
			if (this.#aborted) return;
			this.#aborted = true;
			this.#reason = reason ?? new DOMException("This operation was aborted", "AbortError");
			const event = new Event("abort");
			event.target = this;
			this.onabort?.(event);
			this.dispatchEvent(event);
		}
		static abort(reason) {
			const signal = new AbortSignal();
			signal[inside](reason);
			return signal;
		}
		static timeout(delay) {
			const signal = new AbortSignal();
			setTimeout(() => signal[inside](new DOMException("The operation timed out", "TimeoutError")), delay);
			return signal;
		}
		static any(signals) {
			const any = new AbortSignal();
			for (const signal of signals) {
				if (signal.aborted) any[inside](signal.reason);
				else signal.addEventListener("abort", () => any[inside](signal.reason));
			}
			return any;
		}
	}

	class AbortController {
		signal = new AbortSignal();
		abort(reason) {
			this.signal[inside](reason);
		}
	}

	return { DOMException, Event, CustomEvent, EventTarget, AbortSignal, AbortController };
};
