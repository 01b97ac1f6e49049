// The packed tarball, installed into an empty folder, and what the README shows.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { HANG, PACKAGE, Sandbox, program, skipOrFail } from "./support.mjs";

const PRINTED = `read_file README.md -> read_file README.md: done
write_file .env -> blocked: secrets stay as they are
write_file notes.txt -> write_file notes.txt: done
`;
const GUARD = "grep -q '\\.env' && { echo 'secrets stay as they are' >&2; exit 2; }; exit 0";

test("the tarball is installed in an empty folder and guards", { timeout: 5 * HANG }, async (t) => {
  const sandbox = new Sandbox(t);
  const run = (cwd, command, ...args) => execFileSync(command, args, { cwd, env: sandbox.env, encoding: "utf8" });
  try {
    run(sandbox.base, "npm", "--version");
  } catch {
    return skipOrFail(t, "npm");
  }
  if (program() === undefined) return skipOrFail(t, "the program hookrail");
  const before = readdirSync(PACKAGE);
  const packed = run(PACKAGE, "npm", "pack", "--silent", "--pack-destination", sandbox.base).trim();
  assert.deepEqual(readdirSync(PACKAGE), before, "packing leaves nothing in the source tree");
  assert.equal(packed, "hookrail-client-0.1.0.tgz");
  const empty = join(sandbox.base, "empty");
  mkdirSync(empty);
  // Without a registry: what is packed is all there is.
  run(empty, "npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", join(sandbox.base, packed));
  const installed = join(empty, "node_modules/hookrail-client");
  assert.deepEqual(readdirSync(join(empty, "node_modules")).filter((name) => !name.startsWith(".")), ["hookrail-client"]);
  assert(existsSync(join(installed, "src/index.d.ts")) && !existsSync(join(installed, "tests")));

  const project = sandbox.project({ write_file: GUARD });
  const { path } = await sandbox.serve(project);
  // A copy outside the package imports what is installed beside it.
  const example = join(empty, "agent.mjs");
  copyFileSync(join(installed, "examples/agent.mjs"), example);
  assert.equal(run(project, process.execPath, example, "--program", program(), "--trust-project"), PRINTED);
  assert.equal(run(project, process.execPath, example, "--socket", path), PRINTED);

  const blocks = [...readFileSync(join(PACKAGE, "README.md"), "utf8").matchAll(/```js\n(.*?)```/gs)];
  assert.equal(blocks.length, 1);
  run(project, program(), "trust", "grant", "--yes");
  writeFileSync(join(empty, "readme.mjs"), blocks[0][1]);
  // The name that the README uses, whatever the program under test is called.
  mkdirSync(join(sandbox.base, "bin"));
  symlinkSync(program(), join(sandbox.base, "bin/hookrail"));
  const env = { ...sandbox.env, PATH: `${join(sandbox.base, "bin")}${delimiter}${process.env.PATH}` };
  const printed = execFileSync(process.execPath, [join(empty, "readme.mjs")], { cwd: project, env, encoding: "utf8" });
  assert.equal(printed, "blocked: secrets stay as they are\n");
});
