export declare const PROTOCOL: 1;

export type ErrorCode =
  | "invalid_request"
  | "unsupported_type"
  | "unsupported_event"
  | "unsupported_protocol"
  | "invalid_project"
  | "line_too_long"
  | "duplicate_correlation_id"
  | "cancelled"
  | "shutting_down"
  | "overloaded"
  | "internal_error";

/** The server did not execute a request. */
export declare class BusError extends Error {
  /** A documented code; a newer server may have others. */
  readonly code: ErrorCode | (string & {});
  constructor(code: string, message: string);
}

/** The connection is closed. What was asked was not answered. */
export declare class ClosedError extends Error {}

/** `AggregatedHookResult` of the hook reference. */
export interface AggregatedHookResult {
  success: boolean;
  finalOutput?: Record<string, unknown>;
  allOutputs: Record<string, unknown>[];
  errors: { message: string }[];
  totalDuration: number;
}

/** What `hookrail fire --json` prints, in its most used parts. */
export interface Outcome {
  event: string;
  decision: "deny" | "ask" | "allow" | null;
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
  toolConfig: Record<string, unknown> | null;
  aggregated: AggregatedHookResult;
  runs: { hook: string; dialect: string; end: string; exitCode: number | null; durationMs: number }[];
  skipped: { hook: string; dialect: string; why: string; detail: string }[];
  diagnostics: { level: "error" | "warning" | "note"; code: string; message: string }[];
  [key: string]: unknown;
}

/** What the hooks of a request did. */
export declare class Response {
  readonly correlationId: string;
  readonly output: AggregatedHookResult;
  readonly outcome: Outcome;
  readonly queueMs: number;
  readonly durationMs: number;
  get decision(): "deny" | "ask" | "allow" | null;
  get denied(): boolean;
  /** Whether the user has to be asked. Where nobody can be asked this is a deny. */
  get mustAsk(): boolean;
  get mustStop(): boolean;
  get reason(): string | null;
  /** What the tool gets, when a hook changed it. */
  get toolInput(): Record<string, unknown> | null;
}

export interface Welcome {
  protocol: number;
  server: string;
  capabilities: string[];
  lineLimit: number;
  inFlightLimit: number;
}

/** Something that happened to a request. */
export interface Lifecycle {
  correlationId: string;
  phase: "queued" | "planned" | "hook-started" | "hook-ended";
  hook?: string;
  hooks?: number;
  durationMs?: number;
}

export interface ExecuteOptions {
  correlationId?: string;
  project?: string;
  /** W3C Trace Context. */
  traceparent?: string;
  wait?: "answers" | "all";
  /** Cancels the request. */
  signal?: AbortSignal;
}

export interface SpawnOptions {
  program?: string;
  args?: string[];
  project?: string;
  env?: Record<string, string>;
}

/** One connection. */
export declare class Client {
  private constructor();
  /** Connects to `hookrail serve --socket PATH`. */
  static connect(path: string): Promise<Client>;
  /** Starts a server of its own, on standard input and output. */
  static spawn(options?: SpawnOptions): Client;
  hello(client?: string): Promise<Welcome>;
  execute(eventName: string, input: Record<string, unknown>, options?: ExecuteOptions): Promise<Response>;
  cancel(correlationId: string): void;
  ping(): Promise<void>;
  onLifecycle(listener: ((news: Lifecycle) => void) | null): void;
  close(): Promise<void>;
}
