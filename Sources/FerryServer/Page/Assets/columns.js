// The head of the list where there is room for columns: what stands in them, and the order by them.

import { h, setAttribute, kept } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';

/// So much room, in `rem`, is needed for columns, and for all of them.
const ROOM = 84;
const MOST_ROOM = 104;

/// The columns, each with the order that it stands for; figures that change by themselves order nothing.
const COLUMNS = [
  ['name', 'name'], ['size', 'size'], ['progress', 'progress'], ['state', 'state'], ['speed', null], ['left', null], ['added', 'added'],
];
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

  constructor({ list, signal }) {
    this.#list = list;
    this.element = h('div', { class: 'columns', role: 'group', 'aria-label': t('sort') }, h('div', { class: 'columns-heads' }, COLUMNS.map(([name, sort]) => {
      const text = t(`column.${name}`);
      if (!sort) return h('span', { class: `column column-${name}` }, text);
      const head = h('button', { type: 'button', class: `column column-${name}`, data: { sort }, on: { click: () => this.#choose(sort) } }, h('span', null, text), icon('up'));
      this.#heads[sort] = { head, text };
      return head;
    })));
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
      root.classList.toggle('has-all-columns', room >= MOST_ROOM);
      if (root.className !== had) this.#list.measure();
    };
    // What it changes may change sizes: it waits for the next frame, so that the observer is not called in a circle.
    const sizes = new ResizeObserver(([{ contentRect: { width } }]) => requestAnimationFrame(() => { if (!signal.aborted) fit(width); }));
    sizes.observe(content);
    signal.addEventListener('abort', () => {
      sizes.disconnect();
      root.classList.remove('has-columns', 'has-all-columns');
    });
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
