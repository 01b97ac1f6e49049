// What a replay changed: the document that `hookrail replay --json` prints, with links to the recorded events. The file is read
// by the page itself and sent nowhere.

import { el, note, replace, table } from './dom.js';
import { code, counted, dayTime } from './format.js';
import { findBySeq } from './store.js';

function exampleOf(example) {
  const row = findBySeq(example?.seq);
  const name = `#${example?.seq ?? '?'}`;
  return row ? el('a', { href: `#/event/${row.n}` }, name) : `${name} (not among the events of this page)`;
}

function leftOut(document) {
  const reasons = [
    [document.redacted, 'could not be replayed, because values were removed from their records'],
    [document.notRecorded, 'could not be replayed, because their records have no input'],
    [document.notRun, 'were not compared, because a hook could not be run in the sandbox'],
    [document.failedInSandbox, 'were not compared, because a hook failed in the sandbox'],
    [document.notTrusted, 'were not compared, because a hook waits for a grant'],
  ];
  return reasons.filter(([count]) => count > 0).map(([count, why]) => note(`${counted(count, 'event')} ${why}.`));
}

function changes(document) {
  if (!Array.isArray(document.different)) throw new Error('this is no document of `hookrail replay --json`');
  const sum = el('p', null, `${counted((document.replayed ?? 0) - (document.same ?? 0), 'event')} of ${(document.replayed ?? 0).toLocaleString('en')} now have another outcome.`);
  const rows = document.different.map(({ from, to, count, example }) => [
    String(from), String(to), String(count), exampleOf(example), [example?.event ?? '', ' ', example?.tool ?? ''],
    example?.hook ?? '–', example?.reason ?? '', example?.at ? dayTime(example.at) : '',
  ]);
  const heads = ['Recorded', 'Now', 'Events', 'Example', 'Event', 'Hook', 'Reason', 'Time'];
  return [sum, rows.length ? table('What changed', heads, rows) : note('Nothing differs.'), leftOut(document)];
}

export function replayView() {
  const result = el('div', { id: 'replay-result', 'aria-live': 'polite' });
  const file = el('input', {
    id: 'replay-file', type: 'file', accept: '.json,application/json',
    onchange: async () => {
      try {
        replace(result, changes(JSON.parse(await file.files[0].text())));
      } catch (error) {
        replace(result, el('p', { class: 'failed', role: 'alert' }, error.message));
      }
    },
  });
  const node = el('article', { class: 'page', id: 'replay' },
    el('h2', { tabindex: '-1' }, 'What a replay changed'),
    note('A replay fires recorded events at the hooks of today. Make one in the terminal and open its file here:'),
    el('p', null, code('hookrail replay --since 1d --json > replay.json')),
    el('p', null, el('label', { for: 'replay-file' }, 'Document of a replay '), file), result);
  return { node, show: () => node.querySelector('h2').focus() };
}
