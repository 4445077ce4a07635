// A download in words: what a row and the details show.

import { t, has, said, clockTime, durationText } from './text.js';
import * as format from './format.js';

export const fraction = ({ progress, state }) => {
  if (state === 'completed') return 1;
  if (state === 'cancelled') return 0;
  if (progress.totalBytes === null || progress.totalBytes === undefined) return null;
  return progress.totalBytes === 0 ? 1 : Math.min(1, progress.completedBytes / progress.totalBytes);
};

/// Empty while the size is not known. What has another checksum is here whole.
export const percentOf = (download) =>
  fraction(download) === null || wasKept(download) ? '' : format.percent(fraction(download), download.state === 'completed' || (failedChecksum(download) && fraction(download) === 1));

export const stateText = (download) => t(download.state === 'waiting' && needsUser(download) ? 'filter.needs' : wasKept(download) ? 'state.kept' : `state.${download.state}`);

/// Whether the file was there before, so that nothing was fetched. It is not the download's own: removing keeps it.
export const wasKept = ({ state, wasAlreadyComplete }) => state === 'completed' && wasAlreadyComplete === true;

/// Where the file of a complete one is, and whose it is, or that it is not there any more; empty for others.
export function placeText({ state, path, lost, ...download }) {
  if (state !== 'completed' || !path) return '';
  if (lost) return t('file.lost', { reason: lost });
  return t(wasKept({ state, ...download }) ? 'file.kept' : 'file.saved', { path });
}

/// Whether the server has answered without naming a version of the file: bytes are here, or a type was named. Of a complete
/// file nothing may be known: an older version did not keep what the server had said. Only the details have a `response`.
export const lacksValidator = (detail) =>
  isAnswered(detail) && Boolean(detail.response.type || heldBytes(detail) > 0) && !detail.validator && detail.state !== 'completed';

/// Whether what the details say is of the server that is asked now: a run knows nothing of its server before the first response,
/// which has an address; what rests says what the last run knew.
const isAnswered = ({ response, state, waitReason }) =>
  Boolean(response) && (Boolean(response.finalURL) || !(['downloading', 'verifying'].includes(state) || waitReason === 'retry'));

/// Whether a break throws away what is here; only the details of a download tell it.
export const isUnproven = (detail) => lacksValidator(detail) && !detail.checksum && !detail.resumesUnproven;

/// Whether going on reads again what is here, before anything new comes; only the details of a download tell it.
export const readsAgain = ({ response }) => response?.lacksRanges === true;

/// Whether a web page came in place of the file.
export const gotPage = ({ waitReason, error }) => waitReason === 'freshLink' && error?.phrase?.[0] === 'pageInstead';

/// Whether it failed since the file is larger than its limit.
export const isTooLarge = ({ state, error }) => state === 'failed' && error?.phrase?.[0] === 'fileTooLarge';

/// Whether it waits for space that is there, and is kept free.
export const lacksReserveAlone = ({ state, waitReason, error }) => state === 'waiting' && waitReason === 'diskSpace' && error?.suggestionPhrase?.[0] === 'minFree';

/// Whether it stopped since its new link leads to another file, or may do so.
export const leadsElsewhere = ({ state, error }) => state === 'failed' && error?.phrase?.[0] === 'otherFile';

/// Whether it waits for a link to the file that was begun: what the server says is then not of that file.
export const needsLink = (download) => leadsElsewhere(download) || (download.state === 'waiting' && download.waitReason === 'freshLink');

/// Whether nothing goes on before its user has done something. A failed one may be retried by itself.
export const needsUser = ({ state, waitReason, pauseReason, retryAt }) =>
  (state === 'failed' && !retryAt) || Boolean(pauseReason) || (state === 'waiting' && NEEDS.includes(waitReason));
const NEEDS = ['credentials', 'freshLink', 'diskSpace'];

/// Before when it does not start; `null` where that has no effect any more.
export const startTime = ({ notBefore }) => (Date.parse(notBefore) > Date.now() ? notBefore : null);

