// node:buffer.
export const { Buffer, Blob, atob, btoa } = globalThis;
export default globalThis.__hookrail.named("node:buffer", { Buffer, Blob, atob, btoa });
