// The difference of two texts, line by line.

import { el } from './dom.js';
import { pretty } from './format.js';

// The highest number of pairs of lines that are compared; larger parts are shown as removed and added.
const MOST_PAIRS = 1500000;

// Returns pairs of a sign and a line: ' ' for a line of both, '-' for one of the first, '+' for one of the second.
export function diffLines(first, second) {
  const [a, b] = [first.split('\n'), second.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middle = diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const same = (lines) => lines.map((line) => [' ', line]);
  return [...same(a.slice(0, start)), ...middle, ...same(a.slice(a.length - end))];
}

function diffMiddle(a, b) {
  if (a.length * b.length > MOST_PAIRS) return [...a.map((line) => ['-', line]), ...b.map((line) => ['+', line])];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j]
        ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([' ', a[i]]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      lines.push(['-', a[i]]);
      i += 1;
    } else {
      lines.push(['+', b[j]]);
      j += 1;
    }
  }
  return lines;
}

const TAGS = { ' ': 'span', '-': 'del', '+': 'ins' };

// A value in lines. A text inside of JSON is broken behind each `\\n`, so that its lines can be compared.
function linesOf(value) {
  return typeof value === 'string' ? value : pretty(value).replace(/\\\\|\\n(?!")/g, (found) => (found === '\\n' ? '\\n\n      ' : found));
}

// The difference of two values as a block. Removed and added lines have signs, so that colour is not needed.
export function diffBlock(label, before, after) {
  const lines = diffLines(linesOf(before), linesOf(after));
  const nodes = lines.map(([sign, line]) => el(TAGS[sign], null, `${sign} ${line}\n`));
  return el('pre', { class: 'diff', tabindex: '0', role: 'region', 'aria-label': label }, nodes);
}

export function areEqual(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
