// Why there is no outcome. Every class here is a NotGuarded.

/** No outcome was obtained, so the operation is not guarded. This is never a permission. */
export class NotGuarded extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The server did not execute the request. `code` is one of the documented error codes. */
export class BusError extends NotGuarded {
  constructor(code, message) {
    super(`${message} (${code})`);
    this.code = code;
  }
}

/** The request is longer than a line may be. Found before sending, or by the server. */
export class RequestTooLargeError extends BusError {
  constructor(message) {
    super("line_too_long", message);
  }
}

/** The request cannot be sent: its input has no JSON form, or its correlation id is in use. */
export class InvalidInputError extends NotGuarded {}

/** There was no answer before the deadline. The request was cancelled. */
export class TimedOutError extends NotGuarded {}

/** The caller's signal was aborted. The request was cancelled. `cause` is the signal's reason. */
export class AbortedError extends NotGuarded {
  constructor(reason) {
    super("the request was aborted", { cause: reason });
    // The name that programs look for after aborting something.
    this.name = "AbortError";
  }
}

/** The server sent something that cannot be read as an answer. */
export class InvalidAnswerError extends NotGuarded {}

/** An answer is longer than the client's limit. */
export class AnswerTooLargeError extends InvalidAnswerError {}

/** The connection is closed. Pending requests were not answered. */
export class ClosedError extends NotGuarded {}

/** There is no connection to a server, and none could be made. */
export class ConnectFailedError extends ClosedError {}

/** The `hookrail` program cannot be started. */
export class ProgramMissingError extends ConnectFailedError {}

/** Another user owns the socket or its folder, or could replace one of them. */
export class UntrustedSocketError extends ConnectFailedError {}
