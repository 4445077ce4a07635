// What else can be done with one download of the list.

import { t } from './text.js';
import { openMenu } from './menu.js';
import { may } from './words.js';

export function rowMenu(button, download, { actions, list }) {
  const run = (action) => actions.run(action, [download]);
  const item = (action, key, icon, isDangerous = false) => ({
    name: action, label: t(key), icon, isDangerous, isDisabled: !may(download, action === 'removeFile' ? 'remove' : action), run: () => run(action),
  });
  const index = list.indexOf(download.id);
  const move = (key, icon, to, isPossible) => ({
    name: key, label: t(key), icon, isDisabled: !list.canReorder || !isPossible, run: () => actions.move(download, to),
  });
  const above = list.shown[index - 1];
  const below = list.shown[index + 1];
  const isPeer = (other) => other?.priority === download.priority;
  openMenu(button, t('more', { name: download.name }), [
    { name: 'open', label: t('do.open'), icon: 'info', run: () => list.onOpen(download.id) },
    { name: 'copy', label: t('do.copyLink'), icon: 'copy', run: () => actions.copy(download.url) },
    null,
    item('resume', download.state === 'waiting' ? 'do.start' : 'do.resume', 'play'),
    item('pause', 'do.pause', 'pause'),
    null,
    move('do.first', 'top', 'first', index > 0),
    move('do.up', 'top', { before: above?.id }, isPeer(above)),
    move('do.down', 'bottom', { after: below?.id }, isPeer(below)),
    move('do.last', 'bottom', 'last', index >= 0 && index < list.shown.length - 1),
    null,
    item('cancel', 'do.cancel', 'cancel', true),
    item('remove', 'do.remove', 'remove'),
    ...(download.state === 'completed' ? [item('removeFile', 'do.removeFile', 'remove', true)] : []),
  ]);
}
