// What the browser has sent in its latest requests that may become downloads: it is sent again by Ferry. It is kept in
// memory alone, and only as long as a download may begin from it.

import { api } from './api.js';

const MOST = 200;
const LONGEST = 10 * 60_000;

/// By identifier of the request, oldest first: hops (its URLs, each with method and fields), the network addresses that they
/// went to, tab, frame, who began it, page, size, type.
const seen = new Map();

const FILTER = { urls: ['http://*/*', 'https://*/*'], types: ['main_frame', 'sub_frame', 'other'] };
const SENT = ['cookie', 'referer', 'user-agent', 'authorization'];

/// Must be called at the start of the worker.
export function watch() {
  const options = (known) => ['requestHeaders', 'responseHeaders', 'extraHeaders'].filter(
    (word) => Object.values(known ?? {}).includes(word));
  api.webRequest.onSendHeaders.addListener(sent, FILTER, options(api.webRequest.OnSendHeadersOptions));
  api.webRequest.onHeadersReceived.addListener(answered, FILTER, options(api.webRequest.OnHeadersReceivedOptions));
  api.webRequest.onErrorOccurred.addListener(answered, FILTER);
  for (const event of [api.webRequest.onBeforeRedirect, api.webRequest.onResponseStarted]) event.addListener(reached, FILTER);
}

/// While an answer is due, the browser must not end this worker, which would forget the request: it is not idle while it
/// calls the browser.
let waking = null;
function stayAwake() {
  clearTimeout(waking);
  if (![...seen.values()].some(({ isAnswered, at }) => !isAnswered && Date.now() - at < LONGEST)) return;
  api.runtime.getPlatformInfo();
  waking = setTimeout(stayAwake, 20_000);
}

function sent(details) {
  if (details.incognito || details.tabId === undefined) return;
  const now = Date.now();
  for (const [id, old] of seen) {
    if (seen.size < MOST && now - old.at < LONGEST) break;
    seen.delete(id);
  }
  const entry = seen.get(details.requestId) ?? {
    at: now, hops: [], addresses: [], tabId: details.tabId, isBare: details.type === 'other',
    isFrame: details.type === 'sub_frame' || details.frameId > 0,
    by: details.initiator ?? details.originUrl, page: details.documentUrl ?? details.originUrl ?? details.initiator,
  };
  const fields = {};
  for (const { name, value } of details.requestHeaders ?? []) {
    if (SENT.includes(name.toLowerCase()) && value) fields[name.toLowerCase()] = value;
  }
  if (fields.cookie) entry.isBare = false;
  entry.hops.push({ url: details.url, method: details.method, fields });
  if (entry.hops.length > 30) entry.hops.shift();
  seen.set(details.requestId, entry);
  stayAwake();
}

function answered(details) {
  const entry = seen.get(details.requestId);
  if (!entry) return;
  entry.isAnswered = true;
  // Of a redirect the fields are not the file's.
  if (details.responseHeaders) Object.assign(entry, { size: undefined, type: undefined, isEncoded: false });
  for (const { name, value } of details.responseHeaders ?? []) {
    if (name.toLowerCase() === 'content-length' && /^\d{1,15}$/.test(value)) entry.size = Number(value);
    if (name.toLowerCase() === 'content-type') entry.type = value.split(';')[0].trim().toLowerCase();
    if (name.toLowerCase() === 'content-encoding' && value) entry.isEncoded = true;
  }
}

function reached({ requestId, ip }) {
  const entry = seen.get(requestId);
  if (ip && entry && entry.addresses.length < 30) entry.addresses.push(ip);
}

/// Whether a request was seen that may be that of a download; see `claim`.
export const isSeen = (ends) => [...seen.values()].some((entry) => fits(entry, ends));

