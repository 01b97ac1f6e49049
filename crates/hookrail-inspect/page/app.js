// The page: its frame, the views, and the keyboard.

import { button, el, replace, visible } from './dom.js';
import { counted } from './format.js';
import { addRows, countToday, keepLast, listen, newestDenial, select, setFilter, store } from './store.js';
import { openSource } from './source.js';
import { eventList } from './list.js';
import { detailView } from './detail.js';
import { compareView } from './compare.js';
import { statsView } from './stats.js';
import { hooksView } from './hooks.js';
import { testerView } from './tester.js';
import { replayView } from './replay.js';
import { helpDialog } from './help.js';

const VIEWS = [['events', 'Events'], ['stats', 'Numbers'], ['hooks', 'Hooks'], ['tester', 'Tester'], ['replay', 'Replay']];
// What today's events are counted by, with the words for one and for several.
const TODAY = [['deny', 'denied today', 'denied today'], ['ask', 'question today', 'questions today']];
const isNarrow = () => matchMedia('(max-width: 800px)').matches;

// The text of an address, also if a user typed a percent sign into it.
function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function startPage(source) {
  const root = document.getElementById('app');
  const state = el('span', { class: 'state', id: 'state', role: 'status' }, 'loading');
  const count = el('span', { class: 'dim', id: 'count' });
  const filter = el('input', { id: 'filter', type: 'search', placeholder: 'Filter: decision:deny hook:guard …  ( / )', 'aria-label': 'Filter events', autocomplete: 'off', spellcheck: 'false' });
  const deep = el('input', { id: 'deep', type: 'checkbox' });
  const today = el('div', { class: 'today', id: 'today', role: 'group', 'aria-label': 'Events of today' });
  const list = eventList(() => open(store.selected, !isNarrow() ? false : true));
  const detail = detailView(source, { back: () => back(), open: (number) => open(number, true), test });
  const views = { stats: statsView(), hooks: hooksView(source), tester: testerView(source), replay: replayView(), compare: compareView(source) };
  const help = helpDialog();
  const links = VIEWS.map(([name, title]) => el('a', { href: `#/${name}`, id: `nav-${name}` }, title));
  const events = el('div', { class: 'split', id: 'events' },
    el('div', { class: 'left' },
      el('div', { class: 'bar' }, today, filter, el('label', { class: 'check' }, deep, ' in all fields'), count), list.node),
    detail.node);
  const main = el('main', { id: 'main' }, events);
  replace(root,
    el('a', { class: 'skip', href: '#/events', onclick: (event) => { event.preventDefault(); list.focus(); } }, 'Skip to the events'),
    el('header', null, el('h1', null, 'hookrail'), el('nav', { 'aria-label': 'Views' }, links),
      el('span', { class: 'project dim' }, source.about.project), state, button('?', () => help.showModal(), { 'aria-label': 'Keys and filter', id: 'help-button' })),
    main, help);

  // A page that was opened without an event shows one that matters. Its journal may come in several parts.
  const openedAt = new Date().toISOString();
  let chosen = null;
  function chooseEvent() {
    if (store.selected !== chosen || store.filterText) return;
    const row = newestDenial(openedAt);
    if (!row || row.n === chosen) return;
    chosen = row.n;
    select(row.n);
    list.reveal(row.n);
  }

  function open(number, takesFocus) {
    if (number === null) return;
    chosen = undefined;
    select(number);
    events.classList.add('opened');
    list.reveal(number);
    detail.show(number, takesFocus);
  }

  function drawToday() {
    const counts = countToday(TODAY.map(([decision]) => decision));
    const focused = today.contains(document.activeElement) ? document.activeElement.dataset.decision : undefined;
    replace(today, TODAY.map(([decision, one, many]) => button(
      `${counts.get(decision).toLocaleString('en')} ${counts.get(decision) === 1 ? one : many}`,
      () => { filter.value = `decision:${decision} is:today`; applyFilter(); },
      { class: `count ${counts.get(decision) ? decision : ''}`, 'data-decision': decision })));
    if (focused) today.querySelector(`[data-decision=${focused}]`).focus();
  }

  function back() {
    events.classList.remove('opened');
    list.focus();
    list.reveal(store.selected);
  }

  function test(number, record) {
    views.tester.fill(number, record);
    go('#/tester');
  }

  // Shows a view at once, so that the next key belongs to it.
  function go(hash) {
    location.hash = hash;
    route();
  }

  // The view is in the address: `#/event/12`, `#/compare/3/9`, `#/events?FILTER`.
  let routed = null;
  function route() {
    routed = location.hash;
    const [path, query] = decoded(location.hash.slice(2)).split(/\?(.*)/s);
    const [name, ...rest] = path.split('/');
    const view = Object.hasOwn(views, name) ? views[name] : null;
    for (const link of links) {
      if (link.id === `nav-${view ? name : 'events'}`) link.setAttribute('aria-current', 'page'); else link.removeAttribute('aria-current');
    }
    const node = view ? view.node : events;
    // An element that is put where it is would lose the focus.
    if (main.firstChild !== node) main.replaceChildren(node);
    if (view) view.show(...rest.map(Number));
    else {
      list.redraw();
      if (query !== undefined) { filter.value = query; applyFilter(); }
      if (name === 'event' && /^\d+$/.test(rest[0] ?? '')) open(Number(rest[0]), true);
      else if (document.activeElement !== filter) list.focus();
    }
  }

  let timer = null;
  async function applyFilter() {
    clearTimeout(timer);
    const text = filter.value.trim();
    if (!deep.checked || !text) return setFilter(text);
    try {
      return await setFilter(text, (from) => source.search(text, from));
    } catch (error) {
      state.textContent = error.message;
      return undefined;
    }
  }
  filter.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(applyFilter, 80); });
  deep.addEventListener('change', applyFilter);

  listen((what) => {
    if (what === 'selected' && !isNarrow() && main.contains(events)) detail.show(store.selected, false);
    if (what === 'rows') {
      drawToday();
      chooseEvent();
    }
    if (what === 'rows' || what === 'filter') {
      // The result of a filter is announced; events that come in are not, because they may be many.
      count.setAttribute('aria-live', what === 'filter' ? 'polite' : 'off');
      const all = counted(store.rows.length, 'event');
      count.textContent = store.shown.length === store.rows.length ? all : `${store.shown.length.toLocaleString('en')} of ${all}`;
    }
  });

  function onFilterKey(event) {
    if (event.key === 'Escape') {
      if (filter.value) { filter.value = ''; applyFilter(); }
      list.focus();
    } else if (event.key === 'Enter' || event.key === 'ArrowDown') {
      list.focus();
      applyFilter().then(() => { if (store.selected === null) list.onKey('j'); });
    } else return;
    event.preventDefault();
  }

  function onPageKey(event) {
    const isEvents = main.contains(events);
    const key = event.key;
    const inDetail = detail.node.contains(document.activeElement);
    if (key === '/') {
      if (!isEvents) go('#/events');
      filter.focus();
      filter.select();
    } else if (key === '?') help.showModal();
    else if (/^[1-5]$/.test(key)) go(`#/${VIEWS[Number(key) - 1][0]}`);
    else if (key === 'Escape') { if (isEvents) back(); else go('#/events'); }
    else if (!isEvents) return;
    else if (key === 'Enter' && !inDetail && !event.target.closest('a, button, summary')) open(store.selected, true);
    else if (key === 't' && source.isLive && store.selected !== null) {
      const number = store.selected;
      source.record(number).then((record) => record?.kind === 'fired' && test(number, record), (error) => { state.textContent = error.message; });
    }
    else if (inDetail && !['j', 'k', 'c'].includes(key)) return;
    else if (event.target.closest('a, button, summary') || !list.onKey(key)) return;
    event.preventDefault();
  }

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || help.open) return;
    if (event.target === filter) onFilterKey(event);
    else if (event.target.matches?.('input, textarea, select')) { if (event.key === 'Escape') document.activeElement.blur(); }
    else onPageKey(event);
  });
  // A view that was shown at once is not shown again when the browser tells that the address changed.
  addEventListener('hashchange', () => { if (location.hash !== routed) route(); });
  detail.show(null);
  drawToday();
  route();
  return {
    setState: (text) => { state.textContent = text; state.dataset.state = text; },
    // An event that the address names was opened before its row was there.
    reveal: () => list.reveal(store.selected),
  };
}

async function start() {
  const root = document.getElementById('app');
  try {
    const source = await openSource();
    document.title = visible(`hookrail · ${source.about.project || 'inspect'}`);
    const page = startPage(source);
    keepLast(source.about.last ?? Infinity);
    const next = await source.load(addRows);
    page.reveal();
    page.setState(source.isLive ? 'loaded' : 'exported');
    source.follow(next, addRows, page.setState);
  } catch (error) {
    replace(root, el('main', { class: 'page' }, el('h1', null, 'hookrail inspect'), el('p', { role: 'alert', id: 'problem' }, error.message)));
  }
}

start();
