// The details of a set of files: what is missing, and what is known of the set. Names of files are text.

import { h } from './dom.js';
import { t, dateTime, number } from './text.js';
import { factRows } from './facts.js';
import { needsSignIn, signInCommand } from './setwords.js';
import { errorText } from './words.js';

/// The sections of what is missing, and of what of the source cannot be used; hidden where there is nothing.
export class SetParts {
  #missing = this.#section('missing');
  #problems = this.#section('problems');
  #shown = '';

  get elements() { return [this.#missing.element, this.#problems.element]; }

  /// - entry: a set; a download has no such parts.
  show(entry) {
    const { incomplete = [], problems = [], failed = 0 } = entry.set ?? {};
    // What stays the same keeps what is selected in it.
    const shown = JSON.stringify([incomplete, problems, failed]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#fill(this.#missing, incomplete.map(({ path, error }) => h('li', null, h('bdi', { class: 'mono' }, path), error && h('p', { class: 'quiet' }, h('bdi', null, errorText(error))))));
    if (incomplete.length > 0 && failed > incomplete.length) this.#missing.list.append(h('li', { class: 'quiet' }, t('missing.more', { n: failed - incomplete.length })));
    this.#fill(this.#problems, problems.map((problem) => h('li', null, h('bdi', null, problem))));
  }

  #section(name) {
    const list = h('ul', { class: 'missing' });
    return { list, element: h('section', { class: `part part-${name}`, 'aria-label': t(name), hidden: true }, h('h3', null, t(name)), list) };
  }

  #fill({ element, list }, items) {
    list.replaceChildren(...items);
    element.hidden = items.length === 0;
  }
}

/// - copy: as in `facts`.
export function setFacts({ set, url, id, addedAt, endedAt }, copy) {
  const { directory, include, exclude, depth, base, deletesGone, replacesOthers } = set.set;
  const rules = [deletesGone && t('rule.deletesGone'), replacesOthers && t('rule.replacesOthers')].filter(Boolean);
  return factRows([
    ['fact.source', url, { canCopy: true, isMono: true }],
    ['fact.directory', directory, { canCopy: true, isMono: true }],
    ['fact.signIn', needsSignIn(set) ? signInCommand(set) : null, { canCopy: true, isMono: true }],
    ['fact.include', include?.join(', '), { isMono: true }],
    ['fact.exclude', exclude?.join(', '), { isMono: true }],
    ['fact.depth', depth === undefined ? null : number(depth)],
    ['fact.base', base, { isMono: true }],
    ['fact.rules', rules.join(' · ')],
    ['fact.added', dateTime(addedAt)],
    // A set that has failed or was cancelled has ended too.
    ['fact.looked', endedAt && ['complete', 'incomplete'].includes(set.state) ? dateTime(endedAt) : null],
    ['fact.id', id, { isMono: true }],
  ], copy);
}
