// Shortcuts that work anywhere.

import { isTyping, kept } from './dom.js';

/// Single letters can be turned off: speech input types them by accident.
export const usesLetters = () => kept.get('letters') !== 'no';

export function watchKeys({ signal, onAdd, onSearch, onHelp, onEscape }) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector('dialog:modal')) return;
    if (event.key === 'Escape' && !isTyping(event.target)) return onEscape();
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey || !usesLetters()) return;
    const act = { n: onAdd, '/': onSearch, '?': onHelp }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }, { signal });
}
