// Light, dark, or as the system has it.

import { h, kept } from './dom.js';
import { icon } from './icons.js';
import { t } from './text.js';

const THEMES = ['auto', 'light', 'dark'];

const current = () => (THEMES.includes(kept.get('theme')) ? kept.get('theme') : 'auto');

export function showTheme() {
  const theme = current();
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/// - onChange: what is drawn is to be drawn anew.
export function themeButton(onChange) {
  const button = h('button', { type: 'button', class: 'icon-button theme-button' }, icon('theme'));
  const show = () => {
    const label = `${t('theme')}: ${t(`theme.${current()}`)}`;
    button.setAttribute('aria-label', label);
    button.title = label;
  };
  button.addEventListener('click', () => {
    kept.set('theme', THEMES[(THEMES.indexOf(current()) + 1) % THEMES.length]);
    showTheme();
    show();
    onChange();
  });
  show();
  return button;
}
