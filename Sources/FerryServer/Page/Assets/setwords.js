// A set of files in words: the functions of `words.js` that rows and details use of any entry, for a set.

import { t, clockTime, dateTime } from './text.js';
import * as format from './format.js';
import { attemptText, errorText, suggestionText } from './words.js';

/// So many missing files are named in a row.
const MOST_NAMED = 3;

export const fraction = ({ set }) => (set.state === 'complete' ? 1 : set.files === 0 ? null : set.done / set.files);

export const percentOf = (entry) => (fraction(entry) === null ? '' : format.percent(fraction(entry), entry.set.state === 'complete'));

export const stateText = ({ set, waitsForSlot }) => t(`set.state.${waitsForSlot ? 'waiting' : set.state}`);

export const needsUser = ({ state }) => state === 'failed';

/// Files that are here of those that are listed; empty before the list is read.
export const amountText = ({ set }) =>
  (set.files === 0 && set.state !== 'complete' ? '' : t('set.amount', { done: set.done, n: set.files }));

export const speedText = ({ set }, isBare = false) => {
  const rate = set.bytesPerSecond > 0 ? format.rate(set.bytesPerSecond) : '';
  return isBare || !rate ? rate : t('speed.now', { rate });
};

/// The sizes of files that were not begun are unknown, and so is the time that is left.
export const leftText = () => '';

/// Where the files of a complete set are, and when that was last true; empty for others.
export const placeText = (entry) =>
  (entry.set.state === 'complete' ? joined(t('set.saved', { time: clockTime(entry.endedAt), path: entry.set.set.directory }), ...sourceTexts(entry)) : '');

/// What is missing, what has failed so far, what was received, and the source, unless the reason names it.
export function reasonText(entry) {
  const reason = stateReason(entry);
  return joined(reason, ...sourceTexts(entry).filter((text) => text && !reason.includes(text)));
}

const joined = (...texts) => texts.filter(Boolean).join(' · ');

const sourceTexts = ({ set, url }) => [set.receivedBytes > 0 && t('set.received', { size: format.size(set.receivedBytes) }), url];

function stateReason(entry) {
  const { set, error, waitsForSlot } = entry;
  if (waitsForSlot) return t('wait.slot');
  switch (set.state) {
    case 'failed': return errorText(error);
    case 'incomplete': return missingText(set);
    case 'syncing': return set.files === 0 || set.until ? readingText(entry) : set.failed > 0 ? t('set.failed', { n: set.failed }) : '';
    default: return '';
  }
}

/// That the list is read, or why it could not be read and when it is read again.
function readingText(entry) {
  return entry.error && entry.until ? joined(errorText(entry.error), attemptText(entry)) : t('set.reading');
}

/// The first files that are missing, else what of the source cannot be used.
function missingText({ failed, incomplete = [], problems = [] }) {
  if (failed === 0) return problems[0] ?? '';
  const names = incomplete.slice(0, MOST_NAMED).map(({ path }) => path).join(', ');
  return t('set.missing', { n: failed, names: failed > MOST_NAMED ? `${names}, …` : names });
}

/// What the details say below the bar.
export function explanation(entry) {
  const { set, endedAt } = entry;
  switch (set.state) {
    case 'complete': return t('set.complete', { time: dateTime(endedAt) });
    case 'incomplete': return joined(
      t(set.failed > 0 ? 'set.incomplete' : 'set.partial', { n: set.failed, time: dateTime(endedAt) }), needsSignIn(set) && t('set.advice.signIn'));
    case 'failed': return joined(errorText(entry.error), adviceText(set));
    default: return stateReason(entry);
  }
}

/// Whether a server wants user and password for the list or for a file.
export const needsSignIn = ({ state, error, incomplete = [] }) =>
  (state === 'failed' ? error?.code === 'credentials' : state === 'incomplete' && incomplete.some((each) => each.error?.code === 'credentials'));

/// What to do about a set that has failed. The page can change neither its link nor its directory.
function adviceText(set) {
  const { error } = set;
  if (needsSignIn(set)) return t('set.advice.signIn');
  const isAtFault = error?.phrase?.[0] === 'notAnIndex' || error?.code === 'refused';
  if (isAtFault && set.set.url !== undefined) return t('set.advice.link');
  return error?.phrase?.[0] === 'setAnswered' || error?.code === 'network' ? t('set.advice.again') : suggestionText(error);
}

/// The command that syncs a set once with a user and a password, for a terminal on the machine of the daemon.
export function signInCommand({ set: { url, list, directory, include = [], exclude = [], depth, base, safeNames, trustsListing, deletesGone, maxDelete, replacesOthers }, root }) {
  const options = [
    ...include.map((pattern) => `--include=${pattern}`), ...exclude.map((pattern) => `--exclude=${pattern}`),
    depth !== undefined && `--depth=${depth}`, base && `--base=${base}`, (safeNames || root) && '--safe-names', trustsListing && '--trust-listing',
    deletesGone && '--delete', maxDelete && `--max-delete=${maxDelete}`, replacesOthers && '--on-conflict=overwrite',
  ];
  return ['ferry', 'sync', ...[url ?? list, directory, ...options.filter(Boolean)].map(quoted), '--user', 'USER'].join(' ');
}

/// A word of a shell's command line.
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/// What is told of a set that has ended.
export function ending(entry) {
  const [state, detail] = [stateText(entry), placeText(entry) || reasonText(entry)];
  return { detail: joined(state, detail), title: state, text: t('set.ended', { name: entry.name, state, detail }) };
}

/// What the main button of a row does now, as in `words.js`.
export function mainAction({ actions, state }) {
  if (actions.includes('pause')) return { action: 'pause', label: t('do.pause'), icon: 'pause', reason: null };
  if (state === 'paused') return { action: 'resume', label: t('do.resume'), icon: 'play', reason: null };
  return { action: 'resume', label: t('do.look'), icon: 'restart', reason: null };
}

export const may = ({ actions }, action) => actions.includes(action);

/// Its files are no part of what is removed.
export const ownsFile = () => false;

/// Whether taking it off the list loses no part of a file.
export const hasEnded = ({ state }) => ['completed', 'cancelled'].includes(state);
