// The only door to the document: whatever was said by a server, a file or the user goes in as text.

/// Makes an element. `props`: `class`, `on` (listeners by name), `data`, `style` (properties by name), `ref`-less plain
/// attributes; null and false leave one out, true sets it empty. Children are nodes or texts; null is skipped.
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  if (props) setProps(node, props);
  append(node, children);
  return node;
}

function setProps(node, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'class') node.className = value;
    else if (name === 'on') for (const [type, run] of Object.entries(value)) node.addEventListener(type, run);
    else if (name === 'data') Object.assign(node.dataset, value);
    else if (name === 'value') node.value = value;
    else if (name === 'checked') node.checked = value;
    else if (/^on|^style$|^srcdoc$/i.test(name)) throw new Error(`no attribute ${name} here`);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
}

export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
}

/// Writes a text when it is another one: what has not changed costs no layout and is not read out again.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node, name, value) {
  if (value === null || value === undefined || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else {
    const text = value === true ? '' : String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/// For screen readers alone.
export const spoken = (text) => h('span', { class: 'spoken' }, text);

/// Whether a key is being typed into a field, and is no shortcut.
export function isTyping(target) {
  return target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') !== null;
}

let counter = 0;
/// An id that is used once.
export const uniqueId = (name) => `${name}-${++counter}`;

/// A value that is kept in this browser, where it may; reading and writing never throw.
export const kept = {
  get(name) {
    try { return localStorage.getItem(`ferry.${name}`); } catch { return null; }
  },
  set(name, value) {
    try { localStorage.setItem(`ferry.${name}`, value); } catch { /* private windows may refuse */ }
  },
};
