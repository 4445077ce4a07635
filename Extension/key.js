// Runs in every page: tells of a click with a held key, which leaves the download to the browser.

addEventListener('click', (event) => {
  const held = ['Alt', 'Control', 'Shift'].filter((key) => event.getModifierState(key));
  if (!event.isTrusted || held.length === 0) return;
  // Of an extension that was replaced, this script stays and has no one to tell.
  try { (globalThis.browser ?? chrome).runtime.sendMessage({ held }).catch(() => {}); } catch { /* replaced */ }
}, true);
