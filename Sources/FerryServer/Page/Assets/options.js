// The options of an addition: fields that count for it alone.

import { h, uniqueId } from './dom.js';
import { t } from './text.js';
import { FieldSet, SECTIONS } from './fields.js';
import { isLink } from './links.js';

/// The property of a field that has its value.
const valueOf = ({ type }) => (type === 'checkbox' ? 'checked' : 'value');

/// What can be chosen for a set of files.
const OF_SETS = ['isSet', 'directory'];

export class AddOptions {
  #store;
  #fields;
  #warning = h('p', { class: 'notice', role: 'alert', hidden: true }, t('insecure.warning'));
  /// What was set before and not kept, until its user has been told.
  #missing = new Set();
  #folders = h('datalist', { id: uniqueId('folders') });

  /// - onInput, onComplain: as in `FieldSet`.
  constructor({ store, signal, onInput, onComplain }) {
    this.#store = store;
    this.#fields = new FieldSet({
      onInput: () => {
        this.#warning.hidden = !this.#fields.input('insecure').checked;
        onInput();
      },
      onComplain,
    });
    this.nodes = this.#build();
    this.#offerFolders();
    store.addEventListener('settings', () => this.#showFolder(), { signal });
    this.#showFolder();
  }

  #build() {
    const fields = this.#fields;
    const field = (name) => fields.field(name);
    return [
      ...['name', 'directory', 'checksum', 'rateLimit', 'maxConnections', 'allowsMetered', 'user', 'password', 'onConflict', 'notBefore', 'headers'].map(field),
      h('div', { class: 'checks' }, field('startsPaused'), field('acceptsHTML'), field('isSet')),
      fields.section('section.connection', SECTIONS.connection, this.#warning),
      fields.section('section.file', SECTIONS.file),
    ];
  }

  /// Offers the folders below that of downloads that downloads of the list are in.
  #offerFolders() {
    const input = this.#fields.input('directory');
    input.after(this.#folders);
    input.setAttribute('list', this.#folders.id);
    input.addEventListener('focus', () => {
      const folder = this.#store.settings?.directory;
      if (!folder) return;
      const inside = `${folder.replace(/\/$/, '')}/`;
      const used = new Set([...this.#store.downloads.values()].map(({ directory }) => directory ?? '').filter((each) => each.startsWith(inside)));
      this.#folders.replaceChildren(...[...used].sort().map((each) => h('option', { value: each.slice(inside.length) })));
    });
  }

  /// Says which folder is meant.
  #showFolder() {
    const folder = this.#store.settings?.directory;
    if (folder) this.#fields.setHint('directory', t('field.directory.in', { folder }));
  }

  get isSet() { return this.#fields.input('isSet').checked; }

  /// The labels of what is set.
  get labels() { return this.#fields.labels; }

  /// Which of them are of use to so many links.
  showUse(count) {
    for (const name of this.#fields.names) {
      const isForOne = count > 1 && ['name', 'checksum'].includes(name);
      this.#fields.disable(name, this.isSet && !OF_SETS.includes(name) ? t('add.set.only') : isForOne ? t('add.onlyone') : null);
    }
  }

  /// What they ask for; `null` when one makes no sense, which is said beside it.
  read() {
    const missing = [...this.#missing].find((name) => this.#fields.input(name).value === '');
    this.#missing.clear();
    if (missing) return this.#fields.complain(missing, t('add.notKept'));
    const asked = this.#fields.read();
    if (!asked) return null;
    if (asked.password && !asked.user) return this.#fields.complain('user', t('add.user.needed'));
    const list = asked.checksum?.replace(/^@/, '');
    // A checksum of null is none, whatever the server declares.
    if (isLink(list ?? '')) Object.assign(asked, { checksumList: list, checksum: undefined });
    return Object.fromEntries(Object.entries(asked).filter(([name, value]) => value !== undefined && (value !== null || name === 'checksum')));
  }

  /// Says why the daemon refused, beside the field that the refusal is about; gives whether there is such a field, and it is
  /// none of `others`, which have other values.
  complains(problem, others = []) {
    const field = this.#fields.refused(problem);
    if (field === null || others.includes(field)) return false;
    this.#fields.complain(field, problem.text);
    return true;
  }

  forget() {
    this.#missing.clear();
    this.#fields.forget();
  }

  /// What is set, by field, to be put back by `restore`.
  get values() {
    return Object.fromEntries(this.#fields.changed.map((name) => [name, this.#fields.input(name)[valueOf(this.#fields.input(name))]]));
  }

  /// A value of `null` was not kept, which is said beside its field, and once more when the links are sent.
  restore(values) {
    for (const [name, value] of Object.entries(values)) {
      if (!this.#fields.names.includes(name)) continue;
      const input = this.#fields.input(name);
      if (value === null) {
        this.#missing.add(name);
        this.#fields.complain(name, t('add.notKept'), false);
        continue;
      }
      input[valueOf(input)] = value;
      for (const type of ['input', 'change']) input.dispatchEvent(new Event(type));
    }
  }
}
