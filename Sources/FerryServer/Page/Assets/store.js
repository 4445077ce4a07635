// What the page knows: the downloads and sets of the list, the settings, the network, and whether the daemon is there.
// Views observe it.
//
// Events: `list` (who is in it, where, in which state), `progress` {ids}, `ended` {download}, `needs` {download} (it goes on
// when its user has done something), `happened` {event}, `settings`, `network`, `statistics`, `connection`, `away`.

import { Stream } from './stream.js';
import { noteSlots, setEntry, wordsOf } from './entry.js';
import { isUnproven, needsUser } from './words.js';

/// The most entries of one page of the list, as the daemon allows.
const PAGE = 1000;
/// So many are shown first, on a link on which a whole page takes long: more than most windows have room for.
const FIRST_PAGE = 40;
/// A gap shorter than this is not worth a word.
const PATIENCE = 1200;
/// Figures change this often; more often nobody can read them.
const PERIOD = 1000;

/// Whether it waits for something that its user alone can give.
const isStuck = (download) => download.state === 'waiting' && needsUser(download);

/// The entries of an answer with sets, by identifier.
const setsOf = ({ items }) => new Map(items.map((set) => [set.id, setEntry(set)]));

export class Store extends EventTarget {
  downloads = new Map();
  /// The sets of files, as entries of the list.
  sets = new Map();
  settings = null;
  network = null;
  statistics = null;
  /// The speed of all, second by second, newest last.
  samples = [];
  /// `connecting`, `live` or `lost`.
  connection = 'connecting';
  isLoaded = false;
  /// Whether the daemon has been lost for so long that figures and buttons are stale.
  isAway = false;
  /// Whether the daemon that answers has another version of the API than this page.
  isOutdated = false;

  #api;
  #stream;
  #loading = null;
  #wantsLoad = false;
  /// The position of the daemon's log at which each of those that have left did so: an answer from before is too old.
  #left = new Map();
  #startedAt = Date.now();
  /// Counts the logs: what was asked for before the last one began is too old.
  #epoch = 0;
  /// Those that leave the list, unless that is taken back.
  #hidden = new Map();
  /// Paused ones whose details were read, and whether going on would throw away what is here.
  #unproven = new Map();
  /// Why the files of complete ones cannot be read, where that was asked.
  #lost = new Map();
  /// Those that the daemon is removing: what it says of them last is asked about no more.
  #leaving = new Set();
  #moved = new Set();
  #timer = null;
  /// Bytes a second over all downloads, as the last event has it.
  #speed = 0;
  /// The rows that are shown before the list is read.
  #firstRows = null;

