// Which downloads and sets are shown, in which order. Pure.

import { wordsOf } from './entry.js';

const needsUser = (entry) => wordsOf(entry).needsUser(entry);
const fraction = (entry) => wordsOf(entry).fraction(entry);
const inStates = (...states) => ({ state }) => states.includes(state);

/// The filters, and what each lets through.
export const FILTERS = {
  all: () => true,
  needs: needsUser,
  running: inStates('downloading', 'verifying'),
  waiting: (download) => download.state === 'waiting' && !needsUser(download),
  paused: inStates('paused'),
  completed: inStates('completed'),
  failed: inStates('failed'),
  cancelled: inStates('cancelled'),
};

export const SORTS = ['queue', 'added', 'name', 'size', 'progress', 'state'];

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
const STATES = ['downloading', 'verifying', 'waiting', 'paused', 'failed', 'completed', 'cancelled'];

const inQueue = (a, b) =>
  b.priority - a.priority || a.position - b.position || (a.addedAt < b.addedAt ? -1 : a.addedAt > b.addedAt ? 1 : 0);

const ORDERS = {
  queue: inQueue,
  added: (a, b) => (a.addedAt < b.addedAt ? 1 : a.addedAt > b.addedAt ? -1 : inQueue(b, a)),
  name: (a, b) => names.compare(a.name, b.name) || inQueue(a, b),
  size: (a, b) => (b.progress.totalBytes ?? -1) - (a.progress.totalBytes ?? -1) || inQueue(a, b),
  progress: (a, b) => (fraction(b) ?? -1) - (fraction(a) ?? -1) || inQueue(a, b),
  state: (a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state) || inQueue(a, b),
};

export function arrange(downloads, { filter = 'all', search = '', sort = 'queue', isReversed = false } = {}) {
  const isLetThrough = FILTERS[filter];
  const needle = search.trim().toLowerCase();
  const shown = [];
  for (const download of downloads) {
    if (!isLetThrough(download)) continue;
    if (needle && !matches(download, needle)) continue;
    shown.push(download);
  }
  const order = ORDERS[sort];
  return shown.sort(isReversed ? (a, b) => order(b, a) : order);
}

function matches(download, needle) {
  return download.name.toLowerCase().includes(needle) || download.url.toLowerCase().includes(needle) ||
    (download.label ?? '').toLowerCase().includes(needle);
}

/// How many each filter lets through.
export function filterCounts(downloads) {
  const counts = Object.fromEntries(Object.keys(FILTERS).map((name) => [name, 0]));
  for (const download of downloads) {
    for (const name in FILTERS) if (FILTERS[name](download)) counts[name] += 1;
  }
  return counts;
}

/// Where `id` goes when it is dropped before the place `index` of `shown` (without it): what to ask the daemon for.
///
/// Places are among those of one priority: a neighbour of the same priority says which, else the end that is nearer.
export function moveTarget(shown, moved, index) {
  const rest = shown.filter((download) => download.id !== moved.id);
  const below = rest[index];
  const above = rest[index - 1];
  if (below && below.priority === moved.priority) return { before: below.id };
  if (above && above.priority === moved.priority) return { after: above.id };
  return above && above.priority < moved.priority ? 'last' : 'first';
}
