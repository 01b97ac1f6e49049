// The protocol without input and output: lines out of bytes, and answers to the requests that wait for them.
//
// Nothing here knows sockets or processes. Whatever arrives, each pending request is settled exactly once, and a line
// that cannot be attributed to a request settles all of them: a guard's answer may have been in it.

import { AnswerTooLargeError, InvalidAnswerError, InvalidInputError, NotGuarded, RequestTooLargeError } from "./errors.mjs";
import { isObject, readLifecycle, refusal } from "./messages.mjs";

export const PROTOCOL = 1;
/** How long a request may be unless the server's `hello` names another limit. */
export const LINE_LIMIT = 16 * 1024 * 1024;
/** How long an answer may be. */
export const ANSWER_LIMIT = 64 * 1024 * 1024;

/** How many requests without a waiter are remembered, so that their late answers are recognised. */
const REMEMBERED = 10_000;
/** How much of a line is searched for the request it answers. */
const PREFIX = 64 * 1024;
const NAME =
  /^\s*\{\s*"type"\s*:\s*"[^"\\]*"\s*,\s*"payload"\s*:\s*\{\s*"correlationId"\s*:\s*("(?:[^"\\]|\\.)*")/;

const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** JSON.stringify drops or changes these without a word, and a guard would see another input than the tool. */
function strict(_key, value) {
  const kind = value instanceof Number ? "number" : typeof value;
  if (kind === "number" && !Number.isFinite(Number(value))) throw new TypeError(`${value} has no JSON form`);
  if (kind === "function" || kind === "symbol") throw new TypeError(`a ${kind} has no JSON form`);
  if (value instanceof Map || value instanceof Set) throw new TypeError("a Map or Set has no JSON form");
  return value;
}

/**
 * Makes the line of a message. The correlation id comes first: so a server that skips a line for its length still knows
 * which request it was.
 */
export function encode(type, correlationId, payload, limit = LINE_LIMIT) {
  let line;
  try {
    const text = JSON.stringify({ type, payload: { correlationId, ...payload } }, strict);
    // Nothing else is written as such an escape. A server could only put another character in its place.
    if (text.includes("\\ud") && LONE_SURROGATE.test(text)) throw new TypeError("a lone surrogate is not text");
    line = Buffer.from(`${text}\n`);
  } catch (error) {
    throw new InvalidInputError(`the request has no JSON form: ${error?.message}`, { cause: error });
  }
  if (line.length - 1 > limit) {
    throw new RequestTooLargeError(`the request has ${line.length - 1} bytes; the server reads at most ${limit}`);
  }
  return line;
}

/** Cuts what arrives into lines, and skips those that are too long. */
export class Lines {
  #limit;
  #parts = [];
  #length = 0;
  #skipping = false;

  constructor(limit = ANSWER_LIMIT) {
    this.#limit = limit;
  }

  /** Yields the lines that `data` completes, as `{ line }` or `{ overlong }` with the beginning of a skipped one. */
  *feed(data) {
    for (let start = 0; ; ) {
      const end = data.indexOf(10, start);
      const piece = data.subarray(start, end < 0 ? data.length : end);
      if (!this.#skipping && piece.length > 0) {
        this.#parts.push(piece);
        this.#length += piece.length;
        if (this.#length > this.#limit) {
          yield { overlong: this.#take().subarray(0, PREFIX) };
          this.#skipping = true;
        }
      }
      if (end < 0) return;
      if (!this.#skipping && this.#length > 0) yield { line: this.#take() };
      this.#skipping = false;
      start = end + 1;
    }
  }

  #take() {
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    return whole;
  }
}

/** The requests of one connection that wait for their answers. */
export class Session {
  #report;
  #pending = new Map();
  /** What the server refused when nothing was asked: why it is about to close the connection. */
  parting = null;
  // Forgetting the oldest costs a spurious failure of pending requests, never a wrong answer.
  #abandoned = new Set();

  constructor(report) {
    this.#report = report;
  }

  /** Registers a request. `answer` is the type of a good answer and `read` gives its value. */
  begin(name, { answer, read, resolve, reject }) {
    if (this.#pending.has(name) || this.#abandoned.has(name)) {
      throw new InvalidInputError(`a request with the correlationId ${name} is still in flight`);
    }
    this.#pending.set(name, { answer, read, resolve, reject });
  }

  /** Stops waiting for a request. False if it is settled already. */
  abandon(name) {
    if (!this.#pending.delete(name)) return false;
    this.#remember(name);
    return true;
  }

  /** Forgets a request that was never sent: no answer will come. */
  forget(name) {
    this.#abandoned.delete(name);
  }

  /** Fails every pending request. False if there is none. */
  failAll(make) {
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [name, waiter] of pending) {
      this.#remember(name);
      waiter.reject(make());
    }
    return pending.size > 0;
  }

  /** Settles what the line answers. Returns a progress report if it is one. */
  receive({ line, overlong }) {
    if (overlong !== undefined) {
      this.#unreadable(overlong, () => new AnswerTooLargeError("an answer is longer than the client's limit"));
      return null;
    }
    let message;
    try {
      message = decode(line);
    } catch (error) {
      this.#unreadable(line, () => new InvalidAnswerError(`an answer cannot be read: ${error?.message}`));
      return null;
    }
    if (message === null) return null;
    const { type, payload } = message;
    if (type === "notify") {
      try {
        return readLifecycle(payload);
      } catch (error) {
        this.#report(error);
        return null;
      }
    }
    // The answer to `cancel` says less than the response that follows; a newer server may say more than we know.
    if (["HOOK_EXECUTION_RESPONSE", "hello", "pong"].includes(type)) this.#answer(type, payload);
    return null;
  }

  #answer(type, payload) {
    const name = payload.correlationId;
    const refused = type === "HOOK_EXECUTION_RESPONSE" && payload.success !== true;
    const waiter = this.#pending.get(name);
    if (waiter !== undefined) {
      this.#pending.delete(name);
      try {
        if (type !== waiter.answer && !refused) {
          throw new InvalidAnswerError(`expected ${waiter.answer}, and the server answered with ${type}`);
        }
        waiter.resolve(waiter.read(payload));
      } catch (error) {
        waiter.reject(error instanceof NotGuarded ? error : new InvalidAnswerError(String(error), { cause: error }));
      }
    } else if (this.#abandoned.delete(name)) {
      // The late answer of a request that was given up.
    } else if (refused) {
      // A server that could not read the name of a request makes one up, so this is about one of ours.
      if (!this.failAll(() => refusal(payload))) {
        this.parting = payload;
        this.#report(refusal(payload));
      }
    } else {
      this.#report(new InvalidAnswerError(`the server answered a request that was not made: ${name}`));
    }
  }

  #unreadable(line, make) {
    const name = nameIn(line);
    const waiter = this.#pending.get(name);
    if (waiter !== undefined) {
      this.#pending.delete(name);
      waiter.reject(make());
    } else if (!this.#abandoned.delete(name) && !this.failAll(make)) {
      this.#report(make());
    }
  }

  #remember(name) {
    this.#abandoned.add(name);
    if (this.#abandoned.size > REMEMBERED) this.#abandoned.delete(this.#abandoned.values().next().value);
  }
}

function decode(line) {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(line);
  if (text.trim() === "") return null;
  const message = JSON.parse(text);
  if (!isObject(message) || typeof message.type !== "string" || !isObject(message.payload)) {
    throw new TypeError("it has no type or no payload");
  }
  return message;
}

function nameIn(line) {
  const found = NAME.exec(line.subarray(0, PREFIX).toString("utf8"));
  try {
    return found === null ? null : JSON.parse(found[1]);
  } catch {
    return null;
  }
}
