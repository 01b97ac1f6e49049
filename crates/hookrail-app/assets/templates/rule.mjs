#!/usr/bin/env node
// {{name}}: {{about}}.
//
// The event is one JSON object on standard input, and the answer is one on standard output. No answer is no opinion.
import { readFileSync } from "node:fs";

const event = JSON.parse(readFileSync(0, "utf8"));
const text = String(event.{{chain}} ?? "");
if (text.includes("{{word}}")) {
  console.log(JSON.stringify({{answer}}));
}
