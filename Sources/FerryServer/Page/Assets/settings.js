// The settings of the daemon that are seldom changed, in a dialog. Speed, slots and networks are in the totals.

import { h, setText, setAttribute, uniqueId } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';
import { parseSize, sizeField } from './format.js';
import { dialog } from './ask.js';

const MINUTE = 60;

export function settingsButton(store, announcer) {
  return h('button', {
    type: 'button', class: 'icon-button settings-button', 'aria-label': t('settings'), title: t('settings'), on: { click: () => showSettings(store, announcer) },
  }, icon('tune'));
}

/// A whole number from a field; `undefined` where it is none, `null` where it is empty.
function count(text) {
  if (text.trim() === '') return null;
  return /^\d{1,6}$/.test(text.trim()) && Number(text) > 0 ? Number(text) : undefined;
}

function showSettings(store, announcer) {
  const { settings } = store;
  if (!settings) return;
  const field = (name, key, value, hint = null) => {
    const id = uniqueId(name);
    const input = h('input', { id, name, type: 'text', autocomplete: 'off', value: value === null || value === undefined ? '' : String(value), placeholder: hint });
    return { input, node: h('div', { class: 'field' }, h('label', { for: id }, t(key)), input) };
  };
  const perHost = field('connectionsPerHost', 'settings.perHost', settings.connectionsPerHost);
  const retries = field('retriesFailedAfter', 'settings.retries', settings.retriesFailedAfter && Math.round(settings.retriesFailedAfter / MINUTE), t('settings.never'));
  const reserve = field('minFreeBytes', 'settings.minFree', sizeField(settings.minFreeBytes), t('settings.minFree.hint'));
  const constrained = h('input', { type: 'checkbox', name: 'allowsConstrained', checked: settings.allowsConstrained !== false });
  const error = h('p', { class: 'field-error', role: 'alert', hidden: true });
  const complain = (input, text) => {
    setText(error, text);
    error.hidden = false;
    setAttribute(input, 'aria-invalid', 'true');
    input.focus();
  };
  const save = async () => {
    for (const { input } of [perHost, retries, reserve]) setAttribute(input, 'aria-invalid', null);
    const [connectionsPerHost, minutes] = [perHost, retries].map(({ input }) => count(input.value));
    if (!connectionsPerHost) return complain(perHost.input, t('settings.number'));
    if (minutes === undefined) return complain(retries.input, t('settings.number'));
    const minFreeBytes = parseSize(reserve.input.value);
    if (minFreeBytes === undefined) return complain(reserve.input, t('settings.size'));
    const problem = await store.changeSettings({
      connectionsPerHost, minFreeBytes, allowsConstrained: constrained.checked, retriesFailedAfter: minutes === null ? null : minutes * MINUTE,
    });
    if (problem) return complain(perHost.input, problem.text ?? problem.message);
    box.close();
    announcer.say(t('saved'));
  };
  const form = h('form', {
    class: 'change', novalidate: true, id: uniqueId('settings'),
    on: {
      submit: (event) => {
        event.preventDefault();
        save();
      },
    },
  }, perHost.node, retries.node, reserve.node, h('label', { class: 'check' }, constrained, h('span', null, t('settings.constrained'))),
  h('p', { class: 'quiet' }, t('settings.directory'), ' ', h('bdi', { class: 'mono' }, settings.directory)), error);
  const box = dialog({
    title: t('settings'), className: 'settings', body: [form],
    foot: h('button', { type: 'submit', class: 'button primary', form: form.id }, t('change.save')),
  });
}
