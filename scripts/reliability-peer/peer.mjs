// Fires one BeforeTool event at the hooks of the settings file given, with the real classes of @google/gemini-cli-core,
// and prints what came of it as one line of JSON. It knows nothing of hookrail.
//
//   node peer.mjs SETTINGS PAYLOAD FOLDER
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [settingsFile, payloadFile, folder] = process.argv.slice(2);
const settings = JSON.parse(readFileSync(settingsFile, 'utf8'));
const payload = JSON.parse(readFileSync(payloadFile, 'utf8'));

// The package's own log goes to the console, which here is for the result.
const say = process.stdout.write.bind(process.stdout);
for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level] = () => {};

const hooks = fileURLToPath(new URL('node_modules/@google/gemini-cli-core/dist/src/hooks/index.js', import.meta.url));
const { HookSystem } = await import(pathToFileURL(hooks).href);

// What the hook classes ask of the agent's configuration. Nothing is redacted, as nothing is in hookrail by default.
const config = {
  isTrustedFolder: () => true,
  getHooks: () => settings.hooks,
  getProjectHooks: () => ({}),
  getDisabledHooks: () => [],
  getExtensions: () => [],
  getProjectRoot: () => folder,
  getWorkingDir: () => folder,
  getSessionId: () => 'session',
  getGeminiClient: () => undefined,
  getTelemetryLogPromptsEnabled: () => false,
  getUsageStatisticsEnabled: () => false,
  storage: { getPlansDir: () => folder },
  sanitizationConfig: {
    enableEnvironmentVariableRedaction: false,
    allowedEnvironmentVariables: [],
    blockedEnvironmentVariables: [],
  },
};
config.config = config;

const system = new HookSystem(config);
await system.initialize();

// The runner's own results are seen on their way; nothing is changed.
const results = [];
const execute = system.hookRunner.executeHook.bind(system.hookRunner);
system.hookRunner.executeHook = async (hook, ...rest) => {
  const result = await execute(hook, ...rest);
  if (hook.name === 'bad') results.push(result);
  return result;
};

// Loading the package is not part of what is compared.
say('ready\n');
const began = performance.now();
const output = await system.fireBeforeToolEvent(payload.tool_name, payload.tool_input);
const took = performance.now() - began;

const blocked = output?.isBlockingDecision?.() ?? false;
const asks = output?.isAskDecision?.() ?? output?.decision === 'ask';
const [result] = results;
say(
  `${JSON.stringify({
    decision: blocked ? 'deny' : asks ? 'ask' : (output?.decision ?? 'none'),
    end: end(result),
    took,
  })}\n`,
);

// A hook that was told to end may take its grace of five seconds; the program that counts the remaining processes waits for that.
setTimeout(() => process.exit(0), result?.error ? 6000 : 100);

function end(result) {
  if (!result) return 'no result';
  if (result.error) return /timed out/.test(result.error.message) ? 'timed out' : 'error';
  if (result.exitCode) return `exit ${result.exitCode}`;
  // The runner tells the end by a signal as exit code 0 without success.
  if (!result.success) return 'no exit code';
  return result.outputFormat ?? 'nothing';
}
