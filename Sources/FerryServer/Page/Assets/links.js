// What was typed, pasted or dropped, read as links: one a line, tabs between mirrors, options on indented lines.

/// The most bytes of a list that is dropped.
export const MOST_LIST_BYTES = 4 * 1024 * 1024;

const START = /^https?:\/\//i;
/// Two links in one, as when one is pasted behind another; links inside of paths and queries follow a mark.
const TWO = /(?<!%[\da-f]{2})(?<=[\w.~-])https?:\/\//i;

/// Whether Ferry could fetch it: http or https, and a host.
export function isLink(text) {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^\s/?#]/i.test(trimmed) || /[\u0000-\u001f\u007f]/.test(trimmed) || trimmed.length > 65536 || TWO.test(trimmed)) return false;
  try {
    return new URL(trimmed).hostname !== '';
  } catch {
    return false;
  }
}

/// The key of the sentence that says what is wrong with a text that is no link.
export function linkProblem(text) {
  const scheme = /^\s*([a-z][a-z0-9+.-]*):(?!\d)/i.exec(text)?.[1];
  return scheme && !/^https?$/i.test(scheme) ? 'add.scheme' : 'add.invalid';
}

/// Whether a link leads to this computer by its host alone, so that no network is needed for it.
export function isLoopback(link) {
  if (!isLink(link)) return false;
  const { hostname } = new URL(link);
  return /(^|\.)localhost\.?$|^127(\.\d+){3}$/.test(hostname) || hostname === '[::1]';
}

/// Whether a link may still become of it, when one goes on typing.
export function mayBecomeLink(text) {
  const start = text.trim().toLowerCase();
  return ['http://', 'https://'].some((scheme) => scheme.startsWith(start));
}

const OPTIONS = { out: 'name', dir: 'directory', checksum: 'checksum' };

/// `{entries: [{urls, name?, directory?, checksum?, headers?, line, lines}], problems: [{line, text}], unknown: [{name, line}]}`, the
/// last of options that are left out, each once; `lines` are those of the options, by member. A name is a path below the directory.
/// The same twice is one.
export function parseLinks(text) {
  const entries = [];
  const problems = [];
  const unknown = new Map();
  let current = null;
  text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/).forEach((raw, index) => {
    const line = index + 1;
    const content = raw.trim();
    if (content === '' || content.startsWith('#')) return;
    if (/^[ \t]/.test(raw) && current && !START.test(content)) {
      if (!readOption(current, content, line, unknown)) problems.push({ line, text: content });
      return;
    }
    current = null;
    for (const group of splitLine(content)) {
      if (group.every(isLink)) {
        current = { urls: [...new Set(group)], line, lines: {} };
        entries.push(current);
      } else {
        problems.push({ line, text: content });
      }
    }
  });
  const single = new Map();
  for (const { line, lines, ...entry } of entries) {
    const key = JSON.stringify(entry);
    if (!single.has(key)) single.set(key, { ...entry, line, lines });
  }
  return { entries: [...single.values()], problems, unknown: [...unknown].map(([name, line]) => ({ name, line })) };
}

/// Tabs part mirrors of one file. Several links with blanks between them are several files.
function splitLine(content) {
  const mirrors = content.split('\t').map((part) => part.trim()).filter(Boolean);
  if (mirrors.length > 1) return [mirrors];
  const pieces = content.split(/\s+(?=https?:\/\/)/i);
  return pieces.length > 1 && pieces.every(isLink) ? pieces.map((piece) => [piece]) : [[content]];
}

function readOption(entry, content, line, unknown) {
  const equals = content.indexOf('=');
  if (equals < 1) return false;
  const name = content.slice(0, equals).trim().toLowerCase();
  const value = content.slice(equals + 1).trim();
  if (name === 'header') {
    const headers = parseHeaders(value);
    if (!headers) return false;
    entry.headers = mergeHeaders(entry.headers, headers);
    entry.lines.headers = line;
    return true;
  }
  if (name === 'out' && value.endsWith('/')) return false;
  if (!Object.hasOwn(OPTIONS, name)) {
    if (!unknown.has(name)) unknown.set(name, line);
  } else if (value) {
    entry[OPTIONS[name]] = name === 'checksum' && value === 'none' ? null : value;
    entry.lines[OPTIONS[name]] = line;
  }
  return true;
}

/// Lines of `Name: value`; `null` when one is none.
export function parseHeaders(text) {
  const headers = {};
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line.trim() === '') continue;
    const match = /^\s*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)\s*:\s*(.*?)\s*$/.exec(line);
    if (!match || /[\u0000-\u0008\u000a-\u001f\u007f]/.test(match[2])) return null;
    headers[match[1]] = [...(headers[match[1]] ?? []), match[2]];
  }
  return headers;
}

/// A cookie file (Netscape format) of `a=b; c=d`, for the hosts of links; a text that is such a file stays as it is.
export function cookieFile(text, urls) {
  if (text.includes('\t')) return text;
  const hosts = new Map(urls.map((url) => new URL(url)).map(({ hostname, protocol }) => [hostname.replace(/^\[|\]$/g, ''), protocol === 'https:']));
  const pairs = text.replace(/^cookie:/i, '').split(';').map((pair) => pair.trim()).filter((pair) => pair.includes('='));
  return [...hosts].flatMap(([host, isSecure]) => pairs.map((pair) => {
    const equals = pair.indexOf('=');
    return `${[host, 'FALSE', '/', isSecure ? 'TRUE' : 'FALSE', '0', pair.slice(0, equals), pair.slice(equals + 1)].join('\t')}\n`;
  })).join('');
}

function mergeHeaders(first, second) {
  const merged = { ...(first ?? {}) };
  for (const [name, values] of Object.entries(second)) merged[name] = [...(merged[name] ?? []), ...values];
  return merged;
}

/// A name for the folder of a set: that of the directory which a link leads to or into, else of its server.
export function folderOf(link) {
  const { pathname, hostname } = new URL(link);
  const name = pathname.split('/').slice(0, -1).filter(Boolean).at(-1);
  try {
    return name ? decodeURIComponent(name) : hostname;
  } catch {
    return name;
  }
}

/// Links in what was dropped: a list of URIs has comments, a text is as it is. Of a text that is no list, as a part of a web page,
/// the links in it.
export async function droppedText(transfer) {
  for (const file of transfer.files ?? []) {
    if (file.size > MOST_LIST_BYTES) return null;
    return await file.text();
  }
  const text = transfer.getData('text/uri-list') || transfer.getData('text/plain');
  const html = transfer.getData('text/html');
  const { entries, problems } = parseLinks(text);
  return entries.length > 0 && (problems.length === 0 || !html) ? text : linksIn(text, html);
}

/// Links that stand among other words, and those that words of a web page lead to, one a line.
function linksIn(text, html) {
  const led = [...html.matchAll(/<a\b[^>]*?\shref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)].map(([, one, other]) => (one ?? other).replaceAll('&amp;', '&'));
  const written = [...text.matchAll(/https?:\/\/[^\s<>"'，。；、（）《》「」]+/gi)].map(([link]) => link.replace(/[.,;:!?)\]}…]+$/, ''));
  return [...new Set([...led, ...written].filter(isLink))].join('\n');
}

/// An identifier for a download: 16 hexadecimal digits. A repeated request with the same one adds nothing.
export function newIdentifier() {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
