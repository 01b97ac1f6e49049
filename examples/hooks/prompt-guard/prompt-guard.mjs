#!/usr/bin/env node
// BeforeAgent: stops a prompt with a secret in it before it goes anywhere, and asks about one that names customer data.
import { readFileSync } from "node:fs";

const SECRETS = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bgh[pousr]_[A-Za-z0-9]{30,}/,
  /\bsk-[A-Za-z0-9_-]{20,}/,
  /\bxox[abprs]-[0-9A-Za-z-]{10,}/,
  /\bpassword\s*[:=]\s*\S{6,}/i,
];
// A number that could be that of a bank card: 13 to 19 digits with a right last one.
const cardNumbers = (text) => (text.match(/\b\d(?:[ -]?\d){12,18}\b/g) ?? []).filter((found) => {
  const digits = found.replace(/\D/g, "").split("").reverse().map(Number);
  const sum = digits.reduce((sum, digit, at) => sum + (at % 2 ? (digit * 2 > 9 ? digit * 2 - 9 : digit * 2) : digit), 0);
  return sum % 10 === 0;
});

const { prompt } = JSON.parse(readFileSync(0, "utf8"));
if (SECRETS.some((secret) => secret.test(prompt))) {
  console.log(JSON.stringify({ decision: "deny", reason: "the prompt contains a key or a password; take it out" }));
} else if (cardNumbers(prompt).length > 0) {
  console.log(JSON.stringify({ decision: "ask", reason: "the prompt contains what looks like a card number" }));
}
