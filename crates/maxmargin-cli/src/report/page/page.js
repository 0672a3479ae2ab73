
for (const table of document.querySelectorAll("table.sort")) {
  const heads = [...table.querySelectorAll("th")], body = table.tBodies[0];
  const sort = (head, column) => {
    const rises = head.getAttribute("aria-sort") !== "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", rises ? "ascending" : "descending");
    const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
    const compare = (p, q) => Number.isNaN(p - q) ? String(p).localeCompare(q, "en", {numeric: true}) : p - q;
    const rows = [...body.rows].sort((one, other) => (rises ? 1 : -1) * compare(key(one), key(other)));
    body.append(...rows);
  };
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(head, column));
    head.addEventListener("keydown", event => { if (event.key === "Enter") sort(head, column); });
  });
}
for (const input of document.querySelectorAll("input.filter")) {
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const row of input.nextElementSibling.querySelector("tbody").rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
    }
  });
}
