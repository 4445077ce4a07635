// What the user has set, in the storage of the browser.

import { api } from './api.js';

export const DEFAULTS = {
  /// Whether downloads are taken over.
  isOn: true,
  /// Smaller ones stay with the browser; in bytes.
  smallest: 1_000_000,
  /// Endings of names, `zip, iso`; those with a minus stay with the browser. Empty: all.
  types: '',
  /// Host names whose downloads stay with the browser, with their subdomains.
  sites: [],
  /// The key that leaves a click to the browser: Alt, Control, Shift, or empty for none.
  key: 'Alt',
};

export const load = () => api.storage.local.get(DEFAULTS);
export const save = (changes) => api.storage.local.set(changes);