/// Why it waits, failed, or is paused although nobody asked for that; empty otherwise.
export function reasonText(download) {
  if (download.state === 'failed') return [errorText(download.error), attemptText(download)].filter(Boolean).join(' · ');
  if (download.pauseReason) return t(`pause.${download.pauseReason}`);
  if (download.state === 'downloading') return standstillText(download.progress);
  if (download.state === 'paused') {
    const time = startTime(download);
    return [download.isUnproven && t('unproven.row'), time && t('paused.notBefore', { time: clockTime(time) })].filter(Boolean).join(' · ');
  }
  if (download.state !== 'waiting') return '';
  const { waitReason, until } = download;
  if (waitReason === 'server') {
    if (!download.error) return t('wait.server');
    const since = download.since ? t('wait.since', { time: clockTime(download.since) }) : '';
    return [errorText(download.error), since, attemptText(download)].filter(Boolean).join(' · ');
  }
  if (waitReason === 'retry' && until) {
    return [errorText(download.error), attemptText(download)].filter(Boolean).join(' · ');
  }
  if (download.wasRefused) return t('wait.refused');
  if (download.isMetered) return t('wait.metered');
  if (gotPage(download)) return t('wait.page');
  if (waitReason === 'diskSpace') return [download.error ? errorText(download.error) : t('wait.diskSpace'), t('wait.diskSpace.then')].join(' · ');
  return waitReason ? t(`wait.${waitReason}`, { time: until ? clockTime(until) : '' }) : '';
}

/// The time for which something waits, or at which a failed one is retried by itself; `null` if there is none.
export const nextTime = ({ until, retryAt }) => until ?? retryAt ?? null;

/// When the next attempt begins; empty where that is not known, as of a daemon that is away.
export function attemptText(entry) {
  const time = nextTime(entry);
  if (time === null || entry.isStale) return '';
  const seconds = Math.ceil((Date.parse(time) - Date.now()) / 1000);
  if (seconds <= 0) return t('wait.retry.now');
  return seconds < 3600 ? t('wait.retry.in', { time: durationText(seconds) }) : t('wait.retry', { time: clockTime(time) });
}

/// Why a running one shows no progress; empty if it does.
function standstillText({ bottleneck }) {
  if (bottleneck?.cause === 'otherDownloads') return t('wait.otherDownloads', { n: bottleneck.connections });
  if (bottleneck?.cause === 'comparison') return t('wait.comparison');
  if (bottleneck?.cause === 'repetition') return t('wait.repetition', { share: format.percent(bottleneck.share, false) });
  return '';
}

export function errorText(error) {
  if (!error) return '';
  const [phrase, ...values] = error.phrase ?? [];
  if (phrase === 'wrongDigest') return t('error.wrongDigest');
  if (phrase === 'fileTooLarge') return t('error.fileTooLarge', { size: format.size(Number(values[0])), most: format.size(Number(values[1])) });
  return said(error.messages, error.message ?? '');
}

/// What to do about it; where the daemon says nothing, what helps with errors of its kind: to try again, if that may help.
export function suggestionText(error) {
  if (!error) return '';
  const given = said(error.suggestions, error.suggestion ?? '');
  const [phrase, status] = error.phrase ?? [];
  const again = error.recovery?.kind === 'transient' && error.code !== 'network' ? 'advice' : '';
  const key = [`advice.${phrase === 'serverAnswered' ? status : phrase}`, again, `advice.${error.code}`].find(has);
  return given || (key ? t(key) : '');
}

/// What the details say below the bar.
export function explanation(download) {
  if (download.state !== 'failed') return placeText(download) || reasonText(download);
  // A failed checksum is explained by the form of the details.
  const advice = download.error?.code === 'checksum' ? '' : suggestionText(download.error);
  return [errorText(download.error), attemptText(download) || advice].filter(Boolean).join(' · ');
}

/// What is told of a download that has ended.
export function ending(download) {
  const { name } = download;
  const isFailed = download.state === 'failed';
  const detail = isFailed ? errorText(download.error) : placeText(download);
  return {
    detail,
    title: t(isFailed ? 'ended.failed.title' : wasKept(download) ? 'state.kept' : 'ended.completed.title'),
    text: isFailed ? t('ended.failed', { name, reason: detail }) : t(wasKept(download) ? 'ended.kept' : 'ended.completed', { name, detail }),
  };
}

