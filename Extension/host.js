// The connection to the host, `ferry browser-host`. It is opened when something is asked, and closed when nothing has
// been for a while: while it is open, the browser keeps this worker.

import { api, text } from './api.js';

const HOST = 'ferry.browser';
const VERSION = 1;

/// How long an answer may take: the host may have to start the daemon.
const PATIENCE = 40_000;
const IDLE = 20_000;

let port = null;
let number = 0;
let waiting = new Map();
let closing = null;

/// Ferry is not there, or its answer is an error: `error` is that of the host, `isMissing` is true without one.
export class HostError extends Error {
  constructor(error, isMissing = false) {
    super(error.message);
    this.error = error;
    this.isMissing = isMissing;
  }
}

/// Sends a request and gives its answer. Fails with a `HostError`.
export function ask(request, members = {}) {
  clearTimeout(closing);
  return new Promise((resolve, reject) => {
    const own = ++number;
    const timer = setTimeout(() => settle(own, null, new HostError({ code: 'silent', message: text('silent') })), PATIENCE);
    waiting.set(own, { resolve, reject, timer });
    try {
      port ??= connect();
      port.postMessage({ version: VERSION, number: own, request, ...members });
    } catch (error) {
      settle(own, null, new HostError({ code: 'missing', message: String(error.message ?? error) }, true));
    }
  });
}

function connect() {
  const made = api.runtime.connectNative(HOST);
  made.onMessage.addListener((answer) => {
    if (answer.error) settle(answer.number, null, new HostError(answer.error));
    else settle(answer.number, answer);
  });
  made.onDisconnect.addListener(() => {
    const reason = made.error?.message ?? api.runtime.lastError?.message ?? 'disconnected';
    if (port === made) port = null;
    for (const own of [...waiting.keys()]) {
      settle(own, null, new HostError({ code: 'missing', message: reason }, true));
    }
  });
  return made;
}

function settle(own, answer, error) {
  const entry = waiting.get(own);
  if (!entry) {
    // The browser has kept what was taken too late.
    if (answer?.download && !answer.isRenewed) ask('drop', { id: answer.download.id }).catch(() => {});
    return;
  }
  waiting.delete(own);
  clearTimeout(entry.timer);
  if (error) entry.reject(error);
  else entry.resolve(answer);
  clearTimeout(closing);
  if (waiting.size === 0) closing = setTimeout(close, IDLE);
}

function close() {
  port?.disconnect();
  port = null;
}
