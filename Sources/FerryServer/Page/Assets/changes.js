// Which change of each entry was the last that an event has told, so that an answer that was on its way meanwhile does not
// put back what it was before.
//
// Only entries of the list are kept. All that have left it share the number of the last one that left.

export class Changes {
  #count = 0;
  #last = new Map();
  #left = 0;

  /// To be asked for before a request, whose answer is then compared with it.
  get mark() { return this.#count; }

  /// The number of entries that are kept.
  get size() { return this.#last.size; }

  changed(id) { this.#last.set(id, ++this.#count); }

  left(id) {
    this.#last.delete(id);
    this.#left = ++this.#count;
  }

  /// Forgets those that are not in the list any more, after it was read whole.
  keep(isListed) {
    for (const id of [...this.#last.keys()]) if (!isListed(id)) this.left(id);
  }

  /// Whether an event may have told something newer than the answer to a request that was sent at this mark. One that is not
  /// in the list may have left it meanwhile; if it is new, the stream tells of it.
  isOutdated(id, mark, isListed) {
    return (this.#last.get(id) ?? (isListed ? 0 : this.#left)) > mark;
  }
}
