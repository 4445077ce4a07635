// What is known of a download, as terms and their texts. Links are shown, never followed.

import { h } from './dom.js';
import { icon } from './icons.js';
import { shortened, t, dateTime } from './text.js';
import { lacksValidator, needsLink, wasKept } from './words.js';

/// Terms and texts of facts: `[key, text, {canCopy, isMono, isDigest}]`; one without a text is left out.
/// - copy: called with the text of a fact that can be copied.
export const factRows = (facts, copy) => facts.filter(([, text]) => text).flatMap(([key, text, { canCopy = false, isMono = false, isDigest = false } = {}]) => (isDigest ? digestRow(key, text, copy) : [
  h('dt', null, t(key)),
  h('dd', null,
    h('bdi', { class: isMono ? 'mono' : null }, text),
    canCopy && copyButton(key, text, copy)),
]));

const copyButton = (key, text, copy) => h('button', {
  type: 'button', class: 'icon-button small', 'aria-label': `${t('copy')}: ${t(key)}`, title: t('copy'), on: { click: () => copy(text) },
}, icon('copy'));

/// A digest as a term and its text: shortened, whole where it is copied and where the pointer rests.
export const digestRow = (key, digest, copy) => [
  h('dt', null, t(key)), h('dd', null, h('bdi', { class: 'mono', title: digest }, shortened(digest)), copyButton(key, digest, copy)),
];

/// - copy: as in `factRows`.
export function facts(download, copy) {
  const rows = [];
  const add = (...fact) => rows.push(fact);
  const sources = download.sources?.length ? download.sources : [download.url];
  sources.forEach((source, index) => add(index === 0 ? 'fact.source' : 'fact.mirror', source, { canCopy: true, isMono: true }));
  const answered = download.response?.finalURL;
  if (answered && answered !== download.url) add('fact.answered', answered, { isMono: true });
  add(wasKept(download) ? 'fact.kept' : download.state === 'completed' ? 'fact.path' : download.path ? 'fact.target' : 'fact.directory', download.path ?? download.directory, { canCopy: true, isMono: true });
  if (download.proof) add('fact.proof', t(`proof.${download.proof}`));
  add('fact.validator', download.validator ?? (lacksValidator(download) && !needsLink(download) ? t('fact.validator.none') : null), { isMono: Boolean(download.validator) });
  add('fact.digest', download.checksum, { isDigest: true });
  add('fact.type', download.response?.type, { isMono: true });
  add('fact.modified', dateTime(download.response?.lastModified) || download.response?.lastModified);
  add('fact.headers', download.headers?.join(', '), { isMono: true });
  add('fact.label', download.label);
  add('fact.added', dateTime(download.addedAt));
  add('fact.ended', download.endedAt ? dateTime(download.endedAt) : null);
  add('fact.id', download.id, { isMono: true });
  return factRows(rows, copy);
}
