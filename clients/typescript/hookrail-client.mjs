// A client of hookrail's message bus, with nothing but Node's own modules. The types are in hookrail-client.d.ts.
//
//   const hooks = Client.spawn({ project: "." });
//   const answer = await hooks.execute("BeforeTool", { tool_name: "write_file", tool_input: { path: ".env" } });
//   if (answer.denied) console.log("blocked:", answer.reason);
//   await hooks.close();
//
// A request that was not executed rejects with a BusError: treat that as a guard that could not be asked, not as a yes.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createConnection } from "node:net";

export const PROTOCOL = 1;

/** The server did not execute a request. `code` is one of the documented error codes. */
export class BusError extends Error {
  constructor(code, message) {
    super(`${message} (${code})`);
    this.name = "BusError";
    this.code = code;
  }
}

/** The connection is closed. What was asked was not answered. */
export class ClosedError extends Error {
  constructor() {
    super("the connection to the server is closed");
    this.name = "ClosedError";
  }
}

/** What the hooks of a request did. */
export class Response {
  constructor(payload) {
    this.correlationId = payload.correlationId;
    this.output = payload.output ?? {};
    this.outcome = payload.outcome ?? {};
    this.queueMs = payload.queueMs ?? 0;
    this.durationMs = payload.durationMs ?? 0;
  }
  get decision() {
    return this.outcome.decision ?? null;
  }
  get denied() {
    return this.decision === "deny";
  }
  get mustAsk() {
    return this.decision === "ask";
  }
  get mustStop() {
    return this.outcome.stop === true;
  }
  get reason() {
    return this.outcome.reason ?? null;
  }
  get toolInput() {
    return this.outcome.toolInput ?? null;
  }
}

/** One connection. Make it with `connect` or `spawn`. */
export class Client {
  #writer;
  #end;
  #waiting = new Map();
  #listener = null;
  #closed = false;
  #ended;

  constructor(reader, writer, end) {
    this.#writer = writer;
    this.#end = end;
    let rest = [];
    this.#ended = new Promise((resolve) => {
      const over = () => {
        this.#over();
        resolve();
      };
      reader.on("data", (chunk) => {
        let from = 0;
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
          rest.push(chunk.subarray(from, at));
          this.#take(Buffer.concat(rest).toString("utf8"));
          rest = [];
          from = at + 1;
        }
        if (from < chunk.length) rest.push(chunk.subarray(from));
      });
      reader.on("close", over);
      reader.on("error", over);
    });
    // Writing to a server that is gone is noticed by the reader too.
    if (writer !== reader) writer.on("error", () => {});
  }

  /** Connects to `hookrail serve --socket PATH`. */
  static connect(path) {
    return new Promise((resolve, reject) => {
      const socket = createConnection(path);
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Client(socket, socket, () => socket.destroy()));
      });
    });
  }

  /** Starts a server of its own, on standard input and output. It ends with the client. */
  static spawn({ program = "hookrail", args = [], project, env } = {}) {
    const where = project === undefined ? [] : ["--project", project];
    const child = spawn(program, ["serve", "--stdio", ...args, ...where], { stdio: ["pipe", "pipe", "inherit"], env });
    child.on("error", () => child.stdout.destroy());
    return new Client(child.stdout, child.stdin, () => child.stdin.end());
  }

  /** Agrees on a protocol. */
  hello(client = "hookrail-client.mjs") {
    return this.#ask("hello", { protocol: PROTOCOL, client });
  }

  /** Runs the hooks of an event. Aborting the signal cancels the request. */
  async execute(eventName, input, { correlationId = randomUUID(), project, traceparent, wait, signal } = {}) {
    const cancel = () => this.cancel(correlationId);
    signal?.throwIfAborted();
    const asked = this.#ask("HOOK_EXECUTION_REQUEST", { correlationId, eventName, input, project, traceparent, wait });
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return new Response(await asked);
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Ends a request and its hooks. It gets its answer all the same: a BusError with the code `cancelled`. */
  cancel(correlationId) {
    if (!this.#closed) this.#send("cancel", { correlationId });
  }

  async ping() {
    await this.#ask("ping", {});
  }

  /** Tells what happens to requests from now on; with null, ceases to. */
  onLifecycle(listener) {
    this.#listener = listener;
    this.#send("notify", { lifecycle: listener !== null });
  }

  /** Closes the connection. A server of one's own finishes what runs; one on a socket ends it. */
  async close() {
    this.#end();
    await this.#ended;
  }

  #ask(type, payload) {
    if (this.#closed) return Promise.reject(new ClosedError());
    const correlationId = payload.correlationId ?? randomUUID();
    if (this.#waiting.has(correlationId)) {
      return Promise.reject(new RangeError(`a request with the correlationId ${correlationId} is still in flight`));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.set(correlationId, { resolve, reject });
      this.#send(type, { ...payload, correlationId });
    });
  }

  #send(type, payload) {
    this.#writer.write(`${JSON.stringify({ type, payload })}\n`);
  }

  #take(line) {
    if (line.trim() === "") return;
    const { type, payload = {} } = JSON.parse(line);
    if (type === "notify") {
      this.#listener?.(payload);
      return;
    }
    // Whoever cancels waits for the response, which says more.
    if (type === "cancel") return;
    const waiting = this.#waiting.get(payload.correlationId);
    this.#waiting.delete(payload.correlationId);
    if (payload.error) waiting?.reject(new BusError(payload.error.code, payload.error.message));
    else waiting?.resolve(payload);
  }

  #over() {
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) reject(new ClosedError());
    this.#waiting.clear();
  }
}
