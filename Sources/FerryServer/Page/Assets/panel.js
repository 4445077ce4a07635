// The panel of the download or set that is open: beside the list where there is room, over it where there is none. Its frame, with
// the name, the button that closes it and the focus, is there at once; the details in it are of the second script.

import { h, setText, setAttribute } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';
import { waitingNote } from './parts.js';

const wide = window.matchMedia('(min-width: 68rem)');

export class Panel {
  #context;
  #store;
  #list;
  #parts;
  #onClose;
  #onCover;
  #name;
  #close;
  /// The details; `null` until they are loaded, and `#note` is in their place.
  #detail = null;
  #note;
  #id = null;
  /// The answer to the question whether what was typed may be lost, while it is asked.
  #answer = null;

  constructor({ parts, onClose, onCover, ...context }) {
    const { store, list, signal } = context;
    this.#context = context;
    this.#store = store;
    this.#list = list;
    this.#parts = parts;
    this.#onClose = onClose;
    this.#onCover = onCover;
    this.#name = h('h2', { class: 'detail-name', id: 'detail-name' }, h('bdi'));
    this.#close = h('button', { type: 'button', class: 'icon-button', 'aria-label': t('close'), title: t('close'), on: { click: () => this.leave() } }, icon('cancel'));
    this.#note = h('div', { class: 'detail-body' }, waitingNote(parts, signal));
    this.element = h('dialog', { class: 'detail', 'aria-labelledby': 'detail-name' }, h('div', { class: 'detail-head' }, this.#name, this.#close), this.#note);
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      event.preventDefault();
      this.leave();
    });
    const on = (target, type, run) => target.addEventListener(type, run, { signal });
    on(store, 'list', () => this.#changed());
    on(wide, 'change', () => this.#frame());
    on(parts, 'change', () => this.#fill());
    signal.addEventListener('abort', () => this.element.remove());
    this.#fill();
  }

  /// The entry that is shown; `null` while it is closed.
  get id() { return this.#id; }
  get isOpen() { return this.#id !== null; }

  open(id) {
    if (!this.#store.entry(id)) return;
    this.#id = id;
    this.#parts.load();
    this.#frame();
    this.#changed();
    this.#detail?.open(id);
  }

  /// Whether what is shown may go: asks where something was changed and not saved.
  async mayLeave() {
    if (!this.isOpen || !this.#detail || this.#detail.unsaved.length === 0) return true;
    this.#answer ??= this.#detail.discards().finally(() => { this.#answer = null; });
    return this.#answer;
  }

  /// Closes it, if what is shown may go.
  async leave() {
    if (await this.mayLeave()) this.close();
  }

  close() {
    if (!this.isOpen) return;
    const id = this.#id;
    this.#id = null;
    this.#detail?.close();
    this.element.close();
    this.#frame();
    this.#onClose();
    this.#list.reveal(this.#list.indexOf(id) >= 0 ? id : this.#list.currentId, { focus: true });
  }

  /// Puts the details in their place. What is read or written elsewhere meanwhile keeps the focus.
  #fill() {
    if (this.#detail || !this.#parts.loaded) return;
    const hasFocus = this.element.contains(document.activeElement);
    this.#detail = new this.#parts.loaded.Detail({ ...this.#context, closeButton: this.#close });
    this.#note.replaceWith(this.#detail.element);
    if (!this.isOpen) return;
    if (hasFocus) this.#close.focus({ preventScroll: true });
    this.#detail.open(this.#id);
  }

  /// Beside the list both can be used; over it, what is under it cannot. Not modal even then: messages stay readable.
  #frame() {
    this.#onCover(this.isOpen && !wide.matches);
    document.documentElement.classList.toggle('has-detail', this.isOpen);
    if (!this.isOpen) return;
    if (!this.element.open) this.element.show();
    this.#close.focus({ preventScroll: true });
  }

  #changed() {
    if (!this.isOpen) return;
    const entry = this.#store.entry(this.#id);
    if (entry) {
      setText(this.#name.firstChild, entry.name);
      setAttribute(this.element, 'data-state', entry.state);
    } else if (this.#store.isLoaded) {
      this.#detail?.sayGone(this.#name.textContent);
      this.close();
    }
  }
}
