// The browsers that are signed in, in a dialog: each has a key of its own, which can be withdrawn.

import { h } from './dom.js';
import { t, dateTime } from './text.js';
import { dialog } from './ask.js';

export function showBrowsers(api, announcer) {
  const list = h('ul', { class: 'browser-list' });
  const box = dialog({ title: t('browsers'), className: 'browsers', body: [h('p', { class: 'quiet' }, t('browsers.text')), list] });
  const fail = (problem) => announcer.warn(t('failure', { reason: problem.text ?? String(problem) }));
  const show = async () => {
    try {
      const { items } = await api.browsers();
      list.replaceChildren(...items.map((item) => line(item)));
    } catch (problem) {
      box.close();
      fail(problem);
    }
  };
  const line = (item) => {
    const out = h('button', {
      type: 'button', class: 'button compact', data: { browser: item.id },
      'aria-label': t('browsers.out.of', { name: item.name }),
    }, t('browsers.out'));
    out.addEventListener('click', async () => {
      out.disabled = true;
      try {
        api.isLeaving = item.isOwn;
        await api.signOut(item.id);
        // The key of this page opens nothing any more: the next answer says so, and leads to the sign-in.
        if (item.isOwn) box.close();
        await (item.isOwn ? api.greeting() : show());
        box.querySelector('button').focus(); // The button that had it is gone.
      } catch (problem) {
        if (problem.status === 401) return;
        fail(problem);
        await show();
      }
    });
    return h('li', null,
      h('div', { class: 'browser-text' },
        h('strong', null, item.name), item.isOwn && h('span', { class: 'browser-own quiet' }, t('browsers.own')),
        h('p', { class: 'quiet' }, t('browsers.used', { made: dateTime(item.madeAt), time: dateTime(item.lastUsed) }))),
      out);
  };
  show();
}
