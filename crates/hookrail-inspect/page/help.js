// The keys and the language of the filter.

import { button, el } from './dom.js';
import { FILTER_KEYS } from './filter.js';

const KEYS = [
  ['j or ↓, k or ↑', 'next and previous event'], ['g or Home, G or End', 'newest and oldest event'], ['Page Up, Page Down', 'a page further'],
  ['Enter', 'open the event'], ['Esc', 'back to the list; in the filter, clear it'], ['/', 'filter'],
  ['c', 'mark an event; on another one, compare both'], ['t', 'try the event on the hooks of today'],
  ['1 2 3 4 5', 'events, numbers, hooks, tester, replay'], ['?', 'this help'],
];

const FILTERS = [
  ['secret', 'a word in the event, tool, decision, hook, session or subject'],
  ['decision:deny tool:write', 'conditions; all must hold'],
  ['-event:after-tool', 'a condition turned around'],
  ['hook:guard end:timed-out layer:user', 'about the hooks that ran'],
  ['agent:claude is:today', 'who asked, and when'],
  ['is:rewrite is:failed is:shadow is:stop', 'marks'],
  ['ms:>100 seq:>=5000', 'numbers'],
];

function list(pairs) {
  return el('dl', { class: 'keys' }, pairs.map(([key, meaning]) => [el('dt', null, el('kbd', null, key)), el('dd', null, meaning)]));
}

export function helpDialog() {
  const dialog = el('dialog', { id: 'help', 'aria-labelledby': 'help-title' },
    el('h2', { id: 'help-title' }, 'Keys and filter'),
    list(KEYS), el('h3', null, 'Filter'), list(FILTERS),
    el('p', { class: 'note' }, `Keys: ${FILTER_KEYS.join(', ')}. “In all fields” also looks into inputs, outcomes and output of hooks.`),
    button('Close', () => dialog.close()));
  return dialog;
}
