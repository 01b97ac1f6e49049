// node:process is the global.
const { process } = globalThis;
export const { env, cwd, platform, arch, argv, pid, stdout, stderr, nextTick, version, versions } = process;
export default process;