  constructor(api) {
    super();
    this.#api = api;
    this.#stream = new Stream(api, {
      opened: (isFirst) => this.#opened(isFirst),
      event: (name, data) => this.#event(name, data),
      lost: () => this.#setConnection('lost'),
      waiting: () => this.#say('connection'),
      expects: () => this.inState('downloading').length > 0,
      outdated: () => {
        this.isOutdated = true;
        this.#setAway(true);
      },
      signedOut: () => api.onSignedOut(),
    });
  }

  start() {
    this.#stream.run(); // Owned by the stream, which `stop` ends.
    this.#firstRows = this.#showFirstRows();
  }

  stop() {
    this.#stream.stop();
    clearTimeout(this.#patience);
  }

  retryNow() { this.#stream.retryNow(); }
  get nextAttempt() { return this.#stream.nextAttempt; }

  /// Bytes a second over all downloads that run and all sets that are synced.
  get speed() {
    // Of the daemon, as files may begin and end between two events.
    let sum = this.inState('downloading').some((entry) => !entry.isSet) ? this.#speed : 0;
    for (const { set } of this.sets.values()) sum += set.bytesPerSecond ?? 0;
    return sum;
  }

  /// The downloads and the sets.
  get entries() { return [...this.sets.values(), ...this.downloads.values()]; }
  entry(id) { return this.downloads.get(id) ?? this.sets.get(id); }

  /// Those in one state.
  inState(state) {
    return this.entries.filter((entry) => entry.state === state);
  }

  /// How many there are in each state.
  get counts() {
    const counts = {};
    for (const { state } of this.entries) counts[state] = (counts[state] ?? 0) + 1;
    return counts;
  }

  /// Takes what an answer or an event shows of a download, unless something newer is known.
  take(download) {
    if (download?.id && this.#isNews(download)) this.#put(download);
  }

  /// Takes what an answer or an event shows of a set, likewise.
  takeSet(set) {
    if (this.#isNews(set)) this.#putSet(set);
  }

  #isNews({ id, asOf = 0 }) {
    const known = this.entry(id) ?? this.#hidden.get(id);
    return asOf >= (known?.asOf ?? 0) && asOf >= (this.#left.get(id) ?? 0);
  }

  /// Takes ended ones out of what is shown, before the daemon is told. One that is begun again elsewhere is shown again.
  hide(ids) {
    for (const id of ids) {
      const entry = this.entry(id);
      if (!entry) continue;
      this.#hidden.set(id, entry);
      this.#kin(entry).delete(id);
    }
    this.#say('list');
  }

  unhide(ids) {
    for (const id of ids) {
      const entry = this.#hidden.get(id);
      if (!entry) continue;
      this.#hidden.delete(id);
      this.#kin(entry).set(id, entry);
    }
    this.#say('list');
  }

  isHidden(id) { return this.#hidden.has(id); }

  /// Whether one that is hidden stays so, as what is new of it says.
  #staysHidden(entry) {
    if (!this.#hidden.has(entry.id)) return false;
    if (wordsOf(entry).hasEnded(entry)) this.#hidden.set(entry.id, entry);
    else this.#hidden.delete(entry.id);
    return this.#hidden.has(entry.id);
  }

  /// Whether the daemon has been told to remove these.
  leave(ids, isLeaving) {
    for (const id of ids) this.#leaving[isLeaving ? 'add' : 'delete'](id);
  }

  /// Files of sets are downloads of another session, in the same slots: where other downloads have them all, a set waits.
  #noteSets() {
    const most = this.settings?.maxConcurrentDownloads;
    if (this.sets.size === 0 || !most) return;
    let running = 0;
    for (const { state } of this.downloads.values()) if (state === 'downloading' || state === 'verifying') running += 1;
    for (const entry of this.sets.values()) noteSlots(entry, running >= most);
  }

  #kin({ isSet }) { return isSet ? this.sets : this.downloads; }

  /// Reads whether a paused one that is shown would begin from zero: its details alone tell it.
  async learn({ id, isSet, state, progress }) {
    if (isSet || state !== 'paused' || progress.completedBytes === 0 || this.isAway || this.#unproven.has(id) || this.#leaving.has(id)) return;
    this.#unproven.set(id, false);
    try {
      const detail = await this.#api.detail(id);
      const download = this.downloads.get(id);
      this.#unproven.set(id, isUnproven(detail));
      if (!download || !isUnproven(detail)) return;
      this.#note(download);
      this.#say('list');
    } catch { this.#unproven.delete(id); }
  }

  /// Notes why the file of a complete one cannot be read; `null` if it can.
  noteLost(id, reason) {
    const download = this.downloads.get(id);
    if (!download || (this.#lost.get(id) ?? null) === reason) return;
    if (reason === null) this.#lost.delete(id);
    else this.#lost.set(id, reason);
    this.#note(download);
    this.#say('list');
  }

  /// What the page knows besides: that credentials were refused, that only the rule on metered networks is in the way, that nobody
  /// tells what is true now.
  #note(download) {
    const { waitReason, id, error } = download;
    download.isUnproven = download.state === 'paused' && this.#unproven.get(id) === true;
    download.isStale = this.isAway;
    download.lost = download.state === 'completed' ? this.#lost.get(id) ?? null : null;
    download.wasRefused = waitReason === 'credentials' && error?.phrase?.[0] === 'credentialsRefused';
    download.isMetered = waitReason === 'network' && this.network?.isOnline === true && this.network.isMetered === true;
  }

  #say(type, detail) {
    if (type === 'list') this.#noteSets();
    this.dispatchEvent(new CustomEvent(type, { detail }));
    // With more slots, sets may go on.
    if (type === 'settings' && this.sets.size > 0) this.#say('list');
  }

  #setConnection(value) {
    this.connection = value;
    if (value === 'lost') this.#patience ??= setTimeout(() => this.#setAway(true), PATIENCE);
    else this.#setAway(false);
    this.#say('connection');
  }

  #setAway(isAway) {
    clearTimeout(this.#patience);
    if (!isAway) this.#patience = null;
    if (this.isAway === isAway) return;
    this.isAway = isAway;
    for (const download of this.downloads.values()) this.#note(download);
    for (const set of this.sets.values()) set.isStale = isAway;
    this.#say('away');
    this.#say('list');
  }
  #patience = null;

  #opened(isFirst) {
    this.isOutdated = false;
    this.#setConnection('live');
    // With a last id the daemon sends what was missed, or `reset`. At first there is nothing to go on from.
    if (isFirst || !this.isLoaded) this.load();
    this.#refreshRest();
  }

  #event(name, data) {
    switch (name) {
      case 'state': this.take(data.download); break;
      case 'set': this.takeSet(data.set); break;
      case 'progress':
        this.#speed = data.bytesPerSecond;
        this.#progress(data.downloads);
        break;
      case 'removed': this.#remove(data); break;
      case 'order': this.load(); break;
      case 'reset':
        this.#begin();
        this.load();
        break;
      case 'happened': this.#say('happened', data.event); break;
      case 'settings':
        if (data.settings?.scope !== 'session') this.settings = data.settings;
        this.#say('settings');
        break;
      case 'network':
        this.network = data.network;
        this.#networkChanged();
        break;
      default: break; // `ended` and `upToDate` are for apps; others come from newer daemons.
    }
  }

  #networkChanged() {
    for (const download of this.downloads.values()) this.#note(download);
    this.#say('network');
    this.#say('list');
  }

  /// The daemon's log may have begun anew: whatever is read from now on is newer than what is known.
  #begin() {
    this.#epoch += 1;
    this.#left.clear();
    for (const entry of [...this.entries, ...this.#hidden.values()]) entry.asOf = 0;
  }

  #put(download) {
    this.#unproven.delete(download.id);
    if (download.state !== 'completed') this.#lost.delete(download.id);
    this.#note(download);
    if (this.#staysHidden(download)) return;
    const old = this.downloads.get(download.id);
    this.downloads.set(download.id, download);
    this.#noticeEnd(old, download);
    this.#say('list');
  }

  #putSet(set) {
    const entry = setEntry(set);
    entry.isStale = this.isAway;
    if (this.#staysHidden(entry)) return;
    const old = this.sets.get(set.id);
    this.sets.set(set.id, entry);
    this.#noticeEnd(old, entry);
    this.#noteSets();
    if (old?.state !== entry.state || old.set.state !== set.state) return this.#say('list');
    this.#moved.add(set.id);
    if (this.#timer === null) this.#tellProgress();
  }

  #noticeEnd(old, download) {
    if (isStuck(download) && (old ? !isStuck(old) : this.isLoaded)) this.#say('needs', download);
    if (download.state !== 'completed' && download.state !== 'failed') return;
    if (old ? old.state === download.state : !this.isLoaded || Date.parse(download.endedAt ?? '') < this.#startedAt) return;
    this.#say('ended', download);
  }

  #progress(list) {
    for (const { id, ...progress } of list ?? []) {
      const download = this.downloads.get(id);
      // What has stopped stands as its state says: progress may be older than that.
      if (download?.state !== 'downloading' && download?.state !== 'verifying') continue;
      download.progress = progress;
      this.#moved.add(id);
    }
    if (this.#moved.size > 0 && this.#timer === null) this.#tellProgress();
  }

  /// At once, and then no more often than once in a period.
  #tellProgress() {
    this.#timer = null;
    if (this.#moved.size === 0) return;
    const ids = [...this.#moved];
    this.#moved.clear();
    this.#timer = setTimeout(() => this.#tellProgress(), PERIOD);
    this.#say('progress', ids);
  }

  #remove({ ids, asOf }) {
    for (const id of ids ?? []) {
      this.#left.set(id, asOf);
      this.#unproven.delete(id);
      this.#lost.delete(id);
      if ((this.entry(id)?.asOf ?? 0) > asOf) continue;
      this.downloads.delete(id);
      this.sets.delete(id);
      this.#hidden.delete(id);
    }
    this.#say('list');
  }

  /// Reads the whole list again, page by page; asked for once more while it does so, it begins once more.
  async load() {
    this.#wantsLoad = true;
    if (this.#loading) return this.#loading;
    this.#loading = (async () => {
      while (this.#wantsLoad) {
        this.#wantsLoad = false;
        try {
          await this.#readList();
        } catch {
          // Without a connection the stream joins again; a refusal in between is tried with the next event.
          if (this.connection === 'live') await new Promise((resolve) => setTimeout(resolve, 1000));
          if (!this.isLoaded && this.connection === 'live') this.#wantsLoad = true;
        }
      }
    })();
    await this.#loading;
    this.#loading = null;
  }

  async #readList() {
    const seen = new Map();
    const epoch = this.#epoch;
    await this.#firstRows;
    const [answer, first] = await this.#beginning(PAGE);
    const sets = setsOf(answer);
    let total = Infinity;
    let asOf = Infinity;
    for (let attempt = 0; attempt < 3 && seen.size < total; attempt++) {
      for (let offset = 0; offset < total; ) {
        const page = offset === 0 && attempt === 0 ? first : await this.#api.page(offset, PAGE);
        total = page.total;
        if (epoch !== this.#epoch) return;
        asOf = Math.min(asOf, page.asOf);
        for (const download of page.items) seen.set(download.id, download);
        offset += page.items.length;
        if (page.items.length === 0) break;
        // What has come is shown while the rest is on its way.
        if (!this.isLoaded && offset < total) this.#show(seen, asOf, sets, answer.asOf, false);
      }
    }
    this.#show(seen, asOf, sets, answer.asOf, true);
    // Few answers are on their way for longer than a list is read.
    if (this.#left.size > PAGE) this.#left.clear();
  }

  /// The sets and the first downloads, both at once: on a slow link each answer that is waited for costs a round trip.
  #beginning(limit) { return Promise.all([this.#api.sets(), this.#api.page(0, limit)]); }

  /// Shows the first rows while the stream is being opened. What changes before it is open is not told: the list is read again then.
  async #showFirstRows() {
    if (this.isLoaded) return;
    try {
      const [sets, { items, asOf }] = await this.#beginning(FIRST_PAGE);
      this.#show(new Map(items.map((download) => [download.id, download])), asOf, setsOf(sets), sets.asOf, false);
    } catch { /* the list is read when the stream is open */ }
  }

  #show(seen, asOf, sets, setsAsOf, isWhole) {
    this.downloads = this.#merged(seen, this.downloads, asOf);
    this.sets = this.#merged(sets, this.sets, setsAsOf);
    if (isWhole) this.isLoaded = true;
    // What has left the list meanwhile cannot come back.
    for (const [id, { isSet, asOf: since = 0 }] of isWhole ? this.#hidden : []) {
      if (!(isSet ? sets : seen).has(id) && !(since > (isSet ? setsAsOf : asOf))) this.#hidden.delete(id);
    }
    this.#say('list');
  }

  /// What was read, as new as `asOf`, except where events have told something newer than it: that is in `known`.
  #merged(seen, known, asOf) {
    const next = new Map();
    for (const [id, entry] of seen) {
      if ((this.#left.get(id) ?? 0) > (entry.asOf ?? 0)) continue;
      const old = known.get(id) ?? this.#hidden.get(id);
      const newest = old && (old.asOf ?? 0) > (entry.asOf ?? 0) ? old : entry;
      this.#note(newest);
      if (this.#staysHidden(newest)) continue;
      next.set(id, newest);
      if (old && newest !== old) this.#noticeEnd(old, newest);
    }
    for (const [id, entry] of known) {
      if (!next.has(id) && (entry.asOf ?? 0) > asOf) next.set(id, entry);
    }
    return next;
  }

  async #refreshRest() {
    const [settings, network, statistics] = await Promise.allSettled([
      this.#api.get('/settings'), this.#api.get('/network'), this.#api.get('/statistics'),
    ]);
    if (settings.status === 'fulfilled') this.settings = settings.value;
    if (network.status === 'fulfilled') this.network = network.value;
    if (statistics.status === 'fulfilled') this.statistics = statistics.value;
    for (const type of ['settings', 'statistics']) this.#say(type);
    this.#networkChanged();
  }

  /// Free space and the like, which no event tells.
  async refreshStatistics() {
    if (this.connection !== 'live') return;
    try {
      this.statistics = await this.#api.get('/statistics');
      this.#say('statistics');
    } catch { /* shown again at the next turn */ }
  }

  /// Changes settings of the daemon; gives the problem, or `null`.
  async changeSettings(change) {
    try {
      this.settings = await this.#api.patch('/settings', change);
      return null;
    } catch (problem) {
      return problem;
    } finally {
      this.#say('settings');
    }
  }
}
