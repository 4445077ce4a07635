// What can be changed of one download: its link, the credentials, its limits, its priority, the rule for its name, how it connects.

import { h, setText } from './dom.js';
import { t } from './text.js';
import { FieldSet } from './fields.js';
import { cookieFile } from './links.js';
import { ask } from './ask.js';
import { failedChecksum, failedServerDigest, gotPage } from './words.js';

/// The digest that the bytes have, of a download that failed for having another than was asked for.
const actualDigest = (download) => (failedChecksum(download) && download.error.phrase?.[0] === 'wrongDigest' ? download.error.phrase[2] : null);

/// Needs that a checksum meets, or none.
const DIGESTS = ['checksum', 'serverChecksum', 'serverDigest', 'noDigest'];
/// Needs that may have gone by themselves: it can be tried again as it is.
const RETRIES = ['page', 'freshLink', 'refused'];

/// Answers that another link, or a user, may mend.
const DEAD = ['403', '404', '410'];

/// What the daemon changes of a running download; all else begins a new run.
const AT_ONCE = ['label', 'rateLimit', 'maxConnections', 'priority', 'allowsMetered', 'allowsConstrained'];

/// Whether it runs, or waits for such a change alone.
const runsOn = ({ state, waitReason }) =>
  state === 'downloading' || state === 'verifying' || (state === 'waiting' && ['credentials', 'freshLink'].includes(waitReason));

export class ChangeForm {
  #api;
  #store;
  #actions;
  #announcer;
  #onLeft;
  #isSending = false;
  #download = null;
  #nodes = {};
  #fields = new FieldSet({ onInput: () => this.#judge() });

  /// - onLeft: is called when what had the focus cannot be used any more.
  constructor({ api, store, actions, announcer, onLeft }) {
    this.#onLeft = onLeft;
    this.#api = api;
    this.#store = store;
    this.#actions = actions;
    this.#announcer = announcer;
    this.element = this.#build();
  }

