// What is done with downloads and sets, from rows, details, menus and keys: asks first where bytes would go, lets removals
// be taken back, says what was done and what failed.

import { forAll } from './api.js';
import { h } from './dom.js';
import { t } from './text.js';
import * as format from './format.js';
import { arrange } from './arrange.js';
import { ask } from './ask.js';
import { wordsOf } from './entry.js';
import { heldBytes, failedChecksum, isUnproven, may, needsUser, readsAgain, wasKept } from './words.js';

/// How long a removal can be taken back.
const UNDO_TIME = 8000;
/// More than so many are not removed in a moment: a message says that it goes on.
const MANY = 1000;

/// What the daemon is told of each kind of removal. Between a look at the list and the request an ended one may begin again.
const REMOVALS = { remove: {}, removeEnded: { which: 'all' }, removeFile: { deleteFiles: true } };

const hasEnded = (entry) => wordsOf(entry).hasEnded(entry);
const isSet = (entry) => Boolean(entry.isSet);
const isDownload = (entry) => !entry.isSet;

export class Actions {
  #api;
  #store;
  #announcer;
  /// Removals that are not done: each is carried out by being called, and gives the promise of its end.
  #pending = new Set();

  constructor(api, store, announcer) {
    this.#api = api;
    this.#store = store;
    this.#announcer = announcer;
  }

