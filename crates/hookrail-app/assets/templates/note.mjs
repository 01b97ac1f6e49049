#!/usr/bin/env node
// {{name}}: {{about}}.
//
// The event is one JSON object on standard input, and the answer is one on standard output. No answer is no opinion.
import { readFileSync } from "node:fs";

const event = JSON.parse(readFileSync(0, "utf8"));
console.error("{{name}} was told of", event.event);
