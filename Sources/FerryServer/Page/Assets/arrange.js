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

/// The server of an entry's link, with its port where it has one.
export const serverOf = ({ url }) => /^[a-z0-9+.-]+:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(url ?? '')?.[1].toLowerCase() ?? '';

/// Types of files by the ends of their names.
const TYPES = {
  archive: /\.(zip|tar|gz|tgz|bz2|xz|zst|7z|rar|jar)$/i, image: /\.(iso|img|dmg|qcow2|vmdk|vdi|ova)$/i,
  program: /\.(deb|rpm|exe|msi|apk|appimage|pkg|snap|flatpak|run)$/i, video: /\.(mp4|mkv|webm|avi|mov|m4v|ts)$/i,
  sound: /\.(mp3|flac|ogg|opus|m4a|wav|aac)$/i, picture: /\.(jpe?g|png|gif|webp|svg|heic|tiff?|avif)$/i,
  text: /\.(pdf|txt|md|docx?|xlsx?|pptx?|odt|ods|epub|csv|json|html?)$/i,
};
export const typeOf = ({ isSet, name }) => (isSet ? 'set' : Object.keys(TYPES).find((type) => TYPES[type].test(name)) ?? 'other');

/// What else chooses entries, beside their state: the value of each, which is shown where it is the chosen one.
export const FACETS = { label: ({ label }) => label ?? '', server: serverOf, type: typeOf };

/// How many entries have each value of a facet, the most frequent first; without those that have none.
export function facetCounts(entries, facet) {
  const counts = new Map();
  for (const entry of entries) {
    const value = FACETS[facet](entry);
    if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || names.compare(a[0], b[0]));
}

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

/// Those that a search and facets let through, in whatever state they are.
export function chosen(downloads, { search = '', ...view } = {}) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const facets = Object.keys(FACETS).filter((name) => view[name]);
  const isChosen = (entry) => facets.every((name) => FACETS[name](entry) === view[name]) && matches(entry, words);
  return words.length + facets.length === 0 ? [...downloads] : [...downloads].filter(isChosen);
}

export function arrange(downloads, { filter = 'all', sort = 'queue', isReversed = false, ...view } = {}) {
  const shown = chosen(downloads, view).filter(FILTERS[filter]);
  const order = ORDERS[sort];
  return shown.sort(isReversed ? (a, b) => order(b, a) : order);
}

/// Whether each word is somewhere in the name, the link or the label.
function matches({ name, url, label }, words) {
  if (words.length === 0) return true;
  const texts = [name, url, label ?? ''].map((text) => text.toLowerCase());
  return words.every((word) => texts.some((text) => text.includes(word)));
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
