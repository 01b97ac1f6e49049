// node:timers/promises.
const after = (delay, value) => new Promise((resolve) => globalThis.setTimeout(() => resolve(value), delay));
export { after as setTimeout };
export const setImmediate = (value) => after(0, value);
export const scheduler = { wait: (delay) => after(delay) };
export default { setTimeout: after, setImmediate, scheduler };