  /// `resume`, `pause`, `cancel`, `restart`, `remove`, `removeFile` or `anyway` (in spite of a metered network), of those
  /// that allow it. Gives whether it was done.
  async run(action, entries) {
    const allowed = entries.filter((entry) => wordsOf(entry).may(entry, action));
    if (allowed.length === 0 || this.#isAway()) return false;
    if (action === 'remove' && allowed.every(hasEnded)) return this.#removeSoon(allowed);
    const sets = await this.#meantSets(action, allowed.filter(isSet));
    const downloads = await this.#meant(action, allowed.filter(isDownload));
    const targets = [...sets, ...downloads];
    if (targets.length === 0 || !(await this.keepsBytes(action, downloads))) return false;
    if (action === 'resume' && targets.length === 1 && targets[0].waitReason === 'slot') return this.#goFirst(targets[0]);
    const problems = await this.#send(action, targets);
    // What was to be removed and could not be is named, whatever has become of it.
    const isOfMany = targets.length > 1 && !action.startsWith('remove');
    const [problem] = isOfMany ? problems.filter(isFailure) : problems;
    this.report(problem);
    const done = without(targets, problems);
    if (!problem && done.length > 0) this.#tell(action, done);
    return !problem;
  }

  /// Changes the same of many: `values` as in the API.
  async change(downloads, values) {
    if (this.#isAway()) return;
    const ids = downloads.map(({ id }) => id);
    const problems = await this.#api.actMany(ids, 'change', { change: values }).catch((problem) => [problem]);
    const [problem] = ids.length > 1 ? problems.filter(isFailure) : problems;
    const { length: n } = without(downloads, problems);
    if (problem) this.report(problem);
    else if (n > 0) this.#announcer.say(t('changed.many', { n }));
  }

  /// Says so when nothing can be done: the daemon is away.
  #isAway() {
    if (this.#store.isAway) this.#announcer.warn(t('failure.unreachable'));
    return this.#store.isAway;
  }

  /// Says what failed; nothing for no problem.
  report(problem) {
    if (problem) this.#announcer.warn(t('failure', { reason: problem.text ?? problem.message }));
  }

  /// Carries out what could still be taken back, and waits for it.
  /// - isLeaving: the page is about to go.
  async finish(isLeaving = false) {
    await Promise.all([...this.#pending].map((carryOut) => carryOut(isLeaving)));
  }

  #tell(action, targets) {
    const [{ name, state }] = targets;
    // What was removed after a question has had its data deleted, if there was any.
    const did = `did.${action === 'remove' ? 'removeUnfinished' : action}`;
    const hasSets = targets.some(isSet);
    if (targets.length === 1 && hasSets && action === 'resume' && state !== 'paused') return this.#announcer.speak(t('set.did.look', { name }));
    const text = targets.length === 1 ? t(did, { name }) : many(did, targets);
    const changed = action === 'resume' && targets.length === 1 && { notBefore: 'did.early', diskSpace: 'did.tryNow' }[targets[0].waitReason];
    if (changed) return this.#announcer.say(t(changed, { name }));
    const waits = action === 'resume' && targets.length === 1 && this.#placeOf(targets[0].id);
    if (waits) {
      return this.#announcer.say(t('did.resume.place', { name, place: waits.place, count: waits.count }), {
        label: t('do.startNow'), run: () => this.#goFirst(waits.download),
      });
    }
    const takesBack = action === 'cancel' && !hasSets ? { label: t('do.restart'), run: async () => this.report((await this.#send('restart', targets))[0]) } : null;
    if (takesBack) this.#announcer.say(text, takesBack);
    else this.#announcer.speak(text);
  }

  /// Takes ended ones off the list; the daemon is told when there has been time to think better of it.
  #removeSoon(targets) {
    const ids = targets.map(({ id }) => id);
    const meant = () => targets.filter(({ id }) => this.#store.isHidden(id));
    let timer;
    let dismiss = () => {};
    const watching = new AbortController();
    /// Whether it could still be taken back, which now it cannot.
    const settle = () => {
      if (watching.signal.aborted) return false;
      watching.abort();
      clearTimeout(timer);
      dismiss();
      return true;
    };
    let carriedOut = null;
    const removeNow = (isLeaving = false) => {
      if (settle()) carriedOut = this.#removeHidden(meant(), isLeaving).finally(() => this.#pending.delete(removeNow));
      return carriedOut;
    };
    const wait = () => {
      clearTimeout(timer);
      if (!watching.signal.aborted) timer = setTimeout(() => removeNow(), UNDO_TIME);
    };
    this.#pending.add(removeNow);
    wait();
    this.#store.hide(ids);
    const undo = () => {
      if (!settle()) return;
      this.#pending.delete(removeNow);
      const { length: n } = meant();
      this.#store.unhide(ids);
      this.#announcer.speak(t('undone', { n }));
    };
    // Those that were begun again elsewhere, or are gone, are not meant any more.
    this.#store.addEventListener('list', () => {
      if (!ids.some((id) => this.#store.isHidden(id))) removeNow();
    }, { signal: watching.signal });
    const did = targets.some((entry) => isSet(entry) || entry.state === 'completed') ? 'did.remove' : 'did.removeUnfinished';
    const text = ids.length === 1 ? t(did, { name: targets[0].name }) : many(did, targets);
    dismiss = this.#announcer.say(text, { label: t('undo'), run: undo, time: UNDO_TIME, hold: () => clearTimeout(timer), release: wait });
    return true;
  }

  /// Has the daemon remove ended ones that are hidden. Those that it cannot remove are shown again.
  async #removeHidden(targets, isLeaving) {
    const problems = await this.#send('removeEnded', targets, isLeaving);
    const failed = problems.filter(isFailure);
    // A request that failed as a whole names none.
    if (failed.length > 0) this.#store.unhide((failed.every(({ id }) => id) ? failed : targets).map(({ id }) => id));
    this.report(failed[0]);
  }

  /// The place of a download among those that wait for a slot, and their number; `null` if it need not wait.
  #placeOf(id) {
    const download = this.#store.downloads.get(id);
    const most = this.#store.settings?.maxConcurrentDownloads;
    if (download?.waitReason !== 'slot' || this.#store.inState('downloading').length < most) return null;
    const waiting = arrange(this.#store.downloads.values(), { filter: 'waiting' });
    return { download, place: waiting.indexOf(download) + 1, count: waiting.length };
  }

  /// All slots are taken: it becomes the next one, and one more at a time is offered.
  async #goFirst(download) {
    const isMoved = await this.move(download, 'first');
    const count = this.#store.settings?.maxConcurrentDownloads;
    if (isMoved && this.#store.downloads.get(download.id)?.waitReason === 'slot') {
      this.#announcer.say(t('did.next', { name: download.name }), count && {
        label: t('concurrent.more'),
        run: async () => this.report(await this.#store.changeSettings({ maxConcurrentDownloads: count + 1 })),
      });
    }
    return isMoved;
  }

  /// Gives the problems.
  async #send(action, targets, isLeaving = false) {
    const downloads = targets.filter(isDownload);
    // All at once: what the page sends last is sent before it is gone.
    const problems = await Promise.all([
      forAll(targets.filter(isSet), ({ id }) => this.#sendSet(action, id, isLeaving)),
      downloads.length > 0 ? this.#sendDownloads(action, downloads, isLeaving) : [],
    ]);
    return problems.flat();
  }

  async #sendSet(action, id, isLeaving) {
    try {
      const set = await this.#api.actOnSet(id, action === 'removeEnded' ? 'remove' : action, isLeaving);
      if (set) this.#store.takeSet(set);
    } catch (problem) {
      throw Object.assign(problem, { id });
    }
  }

  async #sendDownloads(action, targets, isLeaving) {
    const ids = targets.map(({ id }) => id);
    const isRemoval = action.startsWith('remove');
    const done = isRemoval && ids.length > MANY ? this.#announcer.lasting(t('removing', { n: ids.length })) : () => {};
    if (isRemoval) this.#store.leave(ids, true);
    try {
      if (isRemoval) return await this.#api.actMany(ids, 'remove', REMOVALS[action], isLeaving);
      if (action === 'anyway') return await this.#api.actMany(ids, 'change', { change: { allowsMetered: true } });
      if (ids.length > 1) return await this.#api.actMany(ids, action);
      this.#store.take(await this.#api.act(ids[0], action));
      return [];
    } catch (problem) {
      return [ids.length === 1 ? Object.assign(problem, { id: ids[0] }) : problem];
    } finally {
      if (isRemoval) this.#store.leave(ids, false);
      done();
    }
  }

