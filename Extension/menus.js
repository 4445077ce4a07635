// The entries in the menu of a page.

import { api, text } from './api.js';
import * as badge from './badge.js';
import { add } from './links.js';

const ENTRIES = { link: ['link'], media: ['image', 'video', 'audio'], selection: ['selection'], page: ['page'] };

/// Must be called at the start of the worker.
export function watch() {
  const make = async () => {
    await api.contextMenus.removeAll();
    for (const [id, contexts] of Object.entries(ENTRIES)) {
      const documentUrlPatterns = id === 'link' ? undefined : ['http://*/*', 'https://*/*'];
      api.contextMenus.create({ id, contexts, title: text(`menu_${id}`), documentUrlPatterns });
    }
  };
  api.runtime.onInstalled.addListener(make);
  api.runtime.onStartup.addListener(make);
  api.contextMenus.onClicked.addListener((info, tab) => clicked(info, tab).catch(badge.fail));
}

async function clicked(info, tab) {
  const place = { page: tab?.url, storeId: tab?.cookieStoreId };
  switch (info.menuItemId) {
    case 'link': return addOrLeave([info.linkUrl], place);
    case 'media': return addOrLeave([info.srcUrl], place);
    case 'selection': {
      const found = await collect({ tabId: tab.id, frameIds: [info.frameId ?? 0] }, true);
      return addOrLeave(found.map(({ url }) => url), place);
    }
    case 'page': {
      const found = await collect({ tabId: tab.id, allFrames: true }, false);
      await api.storage.session.set({ found: { ...place, links: found.slice(0, 5000) } });
      return api.tabs.create({ url: api.runtime.getURL('choose.html'), openerTabId: tab.id });
    }
  }
}

/// Without Ferry the browser downloads, as its own entries do.
async function addOrLeave(urls, place) {
  const links = urls.filter((url) => /^https?:/.test(url ?? ''));
  try {
    await add(links, place);
    await badge.refresh();
  } catch (error) {
    for (const url of links) await api.downloads.download({ url });
    await badge.fail(error);
  }
}

async function collect(target, isSelection) {
  const results = await api.scripting.executeScript({ target, func: linksOfPage, args: [isSelection] });
  const all = new Map(results.flatMap(({ result }) => result ?? []).map((link) => [link.url, link]));
  return [...all.values()];
}

/// Runs in the page: its links, or those of the selection and the addresses in its text.
function linksOfPage(isSelection) {
  const selection = getSelection();
  const found = [...document.querySelectorAll('a[href], area[href]')]
    .filter((element) => !isSelection || selection.containsNode(element, true))
    .map((element) => ({ url: element.href.replace(/#.*$/s, ''), label: element.textContent.trim().slice(0, 200) }));
  const text = isSelection ? String(selection).matchAll(/https?:\/\/[^\s<>"']+/g) : [];
  for (const [url] of text) found.push({ url, label: '' });
  return found.filter(({ url }) => /^https?:/.test(url));
}
