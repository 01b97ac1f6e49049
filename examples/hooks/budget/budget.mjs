#!/usr/bin/env node
// AfterModel: stops the agent when its session has used more tokens than $TOKEN_BUDGET (a million by default).
//
// Every response adds one line to a file of the session; lines are appended, so that several agents do not disturb
// each other.
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const event = JSON.parse(readFileSync(0, "utf8"));
const budget = Number(process.env.TOKEN_BUDGET ?? 1_000_000);
const folder = join(process.env.XDG_STATE_HOME ?? join(homedir(), ".local", "state"), "token-budget");
mkdirSync(folder, { recursive: true, mode: 0o700 });
// The name of a session is anything; its digest is a file name.
const file = join(folder, createHash("sha256").update(event.session_id).digest("hex"));

const tokens = Number(event.llm_response.usageMetadata?.totalTokenCount ?? 0);
appendFileSync(file, `${Number.isFinite(tokens) ? tokens : 0}\n`);
const used = readFileSync(file, "utf8").split("\n").reduce((sum, line) => sum + Number(line), 0);
if (used > budget) {
  const stopReason = `this session has used ${used} tokens of ${budget}`;
  console.log(JSON.stringify({ continue: false, stopReason }));
}
