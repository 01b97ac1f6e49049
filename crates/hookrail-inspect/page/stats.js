// What each hook did, over the events that the filter shows.

import { button, el, note, pause, replace } from './dom.js';
import { counted, milliseconds } from './format.js';
import { durationPlot, quantile, timePlot } from './plot.js';
import { listen, store } from './store.js';

const SLICE = 10000;

// Milliseconds between two counts of the events.
const PAUSE = 250;

async function collect(isCurrent) {
  const hooks = new Map();
  // A copy, because rows come and go meanwhile.
  const shown = [...store.shown];
  let [from, to] = [Infinity, -Infinity];
  for (let index = 0; index < shown.length; index += 1) {
    const row = shown[index];
    // A record of its own has a late verdict of a shadow hook, which is no run that counts.
    const isShadow = row.kind === 'late' && row.marks.includes('shadow');
    const time = Date.parse(row.at);
    if (row.hooks.length && Number.isFinite(time)) [from, to] = [Math.min(from, time), Math.max(to, time)];
    for (const [id, name, layer, end, decision, ms, failed] of isShadow ? [] : row.hooks) {
      // A detached run counts when it has ended, by its own record.
      if (end === 'detached') continue;
      const key = id || name;
      let hook = hooks.get(key);
      if (!hook) hooks.set(key, hook = { key, name, layer, runs: [] });
      hook.runs.push({ time, ms, decision, end, failed: failed === 1 });
    }
    if (index % SLICE === SLICE - 1) {
      await pause();
      if (!isCurrent()) return null;
    }
  }
  const numbers = [];
  for (const hook of hooks.values()) {
    numbers.push(summary(hook, from, to));
    await pause();
  }
  return isCurrent() ? { count: shown.length, hooks: numbers } : null;
}

function summary({ key, name, layer, runs }, from, to) {
  const durations = Float64Array.from(runs, (run) => run.ms).sort();
  const decided = (decision) => runs.reduce((count, run) => count + (run.decision === decision ? 1 : 0), 0);
  return {
    key, name, layer, count: runs.length, deny: decided('deny'), ask: decided('ask'), allow: decided('allow'),
    failed: runs.reduce((count, run) => count + (run.failed ? 1 : 0), 0),
    p50: quantile(durations, 0.5), p99: quantile(durations, 0.99), most: durations[durations.length - 1],
    durations: durationPlot(durations), times: timePlot(runs, from, to),
  };
}

// The filter that shows the events of a hook: by its name, which can be read, or by its id if the name cannot be quoted.
function filterOf({ key, name }) {
  return /^[^"\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u.test(name) ? `hook:"${name}"` : `hook:${key.toWellFormed()}`;
}

const COLUMNS = [
  ['name', 'Hook'], ['layer', 'Layer'], ['count', 'Runs'], ['deny', 'Deny'], ['ask', 'Ask'], ['allow', 'Allow'], ['failed', 'Failed'],
  ['p50', 'Median'], ['p99', '99 %'], ['most', 'Longest'],
];

export function statsView() {
  const node = el('article', { class: 'page', id: 'stats' });
  let [sortKey, isUp, generation, hooks, count] = ['count', false, 0, [], 0];
  let [isRefreshing, isOld] = [false, false];

  function sorted() {
    const order = (a, b) => (typeof a[sortKey] === 'number' ? a[sortKey] - b[sortKey] : String(a[sortKey]).localeCompare(String(b[sortKey])));
    return [...hooks].sort((a, b) => (isUp ? order(a, b) : order(b, a)));
  }

  function head([key, title]) {
    const state = key === sortKey ? (isUp ? 'ascending' : 'descending') : 'none';
    return el('th', { scope: 'col', 'aria-sort': state }, button(title, () => {
      [isUp, sortKey] = [key === sortKey ? !isUp : key === 'name', key];
      redraw();
    }, { class: 'plain', 'data-focus': `sort ${key}` }));
  }

  function line(hook) {
    const number = (key) => el('td', { class: `number${hook[key] && (key === 'deny' || key === 'failed') ? ` ${key}` : ''}` }, hook[key].toLocaleString('en'));
    const time = (key) => el('td', { class: 'number' }, milliseconds(hook[key]));
    return el('tr', null,
      el('th', { scope: 'row' }, el('a', { href: `#/events?${encodeURIComponent(filterOf(hook))}`, 'data-focus': `hook ${hook.key}` }, hook.name)),
      el('td', null, hook.layer), ['count', 'deny', 'ask', 'allow', 'failed'].map(number), ['p50', 'p99', 'most'].map(time),
      el('td', null, hook.durations), el('td', null, hook.times));
  }

  function draw() {
    const events = counted(count, 'event');
    const heads = [...COLUMNS.map(head), el('th', { scope: 'col' }, 'Durations (doubling)'), el('th', { scope: 'col' }, 'Runs over time')];
    replace(node, el('h2', { tabindex: '-1', 'data-focus': 'title' }, 'Hooks in numbers'),
      note(`Over ${events}${store.filterText ? ` that match ${store.filterText}` : ''}. In the last plot, red is denied and yellow has failed.`),
      hooks.length
        ? el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Hooks in numbers', 'data-focus': 'table' },
          el('table', { class: 'numbers' }, el('caption', null, 'Runs, decisions and times of each hook'),
            el('thead', null, el('tr', null, heads)), el('tbody', null, sorted().map(line))))
        : note('No hook ran in these events.'));
  }

  // Draws again what the user is looking at: the focus and the place in a wide table stay.
  function redraw() {
    const focused = node.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
    const left = node.querySelector('.scroll')?.scrollLeft ?? 0;
    draw();
    const table = node.querySelector('.scroll');
    if (table) table.scrollLeft = left;
    if (focused) [...node.querySelectorAll('[data-focus]')].find((one) => one.dataset.focus === focused)?.focus({ preventScroll: true });
  }

  async function update(drawn) {
    generation += 1;
    const own = generation;
    const collected = await collect(() => own === generation);
    if (!collected) return;
    ({ hooks, count } = collected);
    drawn();
  }

  // Counts again when rows have come. One count at a time, with pauses, so that many rows do not keep the browser busy.
  async function refresh() {
    isOld = true;
    if (isRefreshing) return;
    isRefreshing = true;
    while (isOld && node.isConnected) {
      isOld = false;
      await update(redraw);
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
    }
    isRefreshing = false;
  }
  listen((what) => { if ((what === 'rows' || what === 'filter') && node.isConnected) refresh(); });

  const show = () => update(() => { draw(); node.querySelector('h2').focus(); });
  return { node, show };
}
