// Curves of speed, drawn in the colours of the theme.

/// The size in CSS pixels, and a context whose pixels are those of the screen.
export function fit(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const scale = window.devicePixelRatio || 1;
  const pixels = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/// The colour of that name, as it is in the theme that is shown.
export function colour(element, name) {
  element.style.color = `var(${name})`;
  return getComputedStyle(element).color;
}

/// Points of the curve: the newest at the right edge, `room` samples over the whole width.
function points(samples, room, width, height, most, top) {
  const step = width / (room - 1);
  return samples.map((value, index) => [
    width - (samples.length - 1 - index) * step,
    height - 1 - (value / most) * (height - 1 - top),
  ]);
}

/// A smooth curve that never leaves the range of its neighbours: control points lie level with the samples.
function trace(context, list) {
  context.beginPath();
  list.forEach(([x, y], index) => {
    if (index === 0) return context.moveTo(x, y);
    const [x0, y0] = list[index - 1];
    const middle = (x0 + x) / 2;
    context.bezierCurveTo(middle, y0, middle, y, x, y);
  });
}

function drawCurve(canvas, samples, { room, top, lineWidth }) {
  const { context, width, height } = fit(canvas);
  if (width === 0 || samples.length < 2) return { context, width, height, most: 0 };
  const most = Math.max(...samples, 1);
  const list = points(samples, room, width, height, most, top);
  const accent = colour(canvas, '--accent');
  trace(context, list);
  context.lineTo(list.at(-1)[0], height);
  context.lineTo(list[0][0], height);
  context.closePath();
  const fill = context.createLinearGradient(0, 0, 0, height);
  fill.addColorStop(0, colour(canvas, '--accent-veil'));
  fill.addColorStop(1, colour(canvas, '--accent-veil-0'));
  context.fillStyle = fill;
  context.fill();
  trace(context, list);
  context.strokeStyle = accent;
  context.lineWidth = lineWidth;
  context.lineJoin = 'round';
  context.stroke();
  return { context, width, height, most, last: list.at(-1) };
}

/// Nothing at all where nothing has come in.
export function drawSpark(canvas, samples, room) {
  drawCurve(canvas, samples.some((value) => value > 0) ? samples : [], { room, top: 2, lineWidth: 1.5 });
}

/// The graph of one download: three lines of help, the curve, and a point at now.
export function drawSpeeds(canvas, samples) {
  const room = Math.max(30, samples.length);
  const { context, width, height, last } = drawCurve(canvas, samples, { room, top: 10, lineWidth: 2 });
  if (width === 0) return;
  context.globalCompositeOperation = 'destination-over';
  context.strokeStyle = colour(canvas, '--line');
  context.lineWidth = 1;
  for (const y of [10.5, Math.round(height / 2) + 5.5, height - 0.5]) {
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
  }
  context.globalCompositeOperation = 'source-over';
  if (!last) return;
  context.beginPath();
  context.arc(Math.min(last[0], width - 4), last[1], 3.5, 0, 2 * Math.PI);
  context.fillStyle = colour(canvas, '--accent');
  context.fill();
}
