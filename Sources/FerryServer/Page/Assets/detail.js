// One download opened: what it does, what it waits for, what happened, the map of its ranges, its speed, what is known, and what
// can be changed, folded; or one set of files: what it does, what is missing, what is known. It stands in the panel.

import { h, setText, setAttribute } from './dom.js';
import { icon } from './icons.js';
import { t, clockTime, durationText } from './text.js';
import { folded } from './history.js';
import * as format from './format.js';
import { showMap } from './ranges.js';
import { drawSpeeds } from './graph.js';
import { ChangeForm } from './change.js';
import { DoubleClicks } from './doubleclick.js';
import { facts } from './facts.js';
import { SetParts, setFacts } from './setdetail.js';
import { wordsOf } from './entry.js';
import { ask } from './ask.js';
import { figures, limitText } from './figures.js';
import { failedChecksum, isUnproven, mainAction, may, needsLink, nextTime } from './words.js';

/// While it runs, ranges and samples are read this often; nothing else tells them.
const PERIOD = 1000;
const MOST_FIGURES = 4;
/// So many events are shown at first, the newest.
const MOST_EVENTS = 5;

export class Detail {
  #api;
  #store;
  #actions;
  #closeButton;
  #announcer;
  #nodes = {};
  #id = null;
  #detail = null;
  #events = [];
  #reading = null;
  #timer = null;
  #form;
  #setParts = new SetParts();
  #doubleClicks;
  #look = '';

