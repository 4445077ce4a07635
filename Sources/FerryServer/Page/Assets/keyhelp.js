// The list of all shortcuts, in a dialog.

import { h, kept } from './dom.js';
import { t } from './text.js';
import { dialog } from './ask.js';
import { usesLetters } from './keys.js';

export function showKeys() {
  const line = (keys, key) => h('div', { class: 'key-line' },
    h('dt', null, keys.map((each) => h('kbd', null, each))), h('dd', null, t(key)));
  const group = (key, ...lines) => h('section', null, h('h3', null, t(key)), h('dl', null, lines));
  const letters = h('input', { type: 'checkbox', checked: usesLetters() });
  letters.addEventListener('change', () => kept.set('letters', letters.checked ? 'yes' : 'no'));
  dialog({
    title: t('keys.title'), className: 'keys', body: [
      group('keys.global', line(['N'], 'keys.add'), line(['/'], 'keys.search'), line(['?'], 'keys.help'), line(['Esc'], 'keys.escape')),
      group('keys.row',
        line(['↑', '↓'], 'keys.move'), line(['←', '→'], 'keys.across'), line(['Home', 'End'], 'keys.ends'), line(['Enter'], 'keys.open'), line(['Space'], 'keys.select'),
        line(['Ctrl A'], 'keys.all'), line(['P'], 'keys.pause'), line(['C'], 'keys.cancel'), line(['Del', '⌫'], 'keys.delete'),
        line(['Alt ↑', 'Alt ↓'], 'keys.reorder'), line(['Shift F10'], 'keys.menu')),
      h('label', { class: 'check' }, letters, h('span', null, t('keys.single'))),
    ],
  });
}
