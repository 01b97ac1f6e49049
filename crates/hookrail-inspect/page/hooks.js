// The hooks that are configured now, where, and whether they are trusted. Trust is granted in the terminal: a page must not be
// able to grant.

import { el, note, replace, section, table } from './dom.js';
import { code, cutText, place, shortPath } from './format.js';

function stateOf(hook, trust) {
  const found = trust?.hooks?.find((one) => one.hook === hook.hook && one.source?.file === hook.source?.file && one.source?.line === hook.source?.line);
  if (found) return found.state;
  return hook.trusted ? 'needs no grant' : 'not trusted';
}

function trustSection(trust) {
  if (!trust) return null;
  const waiting = (trust.hooks ?? []).filter((hook) => hook.state !== 'granted');
  return section('Trust',
    el('p', null, 'The project ', code(trust.project ?? ''), trust.trusted ? ' is trusted.' : ' is not trusted: its hooks do not run.'),
    waiting.length
      ? [el('p', null, `${waiting.length} of its hooks wait for a grant. Trust is granted in the terminal only:`),
        el('pre', { tabindex: '0', role: 'region', 'aria-label': 'Commands that grant trust' }, 'hookrail trust diff\nhookrail trust grant\n')]
      : note('All hooks of the project are granted as they are now.'));
}

// A module is named by its path.
function nameOf(hook, project) {
  const name = cutText(shortPath(hook.hook ?? '', project));
  return el('strong', { class: `name ${name.class}`, title: hook.hook ?? '' }, name.node);
}

function rowsOf(list, trust) {
  return (list.hooks ?? []).map((hook) => {
    const state = stateOf(hook, trust);
    const cells = [
      nameOf(hook, trust?.project), hook.event ?? '–', hook.matcher ? code(hook.matcher) : 'all', hook.dialect ?? '',
      hook.enabled ? 'enabled' : 'disabled', el('span', { class: `trust ${state === 'granted' || state === 'needs no grant' ? 'good' : 'bad'}` }, state),
      place(hook.source, trust?.project), hook.description ?? '',
    ];
    cells.className = hook.enabled && hook.trusted ? undefined : 'dim';
    return cells;
  });
}

export function hooksView(source) {
  const node = el('article', { class: 'page', id: 'hooks' });
  const title = () => el('h2', { tabindex: '-1' }, 'Configured hooks');
  async function show() {
    try {
      const { list, trust } = await source.hooks();
      const rows = rowsOf(list, trust);
      const found = (list.diagnostics ?? []).map((one) => [one.level, code(one.code ?? ''), one.message, one.file ? `${one.file}:${one.line ?? ''}` : '–']);
      replace(node, title(), trustSection(trust),
        section('Hooks', rows.length
          ? table('Configured hooks', ['Hook', 'Event', 'Matcher', 'Dialect', 'State', 'Trust', 'Configured in', 'Description'], rows)
          : note('No hook is configured. `hookrail init` creates a first one.')),
        found.length ? section('Diagnostics', table('Diagnostics', ['Level', 'Code', 'Message', 'Place'], found)) : null);
    } catch (error) {
      replace(node, title(), note(error.message));
    }
    node.querySelector('h2').focus();
  }
  return { node, show };
}
