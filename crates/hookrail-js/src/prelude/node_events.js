// node:events: an emitter.
export class EventEmitter {
	#listeners = new Map();
	on(event, listener) {
		this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), { listener, once: false }]);
		return this;
	}
	once(event, listener) {
		this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), { listener, once: true }]);
		return this;
	}
	off(event, listener) {
		this.#listeners.set(event, (this.#listeners.get(event) ?? []).filter((known) => known.listener !== listener));
		return this;
	}
	removeAllListeners(event) {
		event === undefined ? this.#listeners.clear() : this.#listeners.delete(event);
		return this;
	}
	emit(event, ...args) {
		const known = this.#listeners.get(event) ?? [];
		this.#listeners.set(event, known.filter((entry) => !entry.once));
		for (const { listener } of known) listener.apply(this, args);
		return known.length > 0;
	}
	listenerCount(event) {
		return (this.#listeners.get(event) ?? []).length;
	}
	setMaxListeners() {
		return this;
	}
}
EventEmitter.prototype.addListener = EventEmitter.prototype.on;
EventEmitter.prototype.removeListener = EventEmitter.prototype.off;
EventEmitter.EventEmitter = EventEmitter;
export const once = (emitter, event) => new Promise((resolve) => emitter.once(event, (...args) => resolve(args)));
export default EventEmitter;
