// The field for links, and what is dropped or pasted anywhere on the page. Its options are in `options.js`.

import { h, setText, setAttribute, uniqueId, isTyping } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';
import { cookieFile, droppedText, folderOf, isLink, linkProblem, mayBecomeLink, newIdentifier, parseLinks } from './links.js';
import { waitingNote } from './parts.js';

/// The most unknown options that a message names, each by its first letters: a pasted list may have any.
const MOST_NAMED = 5;
/// The field scrolls when its links need more than these pixels.
const MOST_HEIGHT = 220;

/// The longest time between the two halves of a double click.
const DOUBLE_CLICK = 600;

export class AddForm {
  #api;
  #store;
  #announcer;
  #onAdd;
  #onAdded;
  #field;
  #error;
  #button;
  #parts;
  #signal;
  /// The place of the options below the field.
  #panel;
  /// The options; `null` before they are shown for the first time.
  #options = null;
  /// The options of a draft, until they are shown.
  #kept = {};
  #toggle;
  #hint;
  /// The last request that got no answer: sent again it keeps its identifiers, and adds nothing twice.
  #unanswered = null;
  /// When links were added last: the second half of a double click finds the field empty, which is no fault.
  #addedAt = -Infinity;

  /// - onAdd: what is done, and waited for, before links are sent.
  constructor({ api, store, parts, announcer, signal, onAdd, onAdded }) {
    this.#api = api;
    this.#parts = parts;
    this.#signal = signal;
    this.#store = store;
    this.#announcer = announcer;
    this.#onAdd = onAdd;
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

  /// What was typed and not added, to be put back by `restore`.
  get draft() { return { text: this.#field.value, options: this.#options?.values ?? this.#kept }; }

  restore({ text, options }) {
    if (text) this.offer(text, true);
    this.#kept = options;
    if (this.#hasKept) this.#showOptions(true);
  }

  // Building --------------------------------------------------------------------------------------------------------

  #build() {
    const [error, hint] = [uniqueId('add-error'), uniqueId('add-hint')];
    this.#field = h('textarea', {
      class: 'add-field', rows: '1', name: 'links', placeholder: t('add.placeholder'), 'aria-label': t('add.field'),
      'aria-describedby': `${error} ${hint}`, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', enterkeyhint: 'go', dir: 'ltr',
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
    this.#hint = h('p', { class: 'add-hint quiet', id: hint, hidden: true });
    this.#button = h('button', { type: 'submit', class: 'button primary add-button' }, icon('down'), h('span', null, t('add.button')));
    const panel = uniqueId('options');
    this.#toggle = h('button', {
      type: 'button', class: 'button quiet options-toggle', 'aria-expanded': 'false', 'aria-controls': panel,
      on: { click: () => this.#showOptions(this.#panel.hidden) },
    }, h('span', null, t('add.options')), icon('chevron'));
    this.#panel = h('div', { class: 'options', id: panel, hidden: true }, waitingNote(this.#parts, this.#signal));
    this.#parts.addEventListener('change', () => { if (!this.#panel.hidden) this.#fillOptions(); }, { signal: this.#signal });
    return h('form', {
      class: 'add card', 'aria-label': t('add.title'), novalidate: true,
      on: {
        submit: (event) => {
          event.preventDefault();
          this.#submit();
        },
        focusout: ({ currentTarget, relatedTarget }) => { if (!currentTarget.contains(relatedTarget)) this.#forgive(); },
      },
    }, h('div', { class: 'add-line' }, h('div', { class: 'add-box' }, this.#field, h('span', { class: 'add-many quiet', 'aria-hidden': 'true' }, t('add.many'))), this.#toggle, this.#button), this.#error, this.#hint, this.#panel);
  }

  #showOptions(isOpen) {
    this.#panel.hidden = !isOpen;
    setAttribute(this.#toggle, 'aria-expanded', String(isOpen));
    this.#forgive();
    if (!isOpen) return;
    this.#parts.load();
    this.#fillOptions();
  }

  #fillOptions() {
    if (this.#options || !this.#parts.loaded) return;
    this.#options = new this.#parts.loaded.AddOptions({
      store: this.#store, signal: this.#signal, onInput: () => this.#showSet(), onComplain: () => this.#showOptions(true),
    });
    this.#panel.replaceChildren(...this.#options.nodes);
    this.#options.restore(this.#kept);
    this.#kept = {};
    this.#showSet();
  }

  get #hasKept() { return Object.keys(this.#kept).length > 0; }
  get #isSet() { return this.#options?.isSet ?? false; }

  /// Options count for one add alone. What is set is seen on the button, though the options be closed.
  #showSet() {
    this.#showUse(parseLinks(this.#field.value).entries.length);
    const { labels } = this.#options;
    setText(this.#toggle.firstChild, labels.length === 0 ? t('add.options') : t('set', { label: t('add.options'), n: labels.length }));
    setAttribute(this.#toggle, 'title', labels.join(' · ') || null);
    this.#toggle.classList.toggle('has-set', labels.length > 0);
  }

  #grow() {
    const { style } = this.#field;
    style.height = 'auto';
    const height = this.#field.scrollHeight + this.#field.offsetHeight - this.#field.clientHeight;
    style.height = `${Math.min(height, MOST_HEIGHT)}px`;
    style.overflowY = height > MOST_HEIGHT ? 'auto' : 'hidden';
  }

  // Judging ---------------------------------------------------------------------------------------------------------

  /// Says at once that it is no link; while one is being typed, only what cannot become one any more.
  #judge(isWhole) {
    const text = this.#field.value;
    const { entries, problems, unknown } = parseLinks(text);
    const lines = text.split(/\r\n|\n|\r/).length;
    const bad = problems.filter(({ line, text }) => isWhole || line < lines || !mayBecomeLink(text));
    setText(this.#error, bad.length === 0 ? ''
      : lines === 1 ? t(linkProblem(bad[0].text)) : t('add.invalid.line', { line: bad[0].line, text: bad[0].text, others: bad.slice(1).map(({ line }) => line).join(', ') }));
    this.#error.hidden = bad.length === 0;
    setAttribute(this.#field, 'aria-invalid', bad.length > 0 ? 'true' : null);
    this.#showHint(bad[0]?.text ?? null, lines === 1);
    this.#showUse(entries.length, bad.length === 0);
    return { entries, problems, unknown };
  }

  /// An empty field was at fault when it was sent, and is not when its user does something else.
  #forgive() {
    if (this.#field.value.trim() === '') this.#judge(true);
  }

  /// What the button does with so many links, and which options are of use to it.
  #showUse(count, areLinks = true) {
    setText(this.#button.lastChild, this.#isSet ? t('add.set.button') : count > 1 && areLinks ? t('add.button.many', { n: count }) : t('add.button'));
    this.#options?.showUse(count);
  }

  /// What helps with a line that is no link: one without a scheme is offered with it, and of several lines the one in question has
  /// its reason.
  #showHint(line, isOnly) {
    const whole = `https://${line}`;
    const hasScheme = line !== null && linkProblem(line) === 'add.scheme';
    const isAddress = line !== null && !hasScheme && /^[^\s/?#]+\.[^\s/?#.]{2,}/.test(line) && isLink(whole);
    this.#hint.hidden = !isAddress && !(hasScheme && !isOnly);
    if (this.#hint.hidden) return;
    this.#hint.replaceChildren(isAddress
      ? h('button', {
        type: 'button', class: 'button compact', on: { click: () => this.offer(this.#field.value.replace(line, () => whole), true) },
      }, t('add.scheme.offer', { link: whole }))
      : t('add.scheme'));
  }

  // Sending ---------------------------------------------------------------------------------------------------------

  /// Sends the links. Enter while others are on their way counts for what was typed since.
  async #submit() {
    if (this.#sent !== null) {
      this.#askedWith = this.#field.value;
      return;
    }
    const { entries, problems, unknown } = this.#judge(true);
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
    // What was set before counts, though it cannot be shown yet.
    if (this.#hasKept) this.#showOptions(true);
    if (this.#hasKept) return;
    const options = this.#options ? this.#options.read() : {};
    if (!options) return;
    if (options.isSet) return this.#addSet(entries, options, unknown);
    const downloads = this.#withIdentifiers(entries.map(({ line: _, lines: __, ...entry }) => request(entry, options)));
    await this.#sending(async () => {
      const answer = await this.#api.add(downloads);
      this.#unanswered = null;
      this.#finish(downloads, answer?.items ?? [], unknown);
    }, (problem) => {
      if (problem.status !== 0) this.#unanswered = null;
      this.#refuse(problem, entries);
    });
  }

  /// Adds a set of all files that the link leads to. The same once more is the same set, so no identifier is needed.
  async #addSet(entries, { directory }, unknown) {
    const [{ urls, line: _, lines: __, ...more }] = entries;
    if (entries.length > 1 || urls.length > 1 || Object.keys(more).length > 0) return this.#say(t('add.set.one'));
    await this.#sending(async () => {
      const { set, isNew } = await this.#api.addSet({ url: urls[0], directory: directory ?? folderOf(urls[0]) });
      this.#store.takeSet(set);
      this.#empty();
      this.#onAdded([set], t(isNew ? 'add.set.added' : 'add.set.again'), isNew);
      this.#warnOf(unknown);
    }, (problem) => this.#refuse(problem));
  }

  /// One addition at a time. The button keeps the focus: it is not disabled, but does nothing. What is typed meanwhile stays.
  async #sending(add, refuse) {
    [this.#sent, this.#askedWith] = [this.#field.value, null];
    setAttribute(this.#button, 'aria-disabled', 'true');
    let isNextAsked = false;
    try {
      await this.#onAdd();
      await add();
      isNextAsked = this.#askedWith === this.#sent + this.#field.value && this.#field.value.trim() !== '';
    } catch (problem) {
      refuse(problem);
    } finally {
      this.#sent = null;
      setAttribute(this.#button, 'aria-disabled', null);
    }
    if (isNextAsked) await this.#submit();
  }
  /// The text that is on its way; `null` while none is.
  #sent = null;
  /// The text when Enter was pressed last while another was on its way.
  #askedWith = null;

  #withIdentifiers(requests) {
    const text = JSON.stringify(requests);
    if (this.#unanswered?.text !== text) {
      this.#unanswered = { text, identifiers: requests.map(newIdentifier) };
    }
    return requests.map((request, index) => ({ id: this.#unanswered.identifiers[index], ...request }));
  }

  #finish(asked, items, unknown) {
    for (const item of items) this.#store.take(item);
    const ids = new Set(asked.map(({ id }) => id));
    const added = items.filter(({ id }) => ids.has(id));
    const listed = items.length - added.length;
    this.#empty();
    const words = [];
    if (added.length > 0) words.push(t('add.added', { n: added.length }));
    if (listed > 0) words.push(t(added.length > 0 ? 'add.listed.others' : 'add.listed', { n: listed }));
    this.#onAdded(added.length > 0 ? added : items, words.join('. '), listed === 0);
    this.#warnOf(unknown);
  }

  /// Names the options that were left out: a mistyped checksum is one too, and then the file is not verified.
  #warnOf(unknown) {
    if (unknown.length === 0) return;
    const names = unknown.slice(0, MOST_NAMED).map(({ name, line }) => t('add.unknown.name', { name: name.slice(0, 40), line })).join(', ');
    this.#announcer.warn(t('add.unknown', { names, n: unknown.length - MOST_NAMED }), { stays: true });
  }

  /// Takes what was added out of the field.
  #empty() {
    const { value } = this.#field;
    this.#field.value = value.startsWith(this.#sent) ? value.slice(this.#sent.length) : value;
    this.#options?.forget();
    // What is hidden does not take the focus with it.
    if (this.#panel.contains(document.activeElement)) this.#field.focus({ preventScroll: true });
    this.#showOptions(false);
    this.#grow();
    this.#judge(false);
    this.#addedAt = performance.now();
  }

  /// Says what is wrong: beside the option, unless the line has a value of its own in its place, else with the line.
  #refuse(problem, entries = []) {
    const { line, lines, urls: _, ...own } = entries[problem.index] ?? {};
    if (own.name?.includes('/')) own.directory ??= '';
    if ((problem.status === 400 || problem.status === 403) && this.#options?.complains(problem, Object.keys(own))) return;
    this.#isUnreachable = problem.status === 0;
    const at = lines?.[problem.memberOf(Object.keys(lines))] ?? line;
    this.#say(at !== undefined && (entries.length > 1 || at !== line) ? t('add.refused.line', { line: at, text: problem.text }) : problem.text);
  }

  /// Says below the field why nothing was added.
  #say(text) {
    setText(this.#error, text);
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

  /// Takes what is dropped or pasted anywhere on the page, and fits the field to its width.
  watchPage() {
    const signal = this.#signal;
    const veil = h('div', { class: 'drop-veil', hidden: true, 'aria-hidden': 'true' }, icon('down'), h('p', null, t('add.drop')));
    document.body.append(veil);
    signal.addEventListener('abort', () => veil.remove());
    const brings = ({ dataTransfer }) =>
      dataTransfer && ['Files', 'text/uri-list', 'text/plain'].some((type) => dataTransfer.types.includes(type));
    let depth = 0;
    window.addEventListener('resize', () => this.#grow(), { signal });
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

/// The request for a line of links; what stands in the line counts more than the options.
function request(entry, { cookies, ...options }) {
  const headers = options.headers && entry.headers ? { headers: { ...options.headers, ...entry.headers } } : {};
  const whole = { ...options, ...(cookies ? { cookies: cookieFile(cookies, entry.urls) } : {}), ...entry, ...headers };
  return entry.name?.includes('/') ? { ...whole, ...placed(entry.name, whole.directory) } : whole;
}

/// The folder and the name of a path that is below a folder, or absolute.
function placed(path, directory) {
  const parts = path.split('/').filter(Boolean);
  const name = parts.pop();
  const folder = parts.join('/');
  if (path.startsWith('/')) return { directory: `/${folder}`, name };
  return { directory: [directory?.replace(/\/+$/, ''), folder].filter((part) => part !== undefined && part !== '').join('/') || undefined, name };
}

/// What the empty list offers.
export const SAMPLE = 'https://download.blender.org/peach/bigbuckbunny_movies/BigBuckBunny_320x180.mp4';
