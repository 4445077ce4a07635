// What can be changed of one download, in two forms: the fields that it waits for, with their button; and all others.

import { h, setText } from './dom.js';
import { shortened, t } from './text.js';
import { FieldSet, SECTIONS } from './fields.js';
import { cookieFile } from './links.js';
import { ask } from './ask.js';
import { digestRow } from './facts.js';
import { digestsOf, failedChecksum, failedServerDigest, gotPage, heldBytes, isTooLarge, lacksReserveAlone, leadsElsewhere, startTime } from './words.js';

/// The digest that the bytes have, of a download that failed for having another than was asked for.
const actualDigest = (download) => digestsOf(download)?.actual ?? null;

/// Needs that a checksum meets, or none.
const DIGESTS = ['checksum', 'serverChecksum', 'serverDigest', 'noDigest'];
/// Needs that may have gone by themselves: it can be tried again as it is.
const RETRIES = ['page', 'freshLink', 'refused', 'gone', 'otherFile'];

/// Refusals that another link may mend, or a user; of an answer with one of `GONE`, no user does.
const REFUSALS = ['serverAnswered', 'answeredNoFile', 'redirectOf', 'redirectLoop'];
const GONE = ['404', '410'];

/// The fields that meet each need, the most likely first.
const FIELDS = {
  page: ['urls', 'user', 'password', 'acceptsHTML'], credentials: ['user', 'password'], freshLink: ['urls', 'acceptsHTML'],
  refused: ['urls', 'user', 'password'], gone: ['urls'], otherFile: ['urls'], conflict: ['onConflict'],
  notBefore: ['notBefore'], tooLarge: ['maxBytes'], reserve: ['minFreeBytes'],
  checksum: ['checksum'], serverChecksum: ['checksum'], serverDigest: ['checksum'], noDigest: ['checksum'],
};

/// What the daemon changes of a running download; all else begins a new run.
const AT_ONCE = ['label', 'rateLimit', 'maxConnections', 'priority', 'allowsMetered', 'allowsConstrained'];

/// Whether it runs, or waits for such a change alone.
const runsOn = ({ state, waitReason }) =>
  state === 'downloading' || state === 'verifying' || (state === 'waiting' && ['credentials', 'freshLink'].includes(waitReason));

/// The needs whose button says what that of another need says.
const BUTTONS = { ...Object.fromEntries(DIGESTS.map((need) => [need, 'checksum'])), gone: 'refused', otherFile: 'freshLink' };

/// Every field that something may wait for.
const FIELDS_OF_NEEDS = new Set(Object.values(FIELDS).flat());

export class ChangeForm {
  #api;
  #store;
  #actions;
  #announcer;
  #onLeft;
  #isSending = false;
  #download = null;
  #nodes = {};
  /// Where each field stands while nothing waits for it.
  #homes = new Map();
  #fields = new FieldSet({ onInput: () => this.#judge() });

  /// - onLeft: is called when what had the focus cannot be used any more.
  constructor({ api, store, actions, announcer, onLeft }) {
    this.#onLeft = onLeft;
    this.#api = api;
    this.#store = store;
    this.#actions = actions;
    this.#announcer = announcer;
    /// The form of what the download waits for, hidden where that is nothing; and the form of all other fields.
    this.needed = this.#buildNeeded();
    this.others = this.#buildOthers();
  }

