// What is done with downloads, from rows, details, menus and keys: asks first where bytes would go, says what failed.

import { forAll } from './api.js';
import { t } from './text.js';
import * as format from './format.js';
import { ask } from './ask.js';
import { may, heldBytes } from './words.js';

export class Actions {
  #api;
  #store;
  #announcer;

  constructor(api, store, announcer) {
    this.#api = api;
    this.#store = store;
    this.#announcer = announcer;
  }

  /// `resume`, `pause`, `cancel`, `restart`, `remove` or `removeFile`, of those that allow it. Gives whether it was done.
  async run(action, downloads) {
    const needed = action === 'removeFile' ? 'remove' : action;
    const targets = downloads.filter((download) => may(download, needed));
    if (targets.length === 0 || !(await this.#isMeant(action, targets))) return false;
    const problems = await this.#send(action, targets);
    this.report(problems[0]);
    return problems.length === 0;
  }

  /// Says what failed; nothing for no problem.
  report(problem) {
    if (problem) this.#announcer.warn(t('failure', { reason: problem.text ?? problem.message }));
  }

  async #send(action, targets) {
    const isRemoval = action === 'remove' || action === 'removeFile';
    if (targets.length > 1 && (isRemoval || action === 'pause' || action === 'resume')) {
      const ids = targets.map(({ id }) => id);
      try {
        return await (isRemoval ? this.#api.removeMany(ids, action === 'removeFile') : this.#api.actMany(ids, action));
      } catch (problem) {
        return [problem];
      }
    }
    return forAll(targets, async ({ id }) => {
      if (isRemoval) {
        await this.#api.remove(id, action === 'removeFile');
      } else {
        const { mark } = this.#store;
        const answer = await this.#api.act(id, action);
        this.#store.take(answer, mark);
      }
    });
  }

  async #isMeant(action, targets) {
    const held = targets.reduce((sum, download) => sum + heldBytes(download), 0);
    const losesBytes = (action === 'cancel' || action === 'remove') && held > 0;
    if (!losesBytes && action !== 'removeFile') return true;
    const name = targets[0].name;
    const n = targets.length;
    const kind = action === 'cancel' ? 'cancel' : 'remove';
    return ask({
      title: n === 1 ? t(`ask.${kind}`, { name }) : t(`ask.${kind}.many`, { n }),
      text: action === 'removeFile' && held === 0 ? t('ask.removeFile.text') : t(`ask.${kind}.text`, { size: format.size(held) }),
      confirm: action === 'removeFile' ? t('ask.delete.confirm') : t(`ask.${kind}.confirm`),
      isDangerous: true,
    });
  }

  /// Moves one of the list: `to` as in the API.
  async move(download, to) {
    const { mark } = this.#store;
    try {
      const answer = await this.#api.move(download.id, to);
      this.#store.take(answer, mark);
    } catch (problem) {
      this.report(problem);
      this.#store.load();
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

  async everything(action) {
    try {
      await this.#api.post(`/downloads/${action}`, {});
    } catch (problem) {
      this.report(problem);
    }
  }

  async clear(which) {
    if (which === 'all' && !(await ask({ title: t('ask.clear'), text: t('ask.clear.text'), confirm: t('ask.clear.confirm') }))) return;
    try {
      const answer = await this.#api.clear(which);
      this.#announcer.say(t('cleared', { n: answer?.changed ?? 0 }));
    } catch (problem) {
      this.report(problem);
    }
  }
}
