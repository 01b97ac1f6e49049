// The outcome of an event: who said what, why the others did not run, and what was rewritten. Shown for records, for what the
// tester fired, and for what it explained.

import { el, note, section, table } from './dom.js';
import { areEqual, diffBlock } from './diff.js';
import { block, milliseconds, place, pretty, verdict } from './format.js';
import { waterfall } from './waterfall.js';

const WELL = ['answered', 'silent', 'detached', 'cancelled'];

export function hasFailed(run) {
  if (run.end !== 'exited') return Boolean(run.end) && !WELL.includes(run.end);
  // An exit with status 2 is an answer. Late records, and those without texts, have no status: there an exit that denies is.
  return run.exitCode === undefined || run.exitCode === null ? run.decision !== 'deny' : run.exitCode !== 2;
}

// The runs of a record. Its `hooks` have times and identity, the runs of its outcome, in the same order, output and place.
export function runsOf(record) {
  const runs = record.outcome?.runs ?? [];
  const hooks = record.hooks ?? runs.map((run) => ({ ...run, ms: run.durationMs, start: run.startedMs }));
  return hooks.map((hook, index) => {
    const run = { ...runs[index], ...hook };
    return { ...run, failed: hasFailed(run) };
  });
}

function said(run) {
  const parts = [['standard output', run.stdout], ['standard error', run.stderr]].filter(([, text]) => text);
  if (!parts.length) return null;
  return el('details', null, el('summary', null, 'output'), parts.map(([name, text]) => [el('div', { class: 'dim' }, name), block(text, name)]));
}

export function runSections(runs, total, project) {
  if (!runs.length) return section('Hooks', note('No hook ran.'));
  const rows = runs.map((run) => {
    const cells = [
      [el('strong', null, run.hook ?? ''), said(run)],
      run.layer ?? run.source?.kind ?? '–',
      [verdict(run.decision), run.failed && el('span', { class: 'mark failed' }, ' failed')],
      [run.end ?? '', run.exitCode ? ` (${run.exitCode})` : '', run.signal ? ` (signal ${run.signal})` : ''],
      run.start === undefined || run.start === null ? '–' : milliseconds(run.start),
      milliseconds(run.ms),
      place(run.source, project),
    ];
    cells.className = run.failed ? 'failed' : undefined;
    return cells;
  });
  return section('Who said what', waterfall(runs, total),
    table('Hooks that ran', ['Hook', 'Layer', 'Decision', 'End', 'Start', 'Time', 'Configured in'], rows));
}

export function skippedSection(outcome, project) {
  const skipped = outcome?.skipped ?? [];
  if (!skipped.length) return section('Why the others did not run', note('Every configured hook of this event ran.'));
  const rows = skipped.map((skip) => [el('strong', null, skip.hook ?? ''), skip.why ?? '', skip.detail ?? '', place(skip.source, project)]);
  const more = outcome.moreSkipped ? note(`and ${outcome.moreSkipped} more`) : null;
  return section('Why the others did not run',
    table('Hooks that did not run', ['Hook', 'Reason', 'In words', 'Configured in'], rows), more);
}

const REWRITES = [
  ['toolInput', 'tool_input', "The tool's input"],
  ['toolOutput', 'tool_response', "The tool's result"],
  ['prompt', 'prompt', 'The prompt'],
  ['llmRequest', 'llm_request', 'The request to the model'],
  ['llmResponse', 'llm_response', "The model's response"],
  ['toolConfig', 'llm_request.toolConfig', 'The tools that the model may call'],
];

// What is put beside something, not in its place.
const ADDITIONS = [
  ['messages', 'Messages to add to the conversation'],
  ['entries', 'Entries to add to the session'],
];

const original = (input, path) => path.split('.').reduce((value, name) => value?.[name], input);

const isThere = (value) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

