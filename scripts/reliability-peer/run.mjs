// Runs every fault of faults.json against both systems and writes what came of it. See run.sh.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DIED, NO_ANSWER, page } from './page.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const bin = process.env.HOOKRAIL_BIN;
const faults = JSON.parse(readFileSync(join(here, 'faults.json'), 'utf8'));
const { version } = JSON.parse(readFileSync(join(here, 'node_modules/@google/gemini-cli-core/package.json'), 'utf8'));

// The longest time to wait for any of them.
const LIMIT = 20_000;
const MARKER = 'HOOKRAIL_RELIABILITY_PEER';
// A process that starts the next one and ends can be missed by a single look, so it takes this many to find nothing.
const LOOKS = 10;

const wanted = process.argv[2];
const chosen = faults.filter((fault) => !wanted || fault.name.includes(wanted));
const results = new Array(chosen.length);
let next = 0;
async function worker() {
  while (next < chosen.length) {
    const at = next++;
    results[at] = await compare(chosen[at], at);
    process.stderr.write(`${at + 1}/${chosen.length} ${chosen[at].name}\n`);
  }
}
// Most of them wait, so there are more than processors.
await Promise.all(Array.from({ length: 3 * cpus().length }, worker));

if (wanted) {
  console.log(JSON.stringify(results, null, 2));
} else {
  const folder = join(root, 'docs/evidence');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'peer.json'), `${JSON.stringify({ peer: `@google/gemini-cli-core ${version}`, results }, null, 2)}\n`);
  writeFileSync(join(folder, 'peer.md'), page(version, results));
}

async function compare(fault, number) {
  const hookrail = await once(fault, `${number}-h`, (paths) => ({
    program: join(bin, 'hookrail'),
    args: ['fire', 'before-tool', '--payload', `@${paths.payload}`, '--json'],
    read: (text) => {
      const outcome = JSON.parse(text);
      const run = outcome.runs.find((run) => run.hook === 'bad');
      return { end: run.end, decision: outcome.decision ?? 'none', took: run.durationMs };
    },
  }));
  const peer = await once(fault, `${number}-p`, (paths) => ({
    program: process.execPath,
    args: [join(here, 'peer.mjs'), paths.settings, paths.payload, paths.project],
    read: (text) => JSON.parse(text.replace('ready\n', '')),
    announces: true,
  }));
  return { name: fault.name, section: fault.section, timeout: fault.timeout, hookrail, peer };
}

// Runs one system once, in a folder of its own, and looks at what is left when it has ended.
async function once(fault, number, system) {
  const folder = mkdtempSync(join(tmpdir(), 'reliability-'));
  const paths = {
    home: join(folder, 'home'),
    project: join(folder, 'project'),
    settings: join(folder, 'home/.llxprt/settings.json'),
    payload: join(folder, 'payload.json'),
    memory: join(folder, 'memory'),
  };
  mkdirSync(join(paths.home, '.llxprt'), { recursive: true });
  mkdirSync(paths.project);
  const hook = { type: 'command', name: 'bad', command: fault.command, timeout: fault.timeout };
  const settings = { hooksConfig: { enabled: true }, hooks: { BeforeTool: [{ matcher: '*', hooks: [hook] }] } };
  writeFileSync(paths.settings, JSON.stringify(settings));
  const content = fault.largeInput ? 'x'.repeat(3 << 20) : 'small';
  writeFileSync(paths.payload, JSON.stringify({ tool_name: 'write_file', tool_input: { content } }));

  const { program, args, read, announces } = system(paths);
  const marker = `${process.pid}-${number}`;
  const env = { PATH: process.env.PATH, HOME: paths.home, CHILD: join(bin, 'hookrail-child'), [MARKER]: marker };
  const child = spawn(join(bin, 'hookrail-measure'), [paths.memory, program, ...args], {
    cwd: paths.project,
    env: { ...env, LLXPRT_SYSTEM_SETTINGS_PATH: join(folder, 'none.json') },
    stdio: ['ignore', 'pipe', 'ignore'],
    // In a group of its own: a hook may send a signal to whatever group it finds itself in.
    detached: true,
  });
  let text = '';
  const ended = new Promise((resolve) => child.on('exit', () => resolve(true)));
  const ready = new Promise((resolve) => {
    if (!announces) resolve();
    child.stdout.on('data', (data) => {
      text += data;
      resolve();
    });
  });
  await Promise.race([ended, ready]);
  const stopped = new Promise((resolve) => setTimeout(resolve, LIMIT, false).unref());
  const finished = await Promise.race([ended, stopped]);
  // What is being ended may need a moment to vanish.
  await new Promise((resolve) => setTimeout(resolve, 200));
  let seen;
  try {
    seen = read(text);
  } catch {
    seen = { end: finished ? DIED : NO_ANSWER, decision: 'none', took: null };
  }
  const remaining = () => marked(marker).filter((pid) => finished || !isSystem(pid, program)).length;
  const left = Math.max(...Array.from({ length: LOOKS }, remaining));
  let memory = null;
  try {
    memory = Math.ceil(Number(readFileSync(paths.memory, 'utf8')) / 1024);
  } catch {
    // It had to be stopped, and so did the program that measures.
  }
  for (let tries = 0, calm = 0; tries < 50 * LOOKS && calm < LOOKS; tries++) calm = end(marked(marker)) ? 0 : calm + 1;
  await ended;
  rmSync(folder, { recursive: true, force: true });
  return { ...seen, took: seen.took === null ? null : Math.round(seen.took), left, memory };
}

// The processes that were started with the marker in their environment.
function marked(marker) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${MARKER}=${marker}`);
      } catch {
        return false;
      }
    });
}

// Whether a process is the measuring program or what it runs, and not a hook.
function isSystem(pid, program) {
  try {
    const [first] = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
    return first === program || first.endsWith('/hookrail-measure');
  } catch {
    return false;
  }
}

function end(pids) {
  for (const pid of pids) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It is gone.
    }
  }
  return pids.length > 0;
}
