// What a server says, as values.

import { BusError, InvalidAnswerError, RequestTooLargeError } from "./errors.mjs";

const DECISIONS = [null, "allow", "ask", "deny"];

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The outcome of a request. An object is always true: read `mayProceed`, `isDenied`, `mustAsk` or `decision`. */
export class Response {
  constructor(payload) {
    this.correlationId = payload.correlationId;
    this.output = payload.output;
    this.outcome = payload.outcome;
    this.queueMs = payload.queueMs ?? 0;
    this.durationMs = payload.durationMs ?? 0;
    this.truncated = payload.truncated === true;
  }
  get decision() {
    return this.outcome.decision;
  }
  /** Whether the operation is allowed: not denied, no approval required, no stop. */
  get mayProceed() {
    return (this.decision === null || this.decision === "allow") && !this.mustStop;
  }
  get isDenied() {
    return this.decision === "deny";
  }
  get denied() {
    return this.isDenied;
  }
  get mustAsk() {
    return this.decision === "ask";
  }
  get mustStop() {
    return this.outcome.stop !== false;
  }
  get reason() {
    return this.outcome.reason ?? this.outcome.stopReason ?? null;
  }
  get toolInput() {
    return this.outcome.toolInput ?? null;
  }
  get modelRequest() {
    return this.outcome.nativeRequest ?? this.outcome.llmRequest ?? null;
  }
  get modelResponse() {
    return this.outcome.nativeResponse ?? this.outcome.llmResponse ?? null;
  }
  /** `answer == true` and the like are mistakes. */
  [Symbol.toPrimitive]() {
    throw new TypeError("a Response is neither yes nor no: read mayProceed, isDenied, mustAsk or decision");
  }
}

/** The error of an answer that is not a success. */
export function refusal(payload) {
  const { code, message } = isObject(payload.error) ? payload.error : {};
  const text = typeof message === "string" ? message : "the server did not execute the request and did not say why";
  if (code === "line_too_long") return new RequestTooLargeError(text);
  return new BusError(typeof code === "string" ? code : "internal_error", text);
}

/** Reads an answer. Anything that is not clearly an outcome is an error. */
export function readResponse(payload) {
  if (payload.success !== true) throw refusal(payload);
  const { outcome, output } = payload;
  if (!isObject(outcome) || !isObject(output)) throw new InvalidAnswerError("the answer has no outcome");
  if (!Object.hasOwn(outcome, "decision") || !DECISIONS.includes(outcome.decision)) {
    throw new InvalidAnswerError(`the answer's decision is ${outcome.decision}, which this client does not know`);
  }
  const changed = outcome.toolInput ?? null;
  if (typeof outcome.stop !== "boolean" || (changed !== null && !isObject(changed))) {
    throw new InvalidAnswerError("the answer's outcome is malformed");
  }
  return new Response(payload);
}

/** Reads the answer to a `hello`. */
export function readWelcome(payload) {
  if (payload.success === false) throw refusal(payload);
  const { protocol, server, capabilities, lineLimit, inFlightLimit } = payload;
  const whole = [protocol, lineLimit, inFlightLimit].every(Number.isSafeInteger);
  if (!whole || typeof server !== "string" || !Array.isArray(capabilities)) {
    throw new InvalidAnswerError("the answer to hello is malformed");
  }
  return { protocol, server, capabilities: capabilities.map(String), lineLimit, inFlightLimit };
}

/** Reads the answer to a `ping`. */
export function readPong(payload) {
  if (payload.success === false) throw refusal(payload);
}

/** Reads a progress report. */
export function readLifecycle(payload) {
  const { correlationId, phase, hook, hooks, durationMs } = payload;
  if (typeof correlationId !== "string" || typeof phase !== "string") {
    throw new InvalidAnswerError("a progress report is malformed");
  }
  return { correlationId, phase, hook, hooks, durationMs };
}
