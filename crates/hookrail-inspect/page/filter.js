// The language of the filter: words that must occur, and `key:value` conditions. A minus sign turns a condition around.

import { agentOf, startOfToday } from './format.js';

const KEYS = {
  event: (row) => row.event,
  tool: (row) => row.tool,
  decision: (row) => row.decision || 'none',
  session: (row) => row.session,
  host: (row) => row.host,
  agent: (row) => agentOf(row.host),
  project: (row) => row.project,
  kind: (row) => row.kind,
};

const HOOK_KEYS = { hook: 1, layer: 2, end: 3 };

export const FILTER_KEYS = [...Object.keys(KEYS), ...Object.keys(HOOK_KEYS), 'is', 'ms', 'seq'];

// The runs of a row, those of shadow hooks included.
const runsOfRow = (row) => (row.shadow ? [...row.hooks, ...row.shadow] : row.hooks);

// The words of a row that a plain word is looked for in. Made once for each row.
export function searchText(row) {
  row.words ??= [row.event, row.tool, row.decision, row.session, row.host, row.kind, row.text,
    ...runsOfRow(row).map((run) => run[1])].join('\n').toLowerCase();
  return row.words;
}

function split(text) {
  return [...text.matchAll(/(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi)]
    .map(([, minus, key, quoted, plain]) => ({ not: minus === '-', key: key?.toLowerCase(), value: quoted ?? plain }));
}

function compareNumber(value, wanted) {
  const parts = /^(<=|>=|<|>|=)?([\d.]+)$/.exec(wanted);
  if (!parts) return false;
  const limit = Number(parts[2]);
  switch (parts[1]) {
    case '<': return value < limit;
    case '<=': return value <= limit;
    case '>': return value > limit;
    case '>=': return value >= limit;
    default: return value === limit;
  }
}

function condition({ key, value }) {
  const wanted = value.toLowerCase();
  const has = (text) => text.toLowerCase().includes(wanted);
  if (key === 'is' && wanted === 'today') {
    const start = startOfToday();
    return (row) => row.at >= start;
  }
  if (key === 'is') return (row) => row.marks.includes(wanted);
  if (key === 'ms') return (row) => compareNumber(row.ms, wanted);
  if (key === 'seq') return (row) => compareNumber(row.seq, wanted);
  if (key && Object.hasOwn(HOOK_KEYS, key)) return (row) => runsOfRow(row).some((run) => has(run[HOOK_KEYS[key]]) || (key === 'hook' && run[0] === value));
  if (key && Object.hasOwn(KEYS, key)) return (row) => has(KEYS[key](row));
  const text = key ? `${key}:${wanted}` : wanted;
  return (row) => searchText(row).includes(text);
}

// Returns a function that tells whether a row is wanted.
export function parseFilter(text) {
  const tests = split(text).filter((part) => part.value).map((part) => {
    const test = condition(part);
    return part.not ? (row) => !test(row) : test;
  });
  return (row) => tests.every((test) => test(row));
}
