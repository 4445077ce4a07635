// An entry of the list: a download, or a set of files that the daemon keeps the same as its source.

import * as downloadWords from './words.js';
import * as setWords from './setwords.js';

/// What is said of an entry: the functions of `words.js`, or those of `setwords.js` with the same names.
export const wordsOf = (entry) => (entry.isSet ? setWords : downloadWords);

/// The state of the entry, which filters, colours and the order by state go by, for each state of a set.
const STATES = {
  waiting: 'waiting', syncing: 'downloading', paused: 'paused', complete: 'completed', incomplete: 'failed', failed: 'failed', cancelled: 'cancelled',
};

function actionsOf(state) {
  if (state === 'waiting' || state === 'syncing') return ['pause', 'cancel', 'remove'];
  return state === 'paused' ? ['resume', 'cancel', 'remove'] : ['resume', 'remove'];
}

/// Notes of a set whether it waits for a slot: its list is read, nothing of it arrives, and others have all slots.
export function noteSlots(entry, areTaken) {
  const { set } = entry;
  entry.waitsForSlot = areTaken && set.state === 'syncing' && !set.until && set.files > set.done + set.failed && !(set.bytesPerSecond > 0);
  entry.state = entry.waitsForSlot ? 'waiting' : STATES[set.state];
}

/// A set as an entry. It has no place in the queue: in the order of the queue, sets stand above downloads as they were added.
export function setEntry(set) {
  const { id, state, addedAt, endedAt, error, until, receivedBytes, asOf } = set;
  const { directory, url, list } = set.set;
  return {
    id, set, asOf, isSet: true, name: directory.split('/').filter(Boolean).at(-1) ?? directory, url: url ?? list,
    state: STATES[state], actions: actionsOf(state), addedAt, endedAt, error, until, priority: Infinity, position: 0,
    progress: { completedBytes: receivedBytes, totalBytes: null },
  };
}
