// The list behind the button: what runs, what waits for its user, what is complete.

import { api, sentence, text, translate } from './api.js';
import { ask } from './host.js';
import { fraction, line } from './format.js';
import { load, save } from './settings.js';
import { choose } from './takeover.js';

const PAUSE = 1_000;
// The word about a failed action stays until the next one.
let hasFailed = false;
const one = (selector) => document.querySelector(selector);

translate();
one('#on').checked = (await load()).isOn;
one('#on').addEventListener('change', () => save({ isOn: one('#on').checked }));
one('#options').addEventListener('click', () => { api.runtime.openOptionsPage(); close(); });
one('#page').addEventListener('click', () => act(async () => {
  const { url } = await ask('page');
  if (!url) return say(text('no_page'));
  await api.tabs.create({ url });
  close();
}));
await show();

async function show() {
  try {
    const { downloads, statistics } = await ask('list');
    draw(downloads);
    one('#speed').textContent = statistics?.bytesPerSecond > 0 ? line.rate(statistics.bytesPerSecond) : 'Ferry';
    if (downloads.length === 0) say(text('nothing'));
    else if (!hasFailed) say('');
  } catch (error) {
    draw([]);
    say(error.isMissing ? `${text('missing')} ${text('missing_advice')}` : sentence(error.error));
  }
  setTimeout(show, PAUSE);
}

/// Draws the rows anew where they differ, so that what has the focus keeps it.
function draw(downloads) {
  const list = one('#list');
  const rows = new Map([...list.children].map((row) => [row.dataset.id, row]));
  for (const [index, download] of downloads.entries()) {
    const row = rows.get(download.id) ?? one('#row').content.firstElementChild.cloneNode(true);
    rows.delete(download.id);
    row.dataset.id = download.id;
    const word = download.waitReason ?? download.state;
    row.querySelector('.name').textContent = download.name;
    row.querySelector('.state').textContent = line.state(download, download.error ? sentence(download.error) : '');
    const bar = row.querySelector('progress');
    bar.hidden = download.state === 'completed';
    bar.setAttribute('aria-label', download.name);
    if (fraction(download) === null) bar.removeAttribute('value');
    else bar.value = fraction(download);
    if (row.dataset.word !== word) {
      row.dataset.word = word;
      row.querySelector('.buttons').replaceChildren(...buttons(download));
    }
    // A row that moves would lose the focus.
    if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null);
  }
  for (const row of rows.values()) row.remove();
}

function buttons({ id, name, state, waitReason, page }) {
  const button = (action, perform) => {
    const made = document.createElement('button');
    made.dataset.action = action;
    made.textContent = text(action);
    made.setAttribute('aria-label', text('action_on', text(action), name));
    made.addEventListener('click', () => act(perform));
    return made;
  };
  if (state === 'completed') return [button('open', () => ask('open', { id }))];
  const pause = button('pause', () => ask('pause', { id }));
  const resume = button('resume', () => ask('resume', { id }));
  if (waitReason === 'freshLink' || waitReason === 'credentials') {
    return page ? [button('renew', () => choose(id, page)), resume] : [resume];
  }
  return state === 'paused' || state === 'failed' ? [resume] : [pause];
}

async function act(perform) {
  hasFailed = false;
  say('');
  try { await perform(); } catch (error) {
    hasFailed = true;
    say(error.isMissing ? text('missing') : error.error ? sentence(error.error) : String(error.message ?? error));
  }
}

function say(word) {
  one('#word').textContent = word;
  one('#word').hidden = word === '';
}
