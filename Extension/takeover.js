// Takes a download of the browser over: the browser's own is cancelled only after the server has answered Ferry with the same
// file, and the daemon has stored the download.

import { api, canHold } from './api.js';
import * as badge from './badge.js';
import { ask } from './host.js';
import * as requests from './requests.js';
import { reasonToLeave } from './rules.js';
import { load } from './settings.js';

/// How long a held key counts for a download that has not begun yet.
const KEY_TIME = 15_000;

/// How often the browser is asked for what it knows, or lets itself be done, a moment later.
const ATTEMPTS = 20;

/// How much later than a download Firefox tells of its request: 15 to 35 ms were seen.
const LATE = 150;

/// The latest click with a held key.
let click = null;

/// Must be called at the start of the worker.
export function watch() {
  if (canHold) {
    api.downloads.onDeterminingFilename.addListener((item, suggest) => {
      // Without a suggestion the browser goes on as ever; of a download that was cancelled it says that it is gone.
      takeOver(item).catch(badge.fail).finally(() => { try { suggest(); } catch { /* gone */ } });
      return true;
    });
  } else {
    api.downloads.onCreated.addListener((item) => { takeOver(item).catch(badge.fail); });
  }
  api.runtime.onMessage.addListener((message, sender) => {
    if (Array.isArray(message?.held) && sender.tab) click = { keys: message.held, tabId: sender.tab.id, at: Date.now() };
  });
}

async function takeOver(item) {
  if (item.incognito || item.byExtensionId || item.state !== 'in_progress') return;
  const settings = await load();
  const request = await requestOf(item);
  const name = (item.filename || new URL(item.url).pathname).split(/[\\/]/).pop();
  const size = request?.isEncoded ? undefined : request?.size ?? (await sizeOf(item));
  const shown = await pageOf(item, request);
  // What another site begins in the tab is a download of its own: not of the page, and not what the user is waiting for there.
  const isOwn = request !== null && requests.isBegunBy(shown, request);
  const page = isOwn ? shown : undefined;
  const download = { url: item.finalUrl ?? item.url, name, size, type: item.mime || request?.type, page: shown };
  if (isHeld(settings.key, request) || reasonToLeave(settings, download, request) !== null) return;

  const renews = isOwn ? await chosenFor(request.tabId) : undefined;
  // Of a link with the attribute `download`, Chromium shows neither cookies nor Referer.
  const place = request.isBare ? await requests.linkOf(request.hops[0].url, { page }) : {};
  const link = requests.clean({
    ...place, ...requests.link(request), name, totalBytes: size, type: request.type, page, renews });
  const taken = await ask('take', { download: link });
  // The server gives the file to the browser alone: its link is good for one request, or it wants what Ferry cannot repeat.
  if (!taken.download) return;
  const { id } = taken.download;
  if (!(await give(item.id))) return void await ask('drop', { id });
  // It is stored, so a second attempt may start the host and the daemon anew.
  await ask('resume', { id }).catch(() => ask('resume', { id }));
  if (taken.isRenewed) await forget(id);
  await badge.refresh();
}

/// The request of a download; null if it was not seen. Firefox may tell of a download before it tells of its request: without
/// the pause, an earlier request for the same address, made by other means, could be taken for it.
async function requestOf(item) {
  const ends = canHold ? { first: item.url, last: item.finalUrl } : { either: item.url };
  for (let attempt = 0; !canHold && attempt < ATTEMPTS; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, LATE));
    if (requests.isSeen(ends)) break;
  }
  return requests.claim(ends);
}

/// The size of a download, which Firefox knows a moment later; undefined if it stays unknown.
async function sizeOf(item) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const known = attempt === 0 ? item : (await api.downloads.search({ id: item.id }))[0];
    if (known?.totalBytes > 0) return known.totalBytes;
    if (known?.state !== 'in_progress') return undefined;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return undefined;
}

/// Cancels the browser's own download. Gives false if it has ended by itself, has been removed from the browser's list, or
/// cannot be cancelled.
async function give(own) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if ((await stateOf(own)) !== 'in_progress') return false;
    try {
      await api.downloads.cancel(own);
      if ((await stateOf(own)) === 'complete') return false;
      await api.downloads.erase({ id: own });
      return true;
    } catch {
      // Firefox tells of a download before it can be cancelled.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  return false;
}

const stateOf = async (own) => (await api.downloads.search({ id: own }))[0]?.state;

function isHeld(key, request) {
  if (!click || !click.keys.includes(key) || Date.now() - click.at > KEY_TIME) return false;
  if (request && request.tabId >= 0 && request.tabId !== click.tabId) return false;
  click = null;
  return true;
}

/// The page with the link: what the tab shows, as a download does not change it.
async function pageOf(item, request) {
  const tab = request?.tabId >= 0 ? await api.tabs.get(request.tabId).catch(() => null) : null;
  return [tab?.url, item.referrer, request?.page].find((url) => /^https?:/.test(url ?? ''));
}

// The download that the user has opened a page for, by the tab of the page.

export async function choose(id, page) {
  const tab = await api.tabs.create({ url: page });
  const { renewing } = await api.storage.session.get({ renewing: {} });
  await api.storage.session.set({ renewing: { ...renewing, [tab.id]: id } });
}

async function chosenFor(tabId) {
  return (await api.storage.session.get({ renewing: {} })).renewing[tabId];
}

async function forget(id) {
  const { renewing } = await api.storage.session.get({ renewing: {} });
  const others = Object.entries(renewing).filter(([, chosen]) => chosen !== id);
  await api.storage.session.set({ renewing: Object.fromEntries(others) });
}
