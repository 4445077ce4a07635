// Decides which downloads of the browser Ferry takes over. Pure.

/// Extensions of browsers, which the browser installs.
const OWN_TYPES = ['application/x-xpinstall', 'application/x-chrome-extension'];

/// Gives the reason for which the browser keeps a download, or null if Ferry takes it over.
///
/// - download: url, name, size (undefined if unknown), type, page (the address of the page, may be undefined)
/// - request: what was seen of its request; null if nothing was
export function reasonToLeave(settings, download, request) {
  if (!settings.isOn) return 'off';
  if (!/^https?:/.test(download.url)) return 'scheme';
  // A request that was not seen may have been made by POST, and cannot be repeated.
  if (!request || request.method !== 'GET') return 'request';
  if (OWN_TYPES.includes(download.type)) return 'type';
  if (download.size !== undefined && download.size < settings.smallest) return 'small';
  if (!isOfTypes(settings.types, download.name)) return 'type';
  const hosts = [download.url, download.page].map(hostOf).filter(Boolean);
  if (hosts.some((host) => settings.sites.some((site) => host === site || host.endsWith(`.${site}`)))) return 'site';
  return null;
}

export function hostOf(url) {
  try { return new URL(url).hostname; } catch { return ''; }
}

function isOfTypes(types, name) {
  const words = types.toLowerCase().split(/[\s,;]+/).map((word) => word.replace(/^(-?)\.?/, '$1')).filter(Boolean);
  const ends = (word) => name.toLowerCase().endsWith(`.${word}`);
  if (words.some((word) => word.startsWith('-') && ends(word.slice(1)))) return false;
  const only = words.filter((word) => !word.startsWith('-'));
  return only.length === 0 || only.some(ends);
}
