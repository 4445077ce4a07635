// One line of the list. It is made once and then only what has changed is written.

import { h, setText, setAttribute, spoken, uniqueId } from './dom.js';
import { icon } from './icons.js';
import { t, clockTime } from './text.js';
import { serverOf } from './arrange.js';
import { wordsOf } from './entry.js';

export class Row {
  #nodes = {};
  #look = '';

  constructor() {
    const nodes = this.#nodes;
    nodes.check = h('input', { type: 'checkbox', class: 'row-check', tabindex: '-1' });
    // Only downloads have a place in the queue: in place of the grip, a set shows what it is.
    nodes.grip = h('span', { class: 'row-grip', 'aria-hidden': 'true' }, icon('grip'));
    nodes.kind = h('span', { class: 'row-kind' }, icon('set'), spoken(t('set.kind')));
    nodes.name = h('bdi', { class: 'row-name' });
    // The bar says percent, state and amount: readers hear them once.
    nodes.percent = h('span', { class: 'row-percent figures', 'aria-hidden': 'true' });
    nodes.bar = h('span', { class: 'bar-fill' });
    nodes.progress = h('div', { class: 'bar', role: 'progressbar', 'aria-valuemin': '0', 'aria-valuemax': '100' }, nodes.bar);
    nodes.state = h('span', { class: 'row-state', 'aria-hidden': 'true' });
    nodes.reason = h('bdi', { class: 'row-reason', id: uniqueId('reason') });
    nodes.amount = h('span', { class: 'row-amount figures', 'aria-hidden': 'true' });
    nodes.speed = h('span', { class: 'row-speed figures' });
    nodes.left = h('span', { class: 'row-left figures' });
    nodes.added = h('span', { class: 'row-added figures' });
    nodes.server = h('bdi', { class: 'row-server' });
    nodes.label = h('bdi', { class: 'row-label' });
    nodes.priority = h('span', { class: 'row-priority' });
    nodes.main = h('button', { type: 'button', class: 'row-button main', tabindex: '-1' });
    nodes.pause = h('button', { type: 'button', class: 'row-button round', tabindex: '-1', data: { action: 'pause' } }, icon('pause'));
    nodes.cancel = h('button', { type: 'button', class: 'row-button round row-end', tabindex: '-1' });
    nodes.more = h('button', {
      type: 'button', class: 'row-button round', tabindex: '-1', 'aria-haspopup': 'menu', 'aria-expanded': 'false', data: { action: 'more' },
    }, icon('more'));
    this.element = h('div', { class: 'row', role: 'row', tabindex: '-1', 'aria-describedby': nodes.reason.id },
      h('div', { class: 'row-pick', role: 'gridcell' }, nodes.grip, nodes.kind, nodes.check),
      h('div', { class: 'row-what', role: 'gridcell' },
        h('div', { class: 'row-line' }, nodes.name, nodes.percent),
        nodes.progress,
        h('div', { class: 'row-line row-facts' }, nodes.state, nodes.reason, nodes.amount, nodes.speed, nodes.left, nodes.server, nodes.label, nodes.priority, nodes.added)),
      h('div', { class: 'row-actions', role: 'gridcell' }, nodes.main, nodes.pause, nodes.cancel, nodes.more));
  }

