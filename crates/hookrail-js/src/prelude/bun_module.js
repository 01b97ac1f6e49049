// The package `bun`, which is what the global Bun is.
const { Bun } = globalThis.__hookrail.part("bun.js");
export const { file, write, spawn, spawnSync, which, $, env, sleep, nanoseconds } = Bun;
export default Bun;
