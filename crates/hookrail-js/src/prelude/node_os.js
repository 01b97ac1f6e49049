// node:os, as far as it says something true about this machine.
const { sync, named, part } = globalThis.__hookrail;
const about = sync("process", "about", {});
const environment = part("node.js").process.env;
export const EOL = "\n";
export const homedir = () => environment.HOME ?? "/";
export const tmpdir = () => (environment.TMPDIR ?? "/tmp").replace(/(.)\/$/, "$1");
export const platform = () => about.platform;
export const arch = () => about.arch;
export const type = () => ({ linux: "Linux", darwin: "Darwin", win32: "Windows_NT" })[about.platform] ?? about.platform;
export const hostname = () => about.hostname;
export const cpus = () => Array.from({ length: about.cpus }, () => ({ model: "", speed: 0, times: {} }));
export const availableParallelism = () => about.cpus;
export const userInfo = () => ({ username: environment.USER ?? environment.LOGNAME ?? "", homedir: homedir(), shell: environment.SHELL ?? null, uid: -1, gid: -1 });
export const endianness = () => "LE";
export default named("node:os", { EOL, homedir, tmpdir, platform, arch, type, hostname, cpus, availableParallelism, userInfo, endianness });
