// One event in full.

import { button, el, note, replace, section, table } from './dom.js';
import { block, dayTime, milliseconds, pretty, verdict } from './format.js';
import { diagnosticSection, effectSection, rewriteSections, runSections, runsOf, shadowSection, skippedSection } from './outcome.js';
import { findRow, listen, mark, rowsOfFire, store } from './store.js';

const FACTS = [
  ['at', 'Time'], ['session', 'Session'], ['host', 'Host'], ['project', 'Project'], ['cwd', 'Working directory'],
  ['transcript', 'Transcript'], ['trace', 'Trace'], ['machine', 'Machine'], ['user', 'User'], ['fire', 'Name of the event'],
  ['config', 'Configuration'], ['operation', 'Operation'], ['answer', 'Answer of the user'], ['because', 'Because'],
  ['loss', 'Loss'], ['instead', 'Instead'], ['change', 'Trust'], ['hook', 'Hook'], ['content', 'Content'], ['why', 'Why late'],
  ['reason', 'Reason'], ['seq', 'Number'], ['hash', 'Hash'],
];

// The highest number of later records that are shown with an event.
const MOST_LATER = 50;

export function factText(key, value) {
  if (value === undefined || value === null || value === '') return '';
  if (key === 'at') return dayTime(value);
  if (key === 'host' && typeof value === 'object') return `${value.name ?? ''} ${value.version ?? ''}`.trim();
  return typeof value === 'object' ? pretty(value) : String(value);
}

export function factList(record) {
  const facts = FACTS.map(([key, title]) => [title, factText(key, record[key])]).filter(([, text]) => text);
  return el('dl', { class: 'facts' }, facts.map(([title, text]) => [el('dt', null, title), el('dd', null, text)]));
}

export function heading(record, number) {
  const name = record.kind === 'fired' ? record.event : `${record.kind} ${record.event ?? ''}`;
  return el('h2', { tabindex: '-1', id: 'detail-title' }, verdict(record.decision), ' ', name, record.tool ? ` · ${record.tool}` : '',
    el('span', { class: 'dim' }, `  #${record.seq ?? number}`), record.ms ? el('span', { class: 'dim' }, `  ${milliseconds(record.ms)}`) : null);
}

function laterSection(records, actions) {
  if (!records.length) return null;
  const rows = records.map(({ number, record }) => [
    button(`#${record.seq}`, () => actions.open(number)), record.kind, record.answer ?? record.why ?? record.loss ?? '',
    [verdict(record.decision ?? record.hooks?.[0]?.decision, '–'), ' ', record.hooks?.map((run) => run.hook).join(', ') ?? ''],
    record.reason ?? record.because ?? record.instead ?? '',
  ]);
  return section('Later records of this event', table('Later records', ['Record', 'Kind', 'What', 'Decision', 'Reason'], rows));
}

export function detailView(source, actions) {
  const node = el('article', { id: 'detail', class: 'detail', 'aria-labelledby': 'detail-title' });
  let shown = null;
  // What came later about the event that is shown, and the number up to which rows were looked at.
  let later = null;

  async function show(number, takesFocus) {
    [shown, later] = [number, null];
    if (number === null) {
      replace(node, note('Select an event: j and k move, Enter opens, ? shows all keys.'));
      return;
    }
    try {
      const record = await source.record(number);
      const row = findRow(number);
      if (shown !== number) return;
      if (!record) throw new Error(row?.text ?? 'this line of the journal cannot be read');
      later = { record, number, records: [], from: 0, isBusy: false };
      draw(record, number);
      if (takesFocus) node.querySelector('h2').focus();
      await addLater();
    } catch (error) {
      if (shown === number) replace(node, el('h2', { tabindex: '-1', id: 'detail-title' }, 'This record cannot be shown'), note(error.message));
    }
  }

  function draw(record, number) {
    const runs = runsOf(record);
    const isFired = record.kind === 'fired';
    const canTry = source.isLive && isFired;
    replace(node,
      el('div', { class: 'bar' },
        button('Back', actions.back, { class: 'back' }),
        button(store.marked === number ? 'Unmark' : 'Mark to compare', () => { mark(store.marked === number ? null : number); draw(record, number); }),
        store.marked !== null && store.marked !== number
          && button('Compare with the marked event', () => { location.hash = `#/compare/${store.marked}/${number}`; }),
        canTry && button('Try it today', () => actions.test(number, record))),
      heading(record, number),
      effectSection(record.outcome),
      isFired || runs.length ? runSections(runs, record.ms, record.project) : null,
      isFired ? rewriteSections(record.outcome, record.input) : null,
      isFired ? skippedSection(record.outcome, record.project) : null,
      el('div', { class: 'later' }),
      diagnosticSection(record.outcome),
      section('Record', factList(record), record.redacted ? note(`${record.redacted} values were removed from the input before it was written.`) : null),
      rawPart('Input', record.input), rawPart('Outcome', record.outcome));
    drawLater();
    node.scrollTop = 0;
  }

  function drawLater() {
    const { record, records } = later;
    replace(node.querySelector('.later'), shadowSection(record, records.map((one) => one.record), record.input), laterSection(records, actions));
  }

  function rawPart(title, value) {
    if (value === undefined || value === null) return null;
    return el('details', null, el('summary', null, title), block(pretty(value), title));
  }

  // Hooks that ended later, and what the user answered, have records of their own, which may come while the event is shown.
  async function addLater() {
    const own = later;
    if (!own || own.isBusy) return;
    own.isBusy = true;
    try {
      while (later === own && own.from <= (store.rows.at(-1)?.n ?? -1)) {
        const next = store.rows.at(-1).n + 1;
        const rows = (await rowsOfFire(own.record.fire, own.from)).filter((row) => row.n !== own.number && row.n < next).slice(0, MOST_LATER - own.records.length);
        const records = await Promise.all(rows.map(async (row) => ({ number: row.n, record: await source.record(row.n) })));
        if (later !== own) return;
        own.from = next;
        own.records.push(...records);
        if (records.length) drawLater();
      }
    } finally {
      own.isBusy = false;
    }
  }
  // A record that cannot be read now is looked for again with the next rows.
  listen((what) => { if (what === 'rows') addLater().catch(() => {}); });

  return { node, show, focus: () => node.querySelector('h2')?.focus() };
}
