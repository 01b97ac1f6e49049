// node:perf_hooks: the clock.
export const performance = globalThis.performance;
export default globalThis.__hookrail.named("node:perf_hooks", { performance });
