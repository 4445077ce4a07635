// The head of the list where there is room for columns: what stands in them, and the order by them.

import { h, setAttribute, kept } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';
import { openMenu } from './menu.js';

/// So much room, in `rem`, is needed for columns, and for words on the buttons beside them.
const ROOM = 84;
const MOST_ROOM = 104;

/// The columns, each with its width in `rem` and the order that it stands for; figures that change by themselves order nothing.
const COLUMNS = [
  ['size', 9.75, 'size'], ['progress', 7, 'progress'], ['state', 10.5, 'state'], ['speed', 7.25, null], ['left', 6.5, null],
  ['server', 10, null], ['label', 8, null], ['priority', 5.5, null], ['added', 8.5, 'added'],
];
/// Those that are shown until others are chosen.
const USUAL = ['size', 'progress', 'state', 'speed', 'left', 'added'];
/// The room beside all of them: selection, buttons, and a name of `NAME`, which gets what is left.
const NAME = 16;
const ENDS = [22 + NAME, 26.5 + NAME];
const KEY = 'columns';

/// The columns that were chosen in this browser.
function rememberedColumns() {
  const chosen = kept.get(KEY)?.split(' ');
  return COLUMNS.map(([name]) => name).filter((name) => (chosen ?? USUAL).includes(name));
}
/// Orders that begin with the largest, or the newest.
const FALLING = ['size', 'progress', 'added'];

/// The button for rows that are low, which this browser keeps.
export function densityButton(list) {
  const root = document.documentElement;
  const button = h('button', { type: 'button', class: 'icon-button density', 'aria-label': t('dense'), title: t('dense') }, icon('rows'));
  const show = (isDense) => {
    root.classList.toggle('is-dense', isDense);
    setAttribute(button, 'aria-pressed', String(isDense));
  };
  button.addEventListener('click', () => {
    const isDense = !root.classList.contains('is-dense');
    kept.set('dense', isDense ? 'yes' : 'no');
    show(isDense);
    list.measure();
  });
  show(kept.get('dense') === 'yes');
  return button;
}

export class Columns {
  #list;
  #heads = {};
  #chosen = rememberedColumns();
  #room = 0;

  constructor({ list, signal }) {
    this.#list = list;
    this.element = h('div', { class: 'columns', role: 'group', 'aria-label': t('sort') }, h('div', { class: 'columns-heads' }, [['name', 0, 'name'], ...COLUMNS].map(([name, , sort]) => {
      const text = t(`column.${name}`);
      if (!sort) return h('span', { class: `column column-${name}` }, text);
      const head = h('button', { type: 'button', class: `column column-${name}`, data: { sort }, on: { click: () => this.#choose(sort) } }, h('span', null, text), icon('up'));
      this.#heads[sort] = { head, text };
      return head;
    })), this.#chooser());
    list.addEventListener('shown', () => this.#show(), { signal });
    this.#show();
  }

  /// Shows columns while `content` is wide enough for them.
  watch(content, signal) {
    const root = document.documentElement;
    const fit = (width) => {
      const room = width / parseFloat(getComputedStyle(root).fontSize);
      const had = root.className;
      root.classList.toggle('has-columns', room >= ROOM);
      root.classList.toggle('has-words', room >= MOST_ROOM);
      this.#room = room;
      this.#place();
      if (root.className !== had) this.#list.measure();
    };
    // What it changes may change sizes: it waits for the next frame, so that the observer is not called in a circle.
    const sizes = new ResizeObserver(([{ contentRect: { width } }]) => requestAnimationFrame(() => { if (!signal.aborted) fit(width); }));
    sizes.observe(content);
    signal.addEventListener('abort', () => {
      sizes.disconnect();
      root.classList.remove('has-columns', 'has-words');
    });
  }

  #chooser() {
    const button = h('button', {
      type: 'button', class: 'icon-button small columns-choose', 'aria-label': t('columns.choose'), title: t('columns.choose'), 'aria-haspopup': 'menu', 'aria-expanded': 'false',
    }, icon('tune'));
    button.addEventListener('click', () => openMenu(button, t('columns.choose'), COLUMNS.map(([name]) => ({
      name, label: t(`column.${name}`), icon: 'rows', isChecked: this.#chosen.includes(name), stays: true, run: () => this.#toggle(name),
    }))));
    return button;
  }

  #toggle(name) {
    this.#chosen = COLUMNS.map(([each]) => each).filter((each) => (each === name) !== this.#chosen.includes(each));
    kept.set(KEY, this.#chosen.join(' '));
    this.#place();
  }

  /// Gives the chosen columns their places; where the room is not enough, the last ones are left out.
  #place() {
    const root = document.documentElement;
    let left = this.#room - ENDS[Number(this.#room >= MOST_ROOM)];
    const shown = COLUMNS.filter(([name, width]) => {
      if (!this.#chosen.includes(name) || left < width + 1) return false;
      left -= width + 1;
      return true;
    });
    root.style.setProperty('--columns', ['minmax(11rem, 1fr)', ...shown.map(([, width]) => `${width}rem`)].join(' '));
    for (const [name] of COLUMNS) {
      const at = shown.findIndex(([each]) => each === name);
      root.classList.toggle(`no-${name}`, at < 0);
      root.style.setProperty(`--at-${name}`, String(at + 2));
    }
  }

  /// By this column; then the other way round; then as the queue stands.
  #choose(sort) {
    const { view } = this.#list;
    if (view.sort !== sort) this.#list.setView({ sort, isReversed: false });
    else this.#list.setView(view.isReversed ? { sort: 'queue', isReversed: false } : { isReversed: true });
  }

  #show() {
    const { sort, isReversed } = this.#list.view;
    for (const [name, { head, text }] of Object.entries(this.#heads)) {
      const isSorted = name === sort;
      const isFalling = FALLING.includes(name) !== isReversed;
      head.classList.toggle('is-falling', isFalling);
      setAttribute(head, 'aria-pressed', String(isSorted));
      setAttribute(head, 'aria-label', isSorted ? t(isFalling ? 'column.falling' : 'column.rising', { name: text }) : t('column.sort', { name: text }));
    }
  }
}
