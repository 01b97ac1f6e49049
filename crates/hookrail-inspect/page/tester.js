// Trying an event on the hooks that are configured now: what would run, or, if that was allowed, what happens.

import { button, el, escapedJson, note, replace, visible } from './dom.js';
import { areEqual } from './diff.js';
import { code, counted, pretty, verdict } from './format.js';
import { diagnosticSection, effectSection, planSection, rewriteSections, runSections, runsOf, shadowSection, skippedSection } from './outcome.js';

const SAMPLE = { tool_name: 'write_file', tool_input: { path: '.env', content: 'KEY=1' } };

export function testerView(source) {
  const mayFire = source.about.tester === 'fire';
  const event = el('input', { id: 'test-event', list: 'test-events', value: 'before-tool', autocomplete: 'off', spellcheck: 'false' });
  const payload = el('textarea', { id: 'test-payload', rows: '10', spellcheck: 'false', autocomplete: 'off' });
  payload.value = pretty(SAMPLE);
  const origin = el('div', { id: 'test-origin' });
  const result = el('div', { id: 'test-result', 'aria-live': 'polite' });
  // The recorded event that the fields were taken from, and its number.
  let recorded = null;

  async function run(kind) {
    try {
      const fields = JSON.parse(payload.value);
      replace(result, note('…'));
      const document = await source[kind]({ event: event.value, payload: fields, record: recorded?.number });
      replace(result, kind === 'fire' ? fired(document, fields) : explained(document));
    } catch (error) {
      replace(result, el('p', { class: 'failed', role: 'alert' }, error.message));
    }
  }

  function explained(plan) {
    return [planSection(plan, source.about.project), skippedSection(plan, source.about.project), diagnosticSection(plan)];
  }

  // Why the outcome of now says nothing about the recorded one; nothing if it does.
  function whyNotComparable(outcome, fields) {
    const { record } = recorded;
    if (record.project !== source.about.project) return 'its project is another one';
    if (record.redacted) return 'values were removed from it when it was recorded';
    return record.event === outcome.event && areEqual(fields, record.input) ? null : 'it was changed here';
  }

  function comparison(outcome, fields) {
    if (!recorded) return null;
    const why = whyNotComparable(outcome, fields);
    if (why) return note(`Not compared with the recorded event: ${why}.`);
    const before = recorded.record.outcome?.decision ?? recorded.record.decision ?? null;
    return note('Recorded: ', verdict(before), ' Now: ', verdict(outcome.decision), before === (outcome.decision ?? null) ? ' (the same)' : ' (different)');
  }

  function fired(outcome, fields) {
    const runs = runsOf({ outcome });
    return [el('h3', null, 'Outcome ', verdict(outcome.decision)), comparison(outcome, fields), effectSection(outcome), runSections(runs, undefined, source.about.project), rewriteSections(outcome, fields),
      skippedSection(outcome, source.about.project), shadowSection({ outcome }, [], fields), diagnosticSection(outcome)];
  }

  function describeOrigin() {
    if (!recorded) return replace(origin);
    const { number, record } = recorded;
    const isForeign = record.project !== source.about.project;
    return replace(origin,
      note('Taken from ', el('a', { href: `#/event/${number}` }, `#${record.seq ?? number}`), ` of ${record.host?.name ?? 'an unknown program'}. `,
        button('Forget it', () => { recorded = null; describeOrigin(); })),
      isForeign ? note('It is an event of another project, ', code(record.project ?? ''), ', and is tried here on the hooks of this one.') : null,
      record.redacted ? note(`${counted(record.redacted, 'value')} of its input ${record.redacted === 1 ? 'was' : 'were'} removed when it was recorded.`) : null);
  }

  const why = source.isLive ? 'Start `hookrail inspect --allow-run` to fire events from here.' : 'An exported file cannot try events.';
  const node = el('article', { class: 'page', id: 'tester' },
    el('h2', { tabindex: '-1' }, 'Try an event'),
    note('The event is tried on the hooks of this project as they are configured and trusted now.'), origin,
    el('form', { onsubmit: (submitted) => { submitted.preventDefault(); run('explain'); } },
      el('label', { for: 'test-event' }, 'Event'), event,
      el('datalist', { id: 'test-events' }, source.about.events.map((name) => el('option', { value: name }))),
      el('label', { for: 'test-payload' }, "The event's fields, as JSON"), payload,
      el('div', { class: 'bar' },
        el('button', { type: 'submit', disabled: !source.isLive }, 'Explain: run nothing'),
        button('Fire: run the hooks', () => run('fire'), { disabled: !mayFire, 'aria-describedby': mayFire ? undefined : 'test-why' })),
      mayFire ? null : el('p', { class: 'note', id: 'test-why' }, why)),
    result);

  return {
    node,
    show: () => node.querySelector('h2').focus(),
    fill: (number, record) => {
      recorded = { number, record };
      event.value = visible(record.event);
      payload.value = escapedJson(pretty(record.input ?? {}));
      describeOrigin();
      replace(result);
    },
  };
}