  get more() { return this.#nodes.more; }

  /// Shows this download, at the place `index` of the list.
  show(download, { index, isSelected, isCurrent, isOpen, isAway }) {
    const { element } = this;
    const nodes = this.#nodes;
    this.id = download.id;
    this.index = index;
    element.dataset.id = download.id;
    setAttribute(element, 'aria-rowindex', index + 1);
    setAttribute(element, 'aria-selected', String(isSelected));
    nodes.check.checked = isSelected;
    element.classList.toggle('is-open', isOpen);
    this.setCurrent(isCurrent);
    this.#showLook(download, isAway);
    this.showProgress(download);
  }

  setCurrent(isCurrent) {
    const value = isCurrent ? '0' : '-1';
    setAttribute(this.element, 'tabindex', value);
    for (const node of this.element.querySelectorAll('button, input')) setAttribute(node, 'tabindex', value);
  }

  /// What changes with the state alone: names, labels, buttons.
  #showLook(download, isAway) {
    const nodes = this.#nodes;
    const words = wordsOf(download);
    const main = words.mainAction(download);
    const needsUser = words.needsUser(download);
    const stateText = words.stateText(download);
    const isOver = words.hasEnded(download) || download.state === 'failed';
    const look = [download.name, download.label, download.priority, download.url, download.addedAt, download.state, download.actions.join(), main.label, main.reason, isOver, needsUser, stateText, isAway].join('\n');
    if (look === this.#look) return;
    this.#look = look;
    const at = document.activeElement;
    const { name } = download;
    const label = (action) => t('do.for', { action, name });
    setAttribute(this.element, 'aria-label', `${name}, ${stateText}`);
    setAttribute(this.element, 'data-state', download.state);
    setAttribute(this.element, 'data-needs', needsUser ? 'user' : null);
    setAttribute(this.element, 'data-kind', download.isSet ? 'set' : null);
    nodes.grip.hidden = Boolean(download.isSet);
    nodes.kind.hidden = !download.isSet;
    showName(nodes.name, name);
    setAttribute(nodes.name, 'title', name);
    setAttribute(nodes.check, 'aria-label', t('select', { name }));
    setAttribute(nodes.progress, 'aria-label', t('progress.of', { name }));
    setText(nodes.state, stateText);
    setText(nodes.added, clockTime(download.addedAt));
    const server = serverOf(download);
    setText(nodes.server, server);
    setAttribute(nodes.server, 'title', server || null);
    setText(nodes.label, download.label ?? '');
    setAttribute(nodes.label, 'title', download.label || null);
    setText(nodes.priority, download.priority > 0 && !download.isSet ? t('priority.high') : download.priority < 0 ? t('priority.low') : '');
    nodes.main.replaceChildren(icon(main.icon), h('span', null, main.label));
    const can = (action) => !isAway && words.may(download, action);
    this.#button(nodes.main, main.action, label(main.label), main.reason === null && can(main.action), isAway ? t('lost') : main.reason);
    nodes.pause.hidden = download.state !== 'waiting' || main.action === 'pause';
    this.#button(nodes.pause, 'pause', label(t('do.pause')), can('pause'), t('do.pause'));
    const end = isOver ? 'remove' : 'cancel';
    // A second press of a key is not the answer to what stands there now.
    if (nodes.cancel === document.activeElement && nodes.cancel.dataset.action !== end) this.element.focus({ preventScroll: true });
    nodes.cancel.replaceChildren(icon(end === 'remove' ? 'leave' : end), h('span', { class: 'row-word' }, t(end === 'remove' ? 'do.remove.short' : 'do.cancel')));
    this.#button(nodes.cancel, end, label(t(`do.${end}`)), can(end), t(`do.${end}`));
    setAttribute(nodes.more, 'aria-label', t('more', { name }));
    setAttribute(nodes.more, 'title', t('actions'));
    // What is hidden or cannot be pressed any more leaves the focus to its row.
    if ([nodes.main, nodes.pause, nodes.cancel].includes(at) && (at.disabled || at.hidden)) this.element.focus({ preventScroll: true });
  }

  #button(node, action, label, isEnabled, title = null) {
    node.dataset.action = action;
    setAttribute(node, 'aria-label', label);
    setAttribute(node, 'title', title);
    node.disabled = !isEnabled;
  }

  /// What changes many times a second.
  showProgress(download) {
    const nodes = this.#nodes;
    const words = wordsOf(download);
    const part = words.fraction(download);
    const percent = words.percentOf(download);
    const amount = words.amountText(download);
    setText(nodes.percent, download.state === 'cancelled' ? '' : percent);
    setText(nodes.amount, amount);
    // Under the head of a column, a figure needs no word of its own.
    const hasHeads = document.documentElement.classList.contains('has-columns');
    setText(nodes.speed, words.speedText(download, hasHeads));
    setText(nodes.left, words.leftText(download, hasHeads));
    setText(nodes.reason, words.placeText(download) || words.reasonText(download));
    setAttribute(nodes.reason, 'title', nodes.reason.textContent || null);
    const isUnknown = part === null && download.state === 'downloading';
    nodes.progress.classList.toggle('is-unknown', isUnknown);
    const scale = `scaleX(${part === null ? (isUnknown ? 1 : 0) : part.toFixed(4)})`;
    if (nodes.bar.style.transform !== scale) nodes.bar.style.transform = scale;
    setAttribute(nodes.progress, 'aria-valuenow', part === null ? null : Math.floor(part * 100));
    setAttribute(nodes.progress, 'aria-valuetext', [words.stateText(download), percent, amount].filter(Boolean).join(', '));
  }
}

/// So much of a long name stays at its end, where names differ, in letters of one column.
const TAIL = 14;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/// Shows a name in one line: of a long one the beginning and the end. Letters that join are not parted.
function showName(node, name) {
  if (node.textContent === name) return;
  const letters = Array.from(name);
  const width = (letter) => (WIDE.test(letter) ? 2 : 1);
  const room = letters.reduce((sum, letter) => sum + width(letter), 0);
  if (room < 3 * TAIL || RIGHT_TO_LEFT.test(name)) return setText(node, name);
  let at = letters.length;
  for (let left = TAIL; at > 0 && left >= width(letters[at - 1]); ) left -= width(letters[--at]);
  // A space at the cut would look like a gap.
  while (letters[at] === ' ') at += 1;
  node.replaceChildren(h('span', { class: 'name-head' }, letters.slice(0, at).join('')), h('span', { class: 'name-tail' }, letters.slice(at).join('')));
}
