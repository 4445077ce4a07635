// Which downloads and sets are selected. Event: `change`.

export class Selection extends EventTarget {
  #ids = new Set();
  #anchor = null;
  #store;

  constructor(store, signal) {
    super();
    this.#store = store;
    store.addEventListener('list', () => this.#forgetGone(), { signal });
  }

  get size() { return this.#ids.size; }
  has(id) { return this.#ids.has(id); }

  get entries() {
    return [...this.#ids].map((id) => this.#store.entry(id)).filter(Boolean);
  }

  toggle(id) {
    if (!this.#ids.delete(id)) this.#ids.add(id);
    this.#anchor = id;
    this.#say();
  }

  set(ids) {
    this.#ids = new Set(ids);
    this.#say();
  }

  /// Keeps those alone that are shown.
  keep(ids) {
    const shown = new Set(ids);
    const kept = [...this.#ids].filter((id) => shown.has(id));
    if (kept.length < this.#ids.size) this.set(kept);
  }

  clear() {
    this.#anchor = null;
    this.set([]);
  }

  /// Selects from the last one that was touched to this one, in the order that is shown.
  extend(id, order) {
    const from = Math.max(0, order.indexOf(this.#anchor ?? id));
    const to = order.indexOf(id);
    if (this.#anchor === null) this.#anchor = id;
    for (const each of order.slice(Math.min(from, to), Math.max(from, to) + 1)) this.#ids.add(each);
    this.#say();
  }

  #forgetGone() {
    const before = this.#ids.size;
    for (const id of this.#ids) if (!this.#store.entry(id)) this.#ids.delete(id);
    if (this.#ids.size !== before) this.#say();
  }

  #say() { this.dispatchEvent(new Event('change')); }
}
