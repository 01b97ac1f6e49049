// One connection: the protocol's session, and what waits to be sent.

import { endProcess } from "./endpoint.mjs";
import { ClosedError } from "./errors.mjs";
import { refusal } from "./messages.mjs";
import { Lines, Session, encode } from "./protocol.mjs";

export class Connection {
  #reader;
  #writer;
  #child;
  #session;
  // What is not in the stream's buffer yet, by the name of its request: so it can still be withdrawn.
  #queue = new Map();
  #controls = 0;
  #full = false;
  #finishing = false;
  #over = false;
  #ended;
  #end;
  /** Whether the server has ever said anything. */
  heard = false;

  constructor({ reader, writer, child }, answerLimit, report, deliver) {
    this.#reader = reader;
    this.#writer = writer;
    this.#child = child;
    this.#session = new Session(report);
    this.#ended = new Promise((resolve) => (this.#end = resolve));
    const lines = new Lines(answerLimit);
    reader.on("data", (data) => {
      this.heard = true;
      for (const line of lines.feed(data)) {
        const news = this.#session.receive(line);
        if (news !== null) deliver(news);
      }
    });
    for (const event of ["end", "close", "error"]) reader.on(event, () => this.drop());
    writer.on("drain", () => {
      this.#full = false;
      this.#pump();
    });
    // The reader notices the end too, and answers may still come.
    if (writer !== reader) writer.on("error", () => {});
  }

  /** Whether a request can be sent. */
  get alive() {
    return !this.#over && !this.#finishing && this.#writer.writable;
  }

  /** Sends a request; `resolve` or `reject` is called once. False if it was not taken. */
  ask({ name, line, answer, read }, resolve, reject) {
    try {
      if (!this.alive) throw this.#lost();
      this.#session.begin(name, { answer, read, resolve, reject });
    } catch (error) {
      reject(error);
      return false;
    }
    this.#send(name, line);
    return true;
  }

  /** Ends a request that has no waiter any more. Does nothing if it is settled. */
  giveUp({ name, type }) {
    if (!this.#session.abandon(name)) return;
    if (this.#queue.delete(name)) this.#session.forget(name);
    else if (type === "HOOK_EXECUTION_REQUEST") this.control("cancel", name, {});
  }

  /** Sends a message that has no answer to wait for. */
  control(type, name, payload) {
    if (this.alive) this.#send(`\0${++this.#controls}`, encode(type, name, payload));
  }

  /** Ends the connection: a server that the client started answers first; one on a socket is disconnected. */
  async finish(patience) {
    if (this.#child !== null) {
      const giveUp = Date.now() + patience;
      this.#finishing = true;
      this.#pump();
      let timer;
      await Promise.race([this.#ended, new Promise((resolve) => (timer = setTimeout(resolve, patience)))]);
      clearTimeout(timer);
      await endProcess(this.#child, Math.min(1000, Math.max(0, giveUp - Date.now())));
    }
    this.drop();
  }

  /** Ends the connection at once, and fails what waits. */
  drop() {
    if (this.#over) return;
    this.#over = true;
    this.#end();
    this.#queue.clear();
    this.#reader.destroy();
    this.#writer.destroy();
    // Its pipes are closed, so it ends; until then it must be watched.
    if (this.#child !== null) void endProcess(this.#child, 1000);
    this.#session.failAll(() => this.#lost());
  }

  #send(name, line) {
    this.#queue.set(name, line);
    this.#pump();
  }

  #pump() {
    for (const [name, line] of this.#queue) {
      if (this.#full || !this.#writer.writable) return;
      this.#queue.delete(name);
      this.#full = !this.#writer.write(line);
    }
    if (this.#finishing && this.#queue.size === 0) this.#writer.end();
  }

  #lost() {
    if (this.#session.parting !== null) return refusal(this.#session.parting);
    const status = this.#child?.exitCode ?? this.#child?.signalCode ?? null;
    const more = status === null ? "" : `; the server ended with ${status}, and its standard error says why`;
    return new ClosedError(`the connection to the server is closed${more}`);
  }
}
