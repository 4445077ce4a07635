// The second script of the page: what is shown at a request alone, as details, options and dialogs. It is loaded when the first
// rows are shown, or at the first request, so that over a slow link it holds up no row.

import { h, setText, setAttribute } from './dom.js';
import { t } from './text.js';

const SCRIPT = './later.js';
const FIRST_DELAY = 1000;
const LONGEST_DELAY = 15_000;

/// Loads the parts, however often that takes. Event `change`: of `state`.
export class Parts extends EventTarget {
  /// What `later.js` exports; `null` until it is here.
  loaded = null;
  /// `idle`, `loading`, `failed` (it is tried again), `outdated` (the daemon has another version of the page), or `loaded`.
  state = 'idle';
  #announcer;
  #attempts = 0;
  #timer = null;
  /// What was asked for while they were not here.
  #wish = null;

  constructor(announcer) {
    super();
    this.#announcer = announcer;
  }

  /// What is said in their place.
  get text() { return t({ failed: 'parts.failed', outdated: 'lost.outdated.text' }[this.state] ?? 'parts.loading'); }

  /// Runs something with the parts: at once, or when they are here; of several that wait, the last one.
  use(run) {
    if (this.loaded) return void run(this.loaded);
    this.#wish = run;
    this.load();
    this.#tell();
  }

  /// Loads them at once, where they are not on their way.
  load() {
    if (this.state === 'idle' || this.state === 'failed') this.#attempt(); // Ends with a state.
  }

  async #attempt() {
    clearTimeout(this.#timer);
    this.#attempts += 1;
    this.#become('loading');
    try {
      // A browser may remember that an address has failed: each attempt has its own.
      this.loaded = (await import(SCRIPT + (this.#attempts === 1 ? '' : `?${this.#attempts}`))).parts;
    } catch {
      if (await isGone()) return this.#become('outdated');
      this.#timer = setTimeout(() => this.load(), Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (this.#attempts - 1)));
      return this.#become('failed');
    }
    this.#become('loaded');
    this.#wish?.(this.loaded);
    this.#wish = null;
  }

  #become(state) {
    this.state = state;
    if (state === 'failed' || state === 'outdated') this.#tell();
    this.dispatchEvent(new Event('change'));
  }

  #tell() {
    if (this.#wish === null) return;
    this.#announcer.say(this.text, this.state === 'outdated' ? { label: t('lost.reload'), run: () => location.reload() } : null);
  }
}

/// Whether the daemon answers and does not have the script: its name has the version of the page.
const isGone = () => fetch(SCRIPT, { method: 'HEAD', cache: 'no-store', credentials: 'omit' }).then(({ status }) => status === 404, () => false);

/// Stands where a part will be, and says why it is not there yet.
export function waitingNote(parts, signal) {
  const text = h('p', { class: 'quiet', role: 'status' });
  const button = h('button', { type: 'button', class: 'button compact', on: { click: () => (parts.state === 'outdated' ? location.reload() : parts.load()) } });
  const show = () => {
    setText(text, parts.text);
    setText(button, t(parts.state === 'outdated' ? 'lost.reload' : 'lost.now'));
    // The button that has the focus keeps it; while they load it does nothing.
    setAttribute(button, 'aria-disabled', parts.state === 'loading' ? 'true' : null);
    button.hidden = parts.state === 'loading' && document.activeElement !== button;
  };
  parts.addEventListener('change', show, { signal });
  show();
  return h('div', { class: 'waiting-note' }, text, button);
}
