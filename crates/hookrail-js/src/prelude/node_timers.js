// node:timers, which are the global ones.
export const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
export default { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
