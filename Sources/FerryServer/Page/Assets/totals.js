// The speed of all, the limits, and the network: seen and changed in one line.

import { h, setText, setAttribute, uniqueId } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';
import * as format from './format.js';
import { drawSpark } from './graph.js';
import { isLoopback } from './links.js';
import { FILTERS, arrange } from './arrange.js';

const MOST_SAMPLES = 60;
const MOST_AT_A_TIME = 1000;

/// The summary of a network's state, as `ferry` has it.
const networkKind = (network) =>
  !network ? 'unknown' : !network.isOnline ? 'offline' : network.isMetered ? 'metered' : network.isConstrained ? 'constrained' : 'online';

export class Totals {
  #store;
  #actions;
  #announcer;
  #nodes = {};
  #isAsking = false;

  constructor({ store, actions, announcer, signal }) {
    this.#store = store;
    this.#actions = actions;
    this.#announcer = announcer;
    this.element = this.#build();
    const on = (type, run) => store.addEventListener(type, run, { signal });
    on('settings', () => this.#showSettings());
    on('away', () => this.#showSettings());
    on('network', () => this.#showNetwork());
    on('statistics', () => this.#showFree());
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw(), { signal });
    for (const type of ['themechange', 'resize']) window.addEventListener(type, () => this.#draw(), { signal });
    const timer = setInterval(() => this.#tick(), 1000);
    const slow = setInterval(() => { if (!document.hidden) store.refreshStatistics(); }, 30_000);
    signal.addEventListener('abort', () => {
      clearInterval(timer);
      clearInterval(slow);
    });
    this.#showSettings();
    this.#showNetwork();
    this.#showFree();
    this.#tick();
  }

  #build() {
    const nodes = this.#nodes;
    nodes.speed = h('span', { class: 'total-speed figures' }, format.rate(0));
    nodes.spark = h('canvas', { class: 'spark', 'aria-hidden': 'true' });
    nodes.free = h('span', { class: 'quiet total-free' });
    nodes.dot = h('span', { class: 'dot' });
    nodes.network = h('span', { class: 'network-word' });
    const panel = uniqueId('limits');
    nodes.more = h('button', {
      type: 'button', class: 'button quiet totals-toggle', 'aria-expanded': 'false', 'aria-controls': panel,
      on: { click: () => this.#toggle() },
    }, icon('tune'), h('span', { class: 'network-pill' }, nodes.dot, nodes.network), icon('chevron'));
    nodes.panel = h('div', { class: 'limits', id: panel }, this.#limit(), this.#concurrent(), this.#metered(), this.#assumption(),
      h('div', { class: 'limit limit-disk' }, h('span', { class: 'total-label' }, t('disk')), h('div', { class: 'network-line' }, nodes.free)));
    return h('section', { class: 'totals card', 'aria-label': t('totals') },
      h('div', { class: 'total' },
        h('div', null, h('span', { class: 'total-label' }, t('speed')), nodes.speed),
        nodes.spark),
      nodes.panel, nodes.more);
  }

  #field(id, label, ...controls) {
    return h('div', { class: 'limit' }, h('label', { class: 'total-label', for: id }, label), controls);
  }

  #limit() {
    const id = uniqueId('limit');
    const list = uniqueId('presets');
    const input = h('input', {
      id, class: 'limit-field figures', type: 'text', list, placeholder: t('limit.none'), autocomplete: 'off', spellcheck: 'false',
      name: 'total-limit',
    });
    input.addEventListener('change', () => this.#sendLimit());
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.#sendLimit();
      if (event.key === 'Escape') this.#showSettings(true);
    });
    this.#nodes.limit = input;
    const error = uniqueId('limit-error');
    this.#nodes.limitError = h('p', { class: 'field-error', id: error, role: 'alert', hidden: true });
    input.setAttribute('aria-describedby', error);
    return this.#field(id, t('total.limit'), input, this.#nodes.limitError,
      h('datalist', { id: list }, ['500 KB/s', '1 MB/s', '5 MB/s', '10 MB/s', '50 MB/s'].map((value) => h('option', { value }))));
  }

  #concurrent() {
    const id = uniqueId('concurrent');
    const step = (by, name, sign) => h('button', {
      type: 'button', class: 'step', 'aria-label': t(name), title: t(name),
      on: { click: () => this.#sendConcurrent((this.#store.settings?.maxConcurrentDownloads ?? 1) + by) },
    }, sign);
    const input = h('input', { id, class: 'step-field figures', type: 'text', inputmode: 'numeric', autocomplete: 'off', name: 'concurrent' });
    input.addEventListener('change', () => this.#sendConcurrent(Number(input.value)));
    input.addEventListener('keydown', (event) => {
      const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (by) {
        event.preventDefault();
        this.#sendConcurrent((this.#store.settings?.maxConcurrentDownloads ?? 1) + by);
      } else if (event.key === 'Enter') this.#sendConcurrent(Number(input.value));
      else if (event.key === 'Escape') {
        this.#showSettings();
        this.#complain('concurrent', null);
      }
    });
    this.#nodes.concurrent = input;
    const error = uniqueId('concurrent-error');
    this.#nodes.concurrentError = h('p', { class: 'field-error', id: error, role: 'alert', hidden: true });
    input.setAttribute('aria-describedby', error);
    return this.#field(id, t('concurrent'),
      h('div', { class: 'stepper' }, step(-1, 'concurrent.fewer', '−'), input, step(1, 'concurrent.more', '+')),
      this.#nodes.concurrentError);
  }

  #metered() {
    const id = uniqueId('metered');
    this.#nodes.metered = h('button', {
      type: 'button', id, class: 'switch', role: 'switch', 'aria-checked': 'false', 'aria-label': t('allow.metered'), title: t('allow.metered.hint'),
      on: {
        click: () => this.#send({ allowsMetered: this.#nodes.metered.getAttribute('aria-checked') !== 'true' }),
      },
    }, h('span', { class: 'knob' }));
    return this.#field(id, t('allow.metered'), this.#nodes.metered);
  }

  #assumption() {
    const id = uniqueId('network');
    const select = h('select', { id, class: 'plain-select', 'aria-label': t('assume'), title: t('assume'), name: 'assumption' },
      [['', 'assume.auto'], ['metered', 'assume.metered'], ['unmetered', 'assume.unmetered']]
        .map(([value, key]) => h('option', { value }, t(key))));
    select.addEventListener('change', () => this.#send({ networkAssumption: select.value || null }));
    this.#nodes.assumption = select;
    this.#nodes.dot2 = h('span', { class: 'dot' });
    this.#nodes.network2 = h('span', { class: 'network-word' });
    return h('div', { class: 'limit limit-network' },
      h('span', { class: 'total-label' }, t('network')),
      h('div', { class: 'network-line' }, h('span', { class: 'network-pill' }, this.#nodes.dot2, this.#nodes.network2), select));
  }

  #toggle() {
    const isOpen = this.element.classList.toggle('is-open');
    setAttribute(this.#nodes.more, 'aria-expanded', String(isOpen));
  }

  // Showing ---------------------------------------------------------------------------------------------------------

  #tick() {
    const isLive = this.#store.connection === 'live';
    const speed = isLive ? this.#store.speed : 0;
    setText(this.#nodes.speed, format.rate(speed));
    this.#store.samples.push(speed);
    if (this.#store.samples.length > MOST_SAMPLES) this.#store.samples.shift();
    this.#draw();
    const needs = this.#store.entries.filter(FILTERS.needs).length;
    document.title = [needs > 0 ? `(${needs})` : '', speed > 0 ? `↓ ${format.rate(speed)} ·` : '', 'Ferry'].filter(Boolean).join(' ');
  }

  #draw() {
    if (!document.hidden) drawSpark(this.#nodes.spark, this.#store.samples, Math.max(20, this.#store.samples.length));
  }

  #showSettings(isForced = false) {
    const settings = this.#store.settings;
    const { limit, concurrent, metered, assumption } = this.#nodes;
    for (const node of [limit, metered, assumption, ...this.element.querySelectorAll('.stepper > *')]) node.disabled = !settings || this.#store.isAway;
    if (!settings) return;
    // What is being typed stays.
    if (isForced || document.activeElement !== limit) {
      limit.value = format.rateField(settings.rateLimit);
      this.#complain('limit', null);
    }
    concurrent.value = String(settings.maxConcurrentDownloads ?? '');
    setAttribute(metered, 'aria-checked', String(settings.allowsMetered !== false));
    assumption.value = settings.networkAssumption ?? '';
  }

  #showNetwork() {
    const kind = networkKind(this.#store.network);
    for (const dot of [this.#nodes.dot, this.#nodes.dot2]) setAttribute(dot, 'data-kind', kind);
    for (const word of [this.#nodes.network, this.#nodes.network2]) setText(word, t(`network.${kind}`));
  }

  #showFree() {
    const bytes = this.#store.statistics?.freeBytes;
    setText(this.#nodes.free, bytes ? t('free', { size: format.size(bytes) }) : '');
  }

  // Changing --------------------------------------------------------------------------------------------------------

  #sendLimit() {
    const text = this.#nodes.limit.value.trim();
    const rateLimit = format.parseLimit(text === t('limit.none') ? '' : text);
    const meant = format.bareRate(text);
    if (rateLimit === undefined) return this.#complain('limit', meant ? t('wrong.offer', { text: meant }) : t('wrong.rate'));
    this.#complain('limit', null);
    this.#send({ rateLimit });
  }

  #sendConcurrent(count) {
    const isRight = Number.isInteger(count) && count >= 1 && count <= MOST_AT_A_TIME;
    this.#complain('concurrent', isRight ? null : t('concurrent.invalid', { n: MOST_AT_A_TIME }));
    if (isRight) this.#send({ maxConcurrentDownloads: count });
  }

  #complain(name, text) {
    const error = this.#nodes[`${name}Error`];
    setText(error, text ?? '');
    error.hidden = !text;
    setAttribute(this.#nodes[name], 'aria-invalid', text ? 'true' : null);
  }

  /// Those that run and would have to wait, as far as the page can tell.
  #stopped({ maxConcurrentDownloads, allowsMetered, networkAssumption }) {
    const running = arrange(this.#store.downloads.values(), { filter: 'running' });
    if (maxConcurrentDownloads !== undefined) return running.slice(maxConcurrentDownloads);
    const { settings, network } = this.#store;
    const isForbidden = (allowsMetered ?? settings?.allowsMetered) === false
      && (networkAssumption === undefined ? network?.isMetered === true : networkAssumption === 'metered');
    return isForbidden ? running.filter((download) => download.allowsMetered !== true && !isLoopback(download.url)) : [];
  }

  async #send(change) {
    // A field that loses the focus to the question sends once more.
    if (this.#isAsking) return;
    this.#isAsking = true;
    const isMeant = await this.#actions.keepsBytes('wait', this.#stopped(change));
    this.#isAsking = false;
    if (!isMeant) return this.#showSettings(true);
    const problem = await this.#store.changeSettings(change);
    if (problem) this.#announcer.warn(t('failure', { reason: problem.text ?? problem.message }));
    else this.#announcer.speak(t('saved'));
    this.#showSettings(!problem);
  }
}