  /// Those that are meant, by the answer where bytes would go; none if it was thought better of.
  async #meant(action, targets) {
    if (targets.length === 0) return [];
    // What is whole and has another checksum does not go on: it is fetched again.
    const again = action === 'resume' ? targets.filter((download) => failedChecksum(download) && heldBytes(download) > 0) : [];
    const asked = again.length > 0 ? again : targets;
    const n = asked.length;
    const size = format.size(asked.reduce((sum, download) => sum + heldBytes(download), 0));
    const has = asked.some((download) => heldBytes(download) > 0);
    const kind = {
      cancel: has && 'cancel', remove: has ? 'remove' : 'removeNew', removeFile: 'removeFile',
      restart: targets.some(({ state }) => state === 'completed') && 'restart',
      resume: again.length > 0 && 'again',
    }[action];
    if (!kind) return targets;
    const about = { removeNew: 'remove', removeFile: 'removeFile' }[kind] ?? kind;
    const answer = await ask({
      title: n === 1 ? t(`ask.${about}`, { name: asked[0].name }) : t(`ask.${about}.many`, { n }),
      text: t(kind === 'restart' ? restartText(asked) : `ask.${kind}.text`, { size, n }),
      confirm: t(`ask.${about}.confirm`),
      isDangerous: kind !== 'restart',
      other: n < targets.length ? t('ask.again.others') : null,
      ...(kind === 'restart' && { keep: t('ask.restart.not') }),
    });
    if (answer === 'other') return targets.filter((download) => !again.includes(download));
    return answer === 'yes' ? targets : [];
  }

  /// Likewise of sets: of those that are not complete, parts of files would go.
  async #meantSets(action, targets) {
    const n = targets.length;
    if (n === 0 || !['cancel', 'remove'].includes(action)) return targets;
    const answer = await ask({
      title: n === 1 ? t(`ask.${action}`, { name: targets[0].name }) : t(`sets.ask.${action}`, { n }),
      text: t(`set.ask.${action}.text`), confirm: t(action === 'cancel' ? 'set.ask.cancel.confirm' : 'ask.remove.confirm'), isDangerous: true,
    });
    return answer === 'yes' ? targets : [];
  }

  /// Those of these that a break makes begin from zero once they are changed so; `null` where that cannot be read, which is said.
  #unproven(downloads, change = {}) { return this.#those(downloads, (detail) => isUnproven({ ...detail, ...change })); }

  /// The details of those with bytes to lose of which it holds; `null` where they cannot be read, which is said.
  async #those(downloads, holds) {
    const found = [];
    const problems = await forAll(downloads.filter((download) => heldBytes(download) > 0 && !failedChecksum(download)), async ({ id }) => {
      const detail = await this.#api.detail(id);
      if (holds(detail)) found.push(detail);
    });
    const problem = problems.find(({ status }) => status !== 404); // One that is gone has nothing to lose.
    this.report(problem);
    return problem ? null : found;
  }

  /// A server that names no version of a file makes a download begin from zero, unless samples are compared: asks before
  /// bytes would be lost that way.
  /// `pauseAll` is asked of all, though these alone would lose bytes; `wait` of those that settings would stop.
  async keepsBytes(action, downloads) {
    const running = ['downloading'];
    const states = { pause: running, pauseAll: running, wait: running, resume: ['paused', 'failed'] }[action] ?? [];
    const meant = downloads.filter(({ state }) => states.includes(state));
    const found = await this.#unproven(meant);
    if (found === null) return false;
    if (found.length === 0) return action === 'resume' || this.#keepsTime(action, meant);
    const answer = await this.#askUnproven(action, found);
    if (answer !== 'yes' || action !== 'resume') return answer !== '';
    const problems = await this.#api.actMany(found.map(({ id }) => id), 'change', { change: { resumesUnproven: true } }).catch((problem) => [problem]);
    const problem = problems.find(isFailure);
    this.report(problem);
    return !problem;
  }

  /// A server without ranges makes a pause cost the time for all that is here, although it is kept.
  async #keepsTime(action, downloads) {
    const found = await this.#those(downloads, readsAgain);
    if (found === null || found.length === 0) return found !== null;
    const n = found.length;
    const [{ name }] = found;
    const size = format.size(found.reduce((sum, download) => sum + heldBytes(download), 0));
    const title = n === 1 || action === 'pauseAll' ? `unproven.${action}` : `again.${action}.many`;
    const answer = await ask({
      title: t(title, { n, name }), text: t('again.pause.text', { size }),
      confirm: t(`unproven.${action}.confirm`), keep: t(`unproven.${action}.not`),
    });
    return answer === 'yes';
  }

  #askUnproven(action, found) {
    const n = found.length;
    const about = `unproven.${action}`;
    const [{ name }] = found;
    return ask({
      title: n === 1 ? t(about, { name }) : t(`${about}.many`, { n }),
      text: t(`${about}.text`, { n, name, size: format.size(found.reduce((sum, download) => sum + heldBytes(download), 0)) }),
      confirm: t(`${about}.confirm`), keep: t(`${about}.not`), other: action === 'resume' || action === 'change' ? t('unproven.again') : null,
    });
  }

  /// A change that begins a new run is a break too: gives what is to be changed by the answer, `null` for nothing.
  async changeKeepingBytes(download, change) {
    const found = await this.#unproven([download], change);
    if (found === null || found.length === 0) return found && change;
    const answer = await this.#askUnproven('change', found);
    return answer === '' ? null : answer === 'yes' ? { ...change, resumesUnproven: true } : change;
  }

  /// Moves one of the list: `to` as in the API. Gives whether it was moved.
  async move(download, to) {
    try {
      const answer = await this.#api.move(download.id, to);
      this.#store.take(answer);
      return true;
    } catch (problem) {
      this.report(problem);
      this.#store.load();
      return false;
    }
  }

  /// To the top of the queue, in the order in which they stand there.
  async moveToTop(downloads) {
    const ids = downloads.map(({ id }) => id);
    const problems = await this.#api.actMany(ids, 'move', { to: 'first' }).catch((refusal) => [refusal]);
    const [problem] = ids.length > 1 ? problems.filter(isFailure) : problems;
    if (problem) return this.report(problem);
    this.#announcer.speak(t('did.first', { n: without(downloads, problems).length }));
  }

  /// Has the browser save the file: on another machine it is nowhere else.
  async save({ id, name }) {
    try {
      const { path } = await this.#api.contentLink(id);
      const link = h('a', { href: path, download: name, hidden: true });
      document.body.append(link);
      link.click();
      link.remove();
    } catch (problem) {
      this.report(problem);
    }
  }

  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      this.#announcer.say(t('copied'));
    } catch (error) {
      this.#announcer.warn(t('failure', { reason: error.message }));
    }
  }

  /// `pause`, or `resume`, which leaves failed ones to themselves.
  async everything(action) {
    if (action === 'resume') return this.run(action, this.#store.inState('paused'));
    if (this.#isAway() || !(await this.keepsBytes('pauseAll', [...this.#store.downloads.values()]))) return;
    try {
      const sets = [...this.#store.sets.values()].filter((set) => wordsOf(set).may(set, action));
      // What waits for its user stands still already, and says why.
      const downloads = [...this.#store.downloads.values()].filter((download) => may(download, action) && !needsUser(download));
      const targets = [...sets, ...downloads];
      const problems = await this.#send(action, targets);
      const problem = problems.find(isFailure);
      if (problem) return this.report(problem);
      const { length: n } = without(targets, problems);
      if (n > 0) this.#announcer.speak(t(sets.length > 0 ? `sets.did.${action}` : `did.${action}.many`, { n }));
    } catch (problem) {
      this.report(problem);
    }
  }

  /// Takes those in these states off the list.
  clear(...states) {
    if (this.#isAway()) return;
    const all = states.flatMap((state) => this.#store.inState(state));
    const targets = all.filter(hasEnded);
    if (targets.length < all.length) this.#announcer.say(t('clear.kept', { n: all.length - targets.length }));
    if (targets.length > 0) this.#removeSoon(targets);
  }
}

/// Whether an action on many has failed for one of them: what has ended or left the list meanwhile needs it no more.
const isFailure = ({ code, error }) => !(code === 'notFound' || (code === 'wrongState' && OVER.includes(error?.phrase?.[2]?.[0])));
const OVER = ['itIsComplete', 'itWasCancelled'];

/// Those of these entries that have no problem.
const without = (entries, problems) => entries.filter(({ id }) => !problems.some((problem) => problem.id === id));

/// What was done with several entries.
const many = (did, targets) => t(targets.some(isSet) ? `sets.${did}` : `${did}.many`, { n: targets.length });

/// The key of what a restart does with the files that are there. One that was kept is replaced only where its rule says so.
function restartText(downloads) {
  const kept = downloads.filter(wasKept);
  if (kept.length === 0) return 'ask.restart.text';
  if (downloads.length > 1) return 'ask.restart.text.many';
  const rule = kept[0].onConflict ?? 'rename';
  return rule === 'overwrite' ? 'ask.restart.text' : `ask.restart.text.${rule}`;
}
