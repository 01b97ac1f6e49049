// Runs a module hook in a process that is already there, in Node or in Bun: the same handlers, one JSON line each way.
// `{"toolName": …}` is an event and is answered with what the handlers returned; `{"do": "time"}` measures the calls in here.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const handlers = new Map();
const pi = {
	on(event, handler) {
		handlers.set(event, [...(handlers.get(event) ?? []), handler]);
	},
	registerCommand() {},
	logger: console,
};
const { default: factory } = await import(pathToFileURL(process.argv[2]).href);
await factory(pi);
const context = { cwd: process.cwd(), hasUI: false, ui: { notify() {} } };

async function call(line) {
	let answer = {};
	for (const handler of handlers.get("tool_call") ?? []) {
		const returned = await handler(JSON.parse(line), context);
		if (returned) answer = returned;
		if (returned?.block) break;
	}
	return JSON.stringify(answer);
}

process.stdout.write('{"ready":true}\n');
for await (const line of createInterface({ input: process.stdin })) {
	if (!line.startsWith('{"do":')) {
		process.stdout.write(`${await call(line)}\n`);
		continue;
	}
	const { times, event } = JSON.parse(line);
	const text = JSON.stringify(event);
	const began = process.hrtime.bigint();
	for (let i = 0; i < times; i++) await call(text);
	process.stdout.write(`{"ns":${Number(process.hrtime.bigint() - began) / times}}\n`);
}
