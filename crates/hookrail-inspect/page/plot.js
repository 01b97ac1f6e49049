// Plots, drawn as SVG by hand. Each has a sentence for readers who do not see it.

import { svg } from './dom.js';
import { milliseconds } from './format.js';

const [WIDTH, HEIGHT] = [220, 36];

function frame(label, children) {
  return svg('svg', { class: 'plot', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label, preserveAspectRatio: 'none' },
    svg('title', null, label), children);
}

function bar(x, width, height, from, className) {
  return svg('rect', { x, width: Math.max(0.5, width), y: HEIGHT - from - height, height, class: className });
}

// How durations are distributed, in steps of a factor of two from 0.1 ms.
export function durationPlot(durations) {
  const steps = 20;
  const counts = new Array(steps).fill(0);
  for (const ms of durations) {
    counts[Math.min(steps - 1, Math.max(0, Math.ceil(Math.log2(Math.max(ms, 0.001) / 0.1))))] += 1;
  }
  const most = Math.max(1, ...counts);
  const used = counts.flatMap((count, step) => (count ? [step] : []));
  const edge = (step) => milliseconds(0.1 * 2 ** step);
  const label = used.length
    ? `distribution of durations, from below ${edge(used[0])} to below ${edge(used[used.length - 1])}`
    : 'no durations';
  const width = WIDTH / steps;
  return frame(label, counts.map((count, step) => count > 0
    && bar(step * width + 1, width - 2, Math.max(2, (count / most) * HEIGHT), 0, 'bar')));
}

// How often a hook ran over time, and how often it denied or failed. Times are milliseconds since 1970.
export function timePlot(runs, from, to) {
  const steps = 44;
  const counts = Array.from({ length: steps }, () => ({ all: 0, deny: 0, failed: 0 }));
  const span = Math.max(1, to - from);
  for (const run of runs) {
    // A time that cannot be read has no place.
    if (!Number.isFinite(run.time)) continue;
    const step = counts[Math.min(steps - 1, Math.max(0, Math.floor(((run.time - from) / span) * steps)))];
    step.all += 1;
    if (run.failed) step.failed += 1; else if (run.decision === 'deny') step.deny += 1;
  }
  const most = Math.max(1, ...counts.map((step) => step.all));
  const busiest = counts.reduce((best, step) => Math.max(best, step.all), 0);
  const width = WIDTH / steps;
  const scale = (count) => (count ? Math.max(1.5, (count / most) * HEIGHT) : 0);
  const bars = counts.flatMap((step, index) => {
    const [failed, deny] = [scale(step.failed), scale(step.deny)];
    const rest = Math.max(0, scale(step.all) - failed - deny);
    const x = index * width;
    return [
      failed > 0 && bar(x, width - 0.5, failed, 0, 'bar failed'),
      deny > 0 && bar(x, width - 0.5, deny, failed, 'bar deny'),
      rest > 0 && bar(x, width - 0.5, rest, failed + deny, 'bar'),
    ];
  });
  return frame(`runs over time; at most ${busiest} in one of ${steps} equal intervals`, bars);
}

// The number that this share of sorted numbers does not exceed, as `hookrail stats` computes it.
export function quantile(sorted, share) {
  return sorted.length ? sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] : undefined;
}
