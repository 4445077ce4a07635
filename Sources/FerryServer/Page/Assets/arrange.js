// Which downloads are shown, in which order. Pure.

/// The filters, and the states that each lets through; `null` for all.
export const FILTERS = {
  all: null,
  running: ['downloading', 'verifying'],
  waiting: ['waiting'],
  paused: ['paused'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
};

export const SORTS = ['queue', 'added', 'name', 'size', 'state'];

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
const STATES = ['downloading', 'verifying', 'waiting', 'paused', 'failed', 'completed', 'cancelled'];

const inQueue = (a, b) =>
  b.priority - a.priority || a.position - b.position || (a.addedAt < b.addedAt ? -1 : a.addedAt > b.addedAt ? 1 : 0);

const ORDERS = {
  queue: inQueue,
  added: (a, b) => (a.addedAt < b.addedAt ? 1 : a.addedAt > b.addedAt ? -1 : inQueue(b, a)),
  name: (a, b) => names.compare(a.name, b.name) || inQueue(a, b),
  size: (a, b) => (b.progress.totalBytes ?? -1) - (a.progress.totalBytes ?? -1) || inQueue(a, b),
  state: (a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state) || inQueue(a, b),
};

export function arrange(downloads, { filter = 'all', search = '', sort = 'queue' } = {}) {
  const states = FILTERS[filter];
  const needle = search.trim().toLowerCase();
  const shown = [];
  for (const download of downloads) {
    if (states && !states.includes(download.state)) continue;
    if (needle && !matches(download, needle)) continue;
    shown.push(download);
  }
  return shown.sort(ORDERS[sort]);
}

function matches(download, needle) {
  return download.name.toLowerCase().includes(needle) || download.url.toLowerCase().includes(needle) ||
    (download.label ?? '').toLowerCase().includes(needle);
}

/// How many each filter lets through, of the counts by state.
export function filterCounts(counts) {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return Object.fromEntries(Object.entries(FILTERS).map(([name, states]) =>
    [name, states ? states.reduce((sum, state) => sum + (counts[state] ?? 0), 0) : all]));
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
