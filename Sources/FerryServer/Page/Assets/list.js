// The list: a grid of rows of one height, of which only those near the window are in the document, so that ten
// thousand cost no more than twenty. One row has the focus; arrows move it.

import { h, setAttribute, kept } from './dom.js';
import { t } from './text.js';
import { Row } from './row.js';
import { arrange, FILTERS, SORTS } from './arrange.js';
import { Dragging } from './drag.js';
import { DoubleClicks } from './doubleclick.js';
import { nextTime } from './words.js';

/// Rows beyond the edges of the window.
const MARGIN = 6;
/// For this long after a row has moved, a click on it that destroys may have been meant for another one.
const SETTLING = 500;

/// A view of everything, in whatever order.
export const EVERYTHING = { filter: 'all', search: '', label: null, server: null, type: null };
const DEFAULTS = { ...EVERYTHING, sort: 'queue', isReversed: false };

/// Filter and order as they were chosen last in this browser.
function rememberedView() {
  const view = {};
  if (kept.get('filter') in FILTERS) view.filter = kept.get('filter');
  if (SORTS.includes(kept.get('sort'))) view.sort = kept.get('sort');
  view.isReversed = kept.get('isReversed') === 'true' && view.sort !== undefined && view.sort !== 'queue';
  return view;
}

export class List extends EventTarget {
  #store;
  #selection;
  #rows = new Map();
  #spare = [];
  #view = { ...DEFAULTS, ...rememberedView() };
  #frame = null;
  #needsArranging = true;
  #height = 76;
  #dragging;
  #doubleClicks;
  /// The place of the row that the keyboard is on: when it goes, the next one takes its place.
  #currentIndex = 0;
  /// What is shown, in order.
  shown = [];
  /// The row that the keyboard is on.
  currentId = null;
  /// The download whose details are open.
  openId = null;

