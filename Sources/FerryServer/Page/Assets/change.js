// What can be changed of one download: its link, who asks, its limits, its priority, its networks.

import { h, setText, setAttribute, uniqueId } from './dom.js';
import { t } from './text.js';
import { parseRate, rateField } from './format.js';
import { isLink } from './links.js';

export class ChangeForm {
  #api;
  #store;
  #announcer;
  #download = null;
  #inputs = {};
  #nodes = {};
  /// What was shown last: fields that the user has changed since stay as they are.
  #shown = {};

  constructor({ api, store, announcer }) {
    this.#api = api;
    this.#store = store;
    this.#announcer = announcer;
    this.element = this.#build();
  }

  #build() {
    const field = (name, label, props = {}, tag = 'input') => {
      const id = uniqueId(`change-${name}`);
      const input = h(tag, { id, name, autocomplete: 'off', spellcheck: 'false', ...(tag === 'input' ? { type: 'text' } : {}), ...props });
      input.addEventListener('input', () => this.#judge());
      this.#inputs[name] = input;
      return h('div', { class: `field field-${name}` }, h('label', { for: id }, label), input);
    };
    const acceptsHTML = h('input', { type: 'checkbox', name: 'acceptsHTML', on: { change: () => this.#judge() } });
    this.#inputs.acceptsHTML = acceptsHTML;
    const options = (name, list) => {
      for (const [value, key] of list) this.#inputs[name].append(h('option', { value }, t(key)));
    };
    const nodes = this.#nodes;
    nodes.need = h('p', { class: 'notice', hidden: true });
    nodes.page = h('label', { class: 'check', hidden: true }, acceptsHTML, h('span', null, t('html.accept')));
    nodes.error = h('p', { class: 'field-error', role: 'alert', hidden: true });
    nodes.save = h('button', { type: 'submit', class: 'button primary compact', disabled: true }, t('change.save'));
    nodes.who = h('div', { class: 'field-pair', hidden: true },
      field('user', t('change.user'), { autocapitalize: 'off' }), field('password', t('change.password'), { type: 'password' }));
    const fields = [
      field('url', t('change.link'), { placeholder: t('change.link.hint'), class: 'mono', type: 'url', dir: 'ltr' }),
      nodes.page,
      nodes.who,
      h('div', { class: 'field-pair' },
        field('rateLimit', t('change.limit'), { placeholder: t('limit.none') }),
        field('maxConnections', t('change.connections'), { type: 'number', min: '1', inputmode: 'numeric' })),
      h('div', { class: 'field-pair' }, field('priority', t('change.priority'), {}, 'select'), field('allowsMetered', t('change.metered'), {}, 'select')),
    ];
    options('priority', [['1', 'priority.high'], ['0', 'priority.normal'], ['-1', 'priority.low']]);
    options('allowsMetered', [['', 'metered.follow'], ['yes', 'metered.allow'], ['no', 'metered.never']]);
    return h('form', {
      class: 'change', novalidate: true,
      on: {
        submit: (event) => {
          event.preventDefault();
          this.#send();
        },
      },
    }, nodes.need, fields, nodes.error, h('div', { class: 'change-foot' }, nodes.save));
  }

  reset() {
    this.#download = null;
    this.#shown = {};
    for (const name of ['user', 'password']) this.#inputs[name].value = '';
    this.#inputs.acceptsHTML.checked = false;
    this.#complain(null);
  }

  show(download) {
    this.#download = download;
    const priority = Math.sign(download.priority);
    const values = {
      url: download.url, rateLimit: rateField(download.rateLimit), maxConnections: String(download.maxConnections), priority: String(priority),
      allowsMetered: download.allowsMetered === true ? 'yes' : download.allowsMetered === false ? 'no' : '',
    };
    for (const [name, value] of Object.entries(values)) {
      const input = this.#inputs[name];
      const isTouched = this.#shown[name] !== undefined && input.value !== this.#shown[name];
      if (!isTouched) input.value = value;
      this.#shown[name] = value;
    }
    const asksWho = download.waitReason === 'credentials' || download.error?.code === 'credentials';
    const needsLink = download.waitReason === 'freshLink' || download.error?.code === 'freshLink';
    this.#nodes.who.hidden = !asksWho;
    this.#nodes.need.hidden = !asksWho && !needsLink;
    // A page in place of the file is a dead link, too.
    this.#nodes.page.hidden = !needsLink;
    setText(this.#nodes.need, asksWho ? t('change.credentials.needed') : needsLink ? t('change.link.needed') : '');
    this.#judge();
  }

  /// What differs from what the daemon has; `null` where a field makes no sense, which is said.
  #change() {
    const change = {};
    const value = (name) => this.#inputs[name].value.trim();
    const differs = (name) => value(name) !== this.#shown[name];
    if (differs('url')) {
      if (!isLink(value('url'))) return this.#complain('url', t('add.invalid'));
      change.urls = [value('url')];
    }
    if (!this.#nodes.who.hidden && (value('user') || this.#inputs.password.value)) {
      change.user = value('user');
      change.password = this.#inputs.password.value;
    }
    if (this.#accepts) change.acceptsHTML = true;
    if (differs('rateLimit')) {
      const isNone = value('rateLimit') === '' || value('rateLimit') === '0';
      change.rateLimit = isNone ? null : parseRate(value('rateLimit'));
      if (!isNone && change.rateLimit === null) return this.#complain('rateLimit', t('add.limit.invalid'));
    }
    if (differs('maxConnections')) {
      change.maxConnections = Number(value('maxConnections'));
      if (!Number.isInteger(change.maxConnections) || change.maxConnections < 1) return this.#complain('maxConnections', t('change.number'));
    }
    if (differs('priority')) change.priority = Number(value('priority'));
    if (differs('allowsMetered')) change.allowsMetered = { '': null, yes: true, no: false }[value('allowsMetered')];
    return change;
  }

  #judge() {
    const isTouched = Object.entries(this.#shown).some(([name, value]) => this.#inputs[name].value.trim() !== value) ||
      (!this.#nodes.who.hidden && this.#inputs.user.value !== '') || this.#accepts;
    this.#nodes.save.disabled = !isTouched;
    if (!isTouched) this.#complain(null);
  }

  get #accepts() { return !this.#nodes.page.hidden && this.#inputs.acceptsHTML.checked; }

  #complain(name, text = '') {
    for (const [each, input] of Object.entries(this.#inputs)) setAttribute(input, 'aria-invalid', each === name ? 'true' : null);
    setText(this.#nodes.error, text);
    this.#nodes.error.hidden = text === '';
    if (name) this.#inputs[name].focus();
    return null;
  }

  async #send() {
    const change = this.#change();
    if (!change || Object.keys(change).length === 0 || !this.#download) return;
    this.#complain(null);
    this.#nodes.save.disabled = true;
    const { id } = this.#download;
    const { mark } = this.#store;
    try {
      const answer = await this.#api.change(id, change);
      if (this.#download?.id !== id) return;
      this.#shown = {};
      for (const name of ['user', 'password']) this.#inputs[name].value = '';
      this.#inputs.acceptsHTML.checked = false;
      this.#store.take(answer?.download ?? answer, mark);
      this.#announcer.say(t('change.saved'));
    } catch (problem) {
      this.#complain('', problem.text ?? problem.message);
    } finally {
      if (this.#download?.id === id) this.show(this.#store.downloads.get(id) ?? this.#download);
    }
  }
}
