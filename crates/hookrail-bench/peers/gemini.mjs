// Drives the hook classes of @google/gemini-cli-core as the CLI does: telemetry off, the folder trusted, hooks enabled.
// One JSON object on a line each way; times are taken here, around the calls.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import path from "node:path";
import os from "node:os";

// The CLI keeps these out of the terminal, too; standard output belongs to the protocol.
for (const name of ["debug", "log", "info", "warn", "error"]) console[name] = () => {};

const dist = (file) => pathToFileURL(path.join(process.argv[2], "dist/src", file)).href;
const { HookSystem } = await import(dist("hooks/hookSystem.js"));
const { evaluateBeforeToolHook } = await import(dist("scheduler/hook-utils.js"));

const systems = new Map();

/** As much of the CLI's configuration as the hook classes look at. */
function configuration(groups, off) {
	const config = {
		getHooks: () => ({ BeforeTool: groups }),
		getProjectHooks: () => ({}),
		getProjectRoot: () => process.cwd(),
		getDisabledHooks: () => [],
		getExtensions: () => [],
		isTrustedFolder: () => true,
		getSessionId: () => "bench",
		getWorkingDir: () => process.cwd(),
		getTelemetryEnabled: () => false,
		getTelemetryLogPromptsEnabled: () => false,
		getUsageStatisticsEnabled: () => false,
		getDebugMode: () => false,
		getMcpClientManager: () => undefined,
		getGeminiClient: () => ({ getChatRecordingService: () => undefined, getChat: () => undefined }),
		geminiClient: undefined,
		sanitizationConfig: { enableEnvironmentVariableRedaction: false, allowedEnvironmentVariables: [], blockedEnvironmentVariables: [] },
		storage: { getPlansDir: () => os.tmpdir() },
		getHookSystem: () => (off ? undefined : config.system),
	};
	config.config = config;
	return config;
}

async function prepare({ id, groups, off }) {
	const config = configuration(groups ?? [], off);
	config.system = new HookSystem(config);
	await config.system.initialize();
	systems.set(id, config);
	return {};
}

const inputs = new Map();
function input(bytes, fresh) {
	if (fresh) return { file_path: "src/main.rs", content: String(fresh).padEnd(bytes, "x") };
	if (!inputs.has(bytes)) inputs.set(bytes, { file_path: "src/main.rs", content: "x".repeat(bytes) });
	return inputs.get(bytes);
}

let names = 0;
const SHAPES = [(n) => `tool_x${n}`, (n) => `mcp__serverx${n}__query`, (n) => `edit_x${n}`, (n) => `read_x${n}`];
const newName = (number) => SHAPES[number % SHAPES.length](number);

async function timed(times, work) {
	const began = process.hrtime.bigint();
	for (let i = 0; i < times; i++) await work(i);
	return { ns: Number(process.hrtime.bigint() - began) / times };
}

async function fireOnce(config, bytes, hooks, fresh) {
	const result = await config.system.getEventHandler().fireBeforeToolEvent("write_file", input(bytes, fresh));
	if ((result.allOutputs?.length ?? 0) !== hooks || result.errors?.length) {
		throw new Error(`${hooks} hooks should have answered: ${JSON.stringify(result).slice(0, 500)}`);
	}
}

const work = {
	prepare,
	/** Fires events one after the other. */
	fire({ id, times, bytes = 1024, hooks = 0, fresh = false }) {
		const config = systems.get(id);
		return timed(times, (i) => fireOnce(config, bytes, hooks, fresh ? ++names : 0));
	},
	/** Fires events side by side. */
	async together({ id, count, hooks }) {
		const config = systems.get(id);
		const took = await timed(1, () => Promise.all(Array.from({ length: count }, () => fireOnce(config, 1024, hooks))));
		return { ns: took.ns / count };
	},
	/** What the scheduler calls for every tool call, in a session without hooks. */
	evaluate({ id, times }) {
		const config = systems.get(id);
		const request = { name: "write_file" };
		const invocation = { params: input(1024) };
		return timed(times, () => evaluateBeforeToolHook(config, undefined, request, invocation));
	},
	/** Only plans. */
	plan({ id, times, fresh }) {
		const { hookPlanner } = systems.get(id).system;
		const began = process.hrtime.bigint();
		for (let i = 0; i < times; i++) {
			const plan = hookPlanner.createExecutionPlan("BeforeTool", { toolName: fresh ? newName(++names) : "write_file" });
			if (!fresh && plan?.hookConfigs.length !== 1) throw new Error("one hook should have been planned");
		}
		return { ns: Number(process.hrtime.bigint() - began) / times };
	},
	memory() {
		globalThis.gc?.();
		return { bytes: process.memoryUsage().rss, heap: process.memoryUsage().heapUsed };
	},
	/** Fills memory as a long session does. */
	fill({ mib }) {
		globalThis.ballast = Buffer.alloc(mib << 20, 1);
		return {};
	},
};

process.stdout.write('{"ready":true}\n');
for await (const line of createInterface({ input: process.stdin })) {
	const asked = JSON.parse(line);
	let answer;
	try {
		answer = await work[asked.do](asked);
	} catch (error) {
		answer = { error: String(error?.stack ?? error) };
	}
	process.stdout.write(`${JSON.stringify(answer)}\n`);
}
