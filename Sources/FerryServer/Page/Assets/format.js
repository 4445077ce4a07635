// The one formatter, equal to `ByteText` and `SizeText` of FerryCore: decimal units, a point, never the user's locale.

const UNITS = ['KB', 'MB', 'GB', 'TB', 'PB', 'EB'];

/// What stands for a value that nobody knows.
export const UNKNOWN = '--';

/// `0 B`, `999 B`, `1.0 KB`, `4.4 MB`; to the nearest tenth, never `1000.0`. Negative counts as 0.
export function size(bytes) {
  const count = Number.isFinite(bytes) ? Math.max(0, Math.trunc(bytes)) : 0;
  if (count < 1000) return `${count} B`;
  // Quotients of large numbers would be rounded twice; whole ones are exact.
  const exact = BigInt(count);
  let unit = 1000n;
  for (const name of UNITS) {
    const tenths = (exact + unit / 20n) / (unit / 10n);
    if (tenths < 10000n || name === 'EB') return `${tenths / 10n}.${tenths % 10n} ${name}`;
    unit *= 1000n;
  }
  return `${count} B`;
}

/// `4.4 MB/s`. What is negative or not finite is `0 B/s`.
export function rate(bytesPerSecond) {
  if (!Number.isFinite(bytesPerSecond) || bytesPerSecond <= 0) return '0 B/s';
  return `${size(Math.min(Math.round(bytesPerSecond), 2 ** 63))}/s`;
}

/// `12.3 MB / 1.0 GB`, or `12.3 MB / ?` while the total is unknown.
export function progress(completed, total) {
  return `${size(completed)} / ${total === null || total === undefined ? '?' : size(total)}`;
}

/// `12.3%`; `100.0%` only when complete, `--` while unknown.
export function percent(fraction, isComplete) {
  if (isComplete) return '100.0%';
  if (fraction === null || fraction === undefined || !Number.isFinite(fraction)) return UNKNOWN;
  const tenths = Math.min(999, Math.round(Math.min(1, Math.max(0, fraction)) * 1000));
  return `${Math.floor(tenths / 10)}.${tenths % 10}%`;
}

const two = (value) => String(value).padStart(2, '0');

/// `5s`, `1m 05s`, `2h 03m`, `3d 4h`; `--` for an unknown time and for a thousand days and more.
export function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds) || seconds >= 86_400_000) return UNKNOWN;
  const whole = Math.max(0, Math.floor(seconds + 0.5));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h ${two(Math.floor((whole % 3600) / 60))}m`;
  if (whole < 86_400_000) return `${Math.floor(whole / 86_400)}d ${Math.floor((whole % 86_400) / 3600)}h`;
  return UNKNOWN;
}

const FACTORS = {
  '': 1, b: 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, g: 1e9, gb: 1e9, t: 1e12, tb: 1e12,
  ki: 1024, kib: 1024, mi: 1024 ** 2, mib: 1024 ** 2, gi: 1024 ** 3, gib: 1024 ** 3, ti: 1024 ** 4, tib: 1024 ** 4,
};

/// Reads a limit like `5M`, `500 KB/s`, `1.5GiB`, `1,5 MB/s`: bytes a second, `null` for none (nothing, 0, or a word of `ferry set`),
/// `undefined` where the text is no limit. Without a unit it is none: nobody means bytes.
export function parseLimit(text) {
  if (['', '0', 'none', 'off'].includes(text.trim().toLowerCase())) return null;
  return /^[\d.,\s]*(\/s)?$/i.test(text.trim()) ? undefined : parseRate(text) ?? undefined;
}

/// What a number without a unit is likely to mean as a limit; `null` for other texts.
export const bareRate = (text) => (/^\d{1,6}(\.\d+)?$/.test(pointed(text.trim())) ? `${pointed(text.trim())} MB/s` : null);

/// With a point for the comma of a fraction. Before three digits a comma may be one of thousands, and stays.
const pointed = (text) => text.replace(/^(\d+),(\d{1,2})(?!\d)/, '$1.$2');

/// Reads a size like `500 MB`: bytes, `null` where there is no text, `undefined` where the text is no size.
export function parseSize(text) {
  if (text.trim() === '') return null;
  return text.trim() === '0' ? 0 : parseRate(text) ?? undefined;
}

function parseRate(text) {
  const match = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)$/i.exec(pointed(text.trim()).replace(/\/s$/i, '').trim());
  if (!match) return null;
  const factor = FACTORS[match[2].toLowerCase()];
  if (factor === undefined || (factor === 1 && match[1].includes('.'))) return null;
  const value = Math.floor(Number(match[1]) * factor + 1e-9);
  return value > 0 && value < Number.MAX_SAFE_INTEGER ? value : null;
}

/// A size as it is shown in a field: the shortest text that reads as the same number.
export function sizeField(bytes) {
  if (bytes === null || bytes === undefined) return '';
  for (const [factor, name] of [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'KB']]) {
    const value = bytes / factor;
    if (value >= 1 && Number.isInteger(value * 100)) return `${value} ${name}`;
  }
  return `${bytes} B`;
}

/// A limit, likewise.
export const rateField = (bytesPerSecond) => sizeField(bytesPerSecond).replace(/.$/, '$&/s');
