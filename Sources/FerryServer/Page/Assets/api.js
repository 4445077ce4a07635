// Requests to the daemon. Its address is the page's own; the token is kept by this browser.

import { t, said } from './text.js';

export const ROOT = '/api/v1';
const VERSION = 2;
export const TOKEN = 'ferry.token';
/// The codes that say of a complete file that it cannot be opened, or is another one.
const MISSING = ['disk', 'conflict'];
/// Browsers send so many bytes of a request while the page is left.
const MOST_LEAVING = 60_000;

export const token = {
  get() {
    try { return localStorage.getItem(TOKEN); } catch { return null; }
  },
  set(value) {
    try { localStorage.setItem(TOKEN, value); } catch { /* then it lasts until the page is left */ }
  },
  clear() {
    try { localStorage.removeItem(TOKEN); } catch { /* nothing was kept */ }
  },
};

/// The keys of the sentences that are about a member of a request.
const REFUSALS = {
  checksum: /checksum|algorithm|hexadecimal|digit/i, certificates: /certificate/i, cookies: /cookie/i, userAgent: /userAgent/i, proxy: /proxy/i, name: /name/i,
  directory: /place|path|directory/i, headers: /header|field/i, maxConnections: /one|number/i,
};

/// A refusal of the daemon (RFC 9457), or no answer at all (`status` 0).
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.title ?? `HTTP ${status}`);
    this.status = status;
    this.code = body?.code ?? (status === 0 ? 'unreachable' : 'internal');
    this.error = body?.error ?? null;
    /// Which of several downloads it is about, from 0.
    this.index = body?.index ?? null;
  }

  /// The key of the sentence, or nothing.
  get phrase() { return this.error?.phrase?.[0] ?? ''; }

  /// The first of these members of a request that it is about; `null` if it is about none of them.
  memberOf(names) {
    const named = this.phrase === 'notInRange' ? this.error.phrase[1] : /^“(\w+)/.exec(this.message)?.[1];
    return names.find((name) => name === named) ?? names.find((name) => REFUSALS[name]?.test(this.phrase)) ?? null;
  }

  /// What was wrong, in the user's language where it is known.
  get text() {
    if (this.status === 0) return t('failure.unreachable');
    const message = said(this.error?.messages);
    const suggestion = said(this.error?.suggestions);
    if (message) return [message, suggestion].filter(Boolean).join(' · ');
    const key = `problem.${this.code}`;
    const known = t(key, { detail: this.message });
    return known === key ? this.message : known;
  }
}

/// The problems of an action on many downloads, each with the `id` of its download.
const failures = (answer) => (answer?.failures ?? [])
  .map(({ id, error }) => Object.assign(new Problem(200, { code: error?.code, detail: error?.message, error }), { id }));

