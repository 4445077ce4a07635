// The event stream, read with `fetch` because EventSource cannot send the token, and by one tab for all of a browser. A lost
// daemon is joined again.

import { ROOT } from './api.js';

/// Longer than this without a byte (comments come each 15 s), and the connection is taken for dead. A tab that has heard nothing
/// of the reading tab for as long asks it.
const SILENCE = 45_000;
/// Longer than this without a byte while figures move, and the daemon, or the reading tab, is asked whether it still is there; an
/// answer may take as long.
const QUIET = 5_000;
const FIRST_DELAY = 400;
const LONGEST_DELAY = 10_000;

/// The name of the lock, and of what the tabs tell each other by.
const CHANNEL = 'ferry.stream';

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

/// The stream of all tabs of this browser: one of them reads it and passes it on, since a browser makes few connections to
/// one host. The lock says which; when that tab goes, the next one gets the lock, and goes on after the last event. A tab that
/// is frozen keeps the lock: from one that does not answer, another takes it. What the frozen tab has still to tell when it wakes
/// is old, and nobody takes it.
export class Stream {
  #api;
  #on;
  /// The run that counts; `null` when it is stopped.
  #life = null;
  /// The request for the lock that waits or is granted.
  #turn = null;
  /// When the tab that is listened to began to read, in milliseconds of `Date.now()`: of two, the later one counts.
  #since = 0;
  /// Until the reading tab is asked, or its lock is taken.
  #patience = null;
  #lastID = null;
  #controller = null;
  #wake = null;
  #channel = null;
  #isReader = false;
  #isOpen = false;
  #wasOpen = false;
  /// When the next attempt is made, in milliseconds of `Date.now()`; `null` while one is under way.
  nextAttempt = null;

  /// - on: `opened(isFirst)`, `event(name, data)`, `lost()`, `waiting()`, `outdated()`, `signedOut()`; `expects()` gives whether
  ///   events should come: figures are shown that move.
  constructor(api, on) {
    this.#api = api;
    this.#on = on;
  }

