// The fields of forms: members of a request and of the settings, how the text of each is read and written, and what is said
// where it makes no sense.

import { h, setText, setAttribute, uniqueId } from './dom.js';
import { has, t } from './text.js';
import { bareRate, parseLimit, parseSize, rateField, sizeField } from './format.js';
import { isLink, linkProblem, parseHeaders } from './links.js';

/// The number of attempts that is as good as none.
const ENDLESS = 1_000_000_000;
const MINUTE = 60;
/// What is written in a blind field to restore the value of the daemon.
const DEFAULT = 'auto';

/// A whole number within bounds.
const whole = (least, most) => ({
  inputmode: 'numeric', range: { least, most },
  read: (text) => (/^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
});
const attempts = whole(0, ENDLESS);
/// A time in minutes, or with its unit, of a second or more: seconds.
const delay = {
  wrong: 'wrong.delay',
  read: (text) => {
    const [, count, unit = 'm'] = /^(\d{1,8}(?:\.\d+)?) *(s|m|h)?$/i.exec(text) ?? [];
    const value = Number(count) * { s: 1, m: MINUTE, h: 60 * MINUTE }[unit.toLowerCase()];
    return value >= 1 ? value : undefined;
  },
  write: (value) => (value % MINUTE === 0 ? String(value / MINUTE) : `${value} s`),
};
const seconds = {
  inputmode: 'decimal', wrong: 'wrong.time',
  read: (text) => (/^\d{1,8}(\.\d+)?$/.test(text) && Number(text) > 0 ? Number(text) : undefined),
};
const rate = { read: (text) => parseLimit(text === t('limit.none') ? '' : text), write: rateField, wrong: 'wrong.rate', offers: bareRate };
const size = { read: parseSize, write: sizeField, wrong: 'wrong.size' };
const lines = { tag: 'textarea', rows: '2', class: 'mono', autocapitalize: 'off' };
const code = { class: 'mono', dir: 'ltr', autocapitalize: 'off' };
const flag = (value) => ({ type: 'checkbox', flag: value });
/// A time as fields have it: in this browser's zone, to the minute.
function localMinute(text) {
  const date = new Date(text);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
/// One of several; the first is what counts without a choice.
const choice = (...options) => ({
  tag: 'select', options,
  read: (value) => ({ yes: true, no: false })[value] ?? value, write: (value) => ({ true: 'yes', false: 'no' })[value] ?? String(value),
});
const rule = choice(['', 'rule.follow'], ['yes', 'rule.allow'], ['no', 'rule.never']);

/// By member: `read` gives `undefined` for a text that makes no sense, of which `wrong` tells: a key, or what gives it of the text.
const MEMBERS = {
  name: {}, directory: {}, label: {}, proxy: code,
  checksum: { ...code, read: (text) => (text === 'none' ? null : text) },
  urls: { ...code, type: 'url', wrong: linkProblem, read: (text) => (isLink(text) ? [text] : undefined) },
  user: { autocapitalize: 'off' }, password: { type: 'password', autocomplete: 'new-password', isExact: true },
  rateLimit: rate, minSpeed: rate,
  maxConnections: whole(1, 64), connectionsPerHost: whole(1, 1000), maxRedirects: whole(0, 1000),
  maxRetries: { ...attempts, range: null, wrong: 'wrong.attempts', read: (text) => (text === 'inf' ? ENDLESS : attempts.read(text)) },
  retriesFailedAfter: { ...delay, read: (text) => (text === 'never' ? null : delay.read(text)) },
  maxBytes: size, minFreeBytes: { ...size, read: (text) => (text === DEFAULT ? null : parseSize(text)) }, connectTimeout: seconds, stallTimeout: seconds,
  notBefore: { type: 'datetime-local', wrong: 'wrong.past', read: (text) => (new Date(text) > Date.now() ? new Date(text).toISOString() : undefined), write: localMinute },
  headers: { ...lines, wrong: 'wrong.headers', read: (text) => parseHeaders(text) ?? undefined },
  cookies: { ...lines, wrong: 'wrong.cookies', read: (text) => (/[=\t]/.test(text) ? text : undefined) },
  certificates: { ...lines, wrong: 'wrong.certificates', read: (text) => (text.includes('-----BEGIN CERTIFICATE-----') ? text : undefined) },
  userAgent: { autocapitalize: 'off' },
  addressFamily: choice(['', 'family.any'], ['v4', 'family.v4'], ['v6', 'family.v6']),
  allowsDowngrade: choice(['', 'downgrade.refuse'], ['yes', 'downgrade.follow']),
  allowsMetered: rule, allowsConstrained: rule, allowsPrivate: rule,
  onConflict: choice(['', 'conflict.rename'], ['overwrite', 'conflict.overwrite'], ['skip', 'conflict.skip'], ['fail', 'conflict.fail']),
  priority: { ...choice(['1', 'priority.high'], ['0', 'priority.normal'], ['-1', 'priority.low']), initial: '0', read: Number },
  startsPaused: flag(true), acceptsHTML: flag(true), insecure: flag(true), strict: flag(true), failsOnChange: flag(true),
  resumesUnproven: flag(true), allowsUnprovenParts: flag(true), syncsToDisk: flag(false), usesServerTime: flag(false), recordsDigests: flag(true),
  onDuplicate: flag('addAnother'), isSet: flag(true),
};

/// The fields that are seldom used, by section: of an addition, and of a change.
export const SECTIONS = {
  connection: [
    'proxy', 'userAgent', 'addressFamily', 'connectTimeout', 'stallTimeout', 'minSpeed', 'maxRetries', 'maxRedirects', 'allowsDowngrade',
    'allowsPrivate', 'allowsConstrained', 'cookies', 'certificates', 'insecure',
  ],
  file: [
    'minFreeBytes', 'maxBytes', 'priority', 'label', 'strict', 'failsOnChange', 'resumesUnproven', 'allowsUnprovenParts', 'syncsToDisk', 'usesServerTime',
    'recordsDigests', 'onDuplicate',
  ],
  change: [
    'headers', 'cookies', 'userAgent', 'addressFamily', 'connectTimeout', 'stallTimeout', 'minSpeed', 'maxRetries', 'allowsDowngrade',
  ],
};

export class FieldSet {
  #fields = new Map();
  #sections = [];
  #onInput;
  #onComplain;

  /// - onInput: something was written, or chosen.
  /// - onComplain: something is about to be said beside a field.
  constructor({ onInput = () => {}, onComplain = () => {} } = {}) {
    this.#onInput = onInput;
    this.#onComplain = onComplain;
  }

  /// A field with its label and the place for its error.
  /// - isBlind: what it changes cannot be seen: empty it stays as it is.
  /// - hint: the key of another hint than its own.
  field(name, { isBlind = false, hint = isBlind ? 'field.unchanged' : `field.${name}.hint` } = {}) {
    const {
      tag = 'input', options = [], read = (text) => text, write = String, range, wrong, offers = () => null, flag: value, initial = '', isExact, ...props
    } = MEMBERS[name];
    const [id, problem] = [uniqueId(name), uniqueId('problem')];
    const isFlag = value !== undefined;
    const hintText = has(hint) ? t(hint) : null;
    const input = h(tag, {
      id, name, placeholder: tag === 'select' ? null : hintText, autocomplete: 'off', spellcheck: 'false',
      'aria-describedby': isFlag ? null : problem, type: tag === 'input' ? 'text' : null, ...props,
      on: {
        [isFlag || tag === 'select' ? 'change' : 'input']: () => {
          this.complain(name, null);
          this.#changed();
        },
      },
    });
    const shown = isBlind ? [['', 'field.unchanged'], [DEFAULT, options[0]?.[1]], ...options.slice(1)] : options;
    if (tag === 'select') input.append(...shown.map(([each, key]) => h('option', { value: each }, t(key))));
    if (!isFlag) input.value = initial;
    const label = t(`field.${name}`);
    const error = h('p', { class: 'field-error', id: problem, role: 'alert', hidden: true });
    this.#fields.set(name, {
      input, error, label, read, write, initial, shown: initial, value, isBlind, isExact, hint: hintText,
      wrong: (text) => (offers(text) ? t('wrong.offer', { text: offers(text) }) : range ? t('wrong.number', range) : t(typeof wrong === 'function' ? wrong(text) : wrong)),
    });
    if (isFlag) return h('label', { class: 'check' }, input, h('span', null, label));
    return h('div', { class: `field field-${name}` }, h('label', { for: id }, label), input, error);
  }

  /// Fields that are seldom used, closed at first: how many of them are set is told on their head.
  section(key, names, ...more) {
    const head = h('span', null, t(key));
    const isFlag = (node) => node.classList.contains('check');
    const nodes = names.map((name) => (Array.isArray(name) ? this.field(...name) : this.field(name)));
    const element = h('details', { class: 'section' }, h('summary', null, head),
      h('div', { class: 'section-fields' }, nodes.filter((node) => !isFlag(node)), h('div', { class: 'checks' }, nodes.filter(isFlag)), more));
    this.#sections.push({ head, key, element });
    return element;
  }

  get names() { return [...this.#fields.keys()]; }
  input(name) { return this.#fields.get(name).input; }

  /// What differs from what was shown.
  get changed() { return [...this.#fields.keys()].filter((name) => this.#isChanged(name)); }
  label(name) { return this.#fields.get(name).label; }
  get labels() { return this.changed.map((name) => this.label(name)); }

  /// What differs inside one element.
  changedIn(element) { return this.changed.filter((name) => element.contains(this.input(name))); }

  #isChanged(name) {
    const { input, shown, value } = this.#fields.get(name);
    return !input.disabled && (value === undefined ? input.value.trim() !== shown : input.checked);
  }

  /// The values of what differs, `null` for an empty field; `null` alone where some make no sense, which is said beside each.
  /// - within: the element whose fields are read; all by default.
  read(within = null) {
    const values = {};
    let isWrong = false;
    for (const name of within ? this.changedIn(within) : this.changed) {
      const { input, read, value, isBlind, isExact, wrong } = this.#fields.get(name);
      const text = isExact ? input.value : input.value.trim();
      const isNone = text === '' || (isBlind && text === DEFAULT);
      values[name] = value !== undefined ? value : isNone ? null : read(text);
      if (values[name] !== undefined) continue;
      this.complain(name, wrong(text), !isWrong);
      isWrong = true;
    }
    return isWrong ? null : values;
  }

  /// Shows what is set; what the user has changed since stays.
  show(values) {
    for (const [name, field] of this.#fields) {
      if (field.isBlind || field.value !== undefined) continue;
      const text = values[name] === null || values[name] === undefined ? '' : field.write(values[name]);
      if (!this.#isChanged(name)) field.input.value = text;
      field.shown = text;
    }
    this.#showCounts();
  }

  /// Empties all but those of `kept`.
  /// - names: those that are emptied; all by default.
  forget(kept = [], names = this.names) {
    for (const [name, field] of this.#fields) {
      if (kept.includes(name) || !names.includes(name)) continue;
      field.input.checked = false;
      field.input.value = field.shown = field.initial;
      this.complain(name, null);
    }
    this.#changed();
  }

  /// Another hint than at first.
  setHint(name, text) {
    const field = this.#fields.get(name);
    field.hint = text;
    if (!field.input.disabled) setAttribute(field.input, 'placeholder', text);
  }

  /// A field that is of no use now, and why.
  disable(name, reason) {
    const { input, hint } = this.#fields.get(name);
    input.disabled = reason !== null;
    setAttribute(input, 'placeholder', reason ?? hint);
  }

  /// Says what is wrong beside a field, which gets the focus; gives `null`.
  complain(name, text, focuses = true) {
    const { input, error } = this.#fields.get(name);
    setText(error, text ?? '');
    error.hidden = !text;
    setAttribute(input, 'aria-invalid', text ? 'true' : null);
    if (!text) return null;
    this.#onComplain();
    for (let section = input.closest('details'); section; section = section.parentElement.closest('details')) section.open = true;
    if (focuses) input.focus();
    return null;
  }

  /// The field that a refusal is about, of those that differ; `null` if none is.
  refused(problem) { return problem.memberOf(this.changed); }

  #changed() {
    this.#showCounts();
    this.#onInput();
  }

  #showCounts() {
    for (const { head, key, element } of this.#sections) {
      const count = this.changed.filter((name) => element.contains(this.input(name))).length;
      setText(head, count === 0 ? t(key) : t('set', { label: t(key), n: count }));
    }
  }
}
