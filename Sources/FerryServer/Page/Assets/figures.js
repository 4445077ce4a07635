// The figures of the details, and what limits the speed, in words.

import { t, has, durationText, number } from './text.js';
import * as format from './format.js';
import { amountText, wasKept } from './words.js';
import * as setWords from './setwords.js';

/// Terms and texts; an empty text is not shown.
export const figures = (entry, events, isRunning) => (entry.isSet ? setFigures(entry) : downloadFigures(entry, events, isRunning));

/// Those of a download.
function downloadFigures(download, events, isRunning) {
  const isOver = download.state === 'completed';
  const { seconds, bytesPerSecond } = isOver ? runOf(download, events) : {};
  const { progress } = download;
  return [
    [wasKept(download) ? 'detail.size' : 'detail.completed', amountText(download)],
    isOver ? ['detail.average', bytesPerSecond ? format.rate(bytesPerSecond) : ''] : ['detail.speed', isRunning ? format.rate(progress.bytesPerSecond) : ''],
    isOver ? ['detail.duration', seconds === null ? '' : durationText(seconds)] : ['detail.left', isRunning && Number.isFinite(progress.timeRemaining) ? durationText(progress.timeRemaining) : ''],
    ['detail.connections', isRunning ? String(progress.connections) : ''],
  ];
}

const STOPS = ['paused', 'waiting', 'failed', 'completed'];

/// How long a complete one was fetched, without the time in which it stood still, and how fast it was.
function runOf(download, events) {
  let seconds = null;
  let since = null;
  for (const { kind, date } of [...events, { kind: 'completed', date: download.endedAt ?? '' }]) {
    // Two beginnings without an end between them: Ferry was ended, and nobody knows when.
    if (kind === 'resumed' && since !== null) return { seconds: null, bytesPerSecond: null };
    if (kind === 'started' || kind === 'resumed') since ??= Date.parse(date);
    if (since === null || !STOPS.includes(kind)) continue;
    seconds = (seconds ?? 0) + (Date.parse(date) - since) / 1000;
    since = null;
  }
  const bytes = download.progress.totalBytes ?? download.progress.completedBytes;
  return { seconds, bytesPerSecond: seconds > 0 ? bytes / seconds : null };
}

/// Those of a set.
const setFigures = ({ set }) => [
  ['set.files', setWords.amountText({ set })],
  ['set.receivedBytes', set.receivedBytes > 0 ? format.size(set.receivedBytes) : ''],
  ['detail.speed', setWords.speedText({ set })],
  ['set.failedCount', set.failed > 0 ? number(set.failed) : ''],
  ['set.gone', set.gone > 0 ? number(set.gone) : ''],
];

/// What limits the speed of a download that runs, with its numbers; empty where that is not known.
export function limitText({ bottleneck: limit }) {
  if (!limit || !has(`limited.${limit.cause}`)) return '';
  const { seconds, share } = limit;
  const time = seconds < 0.9995 ? `${Math.round(seconds * 1000)} ms` : `${Math.round(seconds * 10) / 10} s`;
  return t('limited', { text: t(`limited.${limit.cause}`, {
    rate: format.rate(limit.bytesPerSecond), window: format.size(limit.windowBytes), n: limit.connections ?? format.UNKNOWN,
    time: seconds === undefined ? format.UNKNOWN : time, cores: Math.round((share ?? 0) * 10) / 10,
    lost: format.percent(share === undefined ? null : Math.max(0.001, share), false),
  }) });
}
