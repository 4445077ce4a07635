// What is said without being asked for: to screen readers, in toasts, and as notifications of the system.

import { h, setAttribute, setText, kept } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';
import { wordsOf } from './entry.js';

/// Ends that come within this time are told together.
const BURST = 350;
const TOAST_TIME = 7000;
const MOST_TOASTS = 3;
/// What asks for its user stays longer than what is only told.
const NEED_TIME = 20_000;

export class Announcer {
  #polite = h('div', { class: 'spoken', role: 'status', 'aria-live': 'polite', data: { live: 'polite' } });
  #urgent = h('div', { class: 'spoken', role: 'alert', 'aria-live': 'assertive', data: { live: 'assertive' } });
  #toasts = h('div', { class: 'toasts', role: 'region' });
  #burst = [];
  #timer = null;
  #needing = [];
  #needTimer = null;
  /// The ends that are still told, and the messages about them.
  #told = { downloads: [], toasts: [] };

  /// To be put into the page once; it outlives a change of language.
  get nodes() { return [this.#polite, this.#urgent, this.#toasts]; }

  /// To screen readers alone.
  speak(text, isUrgent = false) {
    const region = isUrgent ? this.#urgent : this.#polite;
    // The same text twice would be silent the second time.
    setText(region, region.textContent === text ? `${text}\u00a0` : text);
  }

  /// - action: `{label, run, time, hold, release}`: a button in the message, which stays for that time; while it has the
  ///   focus the message stays, and what waits for that time is held until it is released.
  /// Gives what takes the message away.
  say(text, action = null) {
    this.speak(text);
    return this.#toast('info', text, null, action).dismiss;
  }

  /// A message that stays while something is under way: the function takes it away.
  lasting(text) {
    this.speak(text);
    return this.#toast('clock', text, null, { time: Infinity }).dismiss;
  }

  /// - stays: until it is dismissed.
  warn(text, { stays = false } = {}) {
    this.speak(text, true);
    this.#toast('warn', text, null, stays ? { time: Infinity } : null);
  }

  /// Takes back what was spoken: it is in another language, or no longer true. Names the region of messages.
  hush() {
    for (const region of [this.#polite, this.#urgent]) setText(region, '');
    setAttribute(this.#toasts, 'aria-label', t('messages'));
  }

  /// Takes back what was said: it is about a page that is gone.
  clear() { this.#toasts.replaceChildren(); }

  /// A download or a set has ended: `completed` or `failed`. A set is told by itself.
  ended(entry) {
    if (entry.isSet) return void this.#tellEnd(entry);
    this.#burst.push(entry);
    this.#timer ??= setTimeout(() => this.#tell(), BURST);
  }

  /// A download waits for its user: nothing goes on until somebody comes.
  needs(download) {
    this.#needing.push(download);
    this.#needTimer ??= setTimeout(() => this.#tellNeeds(), BURST);
  }

  #tellNeeds() {
    const needing = this.#needing;
    this.#needing = [];
    this.#needTimer = null;
    const told = needing.length > 2
      ? [[t('needs.many', { n: needing.length }), null, 'needs']]
      : needing.map((download) => [download.name, wordsOf(download).explanation(download), download.id]);
    for (const [text, detail, tag] of told) {
      this.speak(detail ? t('needs', { name: text, reason: detail }) : text, true);
      this.#notify(t('needs.title'), [text, detail].filter(Boolean).join('\n'), tag);
      this.#toast('warn', text, detail, { time: NEED_TIME });
    }
  }

  #tell() {
    const fresh = this.#burst;
    this.#burst = [];
    this.#timer = null;
    // One message counts what ends while others are still told.
    const { downloads, toasts } = this.#told;
    const burst = toasts.some((toast) => toast.isConnected) ? [...downloads, ...fresh] : fresh;
    this.#told = { downloads: burst, toasts: burst === fresh ? [] : toasts };
    if (burst.length > 2) {
      for (const toast of this.#told.toasts) toast.remove();
      const failed = burst.filter(({ state }) => state === 'failed').length;
      const text = t('ended.many', { completed: burst.length - failed, failed });
      this.speak(text, failed > 0);
      this.#told.toasts = [this.#toast(failed > 0 ? 'warn' : 'check', text)];
      this.#notify(t(failed > 0 ? 'ended.failed.title' : 'ended.completed.title'), text, 'many');
      return;
    }
    for (const download of fresh) this.#told.toasts.push(this.#tellEnd(download));
  }

  /// Gives the message.
  #tellEnd(entry) {
    const { text, detail, title } = wordsOf(entry).ending(entry);
    const isFailed = entry.state === 'failed';
    this.speak(text, isFailed);
    this.#notify(title, `${entry.name}\n${detail}`, entry.id);
    return this.#toast(isFailed ? 'warn' : 'check', entry.name, detail);
  }

  #toast(kind, text, detail = null, action = null) {
    const timers = { timer: null };
    // The same thing said again takes the place of what was said.
    for (const other of this.#toasts.children) if (other.querySelector('.toast-text').textContent === text + (detail ?? '')) other.remove();
    const stays = action?.time === Infinity;
    const toast = h('div', { class: `toast toast-${kind}`, data: stays ? { stays: 'yes' } : null },
      icon(kind), h('div', { class: 'toast-text' }, h('p', null, h('bdi', null, text)), detail && h('p', { class: 'quiet' }, h('bdi', null, detail))),
      action?.label && h('button', {
        type: 'button', class: 'button compact', data: { toast: 'action' },
        on: {
          click: () => {
            close();
            action.run();
          },
        },
      }, action.label),
      h('button', { type: 'button', class: 'icon-button small', 'aria-label': t('dismiss'), title: t('dismiss'), on: { click: () => close() } },
        icon('cancel')));
    const leave = () => {
      clearTimeout(timers.timer);
      if (!stays) timers.timer = setTimeout(() => toast.remove(), action?.time ?? TOAST_TIME);
    };
    // The focus keeps it, and goes back to where it was, else to the list. Clicks go through to what is under it.
    let before = null;
    const close = () => {
      const hadFocus = toast.contains(document.activeElement);
      toast.remove();
      clearTimeout(timers.timer); // A browser may tell of the focus that goes with it.
      if (!hadFocus) return;
      action?.release?.();
      (before?.isConnected ? before : document.querySelector('.row[tabindex="0"]'))?.focus({ preventScroll: true });
    };
    toast.addEventListener('focusin', ({ relatedTarget }) => {
      if (relatedTarget && !toast.contains(relatedTarget)) before = relatedTarget;
      clearTimeout(timers.timer);
      action?.hold?.();
    });
    toast.addEventListener('focusout', () => {
      leave();
      if (toast.isConnected) action?.release?.();
    });
    leave();
    this.#toasts.append(toast);
    // Those with a button, and those that stay, keep their place and their time.
    for (const other of [...this.#toasts.querySelectorAll('.toast:not(:has([data-toast]), [data-stays])')].slice(0, -MOST_TOASTS)) other.remove();
    return Object.assign(toast, { dismiss: close });
  }

  // Notifications ---------------------------------------------------------------------------------------------------

  get canNotify() { return typeof Notification !== 'undefined'; }
  get isBlocked() { return this.canNotify && Notification.permission === 'denied'; }
  get notifies() { return this.canNotify && Notification.permission === 'granted' && kept.get('notify') !== 'no'; }

  /// Turns notifications on or off; asks the browser when it must.
  async toggleNotifications() {
    if (this.notifies) {
      kept.set('notify', 'no');
    } else if (this.canNotify) {
      kept.set('notify', 'yes');
      if (Notification.permission === 'default') await Notification.requestPermission();
    }
  }

  #notify(title, body, tag) {
    if (!this.notifies || !document.hidden) return;
    try {
      const notification = new Notification(title, { body, tag, icon: 'mark.svg' });
      notification.onclick = () => {
        window.focus();
        notification.close();
      };
    } catch { /* phones allow them to service workers only */ }
  }
}
