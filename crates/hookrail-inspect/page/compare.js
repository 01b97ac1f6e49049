// Two events side by side: what is the same, and what differs.

import { el, note, replace, section, table } from './dom.js';
import { areEqual, diffBlock } from './diff.js';
import { milliseconds, verdict } from './format.js';
import { factText, heading } from './detail.js';
import { runsOf } from './outcome.js';

const FACTS = ['at', 'kind', 'event', 'tool', 'decision', 'session', 'host', 'project', 'cwd', 'machine', 'user', 'config'];

function changed(cells, differs) {
  cells.className = differs ? 'changed' : undefined;
  return cells;
}

function facts(one, other) {
  const rows = FACTS.map((key) => {
    const [a, b] = [factText(key, one[key]), factText(key, other[key])];
    return changed([key, a, b, a === b ? 'same' : 'differs'], a !== b);
  });
  return section('Facts', table('Facts of both events', ['Fact', 'First', 'Second', ''], rows));
}

function runText(run) {
  if (!run) return el('span', { class: 'dim' }, 'did not run');
  return [verdict(run.decision), ` ${run.end}, ${milliseconds(run.ms)}`];
}

function versions(a, b) {
  if (!a || !b) return '–';
  return a.fingerprint === b.fingerprint ? 'same' : 'changed';
}

function hooks(one, other) {
  const [first, second] = [runsOf(one), runsOf(other)];
  const key = (run) => run.id ?? run.hook;
  const keys = [...new Set([...first, ...second].map(key))];
  const rows = keys.map((id) => {
    const [a, b] = [first.find((run) => key(run) === id), second.find((run) => key(run) === id)];
    const differs = !a || !b || a.decision !== b.decision || a.end !== b.end || a.fingerprint !== b.fingerprint;
    return changed([el('strong', null, (a ?? b).hook), runText(a), runText(b), versions(a, b)], differs);
  });
  return section('Hooks', rows.length ? table('Hooks of both events', ['Hook', 'First', 'Second', 'Version of the hook'], rows) : note('No hook ran.'));
}

function values(title, a, b) {
  if (areEqual(a, b)) return section(title, note('There is no difference.'));
  return section(title, diffBlock(`${title} of the first and the second event`, a ?? '', b ?? ''));
}

// What differs with every event and says nothing.
function withoutTimes(outcome) {
  return JSON.parse(JSON.stringify(outcome ?? null, (key, value) => (key === 'durationMs' || key === 'totalDuration' ? undefined : value)));
}

export function compareView(source) {
  const node = el('article', { class: 'page', id: 'compare' });
  async function show(first, second) {
    try {
      const [one, other] = await Promise.all([source.record(first), source.record(second)]);
      replace(node,
        el('h2', { tabindex: '-1' }, 'Comparison'),
        el('div', { class: 'pair' }, el('div', null, heading(one, first)), el('div', null, heading(other, second))),
        facts(one, other), hooks(one, other), values('Input', one.input, other.input),
        values('Outcome, without times', withoutTimes(one.outcome), withoutTimes(other.outcome)));
    } catch (error) {
      replace(node, el('h2', { tabindex: '-1' }, 'Comparison'), note(error.message));
    }
    node.querySelector('h2').focus();
  }
  return { node, show };
}
