// The list of events. Only the rows in the window exist, so that 100,000 events scroll like 100.

import { el, replace } from './dom.js';
import { agentOf, clockTime, code, counted, cutText, milliseconds, shortPath, undecided, verdict } from './format.js';
import { findRow, listen, mark, select, store } from './store.js';

const ROW = 30;
const SPARE = 8;

// The newest row is at the top: position 0 is the last of the shown rows.
const rowAt = (position) => store.shown[store.shown.length - 1 - position];

function positionOf(number) {
  const { shown } = store;
  let [low, high] = [0, shown.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (shown[middle].n === number) return shown.length - 1 - middle;
    if (shown[middle].n < number) low = middle + 1; else high = middle - 1;
  }
  return -1;
}

const MARKS = { rewrite: ['✎', 'rewrites'], stop: ['■', 'stops the agent'], failed: ['!', 'a hook failed'], shadow: ['◌', 'has shadow verdicts'], diagnostic: ['i', 'has diagnostics'] };

function describe(row) {
  const what = row.kind === 'fired' ? row.event : `${row.kind} ${row.event}`;
  const marks = row.marks.map((name) => MARKS[name]?.[1] ?? name);
  return [what, row.tool, row.decision || undecided(row), row.text, agentOf(row.host), counted(row.hooks.length, 'hook'), milliseconds(row.ms), ...marks, clockTime(row.at)]
    .filter(Boolean).join(', ');
}

function rowNode(row, position, isSelected) {
  const subject = cutText(shortPath(row.text.replace(/\s+/g, ' '), row.project));
  const node = el('div', {
    class: `row${isSelected ? ' selected' : ''}${store.marked === row.n ? ' marked' : ''}`,
    role: 'option',
    id: `row-${row.n}`,
    'data-n': row.n,
    'aria-selected': String(isSelected),
    'aria-posinset': position + 1,
    'aria-setsize': store.shown.length,
    'aria-label': describe(row),
  },
  el('span', { class: 'time' }, clockTime(row.at)),
  el('span', { class: 'decision' }, verdict(row.decision, undecided(row))),
  el('span', { class: 'agent' }, agentOf(row.host)),
  el('span', { class: 'event' }, row.kind === 'fired' ? row.event : `${row.kind} ${row.event}`),
  el('span', { class: 'tool' }, row.tool),
  el('span', { class: `text ${subject.class}` }, subject.node),
  el('span', { class: 'marks' }, row.marks.map((name) => el('span', { class: `mark ${name}`, title: MARKS[name]?.[1] ?? name }, MARKS[name]?.[0] ?? name))),
  el('span', { class: 'count' }, row.hooks.length ? String(row.hooks.length) : ''),
  el('span', { class: 'ms' }, row.kind === 'fired' ? milliseconds(row.ms) : ''));
  node.style.top = `${position * ROW}px`;
  return node;
}

const COLUMNS = [
  ['time', 'Time'], ['decision', 'Decision'], ['agent', 'Agent'], ['event', 'Event'], ['tool', 'Tool'], ['text', 'About'],
  ['marks', ''], ['count', 'Hooks'], ['ms', 'Took'],
];

// What the columns hold. A screen reader hears it with every row.
function headings() {
  return el('div', { class: 'headings', 'aria-hidden': 'true' }, COLUMNS.map(([name, title]) => el('span', { class: name }, title)));
}

const NOTHING_FOUND = ['No event matches the filter; Esc in the filter clears it.'];
const NOTHING_YET = [
  'No event is recorded yet. Events appear here as soon as hooks are asked: ', code('hookrail install claude'),
  ' lets an agent ask, and ', code('hookrail fire before-tool --tool write_file --journal'), ' records one.',
];

export function eventList(onOpen) {
  const space = el('div', { class: 'space', role: 'presentation' });
  const box = el('div', {
    id: 'list', class: 'list', role: 'listbox', tabindex: '0', 'aria-label': 'Events, newest first',
    onscroll: () => draw(),
    onclick: (event) => {
      const node = event.target.closest('[data-n]');
      if (!node) return;
      select(Number(node.dataset.n));
      onOpen();
    },
  }, space);
  const empty = el('p', { class: 'note empty', hidden: true });
  let isAwaited = false;

  function draw() {
    if (isAwaited) return;
    isAwaited = true;
    requestAnimationFrame(() => { isAwaited = false; drawNow(); });
  }

  function drawNow() {
    const count = store.shown.length;
    const height = box.clientHeight || 600;
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - SPARE);
    const last = Math.min(count, Math.ceil((box.scrollTop + height) / ROW) + SPARE);
    space.style.height = `${count * ROW}px`;
    const nodes = [];
    for (let position = first; position < last; position += 1) {
      const row = rowAt(position);
      nodes.push(rowNode(row, position, row.n === store.selected));
    }
    replace(space, nodes);
    empty.hidden = count > 0;
    if (!count) replace(empty, store.rows.length ? NOTHING_FOUND : NOTHING_YET);
    const isDrawn = nodes.some((node) => node.id === `row-${store.selected}`);
    if (isDrawn) box.setAttribute('aria-activedescendant', `row-${store.selected}`);
    else box.removeAttribute('aria-activedescendant');
  }

  function scrollTo(position) {
    const top = position * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
  }

  // Moves the selection. A step of infinity leads to an end.
  function move(step) {
    const count = store.shown.length;
    if (!count) return;
    const current = store.selected === null ? -1 : positionOf(store.selected);
    const position = current < 0 && Math.abs(step) === 1 ? 0 : Math.min(count - 1, Math.max(0, current + step));
    select(rowAt(position).n);
    scrollTo(position);
  }

  listen((what, added) => {
    // What the user reads stays where it is while new events come in above it.
    if (what === 'rows' && added > 0 && box.scrollTop > 0) box.scrollTop += added * ROW;
    if (what === 'filter') {
      const position = store.selected === null ? -1 : positionOf(store.selected);
      box.scrollTop = position < 0 ? 0 : Math.max(0, position * ROW - box.clientHeight / 2);
    }
    draw();
  });
  new ResizeObserver(() => draw()).observe(box);

  const page = () => Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
  const keys = {
    j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
    PageDown: () => move(page()), PageUp: () => move(-page()),
    Home: () => move(-Infinity), g: () => move(-Infinity), End: () => move(Infinity), G: () => move(Infinity),
    c: () => {
      if (store.selected === null) return;
      if (store.marked === null || store.marked === store.selected) mark(store.marked === null ? store.selected : null);
      else location.hash = `#/compare/${store.marked}/${store.selected}`;
    },
  };
  return {
    node: el('div', { class: 'list-frame' }, headings(), el('div', { class: 'list-box' }, box, empty)),
    focus: () => box.focus(),
    // Returns whether the key means something here.
    onKey: (key) => {
      if (!Object.hasOwn(keys, key)) return false;
      keys[key]();
      return true;
    },
    reveal: (number) => {
      const position = findRow(number) ? positionOf(number) : -1;
      if (position >= 0) scrollTo(position);
    },
    redraw: draw,
  };
}
