// Values as text for people.

import { el } from './dom.js';

// A number and its unit stay on one line.
export function milliseconds(ms) {
  if (typeof ms !== 'number' || !Number.isFinite(ms)) return '–';
  if (ms < 1) return `${Math.round(ms * 1000)}\u00a0µs`;
  if (ms < 10) return `${ms.toFixed(1)}\u00a0ms`;
  return ms < 10000 ? `${Math.round(ms)}\u00a0ms` : `${(ms / 1000).toFixed(1)}\u00a0s`;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export function clockTime(at) {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? '' : CLOCK.format(time);
}

export function dayTime(at) {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? String(at) : DAY.format(time);
}

export function counted(number, one, many = one + 's') {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

// JSON with indentation; a text stays as it is, with its line breaks.
export function pretty(value) {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

// Below the project a path is short.
export function shortPath(path, project) {
  return project && path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path;
}

// A text whose end is seen where there is no room for all of it, if it is a path: its end says more than its beginning.
export function cutText(text) {
  return /^[^\s]*\/[^\s]*$/.test(text) ? { class: 'from-end', node: el('bdi', { dir: 'ltr' }, text) } : { class: '', node: text };
}

// The program that asked: of a bridge, the name of its agent.
export function agentOf(host) {
  return host.replace(/^hookrail (bridge )?/, '');
}

// The time of a record at which today began, where the reader is.
export function startOfToday() {
  return new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
}

// What became of an event that no hook decided.
export function undecided(row) {
  if (row.kind !== 'fired') return '';
  if (!row.hooks.length) return 'no hook';
  return /^(prompt|permission-request|before-|session-before-)/.test(row.event) ? 'allowed' : 'ran';
}

// The decision as a word with a sign, so that colour is not needed to read it.
const SIGNS = { allow: '✓', deny: '✕', ask: '?', stop: '■' };

export function verdict(decision, absent = 'no decision') {
  if (!decision) return el('span', { class: 'verdict none' }, absent);
  return el('span', { class: `verdict ${Object.hasOwn(SIGNS, decision) ? decision : 'none'}` },
    (Object.hasOwn(SIGNS, decision) ? SIGNS[decision] + ' ' : '') + decision);
}

// The file and the line in which a hook is configured. Below the project its path is short; all of it is in the title.
export function place(source, project) {
  if (!source || !source.file) return el('span', { class: 'dim' }, source?.kind ?? '–');
  const line = source.line ? `:${source.line}` : '';
  const file = shortPath(source.file, project);
  return el('span', { class: 'place', title: `${source.file}${line}` }, `${file}${line}`, el('span', { class: 'dim' }, ` ${source.kind ?? ''}`));
}

export function code(text) {
  return el('code', null, text);
}

export function block(text, label) {
  return el('pre', { tabindex: '0', role: 'region', 'aria-label': label }, text);
}
