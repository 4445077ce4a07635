// What else can be done with one entry of the list.

import { t } from './text.js';
import { openMenu } from './menu.js';
import { wordsOf } from './entry.js';
import { failedChecksum, mainAction, may, ownsFile } from './words.js';

export function rowMenu(button, entry, context, point) {
  openMenu(button, t('more', { name: entry.name }), entry.isSet ? setItems(entry, context) : downloadItems(entry, context), point);
}

function setItems(set, { actions, list }) {
  const words = wordsOf(set);
  const item = (action, label, icon, isDangerous = false) => ({
    name: action, label, icon, isDangerous, isDisabled: list.isAway || !words.may(set, action), run: () => actions.run(action, [set]),
  });
  const { directory } = set.set.set;
  const hasStopped = set.actions.includes('resume') && set.state !== 'paused';
  return [
    { name: 'open', label: t('do.open'), icon: 'info', run: () => list.onOpen(set.id) },
    { name: 'copy', label: t('do.copyLink'), icon: 'copy', run: () => actions.copy(set.url) },
    { name: 'copyPath', label: t('do.copyFolder'), icon: 'copy', run: () => actions.copy(directory) },
    null,
    item('resume', t(hasStopped ? 'do.look' : 'do.resume'), hasStopped ? 'restart' : 'play'),
    item('pause', t('do.pause'), 'pause'),
    null,
    item('cancel', t('do.cancel'), 'cancel', true),
    item('remove', t('do.remove'), 'leave'),
  ];
}

function downloadItems(download, { actions, list }) {
  const run = (action) => actions.run(action, [download]);
  const item = (action, key, icon, isDangerous = false) => ({
    name: action, label: t(key), icon, isDangerous, isDisabled: list.isAway || !may(download, action), run: () => run(action),
  });
  const index = list.indexOf(download.id);
  const move = (key, icon, to, isPossible) => ({
    name: key, label: t(key), icon, isDisabled: list.isAway || !list.canReorder || !isPossible, run: async () => { if (await actions.move(download, to)) requestAnimationFrame(() => list.speakPlace(download)); },
  });
  const above = list.shown[index - 1];
  const below = list.shown[index + 1];
  const isPeer = (other) => other?.priority === download.priority;
  const main = mainAction(download);
  return [
    { name: 'open', label: t('do.open'), icon: 'info', run: () => list.onOpen(download.id) },
    { name: 'copy', label: t('do.copyLink'), icon: 'copy', run: () => actions.copy(download.url) },
    ...(download.state === 'completed' && download.path ? [{ name: 'save', label: t('do.save'), icon: 'save', isDisabled: list.isAway, run: () => actions.save(download) }, { name: 'copyPath', label: t('do.copyPath'), icon: 'copy', run: () => actions.copy(download.path) }] : []),
    null,
    main.action === 'anyway' ? item('anyway', 'do.anyway', 'play') : {
      ...item('resume', failedChecksum(download) ? 'do.restart' : main.action === 'open' ? 'do.tryNow' : download.state === 'waiting' ? 'do.start' : 'do.resume', failedChecksum(download) ? 'restart' : 'play'),
      isDisabled: list.isAway || !may(download, 'resume') || main.reason !== null,
    },
    item('pause', 'do.pause', 'pause'),
    null,
    move('do.first', 'top', 'first', index > 0),
    move('do.up', 'up', { before: above?.id }, isPeer(above)),
    move('do.down', 'down', { after: below?.id }, isPeer(below)),
    move('do.last', 'bottom', 'last', index >= 0 && index < list.shown.length - 1),
    null,
    item('cancel', 'do.cancel', 'cancel', true),
    ...(download.state === 'completed' || download.state === 'cancelled' ? [item('restart', 'do.restart', 'restart')] : []),
    item('remove', 'do.remove', 'leave'),
    ...(ownsFile(download) ? [item('removeFile', 'do.removeFile', 'remove', true)] : []),
  ];
}
