// A project with hooks, the real server, and servers that misbehave.

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
/** Nothing here takes this long; it only ends a test that would hang. */
export const HANG = 60_000;
export const BLOCKED = { tool_name: "blocked", tool_input: { path: "a" } };
export const tool = (tool_name, extra = {}) => ({ tool_name, tool_input: { path: "a", ...extra } });
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Skips by name. With HOOKRAIL_REQUIRE_ALL=1 nothing may be missing. */
export function skipOrFail(test, missing) {
  if (process.env.HOOKRAIL_REQUIRE_ALL === "1") throw new Error(`${missing} is missing`);
  test.skip(`${missing} is missing`);
}

/** The real server: HOOKRAIL_PROGRAM, or the debug build of this tree, or what is on PATH. */
export function program() {
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "hookrail"));
  const found = [process.env.HOOKRAIL_PROGRAM, join(PACKAGE, "../../target/debug/hookrail"), ...onPath];
  return found.find((path) => path && existsSync(path));
}

export async function waitUntil(done) {
  for (const giveUp = Date.now() + HANG; !(await done()); await sleep(20)) {
    if (Date.now() > giveUp) throw new Error("it never happened");
  }
}

/** Removes a folder into which a process that is ending may still write. */
async function removeFolder(folder) {
  await waitUntil(() => {
    try {
      rmSync(folder, { recursive: true, force: true });
      return true;
    } catch (error) {
      if (error.code === "ENOTEMPTY") return false;
      throw error;
    }
  });
}

/** A folder of the test's own, and what is in it. */
export class Sandbox {
  constructor(test) {
    this.test = test;
    this.base = realpathSync(mkdtempSync(join(tmpdir(), "hr-")));
    this.servers = [];
    test.after(async () => {
      // First: a server that still writes into the folder would make its removal fail, and be left running.
      for (const server of this.servers) server.kill("SIGKILL");
      await removeFolder(this.base);
    });
  }

  get env() {
    const home = join(this.base, "home");
    mkdirSync(home, { recursive: true });
    return { PATH: process.env.PATH, HOME: home, LLXPRT_SYSTEM_SETTINGS_PATH: join(this.base, "no-system-settings.json") };
  }

  /** A project whose BeforeTool hooks are commands, by the tool they match, and with a command for each other event. */
  project(hooks = {}, events = {}) {
    const commands = {
      blocked: "echo no >&2; exit 2",
      slow: "echo $$ > pid.new; mv pid.new pid; exec sleep 600",
      "^write$": `printf '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"path":"b"}}}'`,
      asks: `printf '{"decision":"ask","reason":"sure?"}'`,
      ...hooks,
    };
    const entries = Object.entries(commands).map(([matcher, command]) => ({
      matcher,
      hooks: [{ type: "command", command }],
    }));
    const project = join(this.base, "project");
    mkdirSync(join(project, ".llxprt"), { recursive: true });
    const others = Object.fromEntries(
      Object.entries(events).map(([event, command]) => [event, [{ hooks: [{ type: "command", command }] }]]),
    );
    const settings = { hooksConfig: { enabled: true }, hooks: { BeforeTool: entries, ...others } };
    writeFileSync(join(project, ".llxprt/settings.json"), JSON.stringify(settings));
    return project;
  }

  /** The real server on a socket. */
  async serve(project) {
    const path = join(this.base, "s");
    const args = ["serve", "--socket", path, "--trust-project", "--project", project];
    const server = spawn(program(), args, { env: this.env, cwd: project, stdio: ["ignore", "ignore", "inherit"] });
    this.servers.push(server);
    await waitUntil(() => answers(path));
    return { server, path };
  }

  /** Stops a process as Ctrl-Z or a suspended machine does. */
  async stop({ pid }) {
    process.kill(pid, "SIGSTOP");
    await waitUntil(() => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1][0] === "T");
  }

  /** A server that does what a test wants with each connection. The path of its socket. */
  async fake(behave) {
    const path = join(this.base, `fake-${Math.random().toString(36).slice(2)}`);
    const open = new Set();
    const server = createServer((socket) => {
      open.add(socket);
      socket.on("error", () => {});
      Promise.resolve(behave(new Peer(socket))).then(
        () => socket.end(),
        () => socket.destroy(),
      );
    });
    await new Promise((resolve) => server.listen(path, resolve));
    chmodSync(path, 0o600);
    this.test.after(() => {
      for (const socket of open) socket.destroy();
      server.close();
    });
    return path;
  }
}

const answers = (path) =>
  new Promise((resolve) => {
    const probe = createConnection(path, () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", () => resolve(false));
  });

/** The far end of a client's connection. */
export class Peer {
  #lines;

  constructor(socket) {
    this.socket = socket;
    this.#lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  }

  /** The payload of the next message of that type; the connection's end ends the server. */
  async payload(kind = "HOOK_EXECUTION_REQUEST") {
    for (;;) {
      const { done, value } = await this.#lines.next();
      if (done) throw new Error("the client is gone");
      const { type, payload } = JSON.parse(value);
      if (type === kind) return payload;
    }
  }

  raw(data) {
    this.socket.write(data);
  }

  say(type, payload) {
    this.raw(`${JSON.stringify({ type, payload })}\n`);
  }

  answer(correlationId, decision = null, more = {}) {
    const outcome = { decision, stop: false, toolInput: null, reason: null, ...more };
    this.say("HOOK_EXECUTION_RESPONSE", { correlationId, success: true, output: {}, outcome });
  }

  refuse(correlationId, code) {
    this.say("HOOK_EXECUTION_RESPONSE", { correlationId, success: false, error: { code, message: "no" } });
  }
}
