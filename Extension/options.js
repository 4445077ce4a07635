// The rules, saved as they are changed.

import { text, translate } from './api.js';
import { hostOf } from './rules.js';
import { load, save } from './settings.js';

translate();
const form = document.forms[0];
const settings = await load();
form.elements.isOn.checked = settings.isOn;
form.elements.smallest.value = String(settings.smallest / 1_000_000);
form.elements.types.value = settings.types;
form.elements.sites.value = settings.sites.join('\n');
form.elements.key.value = settings.key;

form.addEventListener('submit', (event) => event.preventDefault());
form.addEventListener('change', async () => {
  const word = document.querySelector('#word');
  word.hidden = false;
  if (!form.reportValidity()) {
    word.textContent = text('not_saved');
    return;
  }
  const { isOn, smallest, types, sites, key } = form.elements;
  await save({
    isOn: isOn.checked, smallest: Math.round(Number(smallest.value) * 1_000_000), types: types.value.trim(), key: key.value,
    // An address stands for its host.
    sites: sites.value.split(/[\s,]+/).map((word) => hostOf(word) || hostOf(`http://${word}`)).filter(Boolean),
  });
  word.textContent = text('saved');
});
