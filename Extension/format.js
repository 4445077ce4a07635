// Numbers as Ferry writes them everywhere: decimal units, a point.

import { text } from './api.js';

const UNITS = ['KB', 'MB', 'GB', 'TB', 'PB', 'EB'];

export function size(bytes) {
  if (!(bytes >= 1000)) return `${Math.max(0, Math.trunc(bytes) || 0)} B`;
  let [value, unit] = [bytes / 1000, 0];
  while (value >= 999.95 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}

/// The completed part, or null while the size is unknown.
export function fraction({ progress: { completedBytes, totalBytes } }) {
  return totalBytes > 0 ? Math.min(1, completedBytes / totalBytes) : null;
}

export const line = {
  rate: (bytesPerSecond) => `${size(Math.round(bytesPerSecond))}/s`,

  /// `41.3% · 1.8 GB / 4.4 GB · 112.4 MB/s`, or the state and its reason.
  state(download, reason) {
    const { completedBytes, totalBytes, bytesPerSecond } = download.progress;
    if (download.state === 'completed') return size(totalBytes ?? completedBytes);
    const amount = `${size(completedBytes)} / ${totalBytes === undefined ? '?' : size(totalBytes)}`;
    if (download.state === 'downloading') return [amount, line.rate(bytesPerSecond)].join(' · ');
    return [text(`state_${download.waitReason ?? download.state}`), amount, reason].filter(Boolean).join(' · ');
  },
};
