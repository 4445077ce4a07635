// The event stream, read with `fetch` because EventSource cannot send the token. A lost daemon is joined again.

import { ROOT } from './api.js';

/// Longer than this without a byte (comments come each 15 s), and the connection is taken for dead.
const SILENCE = 45_000;
const FIRST_DELAY = 400;
const LONGEST_DELAY = 10_000;

/// Takes `text/event-stream` apart as its text comes in (WHATWG HTML §9.2.6).
export class EventParser {
  #rest = '';
  #data = [];
  #name = '';
  #id = null;
  #endedWithReturn = false;
  /// The newest id that was seen.
  lastID = null;

  /// The events that this text completes: `{id, name, data}`.
  feed(text) {
    const events = [];
    // A CR at the end of one piece and the LF at the start of the next are one end of line.
    if (this.#endedWithReturn && text.startsWith('\n')) {
      text = text.slice(1);
      this.#endedWithReturn = false;
    }
    if (text !== '') this.#endedWithReturn = text.endsWith('\r');
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    this.#rest = lines.pop();
    for (const line of lines) {
      if (line === '') this.#dispatch(events);
      else this.#field(line);
    }
    return events;
  }

  #field(line) {
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? '' : line.slice(colon + 1);
    if (value.startsWith(' ')) value = value.slice(1);
    if (name === 'event') this.#name = value;
    else if (name === 'data') this.#data.push(value);
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
  }

  #dispatch(events) {
    if (this.#id !== null) this.lastID = this.#id;
    if (this.#data.length > 0) {
      events.push({ id: this.#id, name: this.#name || 'message', data: this.#data.join('\n') });
    }
    this.#data = [];
    this.#name = '';
    this.#id = null;
  }
}

export class Stream {
  #api;
  #on;
  /// The run that counts; `null` when it is stopped.
  #life = null;
  #lastID = null;
  #controller = null;
  #wake = null;
  /// When the next attempt is made, in milliseconds of `Date.now()`; `null` while one is under way.
  nextAttempt = null;

  /// - on: `opened(isFirst)`, `event(name, data)`, `lost()`, `waiting()`, `signedOut()`.
  constructor(api, on) {
    this.#api = api;
    this.#on = on;
  }

  /// Reads until it is stopped; it may run again, and goes on after the last event.
  async run() {
    const life = {};
    this.#life = life;
    let failures = 0;
    let isFirst = true;
    while (this.#life === life) {
      try {
        await this.#connect(() => {
          failures = 0;
          this.#on.opened(isFirst);
          isFirst = false;
        });
      } catch (error) {
        if (error?.status === 401 && this.#life === life) {
          this.stop();
          this.#on.signedOut();
        }
      }
      if (this.#life !== life) return;
      this.#on.lost();
      await this.#pause(failures++);
    }
  }

  stop() {
    this.#life = null;
    this.#controller?.abort();
    this.#wake?.();
  }

  /// Tries at once, when it is waiting to.
  retryNow() {
    this.#wake?.();
  }

  async #pause(failures) {
    const ceiling = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(failures, 10));
    // Half of it is chance, so that many pages do not come back at once.
    const delay = ceiling / 2 + Math.random() * (ceiling / 2);
    this.nextAttempt = Date.now() + delay;
    this.#on.waiting();
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, delay);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
    this.nextAttempt = null;
    if (this.#life !== null) this.#on.waiting();
  }

  async #connect(opened) {
    const controller = new AbortController();
    this.#controller = controller;
    let watchdog = setTimeout(() => controller.abort(), SILENCE);
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => controller.abort(), SILENCE);
    };
    try {
      const extra = { Accept: 'text/event-stream' };
      if (this.#lastID !== null) extra['Last-Event-ID'] = this.#lastID;
      const response = await fetch(`${ROOT}/events`, {
        headers: this.#api.headers(extra), cache: 'no-store', credentials: 'omit', redirect: 'error',
        signal: controller.signal,
      });
      if (response.status === 401) throw Object.assign(new Error('signed out'), { status: 401 });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      opened();
      const parser = new EventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        alive();
        for (const event of parser.feed(value)) {
          this.#deliver(event);
          if (event.id !== null) this.#lastID = event.id;
        }
        if (parser.lastID !== null) this.#lastID = parser.lastID;
      }
    } finally {
      clearTimeout(watchdog);
      controller.abort();
    }
  }

  /// An event that the page cannot read must not end the stream.
  #deliver(event) {
    let data;
    try { data = JSON.parse(event.data); } catch { return; }
    try { this.#on.event(event.name, data); } catch (error) { console.error(error); }
  }
}
