// Dialogs: a question, and a frame for longer things.

import { h, uniqueId } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';

/// A modal dialog with a heading and a close button; it is gone when it is closed, and the focus is where it was.
export function dialog({ title, className = '', body = [], foot = null, onClose = () => {} }) {
  const heading = uniqueId('heading');
  const element = h('dialog', { class: `dialog ${className}`, 'aria-labelledby': heading },
    h('div', { class: 'dialog-head' },
      h('h2', { id: heading }, title),
      h('button', {
        type: 'button', class: 'icon-button', 'aria-label': t('close'), title: t('close'), on: { click: () => element.close() },
      }, icon('cancel'))),
    h('div', { class: 'dialog-body' }, body),
    foot && h('div', { class: 'dialog-foot' }, foot));
  element.addEventListener('click', (event) => {
    if (event.target === element) element.close();
  });
  element.addEventListener('close', () => {
    element.remove();
    onClose(element.returnValue);
  });
  document.body.append(element);
  element.showModal();
  return element;
}

/// What the user means: `yes`, `other`, or nothing for the safe answer, which has the focus.
/// - other: the label of another way.
export function ask({ title, text, confirm, isDangerous = false, other = null, keep: safe = t('ask.keep') }) {
  return new Promise((resolve) => {
    const keep = h('button', { type: 'button', class: 'button', autofocus: true, on: { click: () => box.close('') } }, safe);
    const go = h('button', {
      type: 'button', class: isDangerous ? 'button danger' : 'button primary', data: { answer: 'yes' },
      on: { click: () => box.close('yes') },
    }, confirm);
    const second = other && h('button', { type: 'button', class: 'button', data: { answer: 'other' }, on: { click: () => box.close('other') } }, other);
    const box = dialog({ title, className: 'question', body: [h('p', null, text)], foot: [keep, second, go], onClose: resolve });
    box.setAttribute('role', 'alertdialog');
    keep.focus();
  });
}
