"""How a report looks: light, dark, on paper, and what enlarges its figure. Nothing comes from elsewhere."""

__all__ = ["SCRIPT", "STYLE"]

STYLE = """
:root { color-scheme: light dark; --text: #1a1a1a; --pale: #555; --page: #fff; --line: #ddd; --rule: #888 }
:root { --code: #f5f5f2; --fails: #a40000; --holds: #00602b }
@media screen and (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --pale: #aaa; --page: #16181b; --line: #3a3d42; --rule: #777; --code: #26292e }
  :root { --fails: #ff7b8a; --holds: #4fc79f }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page) }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2rem; border-bottom: 1px solid var(--line) }
pre { background: var(--code); padding: .8rem; overflow-x: auto; white-space: pre-wrap; font-size: .85rem }
table { border-collapse: collapse; font-size: .9rem; margin-bottom: 1rem } .wide { overflow-x: auto }
.tables { display: flex; flex-wrap: wrap; gap: .5rem 3rem; align-items: flex-start }
.tables .wide { max-width: 100% } .tables td { white-space: nowrap }
caption { text-align: left; font-weight: 600; padding: .3rem 0 }
th, td { padding: .2rem .7rem; border-bottom: 1px solid var(--line); text-align: right }
th { border-bottom: 2px solid var(--rule) } th.group { text-align: center; border-bottom-width: 1px }
th:first-child, td:first-child { text-align: left }
td { font-variant-numeric: tabular-nums }
.fails { color: var(--fails); font-weight: 600 } .holds { color: var(--holds) }
figure { margin: 1rem 0; position: relative }
svg { max-width: 100%; height: auto; background: #fff; border-radius: 4px; display: block }
figure.zoomed svg { cursor: grab; touch-action: none }
figure.full { position: fixed; inset: 0; margin: 0; padding: 1rem; z-index: 1; background: var(--page) }
figure.full { display: flex; flex-direction: column }
figure.full svg { width: 100%; flex: 1; min-height: 0 }
.zoom { display: flex; gap: .3rem; margin-bottom: .4rem }
.zoom button { font: inherit; color: inherit; background: var(--code); border: 1px solid var(--line) }
.zoom button { min-width: 2.2rem; padding: .1rem .6rem; border-radius: 4px; cursor: pointer }
@media print {
  body { max-width: none; margin: 0; font-size: 10pt } .zoom { display: none }
  figure, tr, pre { break-inside: avoid } h2 { break-after: avoid } .wide { overflow: visible }
}
""".strip()
"""Figures keep their white ground and their colours in the dark: these are the colours of the policies."""

SCRIPT = """
for (const figure of document.querySelectorAll('figure')) {
  const svg = figure.querySelector('svg'), all = svg.getAttribute('viewBox').split(' ').map(Number);
  let box = [...all], held = null;
  const show = () => {
    for (const k of [0, 1])
      box[k] = Math.min(Math.max(box[k], all[k]), all[k] + all[k + 2] - box[k + 2]);
    svg.setAttribute('viewBox', box.join(' '));
    figure.classList.toggle('zoomed', box[2] < all[2]);
  };
  const zoom = (factor, x = .5, y = .5) => {
    const part = Math.min(1, Math.max(.02, box[2] / all[2] / factor));
    box = [box[0] + x * (box[2] - part * all[2]), box[1] + y * (box[3] - part * all[3]),
      part * all[2], part * all[3]];
    show();
  };
  const whole = () => { box = [...all]; show(); };
  const place = event => {
    const at = svg.getBoundingClientRect();
    return [(event.clientX - at.left) / at.width, (event.clientY - at.top) / at.height];
  };
  const full = on => figure.classList.toggle('full', on);
  const bar = document.createElement('div');
  bar.className = 'zoom';
  for (const [sign, title, act] of [
    ['+', 'Enlarge', () => zoom(1.5)], ['\\u2212', 'Shrink', () => zoom(1 / 1.5)],
    ['1:1', 'The whole figure', whole], ['full', 'Fill the window, and back', () => full()],
  ]) {
    const button = document.createElement('button');
    Object.assign(button, { type: 'button', textContent: sign, title, onclick: act });
    button.setAttribute('aria-label', title);
    bar.append(button);
  }
  figure.prepend(bar);
  svg.addEventListener('wheel', event => {
    if (!event.ctrlKey && !figure.classList.contains('full')) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, ...place(event));
  }, { passive: false });
  svg.addEventListener('dblclick', event => zoom(2, ...place(event)));
  svg.addEventListener('pointerdown', event => {
    if (box[2] < all[2]) { held = place(event); svg.setPointerCapture(event.pointerId); }
  });
  svg.addEventListener('pointermove', event => {
    if (!held) return;
    const [x, y] = place(event);
    box[0] -= (x - held[0]) * box[2]; box[1] -= (y - held[1]) * box[3];
    held = [x, y];
    show();
  });
  for (const end of ['pointerup', 'pointercancel']) svg.addEventListener(end, () => { held = null; });
  addEventListener('keydown', event => { if (event.key === 'Escape') full(false); });
  addEventListener('beforeprint', () => { full(false); whole(); });
}
""".strip()
"""Buttons, Ctrl and the wheel, a double click; an enlarged figure follows the pointer. Paper shows all."""
