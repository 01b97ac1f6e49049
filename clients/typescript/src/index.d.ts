export declare const PROTOCOL: 1;
/** How many bytes a request may have unless the server's `hello` names another limit. */
export declare const LINE_LIMIT: number;
/** How many bytes an answer may have. */
export declare const ANSWER_LIMIT: number;
/** The deadline of `execute` in milliseconds. */
export declare const EXECUTE_TIMEOUT: number;
/** The deadline of connecting, `hello`, `ping` and closing in milliseconds. */
export declare const CONTROL_TIMEOUT: number;

export type ErrorCode =
  | "invalid_request"
  | "unsupported_type"
  | "unsupported_event"
  | "unsupported_protocol"
  | "invalid_project"
  | "unsupported_caller"
  | "line_too_long"
  | "answer_too_long"
  | "duplicate_correlation_id"
  | "cancelled"
  | "shutting_down"
  | "overloaded"
  | "internal_error";

/** No outcome was obtained, so the operation is not guarded. This is never a permission. */
export declare class NotGuarded extends Error {}

/** The server did not execute the request. */
export declare class BusError extends NotGuarded {
  /** A documented code; a newer server may have others. */
  readonly code: ErrorCode | (string & {});
  constructor(code: string, message: string);
}

/** The request is longer than a line may be. Found before sending, or by the server. */
export declare class RequestTooLargeError extends BusError {
  constructor(message: string);
}

/** The request cannot be sent: its input has no JSON form, or its correlation id is in use. */
export declare class InvalidInputError extends NotGuarded {}

/** There was no answer before the deadline. The request was cancelled. */
export declare class TimedOutError extends NotGuarded {}

/** The caller's signal was aborted. The request was cancelled. `cause` is the signal's reason. */
export declare class AbortedError extends NotGuarded {
  constructor(reason: unknown);
}

/** The server sent something that cannot be read as an answer. */
export declare class InvalidAnswerError extends NotGuarded {}

/** An answer is longer than the client's limit. */
export declare class AnswerTooLargeError extends InvalidAnswerError {}

/** The connection is closed. Pending requests were not answered. */
export declare class ClosedError extends NotGuarded {}

/** There is no connection to a server, and none could be made. */
export declare class ConnectFailedError extends ClosedError {}

/** The `hookrail` program cannot be started. */
export declare class ProgramMissingError extends ConnectFailedError {}

/** Another user owns the socket or its folder, or could replace one of them. */
export declare class UntrustedSocketError extends ConnectFailedError {}

/** `AggregatedHookResult` of the hook reference. */
export interface AggregatedHookResult {
  success: boolean;
  finalOutput?: Record<string, unknown>;
  allOutputs: Record<string, unknown>[];
  errors: { message: string }[];
  totalDuration: number;
}

export type Decision = "deny" | "ask" | "allow" | null;

/** What `hookrail fire --json` prints, in its most used parts. */
export interface Outcome {
  event: string;
  decision: Decision;
  reason: string | null;
  stop: boolean;
  stopReason: string | null;
  systemMessage: string | null;
  suppressOutput: boolean;
  additionalContext: string | null;
  toolInput: Record<string, unknown> | null;
  toolOutput: unknown;
  prompt: string | null;
  llmRequest: Record<string, unknown> | null;
  llmResponse: Record<string, unknown> | null;
  nativeRequest: Record<string, unknown> | null;
  nativeResponse: Record<string, unknown> | null;
  toolConfig: Record<string, unknown> | null;
  aggregated: AggregatedHookResult;
  runs: { hook: string; dialect: string; end: string; exitCode: number | null; durationMs: number }[];
  skipped: { hook: string; dialect: string; why: string; detail: string }[];
  diagnostics: { level: "error" | "warning" | "note"; code: string; message: string }[];
  [key: string]: unknown;
}

