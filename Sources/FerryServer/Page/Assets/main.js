// The page: signs in, then puts the parts together. A change of language puts them together anew; what is known stays.

import { h, append } from './dom.js';
import { icon } from './icons.js';
import { t, language, chooseLanguage, sayLanguage, LANGUAGES } from './text.js';
import { API, token, TOKEN } from './api.js';
import { Store } from './store.js';
import { Announcer } from './announce.js';
import { Actions } from './actions.js';
import { AddForm, SAMPLE } from './add.js';
import { Totals } from './totals.js';
import { Selection } from './selection.js';
import { EVERYTHING, List } from './list.js';
import { Bar } from './bar.js';
import { Columns } from './columns.js';
import { Panel } from './panel.js';
import { Parts } from './parts.js';
import { closeMenu } from './menu.js';
import { watchKeys } from './keys.js';
import { showTheme, themeButton } from './theme.js';
import { takeCode, tradeCode, signInScreen } from './signin.js';
import { Connection } from './connection.js';

const root = document.getElementById('app');
const announcer = new Announcer();
const parts = new Parts(announcer);
let mounted = null;

/// Shows something else; what was there hears `signal` end.
function mount(build) {
  mounted?.abort();
  mounted = new AbortController();
  closeMenu();
  root.replaceChildren();
  append(root, [build(mounted.signal)]);
}

function languageSwitch(onChange) {
  const select = h('select', { class: 'plain-select', 'aria-label': t('language'), title: t('language'), name: 'language' },
    LANGUAGES.map(([value, name]) => h('option', { value, lang: value === 'zh' ? 'zh-Hans' : value }, name)));
  select.value = language();
  select.addEventListener('change', () => {
    chooseLanguage(select.value);
    announcer.hush();
    onChange();
    document.querySelector('select[name=language]')?.focus();
  });
  return h('label', { class: 'language' }, icon('language'), select);
}

/// To the row that the keyboard is on; to the content where there is none.
function skip(event) {
  const row = document.querySelector('.row[tabindex="0"]');
  if (!row) return;
  event.preventDefault();
  row.focus();
}

function header(onLanguage, ...more) {
  return h('header', { class: 'head' },
    h('a', { class: 'skip', href: '#content', on: { click: skip } }, t('skip')),
    h('div', { class: 'brand' }, h('img', { src: 'mark.svg', alt: '', width: '30', height: '30' }), h('h1', null, 'Ferry')),
    h('div', { class: 'head-tools' }, more, languageSwitch(onLanguage)));
}

function showSignIn(reason = null) {
  document.title = 'Ferry';
  announcer.clear();
  announcer.hush();
  // A dialog of the page that is gone would keep the focus from this one.
  for (const open of document.querySelectorAll('dialog:modal')) open.close();
  const show = () => mount((signal) => {
    // Another tab may be signed in meanwhile.
    window.addEventListener('storage', ({ key, newValue }) => { if (key === TOKEN && newValue !== null) location.reload(); }, { signal });
    return [header(show), signInScreen(reason)];
  });
  show();
  // What had the focus is gone with the page: readers go on here.
  if (reason !== null) document.getElementById('content').focus();
}

function notifyButton() {
  const button = h('button', { type: 'button', class: 'icon-button', 'aria-pressed': 'false' }, icon('bell'));
  const show = () => {
    const key = announcer.isBlocked ? 'notify.blocked' : 'notify';
    button.setAttribute('aria-pressed', String(announcer.notifies));
    button.setAttribute('aria-label', t(key));
    button.title = announcer.notifies ? t('notify.on') : t(key);
  };
  button.addEventListener('click', async () => {
    if (announcer.isBlocked) return announcer.warn(t('notify.blocked'));
    await announcer.toggleNotifications();
    show();
  });
  show();
  return announcer.canNotify ? button : null;
}

const showHelp = () => parts.use(({ showKeys }) => showKeys());

/// - key: of its label; its class begins with it.
function toolButton(key, iconName, run) {
  return h('button', { type: 'button', class: `icon-button ${key}-button`, 'aria-label': t(key), title: t(key), on: { click: run } }, icon(iconName));
}

// The open download stands in the address, so that going back closes it.
const openInAddress = () => new URLSearchParams(location.hash.slice(1)).get('download');

