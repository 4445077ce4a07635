// A download in words: what a row and the details show.

import { t, said, clockTime } from './text.js';
import * as format from './format.js';

export const fraction = ({ progress, state }) => {
  if (state === 'completed') return 1;
  if (progress.totalBytes === null || progress.totalBytes === undefined) return null;
  return progress.totalBytes === 0 ? 1 : Math.min(1, progress.completedBytes / progress.totalBytes);
};

export const percentOf = (download) => format.percent(fraction(download), download.state === 'completed');

export const stateText = (download) => t(`state.${download.state}`);

/// Why it waits, failed, or is paused although nobody asked for that; empty otherwise.
export function reasonText(download) {
  if (download.state === 'failed') return errorText(download.error);
  if (download.pauseReason) return t(`pause.${download.pauseReason}`);
  if (download.state !== 'waiting') return '';
  const { waitReason, until } = download;
  if (waitReason === 'retry' && until) {
    const seconds = (Date.parse(until) - Date.now()) / 1000;
    return seconds > 0 && seconds < 3600
      ? t('wait.retry.in', { time: format.duration(seconds) }) : t('wait.retry', { time: clockTime(until) });
  }
  return waitReason ? t(`wait.${waitReason}`, { time: until ? clockTime(until) : '' }) : '';
}

export function errorText(error) {
  if (!error) return '';
  return said(error.messages, error.message ?? '');
}

export const suggestionText = (error) => (error ? said(error.suggestions, error.suggestion ?? '') : '');

/// Downloaded of total; of a complete one the size alone.
export const amountText = ({ state, progress }) =>
  state === 'completed' ? format.size(progress.totalBytes ?? progress.completedBytes)
    : format.progress(progress.completedBytes, progress.totalBytes);

export const speedText = ({ state, progress }) =>
  (state === 'downloading' ? t('speed.now', { rate: format.rate(progress.bytesPerSecond) }) : '');

export const leftText = ({ state, progress }) =>
  (state === 'downloading' && progress.timeRemaining !== null && progress.timeRemaining !== undefined
    ? t('left', { time: format.duration(progress.timeRemaining) }) : '');

/// What the main button of a row does now: `{action, label, icon}`; whether it may is what `actions` say.
export function mainAction({ state }) {
  switch (state) {
    case 'waiting': return { action: 'resume', label: t('do.start'), icon: 'play' };
    case 'paused':
    case 'failed': return { action: 'resume', label: t('do.resume'), icon: 'play' };
    case 'completed':
    case 'cancelled': return { action: 'restart', label: t('do.restart'), icon: 'restart' };
    default: return { action: 'pause', label: t('do.pause'), icon: 'pause' };
  }
}

export const may = (download, action) => download.actions.includes(action);

/// Whether bytes would be lost by taking it away.
export const heldBytes = (download) =>
  (['completed', 'cancelled'].includes(download.state) ? 0 : download.progress.completedBytes);
