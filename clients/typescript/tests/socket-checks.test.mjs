// A socket is used only if no other user can be behind it.

import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client, ConnectFailedError, UntrustedSocketError } from "hookrail-client";
import { BLOCKED, Sandbox } from "./support.mjs";

const answers = async (peer) => {
  for (;;) peer.answer((await peer.payload()).correlationId, "deny");
};

const refused = (path, fix = "") =>
  assert.rejects(Client.connect(path), (error) => error instanceof UntrustedSocketError && error.message.includes(fix));

async function accepted(path) {
  const client = await Client.connect(path);
  assert((await client.execute("BeforeTool", BLOCKED)).isDenied);
  await client.close();
}

test("no server", async (t) => {
  const { base } = new Sandbox(t);
  writeFileSync(join(base, "file"), "");
  for (const path of [join(base, "missing"), join(base, "file"), join(base, "x".repeat(200)), join(base, "missing/s")]) {
    const plain = (error) => error instanceof ConnectFailedError && !(error instanceof UntrustedSocketError);
    await assert.rejects(Client.connect(path), (error) => plain(error) && error.message.includes(path));
  }
});

test("the mode of the socket", async (t) => {
  const path = await new Sandbox(t).fake(answers);
  await accepted(path);
  for (const mode of [0o620, 0o602, 0o666, 0o777]) {
    chmodSync(path, mode);
    await refused(path, `chmod 600 ${path}`);
  }
});

test("the mode of the folder", async (t) => {
  const sandbox = new Sandbox(t);
  const path = await sandbox.fake(answers);
  for (const mode of [0o777, 0o730, 0o703]) {
    chmodSync(sandbox.base, mode);
    await refused(path, `chmod go-w ${sandbox.base}`);
  }
  // In a sticky folder nothing can be replaced but by its owner.
  for (const mode of [0o1777, 0o755, 0o700]) {
    chmodSync(sandbox.base, mode);
    await accepted(path);
  }
});

test("a link is judged by both of its ends", async (t) => {
  const sandbox = new Sandbox(t);
  const links = join(sandbox.base, "links");
  mkdirSync(links, { mode: 0o700 });
  symlinkSync(await sandbox.fake(answers), join(links, "s"));
  await accepted(join(links, "s"));
  chmodSync(links, 0o777);
  await refused(join(links, "s"));
});

test("another owner of the socket or its folder", async (t) => {
  if (process.geteuid() !== 0) return t.skip("only root can pass for another user");
  const sandbox = new Sandbox(t);
  const path = await sandbox.fake(answers);
  chownSync(path, 65534, 65534);
  await refused(path, "65534");
  chownSync(path, 0, 0);
  chownSync(sandbox.base, 65534, 65534);
  await refused(path, "65534");
});