  constructor({ store, selection, actions, announcer, onOpen, onMenu, onEmptied, signal }) {
    super();
    this.#store = store;
    this.#selection = selection;
    this.actions = actions;
    this.announcer = announcer;
    this.onOpen = onOpen;
    this.onMenu = onMenu;
    this.onEmptied = onEmptied;
    this.grid = h('div', {
      class: this.canReorder ? 'rows can-reorder' : 'rows', role: 'grid', 'aria-label': t('list'), 'aria-multiselectable': 'true', 'aria-colcount': '3', 'aria-describedby': 'row-help',
    });
    this.element = h('div', { class: 'list' }, h('p', { class: 'spoken', id: 'row-help' }, t('row.help')), this.grid);
    this.#dragging = new Dragging(this);
    this.#doubleClicks = new DoubleClicks(
      // A row's main button is one thing, whatever it does next.
      (target) => {
        const button = target.closest('button');
        return [target.closest('.row')?.dataset.id, button?.classList.contains('main') ? 'main' : button?.dataset.action].join();
      }, signal);
    const on = (target, type, run, options) => target.addEventListener(type, run, { signal, ...options });
    on(store, 'list', () => this.refresh());
    on(store, 'progress', ({ detail }) => this.#showProgress(detail));
    on(selection, 'change', () => this.#draw());
    on(window, 'scroll', () => this.#schedule(), { passive: true });
    on(window, 'resize', () => this.measure());
    on(this.grid, 'click', (event) => this.#clicked(event));
    on(this.grid, 'contextmenu', (event) => this.#askedForMenu(event));
    on(this.grid, 'keydown', (event) => this.#pressed(event));
    on(this.grid, 'focusin', (event) => this.#focused(event));
    // Waits show the time that is left.
    const clock = setInterval(() => this.#showProgress([...this.#rows.keys()].filter((id) => nextTime(this.entry(id) ?? {}) !== null)), 1000);
    // What stands above the list may grow and shrink.
    const sizes = new ResizeObserver(() => this.#schedule());
    sizes.observe(document.body);
    signal.addEventListener('abort', () => {
      clearInterval(clock);
      sizes.disconnect();
    });
  }

  get view() { return this.#view; }
  get isAway() { return this.#store.isAway; }
  get rowHeight() { return this.#height; }
  get canReorder() { return this.#view.sort === 'queue'; }

  /// Shows others, or in another order.
  setView(change) {
    this.#view = { ...this.#view, ...change };
    for (const name of ['filter', 'sort', 'isReversed']) kept.set(name, this.#view[name]);
    this.grid.classList.toggle('can-reorder', this.canReorder);
    this.#needsArranging = true;
    this.#draw();
  }

  /// The list has changed; it is drawn with the next frame, however many changes there are.
  refresh() {
    this.#needsArranging = true;
    this.#schedule();
  }

  #schedule() {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      this.#draw();
    });
  }

  /// Reads how high a row is: the style sheet says it, in the user's size of text.
  measure() {
    const probe = h('div', { class: 'row-probe' });
    document.body.append(probe); // The list itself may be hidden now.
    const before = this.#height;
    this.#height = probe.getBoundingClientRect().height || before;
    probe.remove();
    this.#draw();
    // The row that is looked at stays in the window.
    const id = this.openId ?? (this.grid.contains(document.activeElement) ? this.currentId : null);
    if (id !== null && this.#height !== before) this.reveal(id);
  }

  // Drawing ---------------------------------------------------------------------------------------------------------

  /// Event `shown`, whoever drew: other downloads are shown now, or in another order.
  #draw() {
    const isArranged = this.#needsArranging;
    if (isArranged) {
      this.#needsArranging = false;
      this.shown = arrange(this.#store.entries, this.#view);
      setAttribute(this.grid, 'aria-rowcount', this.shown.length);
    }
    const { shown } = this;
    const height = `${shown.length * this.#height}px`;
    if (this.grid.style.height !== height) this.grid.style.height = height;
    const current = shown.findIndex(({ id }) => id === this.currentId);
    if (current >= 0) this.#currentIndex = current;
    else this.currentId = shown[Math.min(this.#currentIndex, shown.length - 1)]?.id ?? null;

    const top = this.grid.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(-top / this.#height) - MARGIN);
    const end = Math.min(shown.length, Math.ceil((innerHeight - top) / this.#height) + MARGIN);
    const wanted = new Set();
    for (let index = first; index < end; index++) wanted.add(index);
    // The row with the focus stays, however far one scrolls: else the focus would be lost. So does the one that is dragged.
    for (const id of [document.activeElement?.closest?.('.row')?.dataset.id, this.#dragging.id]) {
      const index = id ? this.indexOf(id) : -1;
      if (index >= 0) wanted.add(index);
    }
    const keep = new Set([...wanted].map((index) => shown[index].id));
    let losesFocus = false;
    for (const [id, row] of this.#rows) {
      if (keep.has(id)) continue;
      losesFocus ||= row.element.contains(document.activeElement);
      this.#release(id, row);
    }
    let above = null;
    for (const index of [...wanted].sort((a, b) => a - b)) above = this.#place(shown[index], index, above);
    if (isArranged) this.dispatchEvent(new Event('shown'));
    // The keyboard stays in the list when its row leaves; where none is left, it goes to the field for links.
    if (losesFocus) {
      if (this.currentId === null) this.onEmptied();
      else this.reveal(this.currentId, { focus: true });
    }
  }

  #release(id, row) {
    this.#dragging.release(row.element);
    this.#rows.delete(id);
    row.element.remove();
    if (this.#spare.length < 40) this.#spare.push(row);
  }

  /// Shows where one is that was added; gives whether it can be seen, without scrolling.
  flash(id) {
    this.#draw();
    const element = this.#rows.get(id)?.element;
    const box = element?.getBoundingClientRect();
    const isSeen = Boolean(box) && box.bottom > 0 && box.top + box.height / 2 < innerHeight;
    if (isSeen) this.reveal(id, { flash: true, scrolls: false });
    return isSeen;
  }

  /// Puts a row at its place on the screen, and in the document below the row `above`; gives its element.
  #place(download, index, above) {
    let row = this.#rows.get(download.id);
    if (!row) {
      row = this.#spare.pop() ?? new Row();
      this.#rows.set(download.id, row);
      row.element.classList.remove('is-new');
    }
    this.#store.learn(download);
    row.show(download, {
      index, isSelected: this.#selection.has(download.id), isCurrent: download.id === this.currentId, isOpen: download.id === this.openId,
      isAway: this.#store.isAway,
    });
    const place = `translateY(${index * this.#height}px)`;
    if (this.#dragging.id !== download.id && row.element.style.transform !== place) {
      if (row.element.parentNode === this.grid) row.movedAt = performance.now();
      row.element.style.transform = place;
    }
    // Readers go by the order in the document. What is moved there loses the focus and the pointer: those stay, and the
    // others go around them.
    const isInPlace = row.element.parentNode === this.grid && row.element.previousElementSibling === above;
    if (!isInPlace && !row.element.contains(document.activeElement) && this.#dragging.id !== download.id) {
      if (above) above.after(row.element);
      else this.grid.prepend(row.element);
    }
    return row.element;
  }

  #showProgress(ids) {
    for (const id of ids) {
      const row = this.#rows.get(id);
      const download = row && this.#store.entry(id);
      if (download) row.showProgress(download);
    }
  }

  row(id) { return this.#rows.get(id) ?? null; }
  entry(id) { return this.#store.entry(id) ?? null; }
  indexOf(id) { return this.shown.findIndex((download) => download.id === id); }

  /// Says where a download stands that was moved.
  speakPlace({ id, name }) { this.announcer.speak(t('place', { name, place: this.indexOf(id) + 1, count: this.shown.length })); }

  setOpen(id) {
    this.openId = id;
    this.#draw();
    if (id !== null) this.reveal(id);
  }

  /// Scrolls so that it can be seen; `flash` marks it for a moment.
  reveal(id, { flash = false, focus = false, scrolls = true } = {}) {
    if (this.#needsArranging) this.#draw();
    const index = this.indexOf(id);
    if (index < 0) return;
    const top = this.grid.getBoundingClientRect().top + index * this.#height;
    const head = document.querySelector('.bar-sticky')?.getBoundingClientRect().bottom ?? 0;
    if (scrolls && (top < head || top + this.#height > innerHeight)) {
      window.scrollBy({ top: top < head ? top - head - 8 : top + this.#height - innerHeight + 8, behavior: 'instant' });
      this.#draw();
    }
    const element = this.#rows.get(id)?.element;
    if (flash && element) {
      element.classList.remove('is-new');
      void element.offsetWidth; // Begins the animation anew.
      element.classList.add('is-new');
    }
    if (focus) element?.focus({ preventScroll: true });
  }

  // Acting ----------------------------------------------------------------------------------------------------------

  #clicked(event) {
    const element = event.target.closest('.row');
    const download = element && this.entry(element.dataset.id);
    if (!download || this.#dragging.wasDragged) return;
    const button = event.target.closest('button');
    if (this.#isStray(event, button ?? element, this.#rows.get(download.id))) return;
    if (button) {
      if (button.dataset.action === 'more') this.onMenu(button, download);
      else if (button.dataset.action === 'open') this.onOpen(download.id);
      else if (!button.disabled) this.actions.run(button.dataset.action, [download]);
    } else if (event.target.closest('.row-pick')) {
      this.#pick(download.id, event);
    } else if (event.ctrlKey || event.metaKey || event.shiftKey) {
      event.preventDefault();
      this.#pick(download.id, event);
    } else {
      this.onOpen(download.id);
    }
  }

  /// Whether a click was meant for something else: the second half of a double click that began elsewhere, or one that
  /// destroys on a row that has just moved under the pointer.
  #isStray(event, target, row) {
    if (event.detail === 0) return false;
    if (this.#doubleClicks.isStray(event)) return true;
    return ['cancel', 'remove'].includes(target.dataset.action) && performance.now() - (row?.movedAt ?? -Infinity) < SETTLING;
  }

  /// The menu of a row, at a right click, by Shift F10 or by the menu key.
  #askedForMenu(event) {
    const element = event.target.closest('.row');
    const download = element && this.entry(element.dataset.id);
    if (!download || String(getSelection())) return;
    event.preventDefault();
    // A key asks for it too: then it opens at the button.
    const isPointed = event.pointerType || event.button === 2;
    this.onMenu(this.#rows.get(download.id).more, download, isPointed ? { x: event.clientX, y: event.clientY } : null);
  }

  #pick(id, event) {
    if (event.shiftKey) this.#selection.extend(id, this.shown.map((download) => download.id));
    else this.#selection.toggle(id);
    this.currentId = id;
    this.#draw();
  }

  #focused(event) {
    const id = event.target.closest('.row')?.dataset.id;
    if (!id || id === this.currentId) return;
    this.#rows.get(this.currentId)?.setCurrent(false);
    this.currentId = id;
    this.#currentIndex = this.indexOf(id);
    this.#rows.get(id)?.setCurrent(true);
  }

  #goTo(index, isExtending = false) {
    const download = this.shown[Math.max(0, Math.min(this.shown.length - 1, index))];
    if (!download) return;
    if (isExtending) this.#selection.extend(download.id, this.shown.map(({ id }) => id));
    this.reveal(download.id, { focus: true });
  }

  #pressed(event) {
    const element = event.target.closest('.row');
    const download = element && this.entry(element.dataset.id);
    if (!download) return;
    const index = this.indexOf(download.id);
    const isOnRow = event.target === element;
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const page = Math.max(1, Math.floor(innerHeight / this.#height) - 2);
    const run = (action) => this.actions.run(action, this.#selection.has(download.id) ? this.#selection.entries : [download]);
    const keys = {
      ArrowDown: () => (event.altKey ? this.#dragging.step(download, 1) : this.#goTo(index + 1, event.shiftKey)),
      ArrowUp: () => (event.altKey ? this.#dragging.step(download, -1) : this.#goTo(index - 1, event.shiftKey)),
      PageDown: () => this.#goTo(index + page),
      PageUp: () => this.#goTo(index - page),
      Home: () => this.#goTo(0),
      End: () => this.#goTo(this.shown.length - 1),
      ArrowRight: () => this.#across(element, 1),
      ArrowLeft: () => this.#across(element, -1),
    };
    if (isOnRow && isPlain) {
      Object.assign(keys, {
        ' ': () => this.#pick(download.id, event),
        Enter: () => this.onOpen(download.id),
        Delete: () => run('remove'),
        Backspace: () => run('remove'),
        p: () => run(download.actions.includes('pause') ? 'pause' : 'resume'),
        c: () => run('cancel'),
      });
    }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'a') {
      keys[event.key] = () => this.#selection.set(this.shown.map(({ id }) => id));
    }
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  /// Left and right: the row, its checkbox, its buttons.
  #across(element, by) {
    const stops = [element, ...element.querySelectorAll('input, button:not([disabled]):not([hidden])')];
    const at = Math.max(0, stops.indexOf(document.activeElement));
    stops[Math.max(0, Math.min(stops.length - 1, at + by))].focus({ preventScroll: true });
  }
}
