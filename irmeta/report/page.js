"use strict";
// Buttons that sort tables by a column: ascending, descending, then as the page gives the rows.
// Columns of numbers start with the largest; missing values are last in both orders.
const collator = new Intl.Collator("en", { numeric: true });
const textOf = (cell) => cell.firstChild?.textContent ?? ""; // without superscripts
const isMissing = (key) => key === "" || key === "\u2014" || Number.isNaN(key);

function numberOf(cell) {
  const text = textOf(cell).replaceAll(",", "").replace("\u2212", "-").replace("\u221e", "Infinity");
  return text.startsWith("<") ? parseFloat(text.slice(1)) / 2 : parseFloat(text);
}

function compare(a, b, sign) {
  if (isMissing(a) || isMissing(b)) return isMissing(a) - isMissing(b);
  return sign * (typeof a === "string" ? collator.compare(a, b) : (a > b) - (a < b));
}

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, column) => {
    if (head.textContent === "" || rows.some((row) => row.cells[column].matches(".picture"))) return;
    const isNumber = head.matches(".num");
    const orders = isNumber ? ["descending", "ascending", null] : ["ascending", "descending", null];
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const order = orders[(orders.indexOf(head.ariaSort) + 1) % 3];
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = order;
      const sign = order === "ascending" ? 1 : -1;
      const keyOf = (row) => (isNumber ? numberOf : textOf)(row.cells[column]);
      const keyed = rows.map((row) => [keyOf(row), row]);
      if (order !== null) keyed.sort(([a], [b]) => compare(a, b, sign));
      body.append(...keyed.map(([, row]) => row));
    });
  });
}