  /// - closeButton: of the panel; it has the focus while nothing in the details has it.
  constructor({ api, store, actions, announcer, closeButton, signal }) {
    this.#api = api;
    this.#store = store;
    this.#actions = actions;
    this.#closeButton = closeButton;
    this.#announcer = announcer;
    this.#form = new ChangeForm({ api, store, actions, announcer, onLeft: () => closeButton.focus({ preventScroll: true }) });
    this.element = this.#build();
    this.#doubleClicks = new DoubleClicks((target) => [...this.#nodes.buttons.children].indexOf(target.closest('button')), signal);
    const on = (target, type, run) => target.addEventListener(type, run, { signal });
    on(store, 'list', () => this.#changed());
    on(store, 'progress', ({ detail }) => { if (detail.includes(this.#id)) this.#progressed(); });
    on(store, 'happened', ({ detail }) => this.#happened(detail));
    on(store, 'connection', () => { if (store.connection === 'live') this.#read(true); });
    on(window.matchMedia('(prefers-color-scheme: dark)'), 'change', () => this.#draw());
    on(window, 'themechange', () => this.#draw());
    // What is drawn may change sizes: it waits for the next frame, so that the observer is not called in a circle.
    const sizes = new ResizeObserver(() => requestAnimationFrame(() => this.#draw()));
    sizes.observe(this.#nodes.map);
    sizes.observe(this.#nodes.graph);
    this.#timer = setInterval(() => this.#tick(), PERIOD);
    signal.addEventListener('abort', () => {
      sizes.disconnect();
      clearInterval(this.#timer);
      this.#reading?.abort();
    });
  }

  get isOpen() { return this.#id !== null; }

  /// Shows an entry of the list. Goes to the field that it waits for, where the focus is on the button that closes it.
  open(id) {
    this.#id = id;
    this.#detail = null;
    this.#events = [];
    this.#look = '';
    this.#form.reset();
    this.#nodes.changePart.open = false;
    this.#showsAllEvents = false;
    this.#nodes.unproven.hidden = true;
    this.element.scrollTop = 0;
    this.#changed();
    this.#read(true);
    const download = this.#store.downloads.get(id);
    const isAsked = download && (download.state === 'waiting' || mainAction(download).action === 'open');
    if (isAsked && document.activeElement === this.#closeButton) this.#form.focusNeed(download);
  }

  /// The labels of what was changed and not saved.
  get unsaved() { return this.#form.unsaved; }

  /// Whether what was changed and not saved may be lost: its user is asked.
  async discards() {
    const answer = await ask({
      title: t('ask.discard'), text: t('ask.discard.text', { fields: this.unsaved.join(' · ') }), confirm: t('ask.discard.confirm'), isDangerous: true,
      keep: t('ask.discard.not'),
    });
    if (answer === 'yes') this.#form.reset();
    else this.#form.focusUnsaved();
    return answer === 'yes';
  }

  /// The entry has left the list, and the panel closes: says so where something is lost by it.
  sayGone(name) {
    if (this.unsaved.length > 0) this.#announcer.say(t('detail.gone', { name }));
  }

  close() {
    this.#id = null;
    this.#reading?.abort();
  }

  // Building --------------------------------------------------------------------------------------------------------

  #build() {
    const nodes = this.#nodes;
    nodes.state = h('span', { class: 'detail-state' });
    nodes.percent = h('span', { class: 'detail-percent figures' });
    nodes.fill = h('span', { class: 'bar-fill' });
    nodes.progress = h('div', { class: 'bar large', role: 'progressbar', 'aria-labelledby': 'detail-name', 'aria-valuemin': '0', 'aria-valuemax': '100' }, nodes.fill);
    nodes.reason = h('p', { class: 'detail-reason', hidden: true });
    nodes.limit = h('p', { class: 'detail-limit', hidden: true });
    nodes.unproven = h('div', { class: 'notice unproven', hidden: true }, h('p', null, t('unproven.text')),
      h('button', { type: 'button', class: 'button compact', data: { action: 'resumesUnproven' }, on: { click: () => this.#allowSamples() } }, t('unproven.allow')));
    nodes.buttons = h('div', { class: 'detail-buttons' });
    nodes.figures = Array.from({ length: MOST_FIGURES }, () => h('div', { class: 'figure' }, h('dt'), h('dd', { class: 'figures' })));
    nodes.map = h('canvas', { class: 'map', role: 'img' });
    nodes.legend = h('ul', { class: 'legend' });
    nodes.graph = h('canvas', { class: 'graph', role: 'img' });
    nodes.graphMost = h('span');
    nodes.graphTime = h('div', { class: 'graph-time quiet figures' }, h('span'), nodes.graphMost, h('span', null, t('graph.now')));
    nodes.events = h('ol', { class: 'events' });
    nodes.eventsNone = h('p', { class: 'quiet' }, t('events.none'));
    nodes.eventsMore = h('button', {
      type: 'button', class: 'button quiet compact events-more', hidden: true,
      on: {
        click: () => {
          this.#showsAllEvents = true;
          this.#showEvents();
          nodes.events.focus();
        },
      },
    });
    nodes.facts = h('dl', { class: 'facts' });
    const section = (name, ...content) => h('section', { class: `part part-${name}`, 'aria-label': t(name) }, h('h3', null, t(name)), content);
    nodes.mapPart = section('map', nodes.map, nodes.legend);
    nodes.graphPart = section('graph', nodes.graph, nodes.graphTime);
    nodes.changePart = h('details', { class: 'part part-change' }, h('summary', null, h('h3', null, t('change'))), this.#form.others);
    nodes.factsPart = section('facts', nodes.facts);
    nodes.eventsPart = section('events', nodes.events, nodes.eventsNone, nodes.eventsMore);
    return h('div', { class: 'detail-body' },
      h('div', { class: 'detail-sum' },
        h('div', { class: 'detail-line' }, nodes.state, nodes.percent), nodes.progress, nodes.reason, this.#form.needed, nodes.unproven, nodes.buttons,
        h('dl', { class: 'figures-grid' }, nodes.figures), nodes.limit),
      nodes.eventsPart,
      nodes.mapPart,
      nodes.graphPart,
      nodes.changePart,
      this.#setParts.elements,
      nodes.factsPart);
  }

  // Reading ---------------------------------------------------------------------------------------------------------

  #tick() {
    if (!this.isOpen || document.hidden || this.#store.connection !== 'live') return;
    const entry = this.#store.entry(this.#id);
    if (entry?.state === 'downloading' || entry?.state === 'verifying') this.#read(false);
    if (entry && (entry.state === 'waiting' || nextTime(entry) !== null)) this.#changed();
  }

  async #read(withHistory) {
    // Of a set everything is told by events.
    if (!this.#store.downloads.has(this.#id) || (this.#reading && !withHistory)) return;
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    const id = this.#id;
    try {
      const [detail, history] = await Promise.all([
        this.#api.detail(id, reading.signal), withHistory ? this.#api.history(id, reading.signal) : null,
      ]);
      if (reading.signal.aborted || id !== this.#id) return;
      this.#detail = detail;
      if (withHistory) this.#lookForFile(id, detail);
      if (history) {
        this.#events = history.items;
        this.#showEvents();
        this.#showProgress();
      }
      this.#showDetail();
    } catch { /* the next turn reads again; a download that is gone closes the panel by its event */ } finally {
      if (this.#reading === reading) this.#reading = null;
    }
  }

  /// The list says where a file was saved; whether it still is there, the disk alone knows.
  async #lookForFile(id, { state, path }) {
    const problem = state === 'completed' && path ? await this.#api.fileProblem(id) : null;
    this.#store.noteLost(id, problem?.text ?? null);
    if (id === this.#id) this.#draw();
  }

  get #isLost() { return Boolean(this.#store.downloads.get(this.#id)?.lost); }

  #lastState = null;
  #changed() {
    if (!this.isOpen) return;
    const entry = this.#store.entry(this.#id);
    if (!entry) return; // Its panel closes once the whole list is known.
    this.#showHead(entry);
    this.#showProgress();
    this.#setParts.show(entry);
    if (entry.isSet) this.#showSet();
    else this.#showDownload(entry);
  }

  #showSet() {
    const { mapPart, graphPart, changePart, eventsPart } = this.#nodes;
    for (const part of [mapPart, graphPart, changePart, eventsPart, this.#form.needed]) part.hidden = true;
    this.#showFacts();
  }

  /// Of a set, figures are all that events tell while it is synced.
  #progressed() {
    if (this.#store.sets.has(this.#id)) this.#changed();
    else this.#showProgress();
  }

  #showDownload(download) {
    this.#nodes.eventsPart.hidden = false;
    this.#nodes.changePart.hidden = !may(download, 'change');
    this.#form.show(download);
    if (this.#nodes.changePart.hidden) this.#form.needed.hidden = true;
    this.#form.keepFocus();
    const state = `${download.id} ${download.state} ${download.waitReason} ${download.url} ${download.validator}`;
    if (state !== this.#lastState) {
      this.#lastState = state;
      if (document.activeElement === this.#closeButton && download.state === 'waiting') this.#form.focusNeed(download);
      if (this.#detail) this.#read(false);
      if (this.#detail) this.#showFacts();
    }
  }

  #happened(event) {
    if (event.id !== this.#id) return;
    if (this.#events.some(({ date, kind, number }) => date === event.date && kind === event.kind && number === event.number)) return;
    this.#events.push(event);
    this.#showEvents();
  }

  // Showing ---------------------------------------------------------------------------------------------------------

  #showHead(download) {
    const nodes = this.#nodes;
    const words = wordsOf(download);
    const about = t(download.isSet ? 'set.facts' : 'facts');
    setText(nodes.factsPart.firstChild, about);
    setAttribute(nodes.factsPart, 'aria-label', about);
    const state = words.stateText(download);
    setText(nodes.state, state);
    const isLost = this.#isLost;
    const reason = words.explanation(download);
    setText(nodes.reason, reason);
    nodes.reason.hidden = reason === '';
    nodes.reason.classList.toggle('notice', isLost);
    const main = words.mainAction(download);
    const { isAway } = this.#store;
    const need = !download.isSet && may(download, 'change') ? ChangeForm.need(download) : null;
    const look = [download.state, download.actions.join(), main.label, main.reason, state, isAway, need, isLost].join();
    if (look === this.#look) return;
    this.#look = look;
    const hadFocus = nodes.buttons.contains(document.activeElement);
    const button = (action, label, name, className) => h('button', {
      type: 'button', class: `button ${className}`, data: { action }, disabled: isAway || (action !== 'save' && !words.may(download, action)) || (action === main.action && main.reason !== null),
      title: isAway ? t('lost') : action === main.action ? main.reason : null,
      on: {
        click: (event) => {
          if (this.#doubleClicks.isStray(event)) return;
          const shown = [this.#store.entry(this.#id)].filter(Boolean);
          if (action === 'resume' && download.state === 'failed' && this.#form.sendChanged()) return;
          if (action === 'save') shown.forEach((each) => this.#actions.save(each));
          else this.#actions.run(action, shown);
        },
      },
    }, icon(name), h('span', null, label));
    nodes.buttons.replaceChildren(...[
      // What the form above asks for has its button there.
      main.action !== 'open' && !(need !== null && download.state === 'failed' && ChangeForm.retries(download))
        && button(main.action, main.label, main.icon, download.state === 'completed' || download.state === 'cancelled' || need !== null ? '' : 'primary'),
      !download.isSet && failedChecksum(download) && button('resume', t('do.restart'), 'restart', ''),
      !download.isSet && download.state === 'completed' && download.path && !isLost && button('save', t('do.save'), 'save', ''),
      download.state === 'waiting' && main.action !== 'pause' && button('pause', t('do.pause'), 'pause', ''),
      ['completed', 'cancelled', 'failed'].includes(download.state)
        ? button('remove', t('do.remove'), 'leave', '') : button('cancel', t('do.cancel'), 'cancel', ''),
      words.may(download, 'removeFile') && button('removeFile', t('do.removeFile'), 'remove', ''),
    ].filter(Boolean));
    if (hadFocus) nodes.buttons.querySelector('button:not([disabled])')?.focus();
  }

  #showProgress() {
    const entry = this.#store.entry(this.#id);
    if (!entry) return;
    const nodes = this.#nodes;
    const words = wordsOf(entry);
    const part = words.fraction(entry);
    const percent = words.percentOf(entry);
    setText(nodes.percent, percent);
    nodes.fill.style.transform = `scaleX(${part ?? 0})`;
    setAttribute(nodes.progress, 'aria-valuenow', part === null ? null : Math.floor(part * 100));
    setAttribute(nodes.progress, 'aria-valuetext', [words.stateText(entry), percent].filter(Boolean).join(', '));
    const isRunning = entry.state === 'downloading' && !this.#store.isAway;
    const limit = isRunning ? limitText(entry.progress) : '';
    setText(nodes.limit, limit);
    nodes.limit.hidden = limit === '';
    const shown = figures(entry, this.#events, isRunning);
    nodes.figures.forEach((figure, index) => {
      const [key, text] = shown[index];
      setText(figure.firstChild, t(key));
      setText(figure.lastChild, text);
      figure.hidden = text === '';
    });
  }

  #showDetail() {
    this.#draw();
    this.#showFacts();
    this.#form.show(this.#store.downloads.get(this.#id) ?? this.#detail);
  }

  /// What a break would throw away is compared and kept, if its user says so.
  async #allowSamples() {
    await this.#actions.change([this.#store.downloads.get(this.#id)].filter(Boolean), { resumesUnproven: true });
    await this.#read(true);
  }

  #showFacts() {
    const set = this.#store.sets.get(this.#id);
    this.#writeFacts(set ? setFacts(set, (text) => this.#actions.copy(text)) : this.#downloadFacts());
  }

  #downloadFacts() {
    const listed = this.#store.downloads.get(this.#id);
    const download = { ...this.#detail, ...listed };
    // While it runs the list does not know yet what the transfer knows.
    for (const name of ['validator', 'checksum', 'path', 'proof']) download[name] ??= this.#detail?.[name] ?? null;
    const { unproven } = this.#nodes;
    const hadFocus = unproven.contains(document.activeElement);
    unproven.hidden = !isUnproven(download) || needsLink(download) || !may(download, 'change');
    if (hadFocus && unproven.hidden) this.#closeButton.focus({ preventScroll: true });
    return facts(download, (text) => this.#actions.copy(text));
  }

  #writeFacts(rows) {
    // What stays the same keeps its focus and what is selected in it.
    const html = rows.map((row) => row.outerHTML).join('');
    if (html === this.#factsShown) return;
    this.#factsShown = html;
    this.#nodes.facts.replaceChildren(...rows);
  }
  #factsShown = '';

  #draw() {
    if (!this.isOpen) return;
    showMap(this.#nodes, this.#detail);
    // What was received is no longer on the disk.
    if (this.#isLost) this.#nodes.mapPart.hidden = true;
    this.#drawGraph();
  }

  #drawGraph() {
    const nodes = this.#nodes;
    const speeds = this.#detail?.speeds ?? [];
    const has = speeds.length > 1 && speeds.some((speed) => speed > 0);
    nodes.graphPart.hidden = !has;
    if (!has) return;
    drawSpeeds(nodes.graph, speeds);
    const most = Math.max(...speeds);
    const mean = speeds.reduce((sum, value) => sum + value, 0) / speeds.length;
    setText(nodes.graphMost, t('graph.most', { rate: format.rate(most) }));
    setText(nodes.graphTime.firstChild, t('graph.ago', { time: durationText(Math.max(30, speeds.length)) }));
    setAttribute(nodes.graph, 'aria-label', t('graph.label', {
      time: durationText(speeds.length), now: format.rate(speeds.at(-1)), most: format.rate(most), mean: format.rate(mean),
    }));
  }

  #showEvents() {
    const { events, eventsNone, eventsMore } = this.#nodes;
    eventsNone.hidden = this.#events.length > 0;
    const all = folded(this.#events);
    const shown = this.#showsAllEvents ? all : all.slice(0, MOST_EVENTS);
    eventsMore.hidden = shown.length === all.length;
    setText(eventsMore, t('events.more', { n: all.length - shown.length }));
    setAttribute(events, 'tabindex', this.#showsAllEvents ? '-1' : null);
    events.replaceChildren(...shown.map(({ kind, text, date, since }) => h('li', { class: `event event-${String(kind).replace(/\W/g, '')}` },
      icon(EVENT_ICONS[kind] ?? 'note'),
      h('p', null, h('bdi', null, text)),
      h('time', { datetime: date, title: since === date ? null : t('events.since', { time: clockTime(since) }), class: 'quiet figures' }, clockTime(date)))));
  }
  #showsAllEvents = false;
}

const EVENT_ICONS = {
  added: 'add', started: 'down', resumed: 'play', retrying: 'clock', restarted: 'restart', waiting: 'clock', note: 'note',
  paused: 'pause', completed: 'check', failed: 'warn', cancelled: 'cancel',
};
