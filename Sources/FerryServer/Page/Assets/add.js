// The field for links, its options, and what is dropped or pasted anywhere on the page.

import { h, setText, setAttribute, uniqueId, isTyping } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';
import { MOST_CONNECTIONS, parseConnections, parseLimit } from './format.js';
import { droppedText, isLink, mayBecomeLink, newIdentifier, parseHeaders, parseLinks } from './links.js';

/// The longest time between the two halves of a double click.
const DOUBLE_CLICK = 600;

/// The field that a refusal is about, by the key of its sentence.
const REFUSALS = {
  checksum: /checksum|algorithm|hexadecimal|digit/i, name: /name/i, directory: /place|path|directory/i, headers: /header|field/i, connections: /one|number/i,
};

export class AddForm {
  #api;
  #store;
  #announcer;
  #onAdded;
  #field;
  #error;
  #button;
  #options;
  #toggle;
  #hint;
  #inputs = {};
  /// The last request that got no answer: sent again it keeps its identifiers, and adds nothing twice.
  #unanswered = null;
  /// When links were added last: the second half of a double click finds the field empty, which is no fault.
  #addedAt = -Infinity;

  constructor({ api, store, announcer, onAdded }) {
    this.#api = api;
    this.#store = store;
    this.#announcer = announcer;
    this.#onAdded = onAdded;
    this.element = this.#build();
  }

  focus() {
    this.#field.focus();
    this.#field.scrollIntoView({ block: 'nearest' });
  }

  /// Puts links into the field; the user adds them.
  offer(text, isWhole = false) {
    const before = this.#field.value.trim();
    this.#field.value = before && !isWhole ? `${before}\n${text.trim()}` : text.trim();
    this.#grow();
    this.#judge(true);
    this.focus();
  }

