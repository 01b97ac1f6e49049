// The client. The types are in index.d.ts.

import { randomUUID } from "node:crypto";
import { resolve as absolute } from "node:path";
import { Connection } from "./connection.mjs";
import { openProcess, openSocket } from "./endpoint.mjs";
import {
  AbortedError,
  ClosedError,
  ConnectFailedError,
  InvalidInputError,
  NotGuarded,
  ProgramMissingError,
  TimedOutError,
  UntrustedSocketError,
} from "./errors.mjs";
import { readPong, readResponse, readWelcome } from "./messages.mjs";
import { ANSWER_LIMIT, LINE_LIMIT, PROTOCOL, encode } from "./protocol.mjs";

/** The deadline of `execute` in milliseconds. Hooks have their own timeouts, which end them much earlier. */
export const EXECUTE_TIMEOUT = 600_000;
/** The deadline in milliseconds of everything a server answers at once: connecting, `hello`, `ping`, and closing. */
export const CONTROL_TIMEOUT = 10_000;

const SLOWEST_RETRY = 2000;
const DEFAULTS = {
  timeout: EXECUTE_TIMEOUT,
  controlTimeout: CONTROL_TIMEOUT,
  reconnect: true,
  reconnectTimeout: CONTROL_TIMEOUT,
  answerLimit: ANSWER_LIMIT,
  onError: (error) => process.emitWarning(error instanceof Error ? error : String(error)),
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls the host's function. What it throws goes to `report`, also if it is an async function. */
function callGuarded(callback, value, report) {
  try {
    const done = callback?.(value);
    if (typeof done?.then === "function") done.then(undefined, report);
  } catch (error) {
    report(error);
  }
}

/** A client. Make it with `connect` or `spawn`. */
export class Client {
  #open;
  #options;
  #connection = null;
  #connecting = null;
  #attempts = 0;
  #closed = false;
  #lineLimit = LINE_LIMIT;
  #listener = null;

  constructor(open, options) {
    this.#open = open;
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    this.#options = { ...DEFAULTS, ...Object.fromEntries(given) };
  }

  /** Connects to `hookrail serve --socket PATH`, if no other user can be behind the path. */
  static async connect(path, options = {}) {
    const timeout = options.controlTimeout ?? CONTROL_TIMEOUT;
    const client = new Client(() => openSocket(path, timeout), options);
    await client.#openConnection();
    return client;
  }

  /** Starts a server, on standard input and output. It ends with the client. */
  static spawn({ program = "hookrail", args = [], project, env, ...options } = {}) {
    const where = project === undefined ? [] : ["--project", project];
    const client = new Client(() => openProcess(program, ["serve", "--stdio", ...args, ...where], env), options);
    client.#start(client.#openConnection());
    return client;
  }

  /** Agrees on a protocol. */
  async hello(client = "hookrail-client (node)", { timeout, signal } = {}) {
    const message = this.#message("hello", undefined, { protocol: PROTOCOL, client }, "hello", readWelcome);
    const welcome = await this.#exchange(message, timeout ?? this.#options.controlTimeout, signal);
    this.#lineLimit = welcome.lineLimit;
    return welcome;
  }

  /** Runs the hooks of an event. After the deadline, or when the signal is aborted, they are cancelled. */
  async execute(eventName, input, options = {}) {
    const { correlationId, project, traceparent, tracestate, wait, timeout, signal } = options ?? {};
    const where = project === undefined ? undefined : absolute(String(project));
    const payload = { eventName, input, project: where, traceparent, tracestate, wait };
    const type = "HOOK_EXECUTION_REQUEST";
    const message = this.#message(type, correlationId, payload, "HOOK_EXECUTION_RESPONSE", readResponse);
    return await this.#exchange(message, timeout ?? this.#options.timeout, signal);
  }

  /** Checks that the server answers. */
  async ping({ timeout, signal } = {}) {
    const message = this.#message("ping", undefined, {}, "pong", readPong);
    await this.#exchange(message, timeout ?? this.#options.controlTimeout, signal);
  }

  /** Ends a request and its hooks. The call that waits rejects with a BusError with the code `cancelled`. */
  cancel(correlationId) {
    this.#connection?.control("cancel", correlationId, {});
  }

  /** Calls `listener` with what happens to requests from now on; null ends it. */
  onLifecycle(listener) {
    this.#listener = listener;
    this.#connection?.control("notify", undefined, { lifecycle: listener !== null });
  }

  /** Closes the connection. A server that the client started finishes running requests; one on a socket ends them. */
  async close() {
    this.#closed = true;
    // A connection that is being made is dropped when it is there.
    await this.#connecting?.catch(() => {});
    await this.#connection?.finish(this.#options.controlTimeout);
  }

  #message(type, correlationId, payload, answer, read) {
    const name = correlationId || randomUUID();
    if (typeof name !== "string") throw new InvalidInputError(`${name} is not a correlation id: it must be a string`);
    return { type, name, line: encode(type, name, payload, this.#lineLimit), answer, read };
  }

  #exchange(message, timeout, signal) {
    return new Promise((resolve, reject) => {
      if (!(timeout >= 0)) throw new InvalidInputError(`${timeout} is not a timeout`);
      let connection = null;
      let timer;
      let settled = false;
      const settle = (act, value) => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        connection?.giveUp(message);
        act(value);
      };
      const abort = () => settle(reject, new AbortedError(signal.reason));
      if (signal?.aborted) return abort();
      signal?.addEventListener("abort", abort, { once: true });
      if (timeout !== Infinity) {
        const late = () => settle(reject, new TimedOutError("there was no answer before the deadline"));
        timer = setTimeout(late, Math.min(timeout, 2 ** 31 - 1));
      }
      const send = (to) => {
        if (settled) return;
        const taken = to.ask(message, (value) => settle(resolve, value), (error) => settle(reject, error));
        // A request that was not taken must not be given up: another one may have its name.
        if (taken) connection = to;
      };
      const ready = this.#connected();
      // Without a turn of the event loop in between, so that a `cancel` that follows is sent after the request.
      if (ready instanceof Connection) send(ready);
      else ready.then(send, (error) => settle(reject, error));
    });
  }

  /** The connection, or the promise of one. */
  #connected() {
    if (this.#closed) return Promise.reject(new ClosedError("the client is closed"));
    if (this.#connecting !== null) return this.#connecting;
    const connection = this.#connection;
    if (connection !== null && (connection.alive || !this.#options.reconnect)) return connection;
    return this.#start(this.#reconnect());
  }

  #start(connecting) {
    this.#connecting = connecting;
    // Every caller may be gone before it fails; that must not be an unhandled rejection.
    const over = () => (this.#connecting = null);
    connecting.then(over, over);
    return connecting;
  }

  async #reconnect() {
    const giveUp = Date.now() + this.#options.reconnectTimeout;
    for (;;) {
      // A server that has answered before is tried at once; one that never did is given time.
      if (this.#connection?.heard) {
        this.#attempts = 0;
        this.#connection.heard = false;
      }
      if (this.#attempts > 0) {
        const pause = Math.min(SLOWEST_RETRY, 50 * 2 ** Math.min(this.#attempts - 1, 10)) * (0.5 + Math.random() / 2);
        await sleep(Math.max(0, Math.min(pause, giveUp - Date.now())));
      }
      this.#attempts += 1;
      try {
        return await this.#openConnection();
      } catch (error) {
        const hopeless = error instanceof ProgramMissingError || error instanceof UntrustedSocketError;
        if (hopeless || !(error instanceof ConnectFailedError) || Date.now() >= giveUp) throw error;
      }
    }
  }

  async #openConnection() {
    if (this.#closed) throw new ClosedError("the client is closed");
    this.#connection?.drop();
    let streams;
    try {
      streams = await this.#open();
    } catch (error) {
      throw error instanceof NotGuarded ? error : new ConnectFailedError(String(error), { cause: error });
    }
    const { answerLimit } = this.#options;
    this.#connection = new Connection(streams, answerLimit, (error) => this.#report(error), (news) => this.#deliver(news));
    if (this.#listener !== null) this.#connection.control("notify", undefined, { lifecycle: true });
    return this.#connection;
  }

  #deliver(news) {
    callGuarded(this.#listener, news, (error) => this.#report(error));
  }

  #report(error) {
    callGuarded(this.#options.onError, error, (second) => process.emitWarning(`onError threw: ${second}`));
  }
}
