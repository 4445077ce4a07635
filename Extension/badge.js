// The number of unfinished downloads on the button, or a mark when Ferry cannot be asked.

import { api, sentence, text } from './api.js';
import { ask } from './host.js';

const PAUSE = 5_000;
let timer = null;

/// Shows the numbers of the daemon, and goes on while downloads run.
export async function refresh() {
  clearTimeout(timer);
  try {
    const { statistics } = await ask('list');
    const count = (statistics?.running ?? 0) + (statistics?.waiting ?? 0);
    await show(count > 0 ? String(count) : '', '#0b6e8c', text('name'));
    if (statistics?.running > 0) timer = setTimeout(refresh, PAUSE);
  } catch (error) {
    await fail(error);
  }
}

/// Shows that the browser keeps its downloads, and why.
export async function fail(error) {
  const reason = error.isMissing ? text('missing') : error.error ? sentence(error.error) : String(error.message ?? error);
  await show('!', '#b3261e', `${text('name')}: ${reason}`);
}

async function show(label, color, title) {
  await api.action.setBadgeText({ text: label });
  await api.action.setBadgeBackgroundColor({ color });
  await api.action.setTitle({ title });
}
