// The map of a file: which of its bytes are here, which are being fetched, and by which connection.

import { h, setAttribute } from './dom.js';
import { t } from './text.js';
import * as format from './format.js';
import { fit, colour } from './graph.js';
import { fraction, percentOf, wasKept } from './words.js';

const GAP = 2;
const COLOURS = 8;
/// So many connections are in the legend.
const MOST_CONNECTIONS = 16;

/// One cell of the map: how much of it is here, who fetches in it (`null` for nobody), and whether that is there now.
///
/// Segments are ascending and without gaps; cells share the file evenly.
export function cells(segments, total, count) {
  const list = Array.from({ length: count }, () => ({ done: 0, connection: null, isRunning: false, isAt: false }));
  if (!(total > 0)) return list;
  const size = total / count;
  for (const { start, end, state, connection } of segments) {
    if (state === 'missing' || end <= start) continue;
    const last = Math.min(count - 1, Math.ceil(end / size) - 1);
    const first = Math.max(0, Math.floor(start / size));
    for (let index = first; index <= last; index++) {
      const part = (Math.min(end, (index + 1) * size) - Math.max(start, index * size)) / size;
      if (state === 'done') list[index].done += part;
      else if (part > 0) Object.assign(list[index], { isRunning: true, isAt: index === first, connection: connection ?? null });
    }
  }
  for (const cell of list) cell.done = Math.min(1, cell.done);
  return list;
}

/// The colour of a connection, by its number.
export const connectionColour = (connection) => `--c${(connection ?? 0) % COLOURS}`;

/// Whether a connection is told from an earlier one of its colour by stripes.
export const isHatched = (connection) => Math.floor((connection ?? 0) / COLOURS) % 2 === 1;

/// Diagonal stripes.
function stripes(context, style) {
  const tile = new OffscreenCanvas(4, 4);
  const pen = tile.getContext('2d');
  pen.strokeStyle = style;
  pen.lineWidth = 1.4;
  for (const shift of [-4, 0, 4]) {
    pen.moveTo(shift, 4);
    pen.lineTo(shift + 4, 0);
  }
  pen.stroke();
  return context.createPattern(tile, 'repeat');
}

function drawMap(canvas, segments, total) {
  const { context, width, height } = fit(canvas);
  if (width === 0) return;
  const side = width > 420 ? 12 : 10;
  const columns = Math.max(1, Math.floor((width + GAP) / (side + GAP)));
  const rows = Math.max(1, Math.floor((height + GAP) / (side + GAP)));
  const cellWidth = (width + GAP) / columns - GAP;
  const cellHeight = (height + GAP) / rows - GAP;
  const missing = colour(canvas, '--track');
  const done = colour(canvas, '--accent');
  cells(segments, total, columns * rows).forEach((cell, index) => {
    const x = (index % columns) * (cellWidth + GAP);
    const y = Math.floor(index / columns) * (cellHeight + GAP);
    const fill = (style, alpha) => {
      context.globalAlpha = alpha;
      context.fillStyle = style;
      context.beginPath();
      context.roundRect(x, y, cellWidth, cellHeight, 2.5);
      context.fill();
    };
    fill(missing, 1);
    if (cell.done > 0) fill(done, 0.25 + 0.75 * cell.done);
    if (cell.isRunning) {
      const running = colour(canvas, connectionColour(cell.connection));
      // What is missing looks so, in the colour of the connection that will fetch it; where it is now is full.
      fill(running, cell.isAt ? 0.95 : 0.22);
      if (isHatched(cell.connection)) fill(stripes(context, colour(canvas, '--surface')), 1);
    }
  });
  context.globalAlpha = 1;
}

/// Shows the map of a download's details and its legend; hides their part where nothing is known.
export function showMap(nodes, detail) {
  const segments = detail?.segments ?? [];
  // Of a size that nobody knows there is no map.
  const total = detail?.progress.totalBytes ?? (detail?.state === 'completed' ? segments.at(-1)?.end : 0) ?? 0;
  const has = segments.length > 0 && total > 0 && !wasKept(detail);
  nodes.mapPart.hidden = !has;
  if (!has) return;
  drawMap(nodes.map, segments, total);
  const running = segments.filter(({ state }) => state === 'running');
  setAttribute(nodes.map, 'aria-label', t('map.label', {
    percent: percentOf(detail), n: segments.filter(({ state }) => state === 'done').length, running: running.length,
  }));
  const entry = (colour, label, title = null, isStriped = false) => {
    const dot = h('span', { class: isStriped ? 'swatch is-hatched' : 'swatch' });
    dot.style.setProperty('--swatch', `var(${colour})`);
    return h('li', { title }, dot, h('span', null, label));
  };
  // Connections come and go: what is below stays where it is.
  nodes.legend.classList.toggle('is-running', running.length > 0);
  setAttribute(nodes.legend, 'tabindex', running.length > 0 ? '0' : null);
  nodes.legend.replaceChildren(
    entry('--accent', t('map.done')),
    ...(fraction(detail) === 1 ? [] : [entry('--track', t('map.missing'))]),
    ...running.toSorted((a, b) => (a.connection ?? 0) - (b.connection ?? 0)).slice(0, MOST_CONNECTIONS).map(({ connection, start, end }) => entry(
      connectionColour(connection), connection === null || connection === undefined ? t('map.running') : t('map.connection', { n: connection }),
      `${format.size(start)} – ${format.size(end)}`, isHatched(connection))));
}
