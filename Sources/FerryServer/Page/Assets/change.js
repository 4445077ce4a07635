// What can be changed of one download: its link, the credentials, its limits, its priority, how it connects.

import { h, setText } from './dom.js';
import { t } from './text.js';
import { FieldSet } from './fields.js';
import { cookieFile } from './links.js';
import { ask } from './ask.js';
import { failedChecksum, gotPage } from './words.js';

/// The digest that the bytes have, of a download that failed for having another than was asked for.
const actualDigest = (download) => (failedChecksum(download) && download.error.phrase?.[0] === 'wrongDigest' ? download.error.phrase[2] : null);

/// Answers that another link, or a user, may mend.
const DEAD = ['403', '404', '410'];

export class ChangeForm {
  #api;
  #store;
  #announcer;
  #onLeft;
  #isSending = false;
  #download = null;
  #nodes = {};
  #fields = new FieldSet({ onInput: () => this.#judge() });

  /// - onLeft: is called when what had the focus cannot be used any more.
  constructor({ api, store, announcer, onLeft }) {
    this.#onLeft = onLeft;
    this.#api = api;
    this.#store = store;
    this.#announcer = announcer;
    this.element = this.#build();
  }

  #build() {
    const fields = this.#fields;
    const pair = (...names) => h('div', { class: 'field-pair' }, names.map((name) => fields.field(name)));
    const nodes = this.#nodes;
    nodes.need = h('p', { class: 'notice', role: 'status', hidden: true });
    nodes.keep = h('button', { type: 'button', class: 'button compact', hidden: true, data: { action: 'keepFile' }, on: { click: () => this.#keepFile() } }, t('change.keep'));
    nodes.page = fields.field('acceptsHTML');
    nodes.error = h('p', { class: 'field-error', role: 'alert', hidden: true });
    nodes.save = h('button', { type: 'submit', class: 'button primary compact', disabled: true }, h('span'));
    nodes.who = pair('user', 'password');
    nodes.connection = fields.section('section.connection', [
      ...['headers', 'cookies', 'userAgent', 'addressFamily', 'connectTimeout', 'stallTimeout', 'maxAttempts', 'minFreeBytes', 'allowsDowngrade']
        .map((name) => [name, { isBlind: true }]),
      'allowsConstrained', 'allowsPrivate',
    ], h('p', { class: 'quiet' }, t('change.socket')));
    const link = fields.field('urls');
    // What is pasted takes the place of the old link.
    const url = fields.input('urls');
    url.addEventListener('focus', () => url.select());
    url.addEventListener('mousedown', (event) => {
      if (document.activeElement === url) return;
      event.preventDefault();
      url.focus();
    });
    return h('form', {
      class: 'change', novalidate: true,
      on: {
        submit: (event) => {
          event.preventDefault();
          this.#send();
        },
      },
    }, nodes.need, nodes.who, fields.field('checksum', { hint: 'change.checksum.hint' }), link, nodes.page, pair('rateLimit', 'maxConnections'), pair('priority', 'allowsMetered'),
    fields.field('label'), fields.field('notBefore', { isBlind: true }), nodes.connection, nodes.error, h('div', { class: 'change-foot' }, nodes.keep, nodes.save));
  }

  reset() {
    this.#download = null;
    this.#fields.forget();
    this.#nodes.connection.open = false;
    this.#fail('');
  }

  /// What is missing for this download to go on: `page` (whether one is taken for the file), `credentials`, `freshLink`,
  /// `checksum`, `refused` (another link, or credentials), or `null`.
  static need(download) {
    const { state, waitReason, error } = download;
    if (gotPage(download)) return 'page';
    if (state === 'failed' && error?.code === 'refused' && DEAD.includes(String(error.phrase?.[1]))) return 'refused';
    const codes = ['credentials', 'freshLink', 'checksum'];
    return codes.find((code) => waitReason === code || error?.code === code) ?? null;
  }

  /// Goes to the field that is missing.
  focusNeed(download) {
    const name = { credentials: 'user', freshLink: 'urls', page: 'urls', refused: 'urls', checksum: 'checksum' }[ChangeForm.need(download)];
    if (!name) return;
    this.#fields.input(name).focus({ preventScroll: true });
    for (const node of [this.#nodes.save, this.#fields.input(name)]) node.scrollIntoView({ block: 'nearest' });
  }

  /// What is hidden or disabled does not take the focus with it.
  keepFocus() {
    const at = document.activeElement;
    if (this.element.contains(at) && (at.disabled || !at.checkVisibility())) this.#onLeft();
  }

  show(download) {
    this.#download = download;
    this.#fields.show({ ...download, urls: download.url, priority: Math.sign(download.priority) });
    const need = ChangeForm.need(download);
    const { who, connection, page } = this.#nodes;
    // Credentials come first where they are missing, or may help.
    const place = ['credentials', 'page', 'refused'].includes(need) ? this.element : connection.lastElementChild;
    if (who.parentNode !== place && !who.contains(document.activeElement)) place.insertBefore(who, place === this.element ? this.#nodes.need.nextSibling : place.firstChild);
    this.#nodes.need.hidden = need === null;
    page.hidden = need !== 'page' && need !== 'freshLink';
    this.#nodes.keep.hidden = need !== 'checksum' || !actualDigest(download);
    setText(this.#nodes.need, need === null ? '' : t(`change.${need}.${download.wasRefused ? 'refused' : 'needed'}`));
    setText(this.#nodes.save.firstChild, t(need === null ? 'change.save' : `change.${need}.save`));
    this.#judge();
  }

  /// What differs from what the daemon has; `null` where a field makes no sense, which is said.
  #change() {
    const change = this.#fields.read();
    if (!change) return null;
    if (change.urls === null) return this.#fields.complain('urls', t('add.invalid'));
    if (change.password && !change.user) return this.#fields.complain('user', t('add.user.needed'));
    if (change.checksum === null && failedChecksum(this.#download)) return this.#fields.complain('checksum', t('change.checksum.empty'));
    if (change.cookies) change.cookies = cookieFile(change.cookies, change.urls ?? [this.#download.url]);
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
    this.#fields.input('checksum').value = digest;
    await this.#send();
  }

  #judge() {
    const isTouched = this.#fields.changed.length > 0;
    this.#nodes.save.disabled = !isTouched || this.#store.isAway;
    if (!isTouched) this.#fail('');
    this.keepFocus();
  }

  /// Says what failed, about no field in particular.
  #fail(text) {
    setText(this.#nodes.error, text);
    this.#nodes.error.hidden = text === '';
    if (text) this.#nodes.error.scrollIntoView({ block: 'nearest' });
  }

  async #send() {
    const change = this.#change();
    if (!change || Object.keys(change).length === 0 || !this.#download || this.#isSending) return;
    this.#fail('');
    this.#isSending = true;
    const { id } = this.#download;
    const { mark } = this.#store;
    const need = ChangeForm.need(this.#download);
    // With the right checksum what is here may be the file after all; a refused one has another link, or a user.
    const goesOn = failedChecksum(this.#download) ? change.checksum !== undefined : need === 'refused';
    const signsIn = ['credentials', 'page', 'refused'].includes(need) && change.user !== undefined;
    if (signsIn) this.#store.gaveCredentials(id);
    try {
      const answer = await this.#api.change(id, change);
      if (this.#download?.id !== id) return;
      this.#fields.forget(signsIn ? ['user'] : []);
      this.#store.take(answer, mark);
      if (goesOn) {
        const before = this.#store.mark;
        this.#store.take(await this.#api.act(id, 'resume'), before);
      }
      if (signsIn) this.#announcer.speak(t('change.tried'));
      else this.#announcer.say(t('change.saved'));
    } catch (problem) {
      const field = this.#fields.refused(problem);
      if (field) this.#fields.complain(field, problem.text);
      else this.#fail(problem.text ?? problem.message);
    } finally {
      this.#isSending = false;
      if (this.#download?.id === id) this.show(this.#store.downloads.get(id) ?? this.#download);
    }
  }
}