/// What was typed and not added yet, `{text, options}`, kept in this tab while the page is loaded anew, or signed in again. A
/// browser may write it to the disk: of secrets it has the names alone.
const draft = {
  take() {
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem(DRAFT)); } catch { /* nothing was kept */ }
    this.forget();
    return kept ?? { text: '', options: {} };
  },
  keep({ text, options }) {
    const kept = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, SECRETS.includes(name) ? null : value]));
    if (!text && Object.keys(kept).length === 0) return this.forget();
    try { sessionStorage.setItem(DRAFT, JSON.stringify({ text, options: kept })); } catch { /* then it is lost with the page */ }
  },
  forget() {
    try { sessionStorage.removeItem(DRAFT); } catch { /* nothing was kept */ }
  },
};
const DRAFT = 'ferry.draft';
const SECRETS = ['password', 'headers', 'cookies', 'proxy'];

/// Gives what is kept of the page that is shown: `{view, draft}`, of the list and of the field for links.
function showPage(api, store) {
  const kept = { view: null, draft: draft.take() };
  const show = () => mount((signal) => {
    const shell = h('div', { class: 'shell' });
    const actions = new Actions(api, store, announcer);
    const selection = new Selection(store, signal);
    const list = new List({
      store, selection, actions, announcer, signal,
      onOpen: async (id) => { if (id === panel.id || (await panel.mayLeave())) location.hash = `download=${encodeURIComponent(id)}`; },
      onMenu: (button, download, point = null) => parts.use(({ rowMenu }) => { if (button.isConnected) rowMenu(button, download, { actions, list }, point); }),
      // Others may be on the list, and only the search or a filter leaves them out.
      onEmptied: () => (store.entries.length > 0 ? bar.focusSearch() : add.focus()),
    });
    const add = new AddForm({
      api, store, parts, announcer, signal,
      // A link that is only hidden would be on the list already, and then removed.
      onAdd: () => actions.finish(),
      // What is shown stays where it is; one that cannot be seen is a button away.
      onAdded: (items, text, areNew) => {
        const id = items.at(-1)?.id;
        if (!id) return;
        const isSeen = list.flash(id);
        if (isSeen && areNew) return announcer.speak(text);
        announcer.say(text, isSeen ? null : {
          label: t('add.show', { n: items.length }),
          run: () => {
            list.setView(EVERYTHING);
            list.reveal(id, { flash: true, focus: true });
          },
        });
      },
    });
    store.addEventListener('connection', () => {
      if (store.connection !== 'live') return;
      add.rejoined();
      if (parts.state === 'failed') parts.load();
    }, { signal });
    list.addEventListener('shown', () => { if (store.isLoaded || list.shown.length > 0) parts.load(); }, { signal });
    window.addEventListener('pagehide', () => {
      actions.finish(true);
      if (token.get() === null) draft.forget();
      else draft.keep(add.draft);
    }, { signal });
    window.addEventListener('pageshow', ({ persisted }) => { if (persisted) draft.forget(); }, { signal });
    signal.addEventListener('abort', () => actions.finish(true));
    const leaveDetail = () => {
      list.setOpen(null);
      if (openInAddress() !== null) history.replaceState(null, '', location.pathname + location.search);
    };
    const panel = new Panel({ api, store, actions, list, parts, announcer, signal, onClose: leaveDetail, onCover: (isCovered) => { shell.inert = isCovered; } });
    const follow = async () => {
      // Where the address leads away from what was typed, and that stays, the address does too.
      if (openInAddress() !== panel.id && !(await panel.mayLeave())) {
        if (panel.isOpen) history.replaceState(null, '', `#download=${encodeURIComponent(panel.id)}`);
        return;
      }
      const id = openInAddress();
      if (id === null) panel.close();
      else if (store.entry(id)) {
        panel.open(id);
        list.setOpen(id);
      } else if (store.isLoaded) leaveDetail();
    };
    window.addEventListener('hashchange', follow, { signal });
    store.addEventListener('list', () => {
      if (openInAddress() !== null && !panel.isOpen) follow();
    }, { signal });

    const columns = new Columns({ list, signal });
    const bar = new Bar({ store, list, selection, actions, announcer, columns: columns.element, signal });
    const content = h('main', { id: 'content', tabindex: '-1' },
      add.element,
      new Totals({ store, actions, announcer, signal }).element,
      bar.element,
      list.element,
      emptyStates({ store, list, add, signal }));
    columns.watch(content, signal);
    add.watchPage();
    watchKeys({
      signal,
      onAdd: () => add.focus(),
      onSearch: () => bar.focusSearch(),
      onHelp: showHelp,
      onEscape: () => (panel.isOpen ? panel.leave() : selection.clear()),
    });
    if (kept.view) list.setView(kept.view);
    add.restore(kept.draft);
    signal.addEventListener('abort', () => Object.assign(kept, { view: list.view, draft: add.draft }));
    queueMicrotask(() => {
      list.measure();
      follow();
    });
    append(shell, [
      header(show, notifyButton(),
        toolButton('settings', 'tune', () => parts.use(({ showSettings }) => showSettings(api, store, announcer))),
        toolButton('browsers', 'shield', () => parts.use(({ showBrowsers }) => showBrowsers(api, announcer))),
        toolButton('help', 'help', showHelp), themeButton(() => window.dispatchEvent(new Event('themechange')))),
      new Connection({ store, announcer, signal }).element, content]);
    return [shell, panel.element];
  });
  show();
  return kept;
}