/// Downloaded of total; of a complete one the size alone, of a cancelled one that nothing is here; empty before anything is known.
export const amountText = ({ state, progress }) =>
  state === 'cancelled' ? format.size(0)
    : !progress.completedBytes && !progress.totalBytes && state !== 'completed' ? ''
    : state === 'completed' ? format.size(progress.totalBytes ?? progress.completedBytes)
    : Number.isFinite(progress.totalBytes) ? format.progress(progress.completedBytes, progress.totalBytes) : format.size(progress.completedBytes);

/// - isBare: the figure alone, for a column whose head says what it is.
export const speedText = ({ state, progress }, isBare = false) => {
  const rate = state === 'downloading' ? format.rate(progress.bytesPerSecond) : '';
  return isBare || !rate ? rate : t('speed.now', { rate });
};

export const leftText = ({ state, progress }, isBare = false) => {
  const time = state === 'downloading' && Number.isFinite(progress.timeRemaining) ? durationText(progress.timeRemaining) : '';
  return isBare || !time ? time : t('left', { time });
};

/// What the main button of a row does now: `{action, label, icon, reason}`; a reason says why it cannot be used.
/// Whether it may is what `actions` say.
export function mainAction(download) {
  const { state, waitReason } = download;
  const action = (name, key, icon, reason = null) => ({ action: name, label: t(key), icon, reason });
  switch (state) {
    case 'waiting':
      switch (waitReason) {
        case 'credentials': return action('open', 'do.signIn', 'key');
        case 'freshLink': return gotPage(download) ? action('open', 'do.choose', 'link') : action('open', 'do.newLink', 'link');
        case 'retry':
        case 'server':
        case 'diskSpace': return action('resume', 'do.tryNow', 'restart');
        case 'network': return download.isMetered ? action('anyway', 'do.anyway', 'play') : action('resume', 'do.start', 'play', t('wait.network'));
        default: return action('resume', 'do.start', 'play');
      }
    case 'paused': return action('resume', 'do.resume', 'play');
    case 'failed':
      if (failedChecksum(download) || isTooLarge(download)) return action('open', 'do.choose', 'tune');
      return leadsElsewhere(download) ? action('open', 'do.newLink', 'link') : action('resume', 'do.retry', 'restart');
    case 'completed':
    case 'cancelled': return action('restart', 'do.restart', 'restart');
    default: return action('pause', 'do.pause', 'pause');
  }
}

/// Whether the bytes are all here and do not have the digest that was expected.
export const failedChecksum = ({ state, error }) =>
  state === 'failed' && error?.code === 'checksum' && !['wrongMessageDigest', 'notInChecksumList'].includes(error.phrase?.[0]);

/// The digest that was expected, and that of the bytes, where those are what it failed for: `{expected, actual}`.
export function digestsOf(download) {
  const [phrase, expected, actual] = download.error?.phrase ?? [];
  return failedChecksum(download) && phrase === 'wrongDigest' ? { expected, actual } : null;
}

/// Whether what the server sends does not have the digest that the server itself sends with it.
export const failedServerDigest = ({ state, error }) => state === 'failed' && error?.phrase?.[0] === 'wrongMessageDigest';

const NEEDED = { open: null, anyway: 'change', removeFile: 'remove' };
export const may = (download, action) =>
  NEEDED[action] === null || (download.actions.includes(NEEDED[action] ?? action) && (action !== 'removeFile' || ownsFile(download)));

/// Whether there is a file that it has fetched: only that one is deleted.
export const ownsFile = (download) => download.state === 'completed' && !wasKept(download);

/// Whether it is over, and taking it off the list loses no bytes.
export const hasEnded = (download) =>
  ['completed', 'cancelled'].includes(download.state) || (download.state === 'failed' && heldBytes(download) === 0);

/// Whether bytes would be lost by taking it away.
export const heldBytes = (download) =>
  (['completed', 'cancelled'].includes(download.state) ? 0 : download.progress.completedBytes);