/// The pieces of a stream; not every browser lets streams be looped over.
async function* pieces(stream) {
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

export class API {
  /// - onSignedOut: the token is no longer good.
  constructor(key, onSignedOut) {
    this.key = key;
    this.onSignedOut = onSignedOut;
  }

  headers(extra = {}) {
    return { Authorization: `Bearer ${this.key}`, 'Ferry-Version': String(VERSION), ...extra };
  }

  /// - timeout: in milliseconds without a byte of the answer, however long all of it takes.
  /// - headers: beside those of every request.
  /// - onStatus: told the status of the answer.
  async request(method, path, { body, signal, headers = {}, timeout = 30_000, keepalive = false, onStatus = () => {} } = {}) {
    const isChange = method !== 'GET';
    const text = body === undefined ? undefined : JSON.stringify(body);
    const patience = new AbortController();
    let timer = null;
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => patience.abort(), timeout);
    };
    alive();
    let response;
    try {
      response = await fetch(ROOT + path, {
        method,
        headers: this.headers(isChange ? { 'Content-Type': 'application/json' } : headers),
        body: text,
        keepalive: keepalive && (text?.length ?? 0) < MOST_LEAVING,
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, patience.signal]) : patience.signal,
      });
      onStatus(response.status);
      return await this.read(response, alive);
    } catch (error) {
      if (signal?.aborted || error instanceof Problem) throw error;
      throw new Problem(0, { detail: String(error?.message ?? error) });
    } finally {
      clearTimeout(timer);
    }
  }

  /// - alive: called for each piece of the body.
  async read(response, alive = () => {}) {
    let text = '';
    if (response.body) {
      for await (const piece of pieces(response.body.pipeThrough(new TextDecoderStream()))) {
        alive();
        text += piece;
      }
    }
    let body = null;
    try { body = text ? JSON.parse(text) : null; } catch { /* not from the daemon, or cut short */ }
    if (response.status === 401) this.onSignedOut();
    if (!response.ok) throw new Problem(response.status, body);
    return body;
  }

  get(path, options) { return this.request('GET', path, options); }
  post(path, body, options) { return this.request('POST', path, { body, ...options }); }
  patch(path, body) { return this.request('PATCH', path, { body }); }
  delete(path, options) { return this.request('DELETE', path, options); }

  greeting() { return this.get(''); }
  browsers() { return this.get('/tokens'); }
  signOut(id) { return this.delete(`/tokens/${encodeURIComponent(id)}`); }
  page(offset, limit) { return this.get(`/downloads?sort=queue&offset=${offset}&limit=${limit}`); }
  detail(id, signal) { return this.get(`/downloads/${encodeURIComponent(id)}`, { signal }); }
  history(id, signal) { return this.get(`/downloads/${encodeURIComponent(id)}/events`, { signal }); }
  act(id, action) { return this.post(`/downloads/${encodeURIComponent(id)}/${action}`); }
  /// Acts on many at once; gives the problems of those that it could not.
  /// - keepalive: the page is being left.
  async actMany(ids, action, body = {}, keepalive = false) {
    return failures(await this.post(`/downloads/${action}`, { ids, ...body }, { timeout: 120_000, keepalive }));
  }
  /// The problem of reading the file of a completed download, by its first byte; `null` if it is there as it was saved.
  async fileProblem(id, signal) {
    try {
      await this.request('GET', `/downloads/${encodeURIComponent(id)}/content`, { signal, headers: { Range: 'bytes=0-0' } });
      return null;
    } catch (problem) {
      return MISSING.includes(problem.code) ? problem : null;
    }
  }
  contentLink(id) { return this.post(`/downloads/${encodeURIComponent(id)}/content-link`); }
  move(id, to) { return this.post(`/downloads/${encodeURIComponent(id)}/move`, { to }); }
  change(id, change) { return this.patch(`/downloads/${encodeURIComponent(id)}`, change); }
  clear(which) { return this.post('/downloads/clear', { which, deleteFiles: false }); }
  sets() { return this.get('/sets'); }
  /// Gives the set, and whether it was not listed before.
  async addSet(set) {
    let isNew = false;
    const added = await this.post('/sets', set, { timeout: 120_000, onStatus: (status) => { isNew = status === 201; } });
    return { set: added, isNew };
  }
  /// - action: `pause`, `resume`, `cancel` or `remove`; each is answered when the set has stopped.
  actOnSet(id, action, keepalive = false) {
    const path = `/sets/${encodeURIComponent(id)}`;
    const options = { timeout: 120_000, keepalive };
    return action === 'remove' ? this.delete(path, options) : this.post(`${path}/${action}`, undefined, options);
  }
  add(downloads) { return this.post('/downloads', { downloads }, { timeout: 120_000 }); }
}

/// Trades a one-time code for a token.
export async function login(code) {
  const api = new API('', () => {});
  const response = await fetch(`${ROOT}/login`, {
    method: 'POST', headers: { 'Content-Type': 'application/json', 'Ferry-Version': String(VERSION) },
    body: JSON.stringify({ code }), cache: 'no-store', credentials: 'omit', redirect: 'error',
    signal: AbortSignal.timeout(15_000),
  }).catch((error) => { throw new Problem(0, { detail: String(error) }); });
  return (await api.read(response)).token;
}

/// Runs many requests, a few at a time; gives the problems.
export async function forAll(items, run, width = 6) {
  const problems = [];
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try { await run(item); } catch (error) { problems.push(error); }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, queue.length) }, worker));
  return problems;
}
