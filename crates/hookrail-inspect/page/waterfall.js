// When each hook of an event ran.

import { svg } from './dom.js';
import { milliseconds } from './format.js';

const [WIDTH, ROW, LABEL] = [640, 24, 190];

function shortened(text, most) {
  const letters = [...text];
  return letters.length > most ? letters.slice(0, most - 1).join('') + '…' : text;
}

// The runs as bars on one axis. Runs that were not waited for are drawn with a broken line.
export function waterfall(runs, total) {
  const ends = runs.map((run) => (run.start ?? 0) + (run.ms ?? 0));
  const length = Math.max(total ?? 0, ...ends, 0.001);
  const x = (ms) => LABEL + (ms / length) * (WIDTH - LABEL - 8);
  const height = runs.length * ROW + 22;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = x(share * length);
    return [
      svg('line', { x1: at, x2: at, y1: 16, y2: height, class: 'tick' }),
      svg('text', { x: at, y: 11, class: 'axis', 'text-anchor': share === 0 ? 'start' : share === 1 ? 'end' : 'middle' },
        milliseconds(share * length)),
    ];
  });
  const bars = runs.map((run, index) => {
    const y = 18 + index * ROW;
    const begin = x(run.start ?? 0);
    const width = Math.max(2, x((run.start ?? 0) + (run.ms ?? 0)) - begin);
    const kind = run.failed ? 'failed' : run.decision ?? 'none';
    const start = run.start === undefined || run.start === null ? 'not waited for' : `started at ${milliseconds(run.start)}`;
    return svg('g', null,
      svg('title', null, `${run.hook}: ${start}, took ${milliseconds(run.ms)}, ${run.end}${run.decision ? `, ${run.decision}` : ''}`),
      svg('text', { x: 0, y: y + 14, class: 'name' }, shortened(run.hook ?? '', 26)),
      svg('rect', { x: begin, y: y + 3, width, height: ROW - 8, rx: 2, class: `run ${kind}${run.start == null ? ' detached' : ''}` }),
      svg('text', {
        x: begin + width + 4 > WIDTH - 60 ? begin - 4 : begin + width + 4,
        y: y + 14,
        class: 'axis',
        'text-anchor': begin + width + 4 > WIDTH - 60 ? 'end' : 'start',
      }, milliseconds(run.ms)));
  });
  const sentence = runs.map((run) => `${run.hook} took ${milliseconds(run.ms)}`).join('; ');
  return svg('svg', { class: 'waterfall', viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': `Timeline of ${runs.length} hooks: ${sentence}` },
    ticks, bars);
}
