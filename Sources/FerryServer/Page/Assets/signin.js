// Who is not signed in sees how to be; a one-time code in the address is traded for a token, and leaves the address.

import { h } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';
import { login, token } from './api.js';

/// Takes the one-time code out of the address: `#code=…`, or the bare `#…`; `null` when there is none.
export function takeCode() {
  const fragment = location.hash.slice(1);
  if (fragment === '') return null;
  const code = new URLSearchParams(fragment).get('code') ?? (/^[\w-]{8,}$/.test(fragment) ? fragment : null);
  // Neither the history nor a bookmark shall hold it.
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

/// The key of the texts that say why it failed, or `null` when the token is kept.
export async function tradeCode(code) {
  try {
    token.set(await login(code));
    return null;
  } catch (problem) {
    return { 0: 'signin.unreachable', 429: 'signin.tooMany', 503: 'signin.tooMany' }[problem.status] ?? 'signin.expired';
  }
}

/// A command, to be copied.
function command(text) {
  const button = h('button', { type: 'button', class: 'icon-button', 'aria-label': `${t('copy')}: ${text}`, title: t('copy') }, icon('copy'));
  button.addEventListener('click', () => navigator.clipboard.writeText(text).then(() => {
    button.replaceChildren(icon('check'));
    button.setAttribute('aria-label', t('copied'));
  }, () => {}));
  return h('div', { class: 'command-line' }, h('pre', { class: 'command' }, h('code', null, text)), button);
}

export function signInScreen(reason = null) {
  return h('main', { class: 'sign-in', id: 'content', tabindex: '-1' },
    h('div', { class: 'sign-in-card card' },
      h('img', { src: 'mark.svg', alt: '', width: '64', height: '64' }),
      h('h1', null, t('signin.title')),
      reason && h('p', { class: 'notice', role: 'alert' }, t(reason)),
      h('p', null, t('signin.text')),
      command('ferry web'),
      h('details', { class: 'elsewhere' },
        h('summary', null, t('signin.elsewhere')),
        h('p', null, t('signin.elsewhere.text')),
        command(`ssh -L ${location.port || 80}:127.0.0.1:${location.port || 80} ${t('signin.elsewhere.host')}`),
        h('p', null, t('signin.elsewhere.then')),
        command('ferry web --print'))));
}
