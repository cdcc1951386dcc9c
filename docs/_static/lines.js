// Long lines of words are folded on a wide screen; rows of a table, and words that are as long, scroll instead.
const ROW = /^(?!>>>|\.\.\.).*\S {2,}\S.* {2,}\S|\S{80,}/;
for (const block of document.querySelectorAll("article pre")) {
  const rows = block.textContent.split("\n").filter(line => line.length > 90 && ROW.test(line));
  if (!rows.length) block.classList.add("words");
}
// A long name may break after its dots and underscores: in a cell it takes the width of the other columns else.
const FITS = innerWidth > 576 ? 20 : 10;
const NAMES = "article td code .pre, article h1, .prev-next-title, .bd-sidebar-secondary code .pre";
for (const place of document.querySelectorAll(NAMES)) {
  for (const text of [...place.childNodes].filter(node => node.nodeType === Node.TEXT_NODE && node.length > FITS)) {
    const parts = text.data.split(/(?<=[._(/])(?=\S)/);
    text.replaceWith(...parts.flatMap((part, k) => (k ? [document.createElement("wbr"), part] : [part])));
  }
}
