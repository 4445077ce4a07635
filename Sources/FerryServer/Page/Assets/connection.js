// Says when the daemon is lost, when it will be tried again, and when it is back.

import { h, setText } from './dom.js';
import { icon } from './icons.js';
import { t, durationText } from './text.js';

export class Connection {
  #store;
  #announcer;
  #title = h('strong');
  #text = h('p');
  #button;
  #wasShown = false;

  constructor({ store, announcer, signal }) {
    this.#store = store;
    this.#announcer = announcer;
    this.#button = h('button', { type: 'button', class: 'button compact', on: { click: () => (store.isOutdated ? location.reload() : store.retryNow()) } });
    this.element = h('div', { class: 'lost', hidden: true }, icon('network'),
      h('div', { class: 'lost-text' }, this.#title, this.#text), this.#button);
    for (const type of ['connection', 'away']) store.addEventListener(type, () => this.#show(), { signal });
    const clock = setInterval(() => this.#show(), 500);
    signal.addEventListener('abort', () => clearInterval(clock));
    for (const [target, type] of [[window, 'online'], [document, 'visibilitychange']]) {
      target.addEventListener(type, () => { if (!document.hidden) store.retryNow(); }, { signal });
    }
    this.#show();
  }

  #show() {
    const isShown = this.#store.isAway;
    document.documentElement.classList.toggle('is-lost', isShown);
    this.element.hidden = !isShown;
    if (isShown) {
      const { isOutdated, nextAttempt } = this.#store;
      setText(this.#title, t(isOutdated ? 'lost.outdated' : 'lost'));
      setText(this.#button, t(isOutdated ? 'lost.reload' : 'lost.now'));
      setText(this.#text, isOutdated ? t('lost.outdated.text') : nextAttempt === null ? t('lost.trying')
        : t('lost.retry', { time: durationText(Math.max(1, (nextAttempt - Date.now()) / 1000)) }));
    }
    if (isShown && !this.#wasShown) this.#announcer.speak(t('lost'), true);
    if (this.#wasShown && this.#store.connection === 'live') {
      this.#announcer.hush();
      this.#announcer.say(t('rejoined'));
    }
    this.#wasShown = isShown;
  }
}
