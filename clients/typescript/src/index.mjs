// A client of hookrail's message bus, with nothing but Node's own modules. The types are in index.d.ts.

export { CONTROL_TIMEOUT, Client, EXECUTE_TIMEOUT } from "./client.mjs";
export * from "./errors.mjs";
export { Response } from "./messages.mjs";
export { ANSWER_LIMIT, LINE_LIMIT, PROTOCOL } from "./protocol.mjs";
