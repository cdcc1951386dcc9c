// Long lines of words are folded on a wide screen; rows of a table, and words that are as long, scroll instead.
const ROW = /^(?!>>>|\.\.\.).*\S {2,}\S.* {2,}\S|\S{80,}/;
for (const block of document.querySelectorAll("article pre")) {
  const rows = block.textContent.split("\n").filter(line => line.length > 90 && ROW.test(line));
  if (!rows.length) block.classList.add("words");
}
// A long name may break after dots and underscores and before capitals: in a cell it takes the width of the other
// columns else, and beside the page it would break anywhere.
const FITS = innerWidth > 576 ? 20 : 10;
const CELLS = "article td code .pre, article td code.xref";
const BESIDE = ".bd-sidebar-secondary code .pre, .bd-sidebar-primary a";
for (const place of document.querySelectorAll(`${CELLS}, article h1, .prev-next-title, ${BESIDE}`)) {
  const fits = place.matches(".bd-sidebar-primary a") ? 14 : FITS;
  for (const text of [...place.childNodes].filter(node => node.nodeType === Node.TEXT_NODE && node.length > fits)) {
    const parts = text.data.split(/(?<=[._/]|\S\()(?=[^\s)])|(?<=[a-z])(?=[A-Z])/);
    text.replaceWith(...parts.flatMap((part, k) => (k ? [document.createElement("wbr"), part] : [part])));
  }
}
// An option is not torn at its hyphens.
const OPTION = /(?<![\w-])(-{1,2}\w[\w-]*)/;
for (const place of document.querySelectorAll("article code .pre")) {
  for (const text of [...place.childNodes].filter(node => node.nodeType === Node.TEXT_NODE && OPTION.test(node.data))) {
    const parts = text.data.split(OPTION);
    text.replaceWith(...parts.map((part, k) => {
      if (k % 2 === 0) return part;
      const whole = document.createElement("span");
      whole.className = "joined";
      whole.textContent = part;
      return whole;
    }));
  }
}
