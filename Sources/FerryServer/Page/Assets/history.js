// What happened to a download, newest first: events that say the same one after another are one line, and so are the breaks of a
// connection that each went on. Pure.

import { said, t } from './text.js';

/// The kinds of which several in a row may be one line; others mark where something begins or ends.
const FOLDED = ['note', 'retrying', 'waiting', 'restarted'];

/// What an event says, apart from its time and its number.
const saying = ({ kind, phrase, reason, texts }) => JSON.stringify([kind, phrase ?? reason ?? texts?.en]);

/// The lines of these events, which are in the order of time: `{kind, text, date, since}`, from `since` to `date`.
export function folded(events) {
  const lines = [];
  for (const event of events) {
    let last = lines.at(-1);
    const before = lines.at(-2);
    // Of several that broke for the same reason and went on, one line says how often, and one where the last went on.
    if (event.kind === 'retrying' && last?.kind === 'resumed' && before?.kind === 'retrying' && before.saying === saying(event)) {
      lines.pop();
      last = before;
    }
    const isSame = last && FOLDED.includes(event.kind) && last.saying === saying(event);
    if (isSame) Object.assign(last, { newest: event, date: event.date, count: last.count + 1 });
    else lines.push({ kind: event.kind, saying: saying(event), newest: event, date: event.date, since: event.date, count: 1 });
  }
  return lines.toReversed().map(({ kind, newest, date, since, count }) => ({ kind, date, since, text: textOf(newest, count) }));
}

function textOf({ kind, texts, phrase }, count) {
  const text = said(texts, kind);
  if (count === 1) return text;
  if (phrase?.[0] === 'connectionBroke') return t('events.broke', { n: count, reason: reasonOf(text) });
  return t('events.times', { text, n: count });
}

/// Why a connection broke: what stands behind the colon of the sentence.
const reasonOf = (text) => text.slice(text.search(/[:：]/) + 1).trim();
