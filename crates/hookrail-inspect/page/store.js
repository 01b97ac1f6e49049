// The rows that the page knows, which of them are shown, and which one is selected.

import { pause } from './dom.js';
import { parseFilter } from './filter.js';
import { startOfToday } from './format.js';

const rows = [];
let shown = [];
// How many of the rows were tested by the filter. With a search, newer ones wait for its answer.
let tested = 0;
let most = Infinity;
let filter = { text: '', test: parseFilter(''), search: null };
let generation = 0;
let selected = null;
let marked = null;
const listeners = new Set();

// How many rows are tested before the browser may draw.
const SLICE = 10000;

export const store = {
  get rows() { return rows; },
  get shown() { return shown; },
  get filterText() { return filter.text; },
  get selected() { return selected; },
  get marked() { return marked; },
};

// A listener is told what changed; for rows also how many more are shown, not counting those that were dropped.
export function listen(listener) {
  listeners.add(listener);
}

function tell(what, added = 0) {
  for (const listener of listeners) listener(what, added);
}

// The index of the first row with this number or a higher one.
function indexOf(number) {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].n < number) low = middle + 1; else high = middle;
  }
  return low;
}

// Keeps this many rows, as the server keeps records.
export function keepLast(count) {
  most = count;
}

// Rows arrive in the order of their numbers; a row that is known already is left out.
export function addRows(added) {
  const last = rows.length ? rows[rows.length - 1].n : -1;
  for (const row of added) if (row.n > last) rows.push(row);
  const surplus = rows.length - most;
  if (surplus > 0) {
    rows.splice(0, surplus);
    tested = Math.max(0, tested - surplus);
    const kept = shown.findIndex((row) => row.n >= rows[0].n);
    shown.splice(0, kept < 0 ? shown.length : kept);
  }
  showTested();
}

// Shows new rows, as far as the filter can tell whether they are wanted.
function showTested() {
  const { test, search } = filter;
  const before = shown.length;
  while (tested < rows.length && (!search || rows[tested].n < search.end)) {
    const row = rows[tested];
    if (search ? search.found.has(row.n) : test(row)) shown.push(row);
    tested += 1;
  }
  tell('rows', shown.length - before);
  if (tested < rows.length) searchOn(search);
}

// Looks for the text of a search in records that came after it.
async function searchOn(search) {
  if (search.isBusy) return;
  search.isBusy = true;
  try {
    const { found, end } = await search.find(search.end);
    for (const number of found) search.found.add(number);
    search.end = end;
  } catch {
    // The connection is gone, and the page says so. The next rows try again.
    return;
  } finally {
    search.isBusy = false;
  }
  if (search === filter.search) showTested();
}

export function findRow(number) {
  const row = rows[indexOf(number)];
  return row?.n === number ? row : undefined;
}

// The row of a record by its number in the journal.
export function findBySeq(seq) {
  return rows.find((row) => row.seq === seq);
}

// The rows of one event from a number on: the event itself, hooks that ended later, and what the user answered.
export async function rowsOfFire(fire, from) {
  const related = [];
  let count = 0;
  for (let index = indexOf(from); fire && index < rows.length; index += 1) {
    const row = rows[index];
    if (row.fire === fire) related.push(row);
    count += 1;
    if (count % SLICE === 0) {
      await pause();
      // Old rows may have been dropped.
      index = indexOf(row.n);
    }
  }
  return related;
}

// Shows the rows that a filter wants. With a function that searches records from a number on, the rows of those that it finds.
export async function setFilter(text, find = null) {
  generation += 1;
  const own = generation;
  const next = { text, test: parseFilter(find ? '' : text), search: null };
  if (find) {
    const { found, end } = await find(0);
    if (own !== generation) return;
    next.search = { find, found: new Set(found), end, isBusy: false };
  }
  const { test, search } = next;
  const kept = [];
  let [index, count] = [0, 0];
  while (index < rows.length && (!search || rows[index].n < search.end)) {
    const row = rows[index];
    if (search ? search.found.has(row.n) : test(row)) kept.push(row);
    index += 1;
    count += 1;
    if (count % SLICE === 0) {
      await pause();
      if (own !== generation) return;
      // Old rows may have been dropped.
      index = indexOf(row.n + 1);
    }
  }
  const oldest = rows.length ? rows[0].n : 0;
  [filter, shown, tested] = [next, kept.filter((row) => row.n >= oldest), index];
  tell('filter');
  if (tested < rows.length) searchOn(search);
}

// Of the rows from before a time, the newest denial, or the newest row if nothing was denied: what a reader most likely looks for.
export function newestDenial(before) {
  return rows.findLast((row) => row.decision === 'deny' && row.at < before) ?? rows.findLast((row) => row.at < before);
}

// How many events of today ended with each of these decisions.
export function countToday(decisions) {
  const counts = new Map(decisions.map((decision) => [decision, 0]));
  const start = startOfToday();
  for (const { kind, decision, at } of rows) {
    if (kind === 'fired' && counts.has(decision) && at >= start) counts.set(decision, counts.get(decision) + 1);
  }
  return counts;
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
