// The rows that the page knows, which of them are shown, and which one is selected.

import { pause } from './dom.js';
import { parseFilter } from './filter.js';

const rows = [];
let shown = [];
let isWanted = parseFilter('');
let filterText = '';
let found = null;
let generation = 0;
let selected = null;
let marked = null;
const listeners = new Set();

// How many rows are tested before the browser may draw.
const SLICE = 10000;

export const store = {
  get rows() { return rows; },
  get shown() { return shown; },
  get filterText() { return filterText; },
  get selected() { return selected; },
  get marked() { return marked; },
};

export function listen(listener) {
  listeners.add(listener);
}

function tell(what) {
  for (const listener of listeners) listener(what);
}

function accepts(row) {
  return (found === null || found.has(row.n)) && isWanted(row);
}

// Rows arrive in the order of their numbers; a row that is known already is left out.
export function addRows(added) {
  const last = rows.length ? rows[rows.length - 1].n : -1;
  for (const row of added) {
    if (row.n <= last) continue;
    rows.push(row);
    if (accepts(row)) shown.push(row);
  }
  tell('rows');
}

export function findRow(number) {
  let [low, high] = [0, rows.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (rows[middle].n === number) return rows[middle];
    if (rows[middle].n < number) low = middle + 1; else high = middle - 1;
  }
  return undefined;
}

// The row of a record by its number in the journal.
export function findBySeq(seq) {
  return rows.find((row) => row.seq === seq);
}

// The rows of one event: the event itself, hooks that ended later, and what the user answered.
export async function rowsOfFire(fire) {
  const related = [];
  for (let index = 0; fire && index < rows.length; index += 1) {
    if (rows[index].fire === fire) related.push(rows[index]);
    if (index % SLICE === SLICE - 1) await pause();
  }
  return related;
}

// Shows the rows that a filter wants, and of those only the ones whose numbers were found by a search.
export async function setFilter(text, numbers = null) {
  generation += 1;
  const own = generation;
  const test = parseFilter(text);
  const wanted = (row) => (numbers === null || numbers.has(row.n)) && test(row);
  const kept = [];
  for (let index = 0; index < rows.length; index += 1) {
    if (wanted(rows[index])) kept.push(rows[index]);
    if (index % SLICE === SLICE - 1) {
      await pause();
      if (own !== generation) return;
    }
  }
  [filterText, isWanted, found, shown] = [text, test, numbers, kept];
  tell('filter');
}

export function select(number) {
  if (selected === number) return;
  selected = number;
  tell('selected');
}

export function mark(number) {
  marked = number;
  tell('marked');
}
