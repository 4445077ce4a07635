// A menu that opens at a button, or where the pointer is.

import { h, setAttribute } from './dom.js';
import { icon } from './icons.js';

let closeOpen = null;

export const closeMenu = () => closeOpen?.(false);

/// - items: `{label, icon, run, isDisabled, isDangerous, isChecked, stays}`, or `null` for a line between groups. One that is checked
///   or not, and no more than that, has `isChecked`; with `stays` it is changed by being chosen, and the menu stays open.
/// - point: `{x, y}` in the window, of a pointer that asked for it away from the button.
export function openMenu(button, label, items, point = null) {
  if (button.getAttribute('aria-expanded') === 'true') return closeMenu();
  closeMenu();
  const menu = h('div', { class: 'menu', role: 'menu', 'aria-label': label });
  for (const item of items) {
    menu.append(item === null ? h('div', { class: 'menu-line', role: 'separator' }) : h('button', {
      type: 'button', role: item.isChecked === undefined ? 'menuitem' : 'menuitemcheckbox', 'aria-checked': item.isChecked?.toString(), tabindex: '-1', class: item.isDangerous ? 'menu-item danger' : 'menu-item',
      'aria-disabled': item.isDisabled ? 'true' : null, data: item.name ? { action: item.name } : {},
      on: {
        click: (event) => {
          // The second half of a double click on the button is for no item, even if one is under the pointer.
          if (item.isDisabled || (event.detail > 1 && !item.stays)) return;
          if (!item.stays) close(true);
          item.run();
          if (!item.stays) return;
          item.isChecked = !item.isChecked;
          const { currentTarget: entry } = event;
          setAttribute(entry, 'aria-checked', String(item.isChecked));
          entry.firstChild.replaceWith(icon(item.isChecked ? 'check' : item.icon));
        },
      },
    }, icon(item.isChecked ? 'check' : item.icon), h('span', null, item.label)));
  }
  const done = new AbortController();
  const { signal } = done;
  function close(returnsFocus) {
    if (closeOpen !== close) return;
    closeOpen = null;
    done.abort();
    menu.remove();
    button.setAttribute('aria-expanded', 'false');
    if (returnsFocus && button.isConnected) button.focus();
  }
  closeOpen = close;
  // Inside a modal dialog only what is in it can be used.
  (button.closest('dialog, main') ?? document.body).append(menu);
  place(menu, point ? new DOMRect(point.x, point.y) : button.getBoundingClientRect(), point !== null);
  button.setAttribute('aria-expanded', 'true');
  const entries = [...menu.querySelectorAll('[role^=menuitem]')];
  entries[0]?.focus();

  menu.addEventListener('keydown', (event) => {
    const at = entries.indexOf(document.activeElement);
    const goTo = (index) => entries[(index + entries.length) % entries.length].focus();
    switch (event.key) {
      case 'ArrowDown': goTo(at + 1); break;
      case 'ArrowUp': goTo(at - 1); break;
      case 'Home': goTo(0); break;
      case 'End': goTo(-1); break;
      case 'Escape': close(true); break;
      case 'Tab': close(true); return;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  }, { signal });
  document.addEventListener('pointerdown', (event) => {
    if (!menu.contains(event.target) && !button.contains(event.target)) close(false);
  }, { signal, capture: true });
  window.addEventListener('resize', () => close(false), { signal });
  // Its own focus may scroll the page by a little; what takes the button away closes it.
  const { top } = button.getBoundingClientRect();
  window.addEventListener('scroll', () => {
    if (Math.abs(button.getBoundingClientRect().top - top) > 24) close(false);
  }, { signal, passive: true });
}

/// Below or above `at`: to the left of its right edge, or of a point to the right.
function place(menu, at, isPoint) {
  const { offsetWidth: width, offsetHeight: height } = menu; // Without what its animation makes of them.
  const margin = 8;
  const left = Math.max(margin, Math.min(isPoint ? at.right : at.right - width, innerWidth - width - margin));
  const gap = isPoint ? 0 : 4;
  const below = at.bottom + gap;
  const above = at.top - height - gap;
  const fitsBelow = below + height + margin <= innerHeight;
  // Where it fits neither below nor above, it stands at the end of the window; what is longer than that scrolls inside.
  const top = fitsBelow || above < margin ? Math.min(below, innerHeight - height - margin) : above;
  menu.style.left = `${left}px`;
  menu.style.top = `${Math.max(margin, top)}px`;
}
