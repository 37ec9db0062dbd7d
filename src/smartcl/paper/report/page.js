"use strict";

// Tables: a click on a head sorts by its column, numbers largest first; empty cells stay at the end.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const values = [...body.rows].map(row => row.cells[column].dataset.value);
    const numeric = column > 0 && values.every(value => value === undefined || !isNaN(value));
    head.classList.toggle("number", numeric);
    head.querySelector("button").addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const down = before === "none" ? numeric : before === "ascending";
      heads.forEach(each => each.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => {
        const x = a.cells[column].dataset.value, y = b.cells[column].dataset.value;
        if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
        const order = numeric ? x - y : x.localeCompare(y);
        return down ? -order : order;
      });
      body.append(...rows);
    });
  });
}

// Legends: to point at an entry, or to press it, brings its line forward.
for (const figure of document.querySelectorAll("figure")) {
  const buttons = [...figure.querySelectorAll(".legend button")];
  const pressed = () => buttons.find(each => each.getAttribute("aria-pressed") === "true");
  const show = button => {
    figure.classList.toggle("focused", Boolean(button));
    for (const line of figure.querySelectorAll(".series"))
      line.classList.toggle("on", Boolean(button) && line.dataset.series === button.dataset.key);
  };
  for (const button of buttons) {
    button.addEventListener("pointerenter", () => show(button));
    button.addEventListener("pointerleave", () => show(pressed()));
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      buttons.forEach(each => each.setAttribute("aria-pressed", String(on && each === button)));
      show(pressed());
    });
  }
}

// Theme: the system's, until the reader chooses.
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
