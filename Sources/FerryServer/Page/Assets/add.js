// The field for links, its options, and what is dropped or pasted anywhere on the page.

import { h, setText, setAttribute, uniqueId, isTyping } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';
import { parseRate } from './format.js';
import { droppedText, mayBecomeLink, newIdentifier, parseHeaders, parseLinks } from './links.js';

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
  #inputs = {};
  /// The last request that got no answer: sent again it keeps its identifiers, and adds nothing twice.
  #unanswered = null;

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
        blur: () => this.#judge(true),
        keydown: (event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          this.#submit();
        },
      },
    });
    this.#error = h('p', { class: 'field-error', id: error, role: 'alert', hidden: true });
    this.#button = h('button', { type: 'submit', class: 'button primary add-button' }, icon('down'), h('span', null, t('add.button')));
    const panel = uniqueId('options');
    this.#toggle = h('button', {
      type: 'button', class: 'button quiet options-toggle', 'aria-expanded': 'false', 'aria-controls': panel,
      on: { click: () => this.#showOptions(this.#options.hidden) },
    }, h('span', null, t('add.options')), icon('chevron'));
    this.#options = h('div', { class: 'options', id: panel, hidden: true }, this.#optionFields());
    return h('form', {
      class: 'add card', 'aria-label': t('add.title'), novalidate: true,
      on: {
        submit: (event) => {
          event.preventDefault();
          this.#submit();
        },
      },
    }, h('div', { class: 'add-line' }, this.#field, this.#toggle, this.#button), this.#error, this.#options);
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
    const metered = field('metered', t('add.metered'), null, {}, 'select');
    for (const [value, key] of [['', 'metered.follow'], ['yes', 'metered.allow'], ['no', 'metered.never']]) {
      this.#inputs.metered.input.append(h('option', { value }, t(key)));
    }
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
      field('connections', t('add.connections'), t('add.connections.hint'), { type: 'number', min: '1', max: '64', inputmode: 'numeric' }),
      metered,
      field('headers', t('add.headers'), t('add.headers.hint'), { rows: '2', class: 'mono' }, 'textarea'),
      h('div', { class: 'checks' }, check('paused', t('add.paused')), check('acceptsHTML', t('html.accept'))),
    ];
  }

  #showOptions(isOpen) {
    this.#options.hidden = !isOpen;
    setAttribute(this.#toggle, 'aria-expanded', String(isOpen));
    if (isOpen) this.#inputs.name.input.focus();
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
    setText(this.#button.lastChild, entries.length > 1 ? t('add.button.many', { n: entries.length }) : t('add.button'));
    const isMany = entries.length > 1;
    for (const name of ['name', 'checksum']) {
      const { input } = this.#inputs[name];
      input.disabled = isMany;
      input.placeholder = isMany ? t('add.onlyone') : t(`add.${name}.hint`);
    }
    return { entries, problems };
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
    if (value('limit')) {
      asked.rateLimit = parseRate(value('limit'));
      if (asked.rateLimit === null) return this.#complain('limit', t('add.limit.invalid')), null;
    }
    if (value('connections') || this.#inputs.connections.input.validity.badInput) {
      asked.maxConnections = Number(value('connections'));
      if (!Number.isInteger(asked.maxConnections) || asked.maxConnections < 1) {
        return this.#complain('connections', t('change.number')), null;
      }
    }
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
    this.#inputs.name.input.value = '';
    this.#inputs.checksum.input.value = '';
    this.#inputs.acceptsHTML.input.checked = false;
    this.#grow();
    this.#judge(true);
    if (listed > 0) this.#announcer.say(t('add.listed', { n: listed }));
    else this.#announcer.speak(t('add.added', { n: items.length }));
    this.#onAdded(items);
  }

  #refuse(problem) {
    if (/checksum/i.test(problem.message) && problem.status === 400 && this.#inputs.checksum.input.value) {
      this.#complain('checksum', problem.text);
      return;
    }
    setText(this.#error, problem.text ?? problem.message);
    this.#error.hidden = false;
    this.#field.focus();
  }

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
