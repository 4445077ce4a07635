// The map of a file: which of its bytes are here, which are being fetched, and by which connection.

import { fit, colour } from './graph.js';

const GAP = 2;
const COLOURS = 8;

/// One cell of the map: how much of it is here, and who fetches in it (`null` for nobody).
///
/// Segments are ascending and without gaps; cells share the file evenly.
export function cells(segments, total, count) {
  const list = Array.from({ length: count }, () => ({ done: 0, connection: null, isRunning: false }));
  if (!(total > 0)) return list;
  const size = total / count;
  for (const { start, end, state, connection } of segments) {
    if (state === 'missing' || end <= start) continue;
    const last = Math.min(count - 1, Math.ceil(end / size) - 1);
    for (let index = Math.max(0, Math.floor(start / size)); index <= last; index++) {
      const part = (Math.min(end, (index + 1) * size) - Math.max(start, index * size)) / size;
      if (state === 'done') list[index].done += part;
      else if (part > 0) Object.assign(list[index], { isRunning: true, connection: connection ?? null });
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

export function drawMap(canvas, segments, total) {
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
      fill(running, cell.done < 1 ? 0.9 : 0.5);
      if (isHatched(cell.connection)) fill(stripes(context, colour(canvas, '--surface')), 1);
    }
  });
  context.globalAlpha = 1;
}