/// What stands in place of rows: nothing was added yet, or nothing matches.
function emptyStates({ store, list, add, signal }) {
  const empty = h('section', { class: 'empty', hidden: true },
    h('img', { src: 'mark.svg', alt: '', width: '72', height: '72' }),
    h('h2', null, t('empty.title')), h('p', null, t('empty.text')),
    h('button', { type: 'button', class: 'button', data: { sample: 'yes' }, on: { click: () => add.offer(SAMPLE, true) } }, icon('link'), h('span', null, t('empty.sample'))),
    h('p', { class: 'quiet' }, t('empty.sample.note')));
  const none = h('section', { class: 'empty small', hidden: true },
    h('p', null, t('list.none')),
    h('button', { type: 'button', class: 'button', on: { click: () => list.setView(EVERYTHING) } }, t('list.none.hint')));
  const loading = h('p', { class: 'empty small quiet', role: 'status' }, t('list.loading'));
  const show = () => {
    const count = store.entries.length;
    loading.hidden = store.isLoaded || count > 0;
    empty.hidden = !store.isLoaded || count > 0;
    none.hidden = count === 0 || list.shown.length > 0;
    list.element.hidden = list.shown.length === 0;
  };
  list.addEventListener('shown', show, { signal });
  store.addEventListener('connection', show, { signal });
  show();
  return [loading, empty, none];
}

/// Whether the key of this browser is good: then a code is not needed, and no second key is made.
async function isSignedIn() {
  const key = token.get();
  return key !== null && new API(key, () => {}).greeting().then(() => true, () => false);
}

async function begin() {
  sayLanguage();
  showTheme();
  announcer.hush();
  document.body.append(...announcer.nodes);
  const code = takeCode();
  if (code !== null && !(await isSignedIn())) {
    mount(() => h('main', { class: 'sign-in' }, h('p', { class: 'quiet', role: 'status' }, t('signin.busy'))));
    const reason = await tradeCode(code);
    if (reason !== null) return showSignIn(reason);
  }
  const key = token.get();
  if (!key) return showSignIn();
  let store = null;
  let kept = null;
  const api = new API(key, () => {
    if (token.get() === null) return;
    token.clear();
    store?.stop();
    showSignIn(api.isLeaving ? 'signin.out' : 'signin.refused');
    // Who has signed out leaves nothing behind.
    if (kept && !api.isLeaving) draft.keep(kept.draft);
  });
  store = new Store(api);
  store.addEventListener('ended', ({ detail }) => announcer.ended(detail));
  store.addEventListener('needs', ({ detail }) => announcer.needs(detail));
  kept = showPage(api, store);
  store.start();
  // A page that is left may be kept by the browser, to go back to. It shall not keep one of the few connections that a
  // browser makes to one host.
  window.addEventListener('pagehide', () => store.stop());
  window.addEventListener('pageshow', ({ persisted }) => { if (persisted && token.get() !== null) store.start(); });
}

// Another tab of the browser may be given a new code while this one is open.
window.addEventListener('hashchange', () => {
  if (new URLSearchParams(location.hash.slice(1)).has('code')) location.reload();
});

begin();
