// The API of the browser, with promises, and its texts.

export const api = globalThis.browser ?? chrome;

/// Chromium holds a download before its file has a name; Firefox says only that one has begun.
export const canHold = api.downloads?.onDeterminingFilename !== undefined;

/// A text in the user's language.
export const text = (key, ...holes) => api.i18n.getMessage(key, holes.map(String)) || key;

/// The sentence of an error from the host, in the user's language.
export function sentence(error) {
  const chinese = api.i18n.getUILanguage().toLowerCase().startsWith('zh');
  const pick = (all, plain) => (chinese ? all?.['zh-Hans'] : all?.en) ?? plain ?? '';
  const message = pick(error.messages, error.message);
  const advice = pick(error.suggestions, error.suggestion);
  return advice ? `${message}. ${advice}` : message;
}

/// Fills in the texts of a page: `data-text` names the content of an element, `data-label` its accessible name.
export function translate(root = document) {
  for (const element of root.querySelectorAll('[data-text]')) element.textContent = text(element.dataset.text);
  for (const element of root.querySelectorAll('[data-label]')) element.setAttribute('aria-label', text(element.dataset.label));
  if (root === document) document.documentElement.lang = api.i18n.getUILanguage();
}
