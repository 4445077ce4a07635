// Above the list: which entries are shown, search, order; and what to do with the selected ones.

import { h, setText, setAttribute } from './dom.js';
import { icon } from './icons.js';
import { has, t, number } from './text.js';
import { FACETS, FILTERS, SORTS, chosen, facetCounts, filterCounts } from './arrange.js';
import { wordsOf } from './entry.js';
import { densityButton } from './columns.js';
import { openMenu } from './menu.js';

/// What ends downloads, or takes them off the list.
const ENDING = ['cancel', 'remove'];
/// So many values of a facet are offered, the most frequent.
const MOST_VALUES = 12;

export class Bar {
  #store;
  #list;
  #selection;
  #actions;
  #announcer;
  #chips = {};
  #nodes = {};

  constructor({ store, list, selection, actions, announcer, columns, signal }) {
    this.#store = store;
    this.#list = list;
    this.#selection = selection;
    this.#actions = actions;
    this.#announcer = announcer;
    this.element = this.#build();
    this.element.append(columns);
    store.addEventListener('list', () => this.#schedule(), { signal }); // Also when the daemon goes away.
    list.addEventListener('shown', () => {
      this.#show();
      // What is not shown any more is not acted on.
      if (selection.size > 0) selection.keep(list.shown.map(({ id }) => id));
    }, { signal });
    selection.addEventListener('change', () => this.#showSelection(), { signal });
    this.#show();
    this.#showSelection();
  }

  /// The search is hidden while some are selected: then the selection ends.
  focusSearch() {
    this.#selection.clear();
    this.#nodes.search.focus();
    this.#nodes.search.select();
  }

  #build() {
    const nodes = this.#nodes;
    const chips = h('div', { class: 'chips', role: 'group', 'aria-label': t('filters') }, Object.keys(FILTERS).map((name) => {
      const count = h('span', { class: 'chip-count figures' });
      const chip = h('button', {
        type: 'button', class: 'chip', 'aria-pressed': 'false', title: has(`filter.${name}.hint`) ? t(`filter.${name}.hint`) : null, data: { filter: name }, on: { click: () => this.#view({ filter: name }) },
      }, h('span', null, t(`filter.${name}`)), count);
      this.#chips[name] = { chip, count };
      return chip;
    }));
    nodes.search = h('input', {
      type: 'search', class: 'search-field', placeholder: t('search.short'), 'aria-label': t('search'), autocomplete: 'off', spellcheck: 'false', name: 'search',
    });
    nodes.search.addEventListener('input', () => this.#view({ search: nodes.search.value }));
    nodes.search.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || nodes.search.value === '') return;
      event.stopPropagation();
      nodes.search.value = '';
      this.#view({ search: '' });
    });
    nodes.sort = h('select', { class: 'sort-field', 'aria-label': t('sort'), title: t('sort'), name: 'sort' },
      SORTS.map((value) => h('option', { value }, t(`sort.${value}`))));
    nodes.sort.addEventListener('change', () => this.#view({ sort: nodes.sort.value, isReversed: false }));
    const all = (action, name) => h('button', {
      type: 'button', class: 'icon-button all-button', 'aria-label': t(`all.${action}`), title: t(`all.${action}`), data: { all: action },
      on: { click: () => this.#actions.everything(action) },
    }, icon(name));
    nodes.pauseAll = all('pause', 'pause');
    nodes.resumeAll = all('resume', 'play');
    nodes.menu = h('button', {
      type: 'button', class: 'icon-button', 'aria-label': t('list.menu'), title: t('list.menu'), 'aria-haspopup': 'menu', 'aria-expanded': 'false',
      on: { click: () => this.#openMenu() },
    }, icon('more'));
    nodes.facets = h('div', { class: 'chips facets', role: 'group', 'aria-label': t('facets') });
    nodes.choose = h('button', {
      type: 'button', class: 'icon-button facet-button', 'aria-label': t('facets'), title: t('facets'), 'aria-haspopup': 'menu', 'aria-expanded': 'false',
      on: { click: () => this.#openFacets() },
    }, icon('filter'));
    nodes.view = h('div', { class: 'bar-view' }, chips, h('div', { class: 'facet-line' }, nodes.choose, nodes.facets),
      h('div', { class: 'bar-tools' }, h('label', { class: 'search' }, icon('search'), nodes.search), nodes.sort, densityButton(this.#list), nodes.pauseAll, nodes.resumeAll, nodes.menu));
    nodes.selection = this.#buildSelection();
    return h('div', { class: 'bar-sticky' }, nodes.view, nodes.selection);
  }

  #buildSelection() {
    const nodes = this.#nodes;
    nodes.all = h('input', { type: 'checkbox', 'aria-label': t('select.all'), title: t('select.all') });
    nodes.all.addEventListener('change', () => {
      if (nodes.all.checked) this.#selection.set(this.#list.shown.map(({ id }) => id));
      else this.#selection.clear();
    });
    nodes.count = h('span', { class: 'selection-count', role: 'status' });
    const button = (action, name, key) => h('button', {
      type: 'button', class: 'button compact', data: { action }, title: t(key),
      on: { click: () => this.#actions.run(action, this.#selection.entries) },
    }, icon(name), h('span', null, t(key)));
    nodes.buttons = [
      button('resume', 'play', 'do.resume'), button('pause', 'pause', 'do.pause'), button('cancel', 'cancel', 'do.cancel'),
      button('remove', 'leave', 'do.remove'),
    ];
    nodes.more = h('button', {
      type: 'button', class: 'icon-button', 'aria-label': t('selection.more'), title: t('selection.more'), 'aria-haspopup': 'menu', 'aria-expanded': 'false',
      on: { click: () => this.#openSelectionMenu() },
    }, icon('more'));
    return h('div', { class: 'selection', hidden: true }, h('label', { class: 'check' }, nodes.all, nodes.count),
      h('div', { class: 'selection-buttons' }, nodes.buttons), nodes.more,
      h('button', {
        type: 'button', class: 'icon-button', 'aria-label': t('unselect'), title: t('unselect'), on: { click: () => this.#selection.clear() },
      }, icon('cancel')));
  }

  #openSelectionMenu() {
    const chosen = this.#selection.entries;
    const change = (key, icon, values, isOf) => ({
      label: t(key), icon, isDisabled: !chosen.some(isOf), run: () => this.#actions.change(chosen.filter(isOf), values),
    });
    const changeable = (entry) => wordsOf(entry).may(entry, 'change');
    const ownsFile = (entry) => wordsOf(entry).ownsFile(entry);
    const isMovable = ({ id, isSet }) => !isSet && this.#selection.has(id);
    openMenu(this.#nodes.more, t('selection.more'), [
      { name: 'first', label: t('do.first'), icon: 'top', isDisabled: chosen.every(({ isSet }) => isSet), run: () => this.#actions.moveToTop(this.#list.shown.filter(isMovable)) },
      null,
      change('do.priority.high', 'up', { priority: 1 }, changeable),
      change('do.priority.normal', 'tune', { priority: 0 }, changeable),
      change('do.priority.low', 'bottom', { priority: -1 }, changeable),
      null,
      change('do.limit.none', 'tune', { rateLimit: null }, changeable),
      change('do.limit.some', 'tune', { rateLimit: 1_000_000 }, changeable),
      null,
      {
        name: 'removeFile', label: t('do.removeFile'), icon: 'remove', isDangerous: true, isDisabled: !chosen.some(ownsFile),
        run: () => this.#actions.run('removeFile', chosen.filter(ownsFile)),
      },
    ]);
  }

  /// Labels, servers and types that the list has; one of each can be chosen.
  #openFacets() {
    const entries = this.#store.entries;
    const { view } = this.#list;
    const groups = Object.keys(FACETS).map((facet) => facetCounts(entries, facet).slice(0, MOST_VALUES).map(([value, n]) => ({
      name: `${facet}:${value}`, label: t('facet.value', { facet: t(`facet.${facet}`), value: facetText(facet, value), n }), icon: 'filter',
      isChecked: view[facet] === value, run: () => this.#view({ [facet]: view[facet] === value ? null : value }),
    })));
    openMenu(this.#nodes.choose, t('facets'), groups.filter((group) => group.length > 0).flatMap((group, index) => (index === 0 ? group : [null, ...group])));
  }

  #showFacets(view) {
    const { facets, choose } = this.#nodes;
    const set = Object.keys(FACETS).filter((facet) => view[facet]);
    facets.hidden = set.length === 0;
    choose.classList.toggle('has-set', set.length > 0);
    const key = JSON.stringify(set.map((facet) => view[facet]));
    if (facets.dataset.shown === key) return;
    facets.dataset.shown = key;
    facets.replaceChildren(...set.map((facet) => {
      const text = facetText(facet, view[facet]);
      return h('button', {
        type: 'button', class: 'chip', data: { facet }, 'aria-label': t('facet.remove', { text }), title: t('facet.remove', { text }),
        on: {
          click: () => {
            this.#view({ [facet]: null });
            choose.focus();
          },
        },
      }, h('bdi', null, text), icon('cancel'));
    }));
  }

  /// Shows others, and tells readers how many, when typing has paused.
  #view(change) {
    this.#list.setView(change);
    clearTimeout(this.#told);
    this.#told = setTimeout(() => this.#announcer.speak(t('shown', { n: this.#list.shown.length })), 500);
  }
  #told = null;

  #openMenu() {
    const counts = this.#store.counts;
    const has = (...states) => states.some((state) => counts[state] > 0);
    const item = (label, iconName, run, isEnabled) => ({ label: t(label), icon: iconName, run, isDisabled: !isEnabled });
    openMenu(this.#nodes.menu, t('list.menu'), [
      item('all.resume', 'play', () => this.#actions.everything('resume'), has('paused')),
      item('all.pause', 'pause', () => this.#actions.everything('pause'), has('downloading', 'verifying', 'waiting')),
      item('all.retry', 'restart', () => this.#actions.run('resume', this.#store.inState('failed')), has('failed')),
      null,
      item('select.all', 'check', () => this.#selection.set(this.#list.shown.map(({ id }) => id)), this.#list.shown.length > 0),
      null,
      item('all.clear.completed', 'remove', () => this.#actions.clear('completed'), has('completed')),
      item('all.clear.failed', 'remove', () => this.#actions.clear('failed'), has('failed')),
      item('all.clear', 'remove', () => this.#actions.clear('completed', 'failed', 'cancelled'), has('completed', 'failed', 'cancelled')),
    ]);
  }

  #frame = null;
  #schedule() {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      this.#show();
      this.#showSelection();
    });
  }

  #show() {
    const { view } = this.#list;
    const { filter, search, sort } = view;
    const total = this.#store.entries.length;
    const counts = filterCounts(chosen(this.#store.entries, view));
    const all = filterCounts(this.#store.entries);
    this.#showFacets(view);
    this.#nodes.sort.value = sort;
    for (const [name, { chip, count }] of Object.entries(this.#chips)) {
      setText(count, counts[name] > 0 ? number(counts[name]) : '');
      setAttribute(chip, 'aria-pressed', String(filter === name));
      chip.hidden = name !== 'all' && name !== filter && all[name] === 0;
    }
    if (this.#nodes.search.value !== search) this.#nodes.search.value = search;
    const { isAway } = this.#store;
    const { menu, pauseAll, resumeAll } = this.#nodes;
    const at = document.activeElement;
    menu.disabled = isAway;
    pauseAll.disabled = isAway || all.running + all.waiting === 0;
    resumeAll.disabled = isAway || all.paused === 0;
    // What cannot be pressed any more leaves the focus to its neighbour.
    if ([pauseAll, resumeAll].includes(at) && at.disabled) [pauseAll, resumeAll, menu].find((button) => !button.disabled)?.focus();
    this.element.hidden = total === 0;
  }

  #showSelection() {
    const { all, count, buttons, more, selection, view } = this.#nodes;
    const { size } = this.#selection;
    const wasHidden = selection.hidden;
    selection.hidden = size === 0;
    view.hidden = size > 0;
    if (size === 0) {
      if (!wasHidden && selection.contains(document.activeElement)) this.#list.row(this.#list.currentId)?.element.focus();
      return;
    }
    setText(count, t('selected', { n: size }));
    all.checked = size >= this.#list.shown.length;
    all.indeterminate = !all.checked;
    const chosen = this.#selection.entries;
    const at = document.activeElement;
    more.disabled = this.#store.isAway;
    for (const button of buttons) button.disabled = this.#store.isAway || !chosen.some((entry) => wordsOf(entry).may(entry, button.dataset.action));
    // What cannot be pressed any more does not take the focus with it, and leaves it to nothing that ends downloads.
    if ([...buttons, more].includes(at) && at.disabled) ([...buttons.filter((button) => !ENDING.includes(button.dataset.action)), more].find((button) => !button.disabled) ?? all).focus();
  }
}

const facetText = (facet, value) => (facet === 'type' ? t(`type.${value}`) : value);
