// Reordering: by the grip with mouse, pen or finger, and by Alt with the arrows.

import { moveTarget } from './arrange.js';

/// So near to an edge of the window it scrolls.
const EDGE = 70;
/// So far it is still a click.
const SLOP = 4;

export class Dragging {
  #list;
  #drag = null;
  /// True until the click that ends a drag is over.
  wasDragged = false;

  constructor(list) {
    this.#list = list;
    list.grid.addEventListener('pointerdown', (event) => this.#start(event));
  }

  /// The download that is being dragged.
  get id() { return this.#drag?.isMoving ? this.#drag.id : null; }

  /// Moves it by one place of what is shown.
  step(download, by) {
    const index = this.#list.indexOf(download.id);
    const to = index + by;
    if (!this.#list.canReorder || download.isSet || to < 0 || to >= this.#list.shown.length) return;
    this.#drop(download, to);
  }

  #start(event) {
    const grip = event.target.closest?.('.row-grip');
    const element = grip?.closest('.row');
    if (!element || event.button !== 0 || !this.#list.canReorder) return;
    event.preventDefault();
    const done = new AbortController();
    this.#drag = {
      id: element.dataset.id, element, y: event.clientY, at: event.clientY, scroll: scrollY, isMoving: false, done,
      top: this.#list.indexOf(element.dataset.id) * this.#list.rowHeight,
    };
    element.setPointerCapture(event.pointerId);
    const { signal } = done;
    element.addEventListener('pointermove', (move) => this.#move(move), { signal });
    element.addEventListener('pointerup', () => this.#end(true), { signal });
    element.addEventListener('pointercancel', () => this.#end(false), { signal });
    window.addEventListener('keydown', (key) => {
      if (key.key !== 'Escape') return;
      key.stopPropagation();
      this.#end(false);
    }, { signal, capture: true });
  }

  #move(event) {
    const drag = this.#drag;
    drag.at = event.clientY;
    if (!drag.isMoving && Math.abs(event.clientY - drag.y) < SLOP) return;
    if (!drag.isMoving) {
      drag.isMoving = true;
      drag.element.classList.add('is-dragged');
      document.documentElement.classList.add('is-dragging');
      this.#follow();
    }
  }

  /// Each frame: the row is where the pointer is, the others make room, the window scrolls at its edges.
  #follow() {
    const drag = this.#drag;
    if (!drag?.isMoving) return;
    const speed = drag.at < EDGE ? drag.at - EDGE : drag.at > innerHeight - EDGE ? drag.at - innerHeight + EDGE : 0;
    if (speed !== 0) window.scrollBy({ top: speed / 4, behavior: 'instant' });
    const height = this.#list.rowHeight;
    const most = (this.#list.shown.length - 1) * height;
    const y = Math.max(0, Math.min(most, drag.top + (drag.at - drag.y) + (scrollY - drag.scroll)));
    drag.to = Math.round(y / height);
    // Others may come and go above it.
    const from = this.#list.indexOf(drag.id);
    drag.element.style.transform = `translateY(${y}px)`;
    for (const other of this.#list.grid.querySelectorAll('.row:not(.is-dragged)')) {
      const index = Number(other.getAttribute('aria-rowindex')) - 1;
      const shift = index > from && index <= drag.to ? -1 : index < from && index >= drag.to ? 1 : 0;
      other.style.transform = `translateY(${(index + shift) * height}px)`;
    }
    requestAnimationFrame(() => this.#follow());
  }

  /// Ends the drag of a row that leaves the list.
  release(element) {
    if (this.#drag?.element === element) this.#end(false);
  }

  #end(isDropped) {
    const drag = this.#drag;
    this.#drag = null;
    drag.done.abort();
    drag.element.classList.remove('is-dragged');
    document.documentElement.classList.remove('is-dragging');
    if (!drag.isMoving) return;
    this.wasDragged = true;
    setTimeout(() => { this.wasDragged = false; });
    const download = this.#list.entry(drag.id);
    if (isDropped && download && drag.to !== this.#list.indexOf(drag.id)) this.#drop(download, drag.to);
    else this.#list.refresh();
  }

  /// It stands there at once, between its neighbours; the daemon's order follows.
  #drop(download, index) {
    const { shown } = this.#list;
    const rest = shown.filter(({ id }) => id !== download.id);
    const to = moveTarget(shown, download, index);
    const peers = rest.filter(({ priority }) => priority === download.priority);
    const place = peers.findIndex(({ id }) => id === to.before);
    const before = to.before ? peers[place - 1] : to.after ? peers.find(({ id }) => id === to.after) : to === 'last' ? peers.at(-1) : undefined;
    const behind = to.before ? peers[place] : peers[peers.indexOf(before) + 1];
    download.position = before && behind ? (before.position + behind.position) / 2
      : behind ? behind.position - 0.5 : before ? before.position + 0.5 : download.position;
    this.#list.refresh();
    this.#list.actions.move(download, to);
    requestAnimationFrame(() => {
      this.#list.reveal(download.id, { focus: true });
      this.#list.speakPlace(download);
    });
  }
}
