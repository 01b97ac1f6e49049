#!/usr/bin/env node
// BeforeTool: asks the user before a shell command goes to the network.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const PROGRAMS = new Set(["curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "telnet", "ftp"]);
const SUBCOMMANDS = {
  git: ["clone", "fetch", "pull", "push", "ls-remote"],
  npm: ["install", "i", "ci", "update", "publish"],
  pnpm: ["install", "add", "update", "publish"],
  yarn: ["install", "add", "publish"],
  pip: ["install", "download"],
  pip3: ["install", "download"],
  cargo: ["install", "add", "update", "publish"],
  go: ["get", "install"],
  docker: ["pull", "push", "login"],
};

const { command = "" } = JSON.parse(readFileSync(0, "utf8")).tool_input;
// Split wherever a new command may begin. Splitting too often only means looking at more words.
for (const part of command.split(/[;&|\n(){}`]|\$\(/)) {
  const words = part.trim().split(/\s+/).map((word) => word.replace(/["'\\]/g, ""));
  const names = words.map((word) => basename(word));
  const program = names.find((name) => PROGRAMS.has(name));
  const at = names.findIndex((name) => name in SUBCOMMANDS);
  const subcommand = at >= 0 && words.slice(at + 1).find((word) => SUBCOMMANDS[names[at]].includes(word));
  if (program || subcommand) {
    const what = program ?? `${names[at]} ${subcommand}`;
    console.log(JSON.stringify({ decision: "ask", reason: `\`${what}\` goes to the network` }));
    break;
  }
}
