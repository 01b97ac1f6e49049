#!/usr/bin/env node
// AfterModel: takes keys and tokens out of the model's response before it is shown or stored.
import { readFileSync } from "node:fs";

const SECRETS = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bgh[pousr]_[A-Za-z0-9]{30,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{30,}/g,
  /\bAIza[0-9A-Za-z_-]{35}/g,
  /\bxox[abprs]-[0-9A-Za-z-]{10,}/g,
  /\bsk-[A-Za-z0-9_-]{20,}/g,
];

const clean = (text) => SECRETS.reduce((done, secret) => done.replace(secret, "[secret]"), text);

const { llm_response } = JSON.parse(readFileSync(0, "utf8"));
let changed = false;
const candidates = (llm_response.candidates ?? []).map((candidate) => {
  // A secret may be spread over parts, so they are looked at as one text.
  const text = (candidate.content?.parts ?? []).join("");
  const cleaned = clean(text);
  if (cleaned === text) return candidate;
  changed = true;
  return { ...candidate, content: { role: "model", parts: [cleaned] } };
});
if (changed) {
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "AfterModel", llm_response: { candidates } } }));
}
