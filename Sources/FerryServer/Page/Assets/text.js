// Words in the language of the user: the browser's at first, then the one that was chosen.

import { sentences } from './sentences.js';
import { duration } from './format.js';
import { kept } from './dom.js';

/// Where the text of a language stands in a row of the table.
const COLUMNS = { en: 0, zh: 1 };
const TAGS = { en: 'en', zh: 'zh-Hans' };

/// What the switch offers.
export const LANGUAGES = [['en', 'English'], ['zh', '简体中文']];

let current = kept.get('language') in COLUMNS ? kept.get('language') : preferred(navigator.languages ?? [navigator.language]);

/// The first language of the list that the page has. Chinese in traditional script gets English, as everywhere in Ferry.
export function preferred(tags) {
  for (const tag of tags) {
    const name = String(tag).toLowerCase();
    if (/^zh\b/.test(name) && !/hant|-(tw|hk|mo)\b/.test(name)) return 'zh';
    if (/^en\b/.test(name)) return 'en';
  }
  return 'en';
}

export const language = () => current;

export function chooseLanguage(name) {
  if (!(name in COLUMNS)) return;
  current = name;
  kept.set('language', name);
  sayLanguage();
}

export function sayLanguage() {
  document.documentElement.lang = TAGS[current];
}

/// Takes the sentences of the second script.
export const learn = (table) => Object.assign(sentences, table);

/// The text of a key, with `{name}` replaced; a key without a text is shown as it is.
export function t(key, values = {}) {
  const entry = sentences[key]?.[COLUMNS[current]] ?? key;
  const text = typeof entry === 'function' ? entry(values) : entry;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? shown(values[name]) : whole));
}

const shown = (value) => (typeof value === 'number' ? number(value) : String(value));

/// Whether there is a text of that key.
export const has = (key) => key in sentences;

/// The hint of a sentence for the command line.
const HINT = / ?[(（][^()（）]{0,20}--(accept-html|resume-unproven)[^()（）]{0,40}[)）]|[;；] ?--resume-unproven[^;；]{0,40}/g;

/// What the daemon said in both languages: `{en, zh}`. Its hints for the command line stand in parentheses; the page has
/// buttons for those. Digests are shortened.
export function said(texts, fallback = '') {
  return shortened((texts?.[current] || texts?.en || fallback).replace(HINT, ''));
}

/// A text whose digests are shortened to their ends, which is what people compare.
export const shortened = (text) => text.replace(/[0-9a-f]{32,}/gi, (digits) => `${digits.slice(0, 8)}…${digits.slice(-6)}`);

export function dateTime(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return '';
  return formatter(Intl.DateTimeFormat, { dateStyle: 'medium', timeStyle: 'short' }).format(date);
}

export function clockTime(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return '';
  const isToday = date.toDateString() === new Date().toDateString();
  return formatter(Intl.DateTimeFormat, isToday ? { timeStyle: 'medium' } : { dateStyle: 'short', timeStyle: 'short' }).format(date);
}

/// A duration, in the units of the language: `1m 05s`, `1 分 05 秒`.
export const durationText = (seconds) => {
  const text = duration(seconds);
  return current === 'zh' ? text.replace(/(\d+)([dhms])/g, (_, count, unit) => `${count} ${CHINESE_UNITS[unit]}`) : text;
};
const CHINESE_UNITS = { d: '天', h: '小时', m: '分', s: '秒' };

export const number = (value) => formatter(Intl.NumberFormat).format(value);

/// A formatter in the language; each is made once, which takes longer than its use.
function formatter(Kind, options = {}) {
  const key = [Kind.name, current, JSON.stringify(options)].join();
  if (!formatters.has(key)) formatters.set(key, new Kind(TAGS[current], options));
  return formatters.get(key);
}
const formatters = new Map();