/// The request of a download: its method at the end, and its hops since the last that was no GET. Each is given once. Null if
/// none was seen, or more than one may be meant: whatever is loaded in a tab can lead to the same address.
///
/// - ends: `first` and `last`, the URLs of the download before and after redirects, or `either`, one that may be both.
export async function claim(ends) {
  const found = [];
  for (const [id, entry] of [...seen].filter(([, entry]) => fits(entry, ends))) {
    seen.delete(id);
    if (await isOfPage(entry)) found.push(entry);
  }
  if (found.length !== 1) return null;
  const [entry] = found;
  const first = entry.hops.findLastIndex(({ method }) => method !== 'GET') + 1;
  const hops = entry.hops.slice(first);
  return {
    tabId: entry.tabId, by: entry.by, page: entry.page, type: entry.type, hops, method: hops.length > 0 ? 'GET' : 'other',
    size: entry.size, isEncoded: entry.isEncoded, isBare: entry.isBare, addresses: entry.addresses,
  };
}

function fits({ hops }, { first, last, either }) {
  const [begin, end] = [hops[0], hops.at(-1)].map(({ url }) => bare(url));
  return either !== undefined ? [begin, end].includes(bare(either)) : begin === bare(first) && end === bare(last);
}

const bare = (url) => url.replace(/#.*$/s, '');

/// Whether the page of the tab began the request, as far as that matters: a frame of another site, also one in a sandbox, can
/// begin one that leads to the address of the page's own link.
async function isOfPage({ isFrame, tabId, by }) {
  if (!isFrame) return true;
  const tab = await api.tabs.get(tabId).catch(() => null);
  return originOf(by) !== null && originOf(by) === originOf(tab?.url);
}

/// Whether a page began a request, or the user did: another site, as that of a frame in the page, can begin one for the whole
/// tab.
export const isBegunBy = (page, { by }) => by === undefined || (originOf(by) !== null && originOf(by) === originOf(page));

function originOf(url) {
  try { return new URL(url).origin; } catch { return null; }
}

/// The link of a request as the host takes it: the first URL, with the cookies that each hop was sent.
export function link({ hops, page, addresses }) {
  const [{ url, fields }] = hops;
  return clean({
    url, page, addresses, referer: fields.referer, userAgent: fields['user-agent'], authorization: fields.authorization,
    cookies: hops.flatMap((hop) => cookieLines(hop.url, hop.fields.cookie ?? '')).join('\n'),
  });
}

/// The cookies of a request as lines of a cookie file, for this host alone.
function cookieLines(url, field) {
  const { hostname, protocol } = new URL(url);
  return field.split(/;\s*/).filter(Boolean).map((pair) => {
    const [, name, value] = /^([^=]*)=?(.*)$/s.exec(pair);
    return line(hostname, false, '/', protocol === 'https:', 0, name, value);
  });
}

/// The link of an address on a page, which nothing has been requested from: with the cookies that the browser has for it.
export async function linkOf(url, { page, storeId }) {
  const query = storeId === undefined ? { url } : { url, storeId };
  const cookies = await api.cookies.getAll(query).catch(() => []);
  const isSameSite = page !== undefined && originOf(page) === originOf(url);
  return clean({
    url, page, userAgent: navigator.userAgent, referer: page && (isSameSite ? page : `${new URL(page).origin}/`),
    cookies: cookies.filter(({ sameSite }) => isSameSite || sameSite !== 'strict').map((cookie) => line(
      cookie.domain, !cookie.hostOnly, cookie.path, cookie.secure, Math.floor(cookie.expirationDate ?? 0), cookie.name,
      cookie.value)).join('\n'),
  });
}

/// A line of Netscape's format: domain, subdomains too, path, https only, expiry, name, value.
function line(domain, isWide, path, isSecure, expires, name, value) {
  const flag = (is) => (is ? 'TRUE' : 'FALSE');
  // In IPv6 addresses the brackets are of the URL.
  return [domain.replace(/^\[|\]$/g, ''), flag(isWide), path, flag(isSecure), expires, name, value].join('\t');
}

/// A link without members that have no value, without fragments, and without pages that are no web pages.
export function clean(link) {
  const page = /^https?:/.test(link.page ?? '') ? link.page.replace(/#.*$/s, '') : undefined;
  return Object.fromEntries(Object.entries({ ...link, page }).filter(([, value]) => value));
}
