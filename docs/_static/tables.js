// A long table has a box above it: rows that hold every word typed there stay.
const LONG = 40;
for (const table of document.querySelectorAll("article table")) {
  const rows = [...table.querySelectorAll("tbody tr")];
  if (rows.length < LONG) continue;
  const box = document.createElement("input");
  box.type = "search";
  box.className = "filter";
  box.placeholder = `filter ${rows.length} rows`;
  box.setAttribute("aria-label", "rows with these words");
  const texts = rows.map(row => row.textContent.toLowerCase());
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, i) => { row.hidden = !words.every(word => texts[i].includes(word)); });
  });
  (table.closest(".pst-scrollable-table-container") ?? table).before(box);
}
