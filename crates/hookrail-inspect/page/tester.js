// Trying an event on the hooks that are configured now: what would run, or, if that was allowed, what happens.

import { button, el, note, replace } from './dom.js';
import { pretty, verdict } from './format.js';
import { diagnosticSection, effectSection, planSection, rewriteSections, runSections, runsOf, shadowSection, skippedSection } from './outcome.js';

const SAMPLE = { tool_name: 'write_file', tool_input: { path: '.env', content: 'KEY=1' } };

export function testerView(source) {
  const mayFire = source.about.tester === 'fire';
  const event = el('input', { id: 'test-event', list: 'test-events', value: 'before-tool', autocomplete: 'off', spellcheck: 'false' });
  const payload = el('textarea', { id: 'test-payload', rows: '10', spellcheck: 'false', autocomplete: 'off' });
  payload.value = pretty(SAMPLE);
  const result = el('div', { id: 'test-result', 'aria-live': 'polite' });
  let recorded = null;

  async function run(kind) {
    try {
      const fields = JSON.parse(payload.value);
      replace(result, note('…'));
      const document = await source[kind]({ event: event.value, payload: fields });
      replace(result, kind === 'fire' ? fired(document, fields) : explained(document));
    } catch (error) {
      replace(result, el('p', { class: 'failed', role: 'alert' }, error.message));
    }
  }

  function explained(plan) {
    return [planSection(plan, source.about.project), skippedSection(plan, source.about.project), diagnosticSection(plan)];
  }

  function fired(outcome, fields) {
    const runs = runsOf({ outcome });
    const before = recorded && recorded.event === outcome.event
      ? note('Recorded: ', verdict(recorded.decision), ' Now: ', verdict(outcome.decision),
        (recorded.decision ?? null) === (outcome.decision ?? null) ? ' (the same)' : ' (different)')
      : null;
    return [el('h3', null, 'Outcome ', verdict(outcome.decision)), before, effectSection(outcome), runSections(runs, undefined, source.about.project), rewriteSections(outcome, fields),
      skippedSection(outcome, source.about.project), shadowSection(outcome, [], fields), diagnosticSection(outcome)];
  }

  const why = source.isLive ? 'Start `hookrail inspect --allow-run` to fire events from here.' : 'An exported file cannot try events.';
  const node = el('article', { class: 'page', id: 'tester' },
    el('h2', { tabindex: '-1' }, 'Try an event'),
    note('The event is tried on the hooks of this project as they are configured and trusted now.'),
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
    fill: (record) => {
      recorded = { event: record.event, decision: record.outcome?.decision ?? record.decision };
      event.value = record.event;
      payload.value = pretty(record.input ?? {});
      replace(result, record.redacted ? note(`${record.redacted} values of this input were removed when it was recorded.`) : null);
    },
  };
}
