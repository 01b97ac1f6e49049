// Makes docs/evidence/peer.md of the results.

export const NO_ANSWER = 'no answer';
export const DIED = 'died';

const HEAD = (version, total) => `# the same faults, run against a peer

This page and [peer.json](peer.json) are written by \`scripts/reliability-peer/run.sh\`, which anyone can run again. It takes the
${total} command rows of the [misbehaviour table](misbehaviour.md) and runs each one twice, under the same settings and with the same
input: with \`hookrail fire --json\`, and with the real \`HookSystem\`, \`HookRunner\` and \`HookAggregator\` classes of
\`@google/gemini-cli-core\` ${version} from npm. The settings are hookrail's defaults, so a failure lets the operation go on in both.

Each run is a process of its own, stopped after 20 seconds. What is left is counted when that process has ended, after the
peer's own grace of five seconds. \`took\` is the hook's own time: *at once*, *in time* for a hook that has to be timed out,
or how long it took instead. Times depend on the machine and on how busy it is; ends, decisions and what is left do not.
\`died\` means that the process that fired the event ended without a result: an output without an end was more than its runtime holds, or a hook had sent a signal
to the group that both were in. In these rows, and in those without an answer, the decision is the host's own.

## what is by design there

* Failing open is the documented default of both: a hook that fails or is timed out does not block.
* The peer has no failure policy for single hooks, so its column has one decision where hookrail has three.
* Every exit code but 0 and 1 blocks in the peer if anything was printed; its runner says so in a comment. hookrail follows
  the rule that only 2 blocks.
* When nothing is on standard output, the peer reads the answer from standard error.
* The peer promises no limit on output and no end of what a hook leaves behind. Its runner waits until the hook's streams are
  closed, so a background process that holds them holds up the agent.
* The peer's classes were given a configuration object with plain answers; nothing else of it was replaced.

`;

export function page(version, results) {
  const count = (test) => results.filter(test).length;
  const both = (test) => `${count((row) => test(row.hookrail, row))} | ${count((row) => test(row.peer, row))}`;
  let text = HEAD(version, results.length);
  text += '## in numbers\n\n| of the faults | hookrail | the peer |\n|---|---|---|\n';
  text += `| no answer within 20 s | ${both((one) => one.end === NO_ANSWER)} |\n`;
  text += `| the process that fired the event died | ${both((one) => one.end === DIED)} |\n`;
  text += `| answered, but later than the hook's timeout and a second | ${both((one, row) => isLate(one, row))} |\n`;
  text += `| left processes after a timeout or a limit | ${both((one, row) => one.left > 0 && isCut(row))} |\n`;
  text += `| took more than 256 MiB | ${both((one) => one.memory > 256)} |\n`;
  text += `| exit 2 did not block | ${both((one, row) => /^exits with 2 /.test(row.name) && one.decision !== 'deny')} |\n`;
  text += '\n';
  for (const section of new Set(results.map((row) => row.section))) {
    text += `## ${section}\n\n| a hook that | hookrail | decision | took | left | the peer | decision | took | left |\n`;
    text += '|---|---|---|---|---|---|---|---|---|\n';
    for (const row of results.filter((row) => row.section === section)) {
      text += `| ${row.name} | ${cells(row.hookrail, row)} | ${cells(row.peer, row)} |\n`;
    }
    text += '\n';
  }
  return text.trimEnd() + '\n';
}

// Whether the hook has to be ended because it does not end by itself.
const hangs = (row) => row.timeout < 10_000;

// Whether nothing may be left of the hook.
const isCut = (row) => row.hookrail.end === 'timed-out' || row.hookrail.end === 'output-limit';

const isLate = (one, row) => one.took !== null && hangs(row) && one.took > row.timeout + 1000;

function cells(one, row) {
  return `${one.end} | ${one.decision} | ${time(one, row)} | ${one.left}`;
}

function time(one, row) {
  if (one.took === null) return one.end === DIED ? 'it died' : 'never';
  if (hangs(row)) return isLate(one, row) ? `${(one.took / 1000).toFixed(1)} s` : 'in time';
  return one.took < 5000 ? 'at once' : `${(one.took / 1000).toFixed(1)} s`;
}