  /// Goes on until it is stopped; it may run again, and goes on after the last event.
  async run() {
    const life = {};
    this.#life = life;
    this.#channel = new BroadcastChannel(CHANNEL);
    this.#channel.onmessage = ({ data }) => this.#heard(data);
    for (let takes = false; ; ) {
      const turn = new AbortController();
      this.#turn = turn;
      if (!takes) this.#join();
      try {
        await navigator.locks.request(CHANNEL, takes ? { steal: true } : { signal: turn.signal }, () => this.#read(turn, takes));
      } catch (error) {
        if (error?.name !== 'AbortError') throw error;
      }
      if (this.#life !== life) return;
      // The wait has ended without an answer, or another tab has taken the lock while this one read.
      takes = !this.#isReader;
      this.#leave();
    }
  }

  stop() {
    this.#life = null;
    this.#leave();
    this.#channel?.close();
    this.#channel = null;
  }

  /// Ends the wait for the lock, or the reading.
  #leave() {
    this.#isReader = false;
    this.#turn?.abort();
    clearTimeout(this.#patience);
    this.#controller?.abort();
    this.#wake?.();
  }

  /// Tries at once, when it is waiting to; of another tab that reads it is made sure that it is there.
  retryNow() {
    if (this.#isReader) return this.#wake?.();
    this.#channel?.postMessage({ type: 'retry' });
    this.#ask();
  }

  // Between tabs ----------------------------------------------------------------------------------------------------

  /// Begins to listen to the tab that reads, as one that knows nothing yet.
  #join() {
    if (this.#isOpen) this.#on.lost();
    this.#isOpen = false;
    this.#wasOpen = false;
    this.#ask();
  }

  /// Asks the reading tab whether it is there; takes the lock if it does not answer.
  #ask() {
    clearTimeout(this.#patience);
    this.#channel?.postMessage({ type: 'hello' });
    const turn = this.#turn;
    // Not all tabs take it at once.
    this.#patience = setTimeout(() => turn?.abort(), QUIET * (1 + Math.random() / 5));
  }

  /// Waits for more from the reading tab, which is asked when nothing comes.
  #listen() {
    clearTimeout(this.#patience);
    const since = performance.now();
    const wait = () => {
      this.#patience = setTimeout(() => (this.#on.expects() || performance.now() - since >= SILENCE ? this.#ask() : wait()), QUIET);
    };
    wait();
  }

  /// Does what has happened here, and has the other tabs do it.
  #tell(message) {
    this.#channel?.postMessage({ ...message, since: this.#since });
    this.#take(message);
  }

  #heard(message) {
    if (this.#isReader) {
      // A frozen tab may hear, but its timers and requests rest: it must not answer.
      if (message.type === 'hello') setTimeout(() => this.#answer());
      if (message.type === 'retry') this.#wake?.();
    } else if (message.since >= this.#since) {
      this.#since = message.since;
      this.#listen();
      this.#take(message);
    }
  }

  #answer() {
    if (!this.#isReader) return;
    this.#channel.postMessage({ type: this.#isOpen ? 'opened' : 'lost', nextAttempt: this.nextAttempt, since: this.#since });
  }

  #take({ type, event, nextAttempt = null }) {
    switch (type) {
      case 'opened':
        this.nextAttempt = null;
        if (this.#isOpen) return;
        this.#isOpen = true;
        this.#on.opened(!this.#wasOpen);
        this.#wasOpen = true;
        break;
      case 'event':
        // What came before it was open is in the list that is read then.
        if (!this.#isOpen) return;
        this.#deliver(event);
        if (event.id !== null) this.#lastID = event.id;
        break;
      case 'lost':
        this.#isOpen = false;
        this.nextAttempt = nextAttempt;
        this.#on.lost();
        break;
      case 'waiting':
        this.nextAttempt = nextAttempt;
        this.#on.waiting();
        break;
      case 'outdated': this.#on.outdated(); break;
      case 'signedOut':
        this.stop();
        this.#on.signedOut();
        break;
      default: break;
    }
  }

  // Reading ---------------------------------------------------------------------------------------------------------

  /// - isTaken: the lock is taken from a tab that does not answer: what is shown may be old.
  async #read(turn, isTaken) {
    let failures = 0;
    clearTimeout(this.#patience);
    this.#isReader = true;
    this.#since = Math.max(Date.now(), this.#since + 1);
    if (isTaken) this.#tell({ type: 'lost' });
    while (!turn.signal.aborted) {
      try {
        await this.#connect(() => {
          failures = 0;
          this.#tell({ type: 'opened' });
        });
      } catch (error) {
        if (error?.status === 401 && !turn.signal.aborted) this.#tell({ type: 'signedOut' });
        if (error?.status === 426 && !turn.signal.aborted) this.#tell({ type: 'outdated' });
      }
      if (turn.signal.aborted) return;
      this.#tell({ type: 'lost' });
      await this.#pause(turn, failures++);
    }
  }

  async #pause(turn, failures) {
    const ceiling = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(failures, 10));
    // Half of it is chance, so that many pages do not come back at once.
    const delay = ceiling / 2 + Math.random() * (ceiling / 2);
    this.#tell({ type: 'waiting', nextAttempt: Date.now() + delay });
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, delay);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
    if (!turn.signal.aborted) this.#tell({ type: 'waiting' });
  }

  async #connect(opened) {
    const controller = new AbortController();
    this.#controller = controller;
    let watchdog = null;
    let quiet = null;
    // Figures of a daemon that hangs would look as if they were new.
    const listen = () => {
      quiet = setTimeout(async () => {
        if (this.#on.expects()) await this.#api.get('', { signal: controller.signal, timeout: QUIET }).catch(({ status }) => { if (status === 0) controller.abort(); });
        if (!controller.signal.aborted) listen();
      }, QUIET);
    };
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => controller.abort(), SILENCE);
      clearTimeout(quiet);
      listen();
    };
    alive();
    try {
      const extra = { Accept: 'text/event-stream' };
      if (this.#lastID !== null) extra['Last-Event-ID'] = this.#lastID;
      const response = await fetch(`${ROOT}/events?limit=0`, { // The list is read page by page.
        headers: this.#api.headers(extra), cache: 'no-store', credentials: 'omit', redirect: 'error',
        signal: controller.signal,
      });
      if (response.status === 401) throw Object.assign(new Error('signed out'), { status: 401 });
      if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
      opened();
      const parser = new EventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        alive();
        for (const event of parser.feed(value)) this.#tell({ type: 'event', event });
        if (parser.lastID !== null) this.#lastID = parser.lastID;
      }
    } finally {
      controller.abort();
      clearTimeout(watchdog);
      clearTimeout(quiet);
    }
  }

  /// An event that the page cannot read must not end the stream.
  #deliver(event) {
    let data;
    try { data = JSON.parse(event.data); } catch { return; }
    try { this.#on.event(event.name, data); } catch (error) { console.error(error); }
  }
}
