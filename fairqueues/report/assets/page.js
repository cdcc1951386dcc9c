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
    ['+', 'Enlarge', () => zoom(1.5)], ['\u2212', 'Shrink', () => zoom(1 / 1.5)],
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
