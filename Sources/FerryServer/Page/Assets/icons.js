// Icons drawn for this page on a grid of 24, as strokes.

const SVG = 'http://www.w3.org/2000/svg';

const PATHS = {
  add: ['M12 5v14', 'M5 12h14'],
  play: ['M8 5.5v13l10.5-6.5z'],
  pause: ['M9 6v12', 'M15 6v12'],
  cancel: ['M7 7l10 10', 'M17 7L7 17'],
  restart: ['M19 12a7 7 0 1 1-2.2-5.1', 'M19.5 4v4h-4'],
  remove: ['M5 7.5h14', 'M9.5 7V5h5v2', 'M7 7.5l.8 11.5h8.4L17 7.5'],
  // Off the list; the bin is for what deletes.
  leave: ['M4.5 7h15', 'M4.5 12h8', 'M4.5 17h8', 'M15.5 13.5l4.5 4.5', 'M20 13.5L15.5 18'],
  key: ['M14.5 13.5a4 4 0 1 0-4-4', 'M11.5 12.5L5 19v1.5h3v-2h2v-2l2.2-2.2'],
  up: ['M12 18.5V6', 'M7 11l5-5 5 5'],
  theme: ['M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16z', 'M12 4v16'],
  more: ['M5.5 12h.01', 'M12 12h.01', 'M18.5 12h.01'],
  grip: ['M9 6.5h.01', 'M9 12h.01', 'M9 17.5h.01', 'M15 6.5h.01', 'M15 12h.01', 'M15 17.5h.01'],
  search: ['M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13z', 'M15.5 15.5L20 20'],
  down: ['M12 4.5v12', 'M6.5 11.5L12 17l5.5-5.5'],
  chevron: ['M7 10l5 5 5-5'],
  top: ['M12 19V8', 'M7 12.5L12 7.5l5 5', 'M6 4.5h12'],
  bottom: ['M12 5v11', 'M7 11.5l5 5 5-5', 'M6 19.5h12'],
  copy: ['M9 9h10v10H9z', 'M15 9V5H5v10h4'],
  info: ['M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16z', 'M12 11.2v4.6', 'M12 8.2h.01'],
  check: ['M5.5 12.5l4.3 4.3 8.7-9.3'],
  warn: ['M12 4.5l8.5 14.5h-17z', 'M12 10v4', 'M12 16.5h.01'],
  clock: ['M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16z', 'M12 8v4.3l2.8 1.7'],
  shield: ['M12 4l7 2.5v5c0 4.2-2.9 7.2-7 8.5-4.1-1.3-7-4.3-7-8.5v-5z', 'M9 12l2.2 2.2 3.9-4.2'],
  network: ['M4 9.5a12 12 0 0 1 16 0', 'M7 13a7.5 7.5 0 0 1 10 0', 'M10 16.3a3 3 0 0 1 4 0', 'M12 19h.01'],
  help: ['M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16z', 'M9.7 9.8a2.3 2.3 0 1 1 3.3 2.1c-.7.3-1 .8-1 1.6', 'M12 16h.01'],
  language: ['M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16z', 'M4 12h16', 'M12 4c2.4 2.4 3.4 5 3.4 8s-1 5.6-3.4 8c-2.4-2.4-3.4-5-3.4-8s1-5.6 3.4-8z'],
  bell: ['M6.5 16.5V11a5.5 5.5 0 0 1 11 0v5.5', 'M4.5 16.5h15', 'M10.5 19.5h3'],
  tune: ['M5 7.5h8', 'M17 7.5h2', 'M5 16.5h2', 'M11 16.5h8', 'M15 9.5v-4', 'M9 18.5v-4'],
  filter: ['M4.5 6h15', 'M7.5 12h9', 'M10.5 18h3'],
  save: ['M12 4v9', 'M8 9.5l4 4 4-4', 'M5 15v4h14v-4'],
  link: ['M10 14a4 4 0 0 0 5.7 0l2.6-2.6a4 4 0 0 0-5.7-5.7L11.5 6.8', 'M14 10a4 4 0 0 0-5.7 0l-2.6 2.6a4 4 0 0 0 5.7 5.7l1.1-1.1'],
  // A folder: a set of files.
  set: ['M4 7.5V18h16V8.5h-8.5L9.5 6H4z'],
  rows: ['M5 6h14', 'M5 10h14', 'M5 14h14', 'M5 18h14'],
  note: ['M12 7.5h.01', 'M12 11v5.5'],
};

/// An icon that is decoration: what it means stands beside it or in the label of its button.
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  for (const [key, value] of Object.entries({
    viewBox: '0 0 24 24', class: `icon icon-${name}`, 'aria-hidden': 'true', focusable: 'false',
  })) svg.setAttribute(key, value);
  for (const d of PATHS[name]) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', d);
    svg.append(path);
  }
  return svg;
}
