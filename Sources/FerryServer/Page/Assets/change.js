// What can be changed of one download: its link, who asks, its limits, its priority, its networks.

import { h, setText, setAttribute, uniqueId } from './dom.js';
import { t } from './text.js';
import { MOST_CONNECTIONS, parseConnections, parseLimit, rateField } from './format.js';
import { isLink } from './links.js';
import { ask } from './ask.js';
import { failedChecksum } from './words.js';

/// The digest that the bytes have, of a download that failed for having another than was asked for.
const actualDigest = (download) => (failedChecksum(download) && download.error.phrase?.[0] === 'wrongDigest' ? download.error.phrase[2] : null);

export class ChangeForm {
  #api;
  #store;
  #announcer;
  #actions;
  #download = null;
  #inputs = {};
  #nodes = {};
  /// What was shown last: fields that the user has changed since stay as they are.
  #shown = {};

  constructor({ api, store, actions, announcer }) {
    this.#api = api;
    this.#actions = actions;
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
    nodes.need = h('p', { class: 'notice', role: 'status', hidden: true });
    nodes.keep = h('button', { type: 'button', class: 'button compact', hidden: true, data: { action: 'keepFile' }, on: { click: () => this.#keepFile() } }, t('change.keep'));
    nodes.page = h('label', { class: 'check', hidden: true }, acceptsHTML, h('span', null, t('html.accept')));
    nodes.error = h('p', { class: 'field-error', role: 'alert', hidden: true });
    nodes.save = h('button', { type: 'submit', class: 'button primary compact', disabled: true }, h('span'));
    nodes.who = h('div', { class: 'field-pair', hidden: true },
      field('user', t('change.user'), { autocapitalize: 'off' }), field('password', t('change.password'), { type: 'password' }));
    const fields = [
      nodes.who,
      field('checksum', t('add.checksum'), { placeholder: t('add.checksum.hint'), class: 'mono', dir: 'ltr' }),
      field('url', t('change.link'), { placeholder: t('change.link.hint'), class: 'mono', type: 'url', dir: 'ltr' }),
      nodes.page,
      h('div', { class: 'field-pair' },
        field('rateLimit', t('change.limit'), { placeholder: t('limit.none') }),
        field('maxConnections', t('change.connections'), { type: 'number', min: '1', max: String(MOST_CONNECTIONS), inputmode: 'numeric' })),
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
    }, nodes.need, fields, nodes.error, h('div', { class: 'change-foot' }, nodes.keep, nodes.save));
  }

  reset() {
    this.#download = null;
    this.#shown = {};
    for (const name of ['user', 'password']) this.#inputs[name].value = '';
    this.#inputs.acceptsHTML.checked = false;
    this.#complain(null);
  }

  /// What is missing for this download to go on: `credentials`, `freshLink`, `checksum`, or `null`.
  static need({ waitReason, error }) {
    const codes = ['credentials', 'freshLink', 'checksum'];
    return codes.find((code) => waitReason === code || error?.code === code) ?? null;
  }

  /// Goes to the field that is missing.
  focusNeed(download) {
    const name = { credentials: 'user', freshLink: 'url', checksum: 'checksum' }[ChangeForm.need(download)];
    if (name) this.#inputs[name].focus({ preventScroll: true });
  }

  show(download) {
    this.#download = download;
    const priority = Math.sign(download.priority);
    const values = {
      url: download.url, checksum: download.checksum ?? '', rateLimit: rateField(download.rateLimit), maxConnections: String(download.maxConnections), priority: String(priority),
      allowsMetered: download.allowsMetered === true ? 'yes' : download.allowsMetered === false ? 'no' : '',
    };
    for (const [name, value] of Object.entries(values)) {
      const input = this.#inputs[name];
      const isTouched = this.#shown[name] !== undefined && input.value !== this.#shown[name];
      if (!isTouched) input.value = value;
      this.#shown[name] = value;
    }
    const need = ChangeForm.need(download);
    this.#nodes.who.hidden = need !== 'credentials';
    this.#nodes.need.hidden = need === null;
    // A page in place of the file is a dead link, too.
    this.#nodes.page.hidden = need !== 'freshLink';
    this.#nodes.keep.hidden = need !== 'checksum' || !actualDigest(download);
    setText(this.#nodes.need, need === null ? '' : t(`change.${need}.${download.wasRefused ? 'refused' : 'needed'}`));
    setText(this.#nodes.save.firstChild, t(need === null ? 'change.save' : `change.${need}.save`));
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
    if (differs('checksum')) {
      change.checksum = value('checksum') || null;
      if (change.checksum === null && failedChecksum(this.#download)) return this.#complain('checksum', t('change.checksum.empty'));
    }
    if (differs('rateLimit')) {
      change.rateLimit = parseLimit(value('rateLimit'));
      if (change.rateLimit === undefined) return this.#complain('rateLimit', t('add.limit.invalid'));
    }
    if (differs('maxConnections')) {
      change.maxConnections = parseConnections(value('maxConnections'));
      if (change.maxConnections === null) return this.#complain('maxConnections', t('change.number'));
    }
    if (differs('priority')) change.priority = Number(value('priority'));
    if (differs('allowsMetered')) change.allowsMetered = { '': null, yes: true, no: false }[value('allowsMetered')];
    return change;
  }

  /// Takes the file for right as it is: its own digest becomes the one that is expected.
  async #keepFile() {
    const download = this.#download;
    const digest = download && actualDigest(download);
    if (!digest) return;
    const isMeant = await ask({
      title: t('ask.keepFile', { name: download.name }), text: t('ask.keepFile.text', { digest }), confirm: t('change.keep'), isDangerous: true,
    });
    if (!isMeant) return;
    this.#inputs.checksum.value = digest;
    await this.#send();
  }

  #judge() {
    const isTouched = Object.entries(this.#shown).some(([name, value]) => this.#inputs[name].value.trim() !== value) ||
      (!this.#nodes.who.hidden && this.#inputs.user.value !== '') || this.#accepts;
    this.#nodes.save.disabled = !isTouched || this.#store.isAway;
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
    const wasFailed = change.checksum !== undefined && failedChecksum(this.#download);
    if (change.user !== undefined) this.#store.gaveCredentials(id);
    try {
      const answer = await this.#api.change(id, change);
      if (this.#download?.id !== id) return;
      this.#shown = {};
      for (const name of ['user', 'password']) this.#inputs[name].value = '';
      this.#inputs.acceptsHTML.checked = false;
      this.#store.take(answer, mark);
      // With the right checksum what is here may be the file after all: it is compared again.
      if (wasFailed) {
        const before = this.#store.mark;
        this.#store.take((await this.#api.act(id, 'resume')).download, before);
      }
      this.#announcer.say(t(change.user === undefined ? 'change.saved' : 'change.tried'));
    } catch (problem) {
      const isChecksum = change.checksum !== undefined && /checksum|algorithm|hexadecimal|digit/i.test(problem.phrase ?? '');
      this.#complain(isChecksum ? 'checksum' : '', problem.text ?? problem.message);
    } finally {
      if (this.#download?.id === id) this.show(this.#store.downloads.get(id) ?? this.#download);
    }
  }
}
