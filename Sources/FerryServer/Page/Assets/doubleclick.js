// Tells the second half of a double click that means something else than the first: what is under the pointer may have
// moved, or changed what it does, in between.

const LONGEST = 500;
const FARTHEST = 8;

export class DoubleClicks {
  #first = { at: -Infinity, x: 0, y: 0, key: null, action: null };
  #isElsewhere = false;
  #isChanged = false;

  /// - keyOf: what an element stands for; two presses with one key are meant for the same.
  constructor(keyOf, signal) {
    document.addEventListener('pointerdown', ({ timeStamp: at, clientX: x, clientY: y, target }) => {
      const first = this.#first;
      const key = keyOf(target);
      const action = target.closest('button')?.dataset.action ?? null;
      const isSecond = at - first.at < LONGEST && Math.hypot(x - first.x, y - first.y) < FARTHEST;
      this.#isElsewhere = isSecond && key !== first.key;
      this.#isChanged = isSecond && action !== first.action;
      if (!isSecond) this.#first = { at, x, y, key, action };
    }, { signal, capture: true });
  }

  /// Whether a click is such a half: on something else, or on a button that does something else by now.
  isStray(click) {
    return click.detail > 0 && (this.#isElsewhere || (click.detail > 1 && this.#isChanged));
  }
}
