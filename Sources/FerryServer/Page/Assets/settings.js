// The settings of the daemon that are seldom changed, in a dialog. Speed, slots and networks are in the totals.

import { h, setText, uniqueId } from './dom.js';
import { t } from './text.js';
import { FieldSet } from './fields.js';
import { dialog } from './ask.js';
import { factRows } from './facts.js';

export function showSettings(api, store, announcer) {
  const { settings } = store;
  if (!settings) return;
  const fields = new FieldSet();
  const constrained = h('input', { type: 'checkbox', name: 'allowsConstrained' });
  let isConstrainedShown = false;
  const error = h('p', { class: 'field-error', role: 'alert', hidden: true });
  const save = async () => {
    const change = fields.read();
    if (!change) return;
    // What was not touched may have been changed elsewhere since.
    if (constrained.checked !== isConstrainedShown) change.allowsConstrained = constrained.checked;
    const problem = await store.changeSettings(change);
    if (problem) {
      const field = fields.refused(problem);
      if (field) return fields.complain(field, problem.text);
      setText(error, problem.text ?? problem.message);
      error.hidden = false;
      return;
    }
    box.close();
    announcer.say(t('saved'));
  };
  const facts = h('dl', { class: 'facts' }, factRows([
    ['settings.proxy', settings.proxy ?? t('settings.proxy.none'), { isMono: Boolean(settings.proxy) }], ['settings.directory', settings.directory, { isMono: true }],
  ]));
  const form = h('form', {
    class: 'change', novalidate: true, id: uniqueId('settings'),
    on: {
      submit: (event) => {
        event.preventDefault();
        save();
      },
    },
  }, ['connectionsPerHost', 'retriesFailedAfter', 'minFreeBytes'].map((name) => fields.field(name, { hint: `settings.${name}.hint` })),
  h('label', { class: 'check' }, constrained, h('span', null, t('settings.constrained'))),
  facts, error);
  // Nothing waits for the version.
  api.greeting().then(({ version }) => facts.append(...factRows([['settings.version', version]])), () => {});
  const show = () => {
    const { settings } = store;
    fields.show(settings);
    const isAllowed = settings.allowsConstrained !== false;
    if (constrained.checked === isConstrainedShown) constrained.checked = isAllowed;
    isConstrainedShown = isAllowed;
  };
  show();
  const box = dialog({
    title: t('settings'), className: 'settings', body: [form],
    foot: h('button', { type: 'submit', class: 'button primary', form: form.id }, t('change.save')),
  });
  const closed = new AbortController();
  store.addEventListener('settings', show, { signal: closed.signal });
  box.addEventListener('close', () => closed.abort());
}