/** The outcome of a request. An object is always true: read `mayProceed`, `isDenied`, `mustAsk` or `decision`. */
export declare class Response {
  private constructor();
  readonly correlationId: string;
  readonly output: AggregatedHookResult;
  readonly outcome: Outcome;
  readonly queueMs: number;
  readonly durationMs: number;
  /** Whether the server cut texts of the outcome to make the answer fit. What affects the operation is never cut. */
  readonly truncated: boolean;
  get decision(): Decision;
  /** Whether the operation is allowed: not denied, no approval required, no stop. */
  get mayProceed(): boolean;
  get isDenied(): boolean;
  /** The same as `isDenied`. */
  get denied(): boolean;
  /** Whether approval is required. If no user is present, treat this as a denial. */
  get mustAsk(): boolean;
  /** Whether a hook stopped the agent altogether. */
  get mustStop(): boolean;
  /** Why the operation was denied, must be approved or stopped, in a hook's words. */
  get reason(): string | null;
  /** What the tool gets, if a hook changed it. */
  get toolInput(): Record<string, unknown> | null;
  /** What the model gets, if a hook changed it. A request that was given with `contents` comes back whole: images, tool calls and
   * all other members stay. */
  get modelRequest(): Record<string, unknown> | null;
  /** What counts as the response of the model, if a hook changed it or gave one, with every part that is not text. */
  get modelResponse(): Record<string, unknown> | null;
}

export interface Welcome {
  protocol: number;
  server: string;
  capabilities: string[];
  lineLimit: number;
  inFlightLimit: number;
}

/** A report on the progress of a request. */
export interface Lifecycle {
  correlationId: string;
  phase: "queued" | "planned" | "hook-started" | "hook-ended" | (string & {});
  hook?: string | null;
  hooks?: number | null;
  durationMs?: number | null;
}

export interface CallOptions {
  /** The deadline in milliseconds; `Infinity` for none. */
  timeout?: number;
  /** Cancels the request. The call rejects at once with an `AbortedError`. */
  signal?: AbortSignal;
}

export interface ExecuteOptions extends CallOptions {
  correlationId?: string;
  project?: string;
  /** W3C Trace Context. */
  traceparent?: string;
  tracestate?: string;
  wait?: "answers" | "all";
}

export interface ClientOptions {
  /** The deadline of `execute` in milliseconds unless the call names another. */
  timeout?: number;
  /** The deadline of `hello`, `ping`, connecting and closing in milliseconds. */
  controlTimeout?: number;
  /** Whether a call after a lost connection makes a new one. The calls that were lost are never repeated. */
  reconnect?: boolean;
  /** For how long a call tries to make a new connection, with growing pauses, in milliseconds. */
  reconnectTimeout?: number;
  /** The largest answer, in bytes. */
  answerLimit?: number;
  /** Gets what no call can reject with: a listener's error, an answer to nothing. By default a process warning. */
  onError?: (error: unknown) => unknown;
}

export interface SpawnOptions extends ClientOptions {
  program?: string;
  args?: string[];
  project?: string;
  env?: Record<string, string | undefined>;
}

/** A client. Every call resolves with what was asked for or rejects with a `NotGuarded`. */
export declare class Client {
  private constructor();
  /** Connects to `hookrail serve --socket PATH`, if no other user can be behind the path. */
  static connect(path: string, options?: ClientOptions): Promise<Client>;
  /** Starts a server, on standard input and output. It ends with the client. */
  static spawn(options?: SpawnOptions): Client;
  /** Agrees on a protocol. */
  hello(client?: string, options?: CallOptions): Promise<Welcome>;
  /** Runs the hooks of an event. After the deadline, or when the signal is aborted, they are cancelled. */
  execute(eventName: string, input: object, options?: ExecuteOptions): Promise<Response>;
  /** Ends a request and its hooks. The call that waits rejects with a `BusError` with the code `cancelled`. */
  cancel(correlationId: string): void;
  /** Checks that the server answers. */
  ping(options?: CallOptions): Promise<void>;
  /** Calls `listener` with what happens to requests from now on; null ends it. */
  onLifecycle(listener: ((news: Lifecycle) => unknown) | null): void;
  /** Closes the connection. A server that the client started finishes running requests; one on a socket ends them. */
  close(): Promise<void>;
}