  get text() { return this.#field.value; }

  // Building --------------------------------------------------------------------------------------------------------

  #build() {
    const error = uniqueId('add-error');
    this.#field = h('textarea', {
      class: 'add-field', rows: '1', name: 'links', placeholder: t('add.placeholder'), 'aria-label': t('add.field'),
      'aria-describedby': error, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', enterkeyhint: 'go', dir: 'ltr',
      on: {
        input: () => {
          this.#grow();
          this.#judge(false);
        },
        keydown: (event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          this.#submit();
        },
      },
    });
    this.#error = h('p', { class: 'field-error', id: error, role: 'alert', hidden: true });
    this.#hint = h('p', { class: 'add-hint quiet', hidden: true });
    this.#button = h('button', { type: 'submit', class: 'button primary add-button' }, icon('down'), h('span', null, t('add.button')));
    const panel = uniqueId('options');
    this.#toggle = h('button', {
      type: 'button', class: 'button quiet options-toggle', 'aria-expanded': 'false', 'aria-controls': panel,
      on: { click: () => this.#showOptions(this.#options.hidden) },
    }, h('span', null, t('add.options')), icon('chevron'));
    this.#options = h('div', { class: 'options', id: panel, hidden: true, on: { input: () => this.#showSet(), change: () => this.#showSet() } }, this.#optionFields());
    return h('form', {
      class: 'add card', 'aria-label': t('add.title'), novalidate: true,
      on: {
        submit: (event) => {
          event.preventDefault();
          this.#submit();
        },
      },
    }, h('div', { class: 'add-line' }, h('div', { class: 'add-box' }, this.#field, h('span', { class: 'add-many quiet', 'aria-hidden': 'true' }, t('add.many'))), this.#toggle, this.#button), this.#error, this.#hint, this.#options);
  }

  #optionFields() {
    const field = (name, label, hint, props = {}, tag = 'input') => {
      const id = uniqueId(name);
      const problem = uniqueId('problem');
      const input = h(tag, {
        id, name, placeholder: hint, autocomplete: 'off', spellcheck: 'false', 'aria-describedby': problem,
        ...(tag === 'input' ? { type: 'text' } : {}), ...props,
      });
      const error = h('p', { class: 'field-error', id: problem, hidden: true });
      input.addEventListener('input', () => this.#complain(name, null));
      this.#inputs[name] = { input, error };
      return h('div', { class: `field field-${name}` }, h('label', { for: id }, label), input, error);
    };
    const choice = (name, label, options) => {
      const element = field(name, label, null, {}, 'select');
      for (const [value, key] of options) this.#inputs[name].input.append(h('option', { value }, t(key)));
      return element;
    };
    const check = (name, label) => {
      const input = h('input', { type: 'checkbox', name });
      this.#inputs[name] = { input };
      return h('label', { class: 'check' }, input, h('span', null, label));
    };
    return [
      field('name', t('add.name'), t('add.name.hint')),
      field('directory', t('add.directory'), t('add.directory.hint')),
      field('checksum', t('add.checksum'), t('add.checksum.hint'), { class: 'mono' }),
      field('limit', t('add.limit'), t('add.limit.hint'), { inputmode: 'text' }),
      field('connections', t('add.connections'), t('add.connections.hint'), { type: 'number', min: '1', max: String(MOST_CONNECTIONS), inputmode: 'numeric' }),
      choice('metered', t('add.metered'), [['', 'metered.follow'], ['yes', 'metered.allow'], ['no', 'metered.never']]),
      field('user', t('add.user'), null, { autocapitalize: 'off' }),
      field('password', t('add.password'), null, { type: 'password', autocomplete: 'new-password' }),
      choice('conflict', t('add.conflict'), [
        ['', 'conflict.rename'], ['overwrite', 'conflict.overwrite'], ['skip', 'conflict.skip'], ['fail', 'conflict.fail'],
      ]),
      field('notBefore', t('add.notBefore'), null, { type: 'datetime-local' }),
      field('headers', t('add.headers'), t('add.headers.hint'), { rows: '2', class: 'mono' }, 'textarea'),
      h('div', { class: 'checks' }, check('paused', t('add.paused')), check('acceptsHTML', t('html.accept'))),
    ];
  }

  #showOptions(isOpen) {
    this.#options.hidden = !isOpen;
    setAttribute(this.#toggle, 'aria-expanded', String(isOpen));
  }

  /// Options count for one add alone. What is set is seen on the button, though the options be closed.
  #showSet() {
    const labels = Object.values(this.#inputs).filter(({ input }) => (input.type === 'checkbox' ? input.checked : input.value.trim() !== ''))
      .map(({ input }) => input.closest('.field, .check').querySelector('label, span').textContent);
    setText(this.#toggle.firstChild, labels.length === 0 ? t('add.options') : t('add.options.set', { n: labels.length }));
    setAttribute(this.#toggle, 'title', labels.join(' · ') || null);
    this.#toggle.classList.toggle('has-set', labels.length > 0);
  }

  #forgetOptions() {
    for (const [name, { input }] of Object.entries(this.#inputs)) {
      if (input.type === 'checkbox') input.checked = false;
      else input.value = '';
      if (this.#inputs[name].error) this.#complain(name, null);
    }
    this.#showSet();
  }

  #grow() {
    this.#field.style.height = 'auto';
    this.#field.style.height = `${Math.min(this.#field.scrollHeight, 220)}px`;
  }

  // Judging ---------------------------------------------------------------------------------------------------------

  /// Says at once that it is no link; while one is being typed, only what cannot become one any more.
  #judge(isWhole) {
    const text = this.#field.value;
    const { entries, problems } = parseLinks(text);
    const lines = text.split(/\r\n|\n|\r/).length;
    const bad = problems.filter(({ line, text }) => isWhole || line < lines || !mayBecomeLink(text));
    setText(this.#error, bad.length === 0 ? ''
      : lines === 1 ? t('add.invalid') : t('add.invalid.line', { line: bad[0].line }));
    this.#error.hidden = bad.length === 0;
    setAttribute(this.#field, 'aria-invalid', bad.length > 0 ? 'true' : null);
    this.#showHint(bad[0]?.text ?? null);
    setText(this.#button.lastChild, entries.length > 1 ? t('add.button.many', { n: entries.length }) : t('add.button'));
    const isMany = entries.length > 1;
    for (const name of ['name', 'checksum']) {
      const { input } = this.#inputs[name];
      input.disabled = isMany;
      input.placeholder = isMany ? t('add.onlyone') : t(`add.${name}.hint`);
    }
    return { entries, problems };
  }

  /// What is wrong with a line that is no link: its scheme, or that it has none, which is offered.
  #showHint(line) {
    const scheme = line === null ? null : /^([a-z][a-z0-9+.-]*):(?!\d)/i.exec(line);
    const whole = `https://${line}`;
    const isAddress = line !== null && !scheme && /^[^\s/?#]+\.[^\s/?#.]{2,}/.test(line) && isLink(whole);
    this.#hint.hidden = !isAddress && !(scheme && !/^https?$/i.test(scheme[1]));
    if (this.#hint.hidden) return;
    this.#hint.replaceChildren(isAddress
      ? h('button', {
        type: 'button', class: 'button compact', on: { click: () => this.offer(this.#field.value.replace(line, () => whole), true) },
      }, t('add.scheme.offer', { link: whole }))
      : t('add.scheme'));
  }

  #complain(name, text) {
    const { input, error } = this.#inputs[name];
    setText(error, text ?? '');
    error.hidden = !text;
    setAttribute(input, 'aria-invalid', text ? 'true' : null);
    if (text) {
      if (this.#options.hidden) this.#showOptions(true);
      input.focus();
    }
  }

  /// What the options ask for; `null` when one makes no sense, which is said beside it.
  #readOptions() {
    const value = (name) => this.#inputs[name].input.value.trim();
    const asked = {};
    if (value('directory')) asked.directory = value('directory');
    const limit = parseLimit(value('limit'));
    if (limit === undefined) return this.#complain('limit', t('add.limit.invalid')), null;
    if (limit !== null) asked.rateLimit = limit;
    if (value('connections') || this.#inputs.connections.input.validity.badInput) {
      asked.maxConnections = parseConnections(value('connections'));
      if (asked.maxConnections === null) return this.#complain('connections', t('change.number')), null;
    }
    if (value('user') || this.#inputs.password.input.value) {
      if (!value('user')) return this.#complain('user', t('add.user.needed')), null;
      Object.assign(asked, { user: value('user'), password: this.#inputs.password.input.value });
    }
    if (value('conflict')) asked.onConflict = value('conflict');
    if (value('notBefore')) asked.notBefore = new Date(value('notBefore')).toISOString();
    if (value('headers')) {
      asked.headers = parseHeaders(this.#inputs.headers.input.value);
      if (!asked.headers) return this.#complain('headers', t('add.headers.invalid')), null;
    }
    if (value('metered')) asked.allowsMetered = value('metered') === 'yes';
    if (this.#inputs.paused.input.checked) asked.startsPaused = true;
    if (this.#inputs.acceptsHTML.input.checked) asked.acceptsHTML = true;
    return asked;
  }

  // Sending ---------------------------------------------------------------------------------------------------------

  async #submit() {
    const { entries, problems } = this.#judge(true);
    if (problems.length > 0 || entries.length === 0) {
      if (entries.length === 0 && problems.length === 0 && performance.now() - this.#addedAt < DOUBLE_CLICK) return;
      if (entries.length === 0 && problems.length === 0) {
        setText(this.#error, t('add.invalid'));
        this.#error.hidden = false;
        setAttribute(this.#field, 'aria-invalid', 'true');
      }
      this.#field.focus();
      return;
    }
    const options = this.#readOptions();
    if (!options || this.#button.disabled) return;
    const downloads = this.#withIdentifiers(entries.map(({ line: _, ...entry }) => this.#request(entry, options, entries.length)));
    this.#button.disabled = true;
    const { mark } = this.#store;
    try {
      const answer = await this.#api.add(downloads);
      this.#unanswered = null;
      this.#finish(downloads, answer?.items ?? [], mark);
    } catch (problem) {
      if (problem.status !== 0) this.#unanswered = null;
      this.#refuse(problem);
    } finally {
      this.#button.disabled = false;
    }
  }

  #request(entry, options, count) {
    const request = { ...options, ...entry };
    if (options.headers && entry.headers) request.headers = { ...options.headers, ...entry.headers };
    if (count === 1) {
      for (const name of ['name', 'checksum']) {
        const text = this.#inputs[name].input.value.trim();
        if (text) request[name] = text;
      }
    }
    return request;
  }

  #withIdentifiers(requests) {
    const text = JSON.stringify(requests);
    if (this.#unanswered?.text !== text) {
      this.#unanswered = { text, identifiers: requests.map(newIdentifier) };
    }
    return requests.map((request, index) => ({ id: this.#unanswered.identifiers[index], ...request }));
  }

  #finish(asked, items, mark) {
    for (const item of items) this.#store.take(item, mark);
    const ids = new Set(asked.map(({ id }) => id));
    const listed = items.filter(({ id }) => !ids.has(id)).length;
    this.#field.value = '';
    this.#forgetOptions();
    this.#grow();
    this.#judge(true);
    this.#addedAt = performance.now();
    this.#onAdded(items, listed > 0 ? t('add.listed', { n: listed }) : t('add.added', { n: items.length }), listed === 0);
  }

  #refuse(problem) {
    const isAbout = ([name, pattern]) => this.#inputs[name].input.value.trim() !== '' && pattern.test(problem.phrase);
    const field = problem.status === 400 || problem.status === 403 ? Object.entries(REFUSALS).find(isAbout)?.[0] : null;
    if (field) return this.#complain(field, problem.text);
    this.#isUnreachable = problem.status === 0;
    setText(this.#error, problem.text ?? problem.message);
    this.#error.hidden = false;
    this.#field.focus();
  }

  /// What was said of a daemon that did not answer is no longer true when it is back.
  rejoined() {
    if (!this.#isUnreachable) return;
    this.#isUnreachable = false;
    this.#judge(true);
  }
  #isUnreachable = false;

  // Dropping and pasting --------------------------------------------------------------------------------------------

  /// Takes what is dropped or pasted anywhere on the page, until `signal` ends.
  watchPage(signal) {
    const veil = h('div', { class: 'drop-veil', hidden: true, 'aria-hidden': 'true' }, icon('down'), h('p', null, t('add.drop')));
    document.body.append(veil);
    signal.addEventListener('abort', () => veil.remove());
    const brings = ({ dataTransfer }) =>
      dataTransfer && ['Files', 'text/uri-list', 'text/plain'].some((type) => dataTransfer.types.includes(type));
    let depth = 0;
    const on = (type, run) => document.addEventListener(type, run, { signal });
    on('dragenter', (event) => {
      if (!brings(event)) return;
      depth += 1;
      veil.hidden = false;
    });
    on('dragleave', () => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) veil.hidden = true;
    });
    on('dragover', (event) => {
      if (brings(event)) event.preventDefault();
    });
    on('drop', async (event) => {
      depth = 0;
      veil.hidden = true;
      if (!brings(event)) return;
      event.preventDefault();
      this.#offerDropped(await droppedText(event.dataTransfer));
    });
    on('paste', (event) => {
      if (isTyping(event.target) || document.querySelector('dialog:modal')) return;
      const text = event.clipboardData?.getData('text/plain');
      if (!text?.trim()) return;
      event.preventDefault();
      this.offer(text);
    });
  }

  #offerDropped(text) {
    if (!text || parseLinks(text).entries.length === 0) this.#announcer.warn(t('add.drop.nothing'));
    else this.offer(text);
  }
}

/// What the empty list offers.
export const SAMPLE = 'https://download.blender.org/peach/bigbuckbunny_movies/BigBuckBunny_320x180.mp4';