  #form(className, ...content) {
    return h('form', {
      class: className, novalidate: true,
      on: {
        submit: (event) => {
          event.preventDefault();
          this.#send(event.currentTarget);
        },
      },
    }, content);
  }

  #buildNeeded() {
    const nodes = this.#nodes;
    nodes.need = h('p', { class: 'notice', role: 'status' });
    nodes.digests = h('dl', { class: 'digests', hidden: true });
    nodes.fields = h('div', { class: 'need-fields' });
    nodes.keep = h('button', { type: 'button', class: 'button compact', hidden: true, data: { action: 'keepFile' }, on: { click: () => this.#keepFile() } });
    nodes.answer = h('button', { type: 'submit', class: 'button primary compact', disabled: true });
    nodes.needError = h('p', { class: 'field-error', role: 'alert', hidden: true });
    const foot = h('div', { class: 'change-foot' }, nodes.answer, nodes.keep);
    return this.#form('change need', nodes.need, nodes.digests, h('div', { class: 'need-line' }, nodes.fields, foot), nodes.needError);
  }

  #buildOthers() {
    const fields = this.#fields;
    const nodes = this.#nodes;
    const home = (name, options) => {
      const place = document.createComment('');
      this.#homes.set(name, { node: fields.field(name, options), place });
      return [place, this.#homes.get(name).node];
    };
    const pair = (...names) => h('div', { class: 'field-pair' }, names.map((each) => {
      const [name, options] = [each].flat();
      return FIELDS_OF_NEEDS.has(name) ? home(name, options) : fields.field(name, options);
    }));
    nodes.connection = fields.section('section.connection', [
      ...SECTIONS.change.map((name) => [name, { isBlind: true }]), 'allowsConstrained', 'allowsPrivate',
    ], h('p', { class: 'quiet' }, t('change.socket')));
    nodes.save = h('button', { type: 'submit', class: 'button primary compact', disabled: true }, t('change.save'));
    nodes.error = h('p', { class: 'field-error', role: 'alert', hidden: true });
    const form = this.#form('change', pair('rateLimit', 'maxConnections'), pair('priority', 'allowsMetered'), fields.field('label'),
      home('urls'), home('checksum', { hint: 'change.checksum.hint' }), pair('user', 'password'), home('acceptsHTML'), home('onConflict'), home('notBefore'), pair(['maxBytes', { hint: 'field.unchanged' }], ['minFreeBytes', { isBlind: true }]),
      nodes.connection, nodes.error, h('div', { class: 'change-foot' }, nodes.save));
    // What is pasted takes the place of the old link.
    const url = fields.input('urls');
    url.addEventListener('focus', () => url.select());
    url.addEventListener('mousedown', (event) => {
      if (document.activeElement === url) return;
      event.preventDefault();
      url.focus();
    });
    return form;
  }

  reset() {
    this.#download = null;
    this.#fields.forget();
    this.#nodes.connection.open = false;
    for (const form of [this.needed, this.others]) this.#fail(form, '');
  }

  /// The labels of what was changed and not saved, without credentials, which a server may have refused.
  get unsaved() { return this.#unsaved.map((name) => this.#fields.label(name)); }

  get #unsaved() { return this.#fields.changed.filter((name) => !['user', 'password'].includes(name)); }

  /// Goes to the first field that was changed and not saved.
  focusUnsaved() {
    const [name] = this.#unsaved;
    if (name) this.#fields.input(name).focus();
  }

  /// What is missing for this download to go on: `page` (whether one is taken for the file), `credentials`, `freshLink`,
  /// `conflict` (another rule for its name), `refused` (another link, or credentials), `gone` (another link), `otherFile` (a link
  /// to the file that was begun), `notBefore` (another time), `tooLarge` (a higher limit), `reserve` (less space that is
  /// kept free), one of `DIGESTS`, or `null`.
  static need(download) {
    const { state, waitReason, error } = download;
    if (gotPage(download)) return 'page';
    const [phrase, status] = (state === 'failed' && error?.phrase) || [];
    if (error?.code === 'refused' && REFUSALS.includes(phrase)) return GONE.includes(String(status)) ? 'gone' : 'refused';
    if (phrase === 'thereAlready') return 'conflict';
    if (leadsElsewhere(download)) return 'otherFile';
    if (isTooLarge(download)) return 'tooLarge';
    if (phrase === 'notInChecksumList') return 'noDigest';
    if (failedServerDigest(download)) return 'serverDigest';
    if (failedChecksum(download)) return error.suggestionPhrase?.[2]?.[0] === 'checksumOfServer' ? 'serverChecksum' : 'checksum';
    if (state === 'waiting' && waitReason === 'notBefore') return 'notBefore';
    if (lacksReserveAlone(download)) return 'reserve';
    return ['credentials', 'freshLink'].find((code) => waitReason === code || error?.code === code) ?? null;
  }

  /// Whether the form of what is needed has a button of its own that tries again.
  static retries(download) { return RETRIES.includes(ChangeForm.need(download)); }

  /// Sends what was changed and can make the download go on, in place of trying it as it was. Returns whether there is any.
  sendChanged() {
    const form = this.#fields.changedIn(this.needed).length > 0 ? this.needed : this.#fields.changedIn(this.others).includes('urls') ? this.others : null;
    form?.requestSubmit();
    return form !== null;
  }

  /// Goes to the field that is missing.
  focusNeed(download) {
    const need = ChangeForm.need(download);
    if (need === null || need === 'notBefore') return;
    // A user that a server has refused stays in its field; the password does not.
    const hasUser = need === 'credentials' && this.#fields.input('user').value.trim() !== '';
    const input = this.#fields.input(hasUser ? 'password' : FIELDS[need][0]);
    input.focus({ preventScroll: true });
    // What is asked for is read above the field, with its label.
    for (const node of [input, this.#nodes.need]) node.scrollIntoView({ block: 'nearest' });
  }

  /// What is hidden or disabled does not take the focus with it.
  /// - at: what had the focus: a browser may take it away as soon as that is hidden.
  keepFocus(at = document.activeElement) {
    if (![at, document.body].includes(document.activeElement)) return;
    if ([this.needed, this.others].some((form) => form.contains(at)) && (at.disabled || !at.checkVisibility())) this.#onLeft();
  }

  show(download) {
    const at = document.activeElement;
    this.#download = download;
    const need = ChangeForm.need(download);
    this.#fields.show({
      // A link that leads to another file is none to begin with.
      ...download, urls: need === 'otherFile' ? null : download.url, priority: Math.sign(download.priority),
      maxBytes: need === 'tooLarge' ? Number(download.error.phrase[2]) : null,
      notBefore: startTime(download),
    });
    this.#place(need === null ? [] : FIELDS[need]);
    this.needed.hidden = need === null;
    const { keep, digests } = this.#nodes;
    this.#fields.setHint('minFreeBytes', t(need === 'reserve' ? 'change.reserve.hint' : 'field.unchanged'));
    keep.hidden = need !== 'serverDigest' && !actualDigest(download);
    setText(keep, t(need === 'serverDigest' ? 'change.takeBytes' : 'change.keep'));
    this.#nodes.need.classList.toggle('is-plain', need === 'notBefore');
    setText(this.#nodes.need, need === null ? '' : t(`change.${need}.${download.wasRefused ? 'refused' : 'needed'}`, { isBegun: heldBytes(download) > 0 }));
    this.#homes.get('acceptsHTML').node.hidden = need !== 'page' && need !== 'freshLink';
    this.#showDigests(digestsOf(download), digests);
    this.#judge(at);
  }

  /// Both digests of a file that has another than was asked for.
  #showDigests(found, node) {
    node.hidden = !found;
    const key = found ? `${found.expected} ${found.actual}` : '';
    if (node.dataset.digests === key) return;
    node.dataset.digests = key;
    const copy = (text) => this.#actions.copy(text);
    node.replaceChildren(...(found ? [['digest.expected', found.expected], ['digest.actual', found.actual]] : [])
      .flatMap(([label, digest]) => digestRow(label, digest, copy)));
  }

  /// Fields stand where they are needed, else with all others. What has the focus is not moved.
  #place(names) {
    for (const [name, { node, place }] of this.#homes) {
      if (names.includes(name) || node.parentNode !== this.#nodes.fields || node.contains(document.activeElement)) continue;
      place.after(node);
    }
    let above = null;
    for (const name of names) {
      const { node } = this.#homes.get(name);
      const isThere = node.parentNode === this.#nodes.fields && node.previousElementSibling === above;
      if (!isThere && !node.contains(document.activeElement)) {
        if (above) above.after(node);
        else this.#nodes.fields.prepend(node);
      }
      above = node;
    }
    this.needed.classList.toggle('is-single', names.length === 1);
  }

  /// What differs from what the daemon has, of the fields of one form; `null` where a field makes no sense, which is said.
  #change(form) {
    const change = this.#fields.read(form);
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
      title: t(`ask.${about}`, { name: download.name }), text: t(`ask.${about}.text`, { digest: shortened(actualDigest(download) ?? '') }), confirm: t(confirm),
      keep: t('ask.keepFile.not'), isDangerous: true,
    });
    if (answer === 'yes' && this.#download?.id === download.id) await this.#send(this.needed, { checksum: null });
  }

  /// - at: as in `keepFocus`.
  #judge(at = document.activeElement) {
    const need = this.#download && ChangeForm.need(this.#download);
    const canRetry = RETRIES.includes(need);
    const isTouched = this.#fields.changedIn(this.needed).length > 0;
    const ofNeed = canRetry && !isTouched ? 'page' : BUTTONS[need] ?? need;
    const label = need === null ? 'change.save' : `change.${ofNeed}.save`;
    const { answer, save } = this.#nodes;
    setText(answer, t(label));
    answer.disabled = (!isTouched && !canRetry) || this.#store.isAway;
    const hasOthers = this.#fields.changedIn(this.others).length > 0;
    save.disabled = !hasOthers || this.#store.isAway;
    if (!isTouched) this.#fail(this.needed, '');
    if (!hasOthers) this.#fail(this.others, '');
    this.keepFocus(at);
  }

  /// Says what failed, about no field in particular.
  #fail(form, text) {
    const error = this.#nodes[form === this.needed ? 'needError' : 'error'];
    setText(error, text);
    error.hidden = text === '';
    if (text) error.scrollIntoView({ block: 'nearest' });
  }

  async #send(form, change = this.#change(form)) {
    if (!change || !this.#download || this.#isSending) return;
    const { id } = this.#download;
    const need = ChangeForm.need(this.#download);
    if (Object.keys(change).length === 0) {
      if (form === this.needed && RETRIES.includes(need)) await this.#actions.run('resume', [this.#download]);
      return;
    }
    this.#fail(form, '');
    this.#isSending = true;
    const sent = Object.keys(change);
    // With the right checksum what is here may be the file after all; another that failed has another link, rule or user.
    const goesOn = failedChecksum(this.#download) ? change.checksum !== undefined
      : (form === this.needed && ['refused', 'gone'].includes(need)) || (DIGESTS.includes(need) && change.checksum !== undefined)
        || (need === 'conflict' && change.onConflict !== undefined) || (need === 'tooLarge' && change.maxBytes !== undefined) || (need === 'reserve' && change.minFreeBytes !== undefined) || (this.#download.state === 'failed' && change.urls !== undefined);
    const signsIn = ['credentials', 'page', 'refused'].includes(need) && change.user !== undefined;
    const begins = goesOn || (runsOn(this.#download) && Object.keys(change).some((name) => !AT_ONCE.includes(name)));
    try {
      const meant = begins ? await this.#actions.changeKeepingBytes(this.#download, change) : change;
      if (!meant || this.#download?.id !== id) return;
      const answer = await this.#api.change(id, meant);
      if (this.#download?.id !== id) return;
      this.#fields.forget(signsIn ? ['user'] : [], sent);
      this.#store.take(answer);
      if (goesOn) {
        this.#store.take(await this.#api.act(id, 'resume'));
      }
      if (signsIn) this.#announcer.speak(t('change.tried'));
      else this.#announcer.say(t('change.saved'));
    } catch (problem) {
      const field = this.#fields.refused(problem);
      if (field) this.#fields.complain(field, problem.text);
      else this.#fail(form, problem.text ?? problem.message);
    } finally {
      this.#isSending = false;
      if (this.#download?.id === id) this.show(this.#store.downloads.get(id) ?? this.#download);
    }
  }
}
