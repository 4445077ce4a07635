// The links of a page, of which the user chooses some.

import { api, sentence, text, translate } from './api.js';
import { add } from './links.js';

translate();
const form = document.forms[0];
const list = document.querySelector('#list');
const word = document.querySelector('#word');
const { found } = await api.storage.session.get({ found: { links: [] } });

const boxes = found.links.map(({ url, label }) => {
  const row = document.createElement('li');
  const holder = document.createElement('label');
  const box = Object.assign(document.createElement('input'), { type: 'checkbox', value: url });
  const name = Object.assign(document.createElement('span'), { textContent: label || url });
  const address = Object.assign(document.createElement('small'), { textContent: url });
  holder.append(box, name, address);
  row.append(holder);
  list.append(row);
  return box;
});
const shown = () => boxes.filter((box) => !box.closest('li').hidden);
const chosen = () => boxes.filter((box) => box.checked && !box.closest('li').hidden).map((box) => box.value);
update();

/// Words, of which an address or its label has one.
form.elements.filter.addEventListener('input', () => {
  const words = form.elements.filter.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  for (const box of boxes) {
    const row = box.closest('li');
    row.hidden = words.length > 0 && !words.some((one) => row.textContent.toLowerCase().includes(one));
  }
  update();
});
form.addEventListener('change', (event) => {
  if (event.target.name === 'all') for (const box of shown()) box.checked = event.target.checked;
  update();
});
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  document.querySelector('#add').disabled = true;
  try {
    const downloads = await add(chosen(), found);
    for (const box of boxes) box.checked = false;
    say(text('added', downloads.length));
  } catch (error) {
    say(error.isMissing ? `${text('missing')} ${text('missing_advice')}` : sentence(error.error ?? error));
  }
  update();
});

function update() {
  const count = chosen().length;
  const button = document.querySelector('#add');
  button.textContent = text('add', count);
  button.disabled = count === 0;
}

function say(sentence) {
  word.textContent = sentence;
  word.hidden = false;
}