export function rewriteSections(outcome, input) {
  const changed = REWRITES.filter(([effect]) => isThere(outcome?.[effect]));
  const replaced = changed.map(([effect, field, title]) => {
    const before = original(input, field);
    if (areEqual(before, outcome[effect])) return section(`${title}: rewritten`, note('The rewrite is equal to what was there.'));
    return section(`${title}: rewritten`, before === undefined ? note('The original is not in the record.') : null,
      diffBlock(`${title}, before and after`, before ?? '', outcome[effect]));
  });
  const added = ADDITIONS.filter(([effect]) => isThere(outcome?.[effect])).map(([effect, title]) =>
    section(title, block(pretty(outcome[effect]), title)));
  return [...replaced, ...added];
}

const TEXTS = [
  ['reason', 'Reason'],
  ['stopReason', 'Reason of the stop'],
  ['systemMessage', 'Message for the user'],
  ['additionalContext', 'Text for the model'],
];

export function effectSection(outcome) {
  const facts = TEXTS.filter(([key]) => isThere(outcome?.[key])).map(([key, title]) =>
    [el('dt', null, title), el('dd', null, String(outcome[key]))]);
  const list = outcome?.stop ? [[el('dt', null, 'Stop'), el('dd', null, verdict('stop'), ' the agent must stop')], ...facts] : facts;
  return list.length ? el('dl', { class: 'facts' }, list) : null;
}

// What a late record says of its hook; a journal that keeps no texts has the run alone.
function lateVerdicts(record) {
  const whole = record.outcome?.shadow ?? (record.hooks ?? []).map((run) => ({ ...run, reason: record.reason }));
  return whole.map((run) => ({ ...run, isLate: true }));
}

export function shadowSection(record, later, input) {
  const late = [record, ...later].filter((one) => one.why === 'shadow');
  const verdicts = [...(record.why === 'shadow' ? [] : record.outcome?.shadow ?? []), ...late.flatMap(lateVerdicts)];
  if (!verdicts.length) return null;
  const rows = verdicts.map((run) => [el('strong', null, run.hook ?? ''), [verdict(run.decision), run.stop ? [' ', verdict('stop')] : null], run.end ?? '',
    run.reason ?? '', run.isLate ? 'after the outcome' : 'in time']);
  const rewrites = verdicts.filter((run) => run.rewrite).map((run) => REWRITES.filter(([effect]) => isThere(run.rewrite[effect])).map(([effect, field, title]) =>
    [note(`${run.hook} would have rewritten: ${title}`), diffBlock(`${title}, before and after`, original(input, field) ?? '', run.rewrite[effect])]));
  return section('Shadow verdicts', note('These hooks had no effect: they have `"enforce": false`.'),
    table('What hooks without effect decided', ['Hook', 'Would have decided', 'End', 'Reason', 'When'], rows), rewrites);
}

export function diagnosticSection(outcome) {
  const found = outcome?.diagnostics ?? [];
  if (!found.length) return null;
  const rows = found.map((one) => [one.level ?? '', el('code', null, one.code ?? ''), [one.message ?? '', one.hint && el('div', { class: 'dim' }, `help: ${one.hint}`)],
    one.file ? `${one.file}:${one.line ?? ''}` : '–']);
  return section('Diagnostics', table('Diagnostics', ['Level', 'Code', 'Message', 'Place'], rows));
}

// The plan of an event: which hooks would run, in which order.
export function planSection(plan, project) {
  const hooks = [...(plan?.plan ?? []), ...(plan?.shadow ?? []).map((hook) => ({ ...hook, isShadow: true }))];
  if (!hooks.length) return section('Plan', note('No hook would run.'));
  const rows = hooks.map((hook, index) => [String(index + 1), el('strong', null, hook.hook ?? ''), hook.dialect ?? '', hook.mode ?? '',
    hook.fails ? `fails: ${hook.fails}` : hook.isShadow ? 'runs without effect' : 'runs', place(hook.source, project)]);
  return section('Plan', table('Hooks that would run, in order', ['#', 'Hook', 'Dialect', 'Stage', 'What happens', 'Configured in'], rows));
}