  #build() {
    const fields = this.#fields;
    const pair = (...names) => h('div', { class: 'field-pair' }, names.map((name) => fields.field(name)));
    const nodes = this.#nodes;
    nodes.need = h('p', { class: 'notice', role: 'status', hidden: true });
    nodes.keep = h('button', { type: 'button', class: 'button compact', hidden: true, data: { action: 'keepFile' }, on: { click: () => this.#keepFile() } });
    nodes.page = fields.field('acceptsHTML');
    nodes.error = h('p', { class: 'field-error', role: 'alert', hidden: true });
    nodes.save = h('button', { type: 'submit', class: 'button primary compact', disabled: true }, h('span'));
    nodes.who = pair('user', 'password');
    nodes.rule = fields.field('onConflict');
    nodes.label = fields.field('label');
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
    nodes.label, nodes.rule, fields.field('notBefore', { isBlind: true }), nodes.connection, nodes.error, h('div', { class: 'change-foot' }, nodes.keep, nodes.save));
  }

  reset() {
    this.#download = null;
    this.#fields.forget();
    this.#nodes.connection.open = false;
    this.#fail('');
  }

  /// What is missing for this download to go on: `page` (whether one is taken for the file), `credentials`, `freshLink`,
  /// `conflict` (another rule for its name), `refused` (another link, or credentials), one of `DIGESTS`, or `null`.
  static need(download) {
    const { state, waitReason, error } = download;
    if (gotPage(download)) return 'page';
    if (state === 'failed' && error?.code === 'refused' && DEAD.includes(String(error.phrase?.[1]))) return 'refused';
    const phrase = state === 'failed' && error?.phrase?.[0];
    if (phrase === 'thereAlready') return 'conflict';
    if (phrase === 'notInChecksumList') return 'noDigest';
    if (failedServerDigest(download)) return 'serverDigest';
    if (failedChecksum(download)) return error.suggestionPhrase?.[2]?.[0] === 'checksumOfServer' ? 'serverChecksum' : 'checksum';
    return ['credentials', 'freshLink'].find((code) => waitReason === code || error?.code === code) ?? null;
  }

  /// Goes to the field that is missing.
  focusNeed(download) {
    const need = ChangeForm.need(download);
    const name = DIGESTS.includes(need) ? 'checksum' : { credentials: 'user', freshLink: 'urls', page: 'urls', refused: 'urls', conflict: 'onConflict' }[need];
    if (!name) return;
    this.#fields.input(name).focus({ preventScroll: true });
    // What is asked for is read above the field, with its label.
    for (const node of [this.#fields.input(name), this.#nodes.need]) node.scrollIntoView({ block: 'nearest' });
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
    const { who, connection, page, rule, label, keep } = this.#nodes;
    // Credentials come first where they are missing, or may help.
    const place = ['credentials', 'page', 'refused'].includes(need) ? this.element : connection.lastElementChild;
    if (who.parentNode !== place && !who.contains(document.activeElement)) place.insertBefore(who, place === this.element ? this.#nodes.need.nextSibling : place.firstChild);
    const above = need === 'conflict' ? this.#nodes.need : label;
    if (above.nextSibling !== rule && !rule.contains(document.activeElement)) above.after(rule);
    this.#nodes.need.hidden = need === null;
    this.element.classList.toggle('is-needed', need !== null);
    page.hidden = need !== 'page' && need !== 'freshLink';
    keep.hidden = need !== 'serverDigest' && !actualDigest(download);
    setText(keep, t(need === 'serverDigest' ? 'change.takeBytes' : 'change.keep'));
    setText(this.#nodes.need, need === null ? '' : t(`change.${need}.${download.wasRefused ? 'refused' : 'needed'}`));
    this.#judge();
  }

  /// What differs from what the daemon has; `null` where a field makes no sense, which is said.
  #change() {
    const change = this.#fields.read();
    if (!change) return null;
    if (change.urls === null) return this.#fields.complain('urls', t('add.invalid'));
    if (change.password && !change.user) return this.#fields.complain('user', t('add.user.needed'));
    const isEmpty = this.#fields.input('checksum').value.trim() === '';
    if (change.checksum === null && isEmpty && failedChecksum(this.#download)) return this.#fields.complain('checksum', t('change.checksum.empty'));
    if (change.cookies) change.cookies = cookieFile(change.cookies, change.urls ?? [this.#download.url]);
    return change;
  }

  /// Takes the file, or what the server sends, as it is: no digest is expected any more.
  async #keepFile() {
    const download = this.#download;
    if (!download) return;
    const [about, confirm] = failedServerDigest(download) ? ['takeBytes', 'change.takeBytes'] : ['keepFile', 'change.keep'];
    const answer = await ask({
      title: t(`ask.${about}`, { name: download.name }), text: t(`ask.${about}.text`, { digest: actualDigest(download) }), confirm: t(confirm),
      keep: t('ask.keepFile.not'), isDangerous: true,
    });
    if (answer === 'yes' && this.#download?.id === download.id) await this.#send({ checksum: null });
  }

  #judge() {
    const isTouched = this.#fields.changed.length > 0;
    const need = this.#download && ChangeForm.need(this.#download);
    const canRetry = RETRIES.includes(need);
    const label = need === null ? 'change.save' : canRetry && !isTouched ? 'change.page.save' : `change.${DIGESTS.includes(need) ? 'checksum' : need}.save`;
    setText(this.#nodes.save.firstChild, t(label));
    this.#nodes.save.disabled = (!isTouched && !canRetry) || this.#store.isAway;
    if (!isTouched) this.#fail('');
    this.keepFocus();
  }

  /// Says what failed, about no field in particular.
  #fail(text) {
    setText(this.#nodes.error, text);
    this.#nodes.error.hidden = text === '';
    if (text) this.#nodes.error.scrollIntoView({ block: 'nearest' });
  }

  async #send(change = this.#change()) {
    if (!change || !this.#download || this.#isSending) return;
    const { id } = this.#download;
    const need = ChangeForm.need(this.#download);
    if (Object.keys(change).length === 0) {
      if (RETRIES.includes(need)) await this.#actions.run('resume', [this.#download]);
      return;
    }
    this.#fail('');
    this.#isSending = true;
    // With the right checksum what is here may be the file after all; another that failed has another link, rule or user.
    const goesOn = failedChecksum(this.#download) ? change.checksum !== undefined
      : need === 'refused' || (DIGESTS.includes(need) && change.checksum !== undefined)
        || (need === 'conflict' && change.onConflict !== undefined) || (this.#download.state === 'failed' && change.urls !== undefined);
    const signsIn = ['credentials', 'page', 'refused'].includes(need) && change.user !== undefined;
    const begins = goesOn || (runsOn(this.#download) && Object.keys(change).some((name) => !AT_ONCE.includes(name)));
    try {
      const meant = begins ? await this.#actions.changeKeepingBytes(this.#download, change) : change;
      if (!meant || this.#download?.id !== id) return;
      const answer = await this.#api.change(id, meant);
      if (this.#download?.id !== id) return;
      this.#fields.forget(signsIn ? ['user'] : []);
      this.#store.take(answer);
      if (goesOn) {
        this.#store.take(await this.#api.act(id, 'resume'));
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
