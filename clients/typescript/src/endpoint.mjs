// The two ways to reach a server: a socket, after a check of its owner, and a process that the client starts.

import { spawn } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { createConnection } from "node:net";
import { dirname, resolve } from "node:path";
import { ConnectFailedError, ProgramMissingError, UntrustedSocketError } from "./errors.mjs";

const connectFailed = (path, error) =>
  new ConnectFailedError(`cannot connect to ${path}: ${error.message}; is \`hookrail serve --socket\` running?`, {
    cause: error,
  });

/**
 * Throws an UntrustedSocketError unless only this user (or root) can be behind the path. Both the socket and its folder
 * count: another socket can be put in place by a user who may write in the folder.
 */
export function checkSocket(path) {
  const user = process.geteuid();
  let socket, folders;
  try {
    socket = statSync(path);
    folders = [...new Set([dirname(resolve(path)), dirname(realpathSync(path))])].map((folder) => [folder, statSync(folder)]);
  } catch (error) {
    throw connectFailed(path, error);
  }
  if (!socket.isSocket()) throw new ConnectFailedError(`cannot connect to ${path}: it is not a socket`);
  if (socket.uid !== user && socket.uid !== 0) {
    throw new UntrustedSocketError(`${path} belongs to user ${socket.uid}, not to this user (${user})`);
  }
  if (socket.mode & 0o022) throw new UntrustedSocketError(`${path} is open to other users; run: chmod 600 ${path}`);
  for (const [folder, { uid, mode }] of folders) {
    if (uid !== user && uid !== 0) {
      throw new UntrustedSocketError(`${folder} belongs to user ${uid}, who could replace the socket`);
    }
    if (mode & 0o022 && !(mode & 0o1000)) {
      throw new UntrustedSocketError(`other users could replace the socket; run: chmod go-w ${folder}`);
    }
  }
}

/** Connects to a socket: its streams, and how to end them. */
export function openSocket(path, timeout) {
  return new Promise((fulfil, reject) => {
    checkSocket(path);
    const socket = createConnection(path);
    const timer = setTimeout(() => fail(new Error(`no answer in ${timeout} ms`)), Math.min(timeout, 2 ** 31 - 1));
    const fail = (error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(connectFailed(path, error));
    };
    socket.once("error", fail);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.off("error", fail);
      fulfil({ reader: socket, writer: socket, child: null });
    });
  });
}

/** Starts a server on pipes. */
export function openProcess(program, args, env) {
  return new Promise((fulfil, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"], env });
    child.on("error", (error) => {
      const missing = ["ENOENT", "EACCES", "ENOTDIR"].includes(error.code);
      const text = `the program ${program} cannot be started: ${error.message}`;
      const fix =
        "install hookrail so that it is on PATH (cargo install --path crates/hookrail-cli), or pass the path of the program";
      reject(
        missing
          ? new ProgramMissingError(`${text}; ${fix}`, { cause: error })
          : new ConnectFailedError(text, { cause: error }),
      );
    });
    child.once("spawn", () => fulfil({ reader: child.stdout, writer: child.stdin, child }));
  });
}

/**
 * Waits for the end of a server whose input was closed; one that does not end is ended. The first SIGTERM lets running
 * hooks finish and the second ends them; SIGKILL would leave them behind.
 */
export async function endProcess(child, patience) {
  for (const signal of ["SIGTERM", "SIGTERM", "SIGKILL"]) {
    if (await exits(child, patience)) return;
    child.kill(signal);
    patience = 1000;
  }
  await exits(child, 2 ** 31 - 1);
}

function exits(child, patience) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(true);
  return new Promise((fulfil) => {
    const done = (ended) => {
      clearTimeout(timer);
      child.off("exit", exited);
      fulfil(ended);
    };
    const exited = () => done(true);
    const timer = setTimeout(() => done(false), patience);
    child.once("exit", exited);
  });
}
