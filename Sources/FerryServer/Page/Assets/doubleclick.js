// Tells the second half of a double click that falls on something else than the first: what is under the pointer may have
// moved in between.

const LONGEST = 500;
const FARTHEST = 8;

export class DoubleClicks {
  #first = { at: -Infinity, x: 0, y: 0, key: null };
  /// Whether the press that is going on, or was last, is such a half.
  isStray = false;

  /// - keyOf: what an element stands for; two presses with one key are meant for the same.
  constructor(keyOf, signal) {
    document.addEventListener('pointerdown', ({ timeStamp: at, clientX: x, clientY: y, target }) => {
      const { at: before, x: left, y: top, key: meant } = this.#first;
      const key = keyOf(target);
      const isSecond = at - before < LONGEST && Math.hypot(x - left, y - top) < FARTHEST;
      this.isStray = isSecond && key !== meant;
      if (!isSecond) this.#first = { at, x, y, key };
    }, { signal, capture: true });
  }
}
