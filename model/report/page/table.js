// SPDX-License-Identifier: Apache-2.0
// Tables that sort by click and by keyboard. Column: {label, unit, get(row), format(value), text, strong(row)}.
"use strict";

function compareValues(a, b) {
  if (a === b) {
    return 0;
  }
  // What is not known comes last, whichever way.
  if (a === null || a === undefined) {
    return 2;
  }
  if (b === null || b === undefined) {
    return -2;
  }
  return typeof a === "string" || typeof b === "string"
    ? Math.sign(String(a).localeCompare(String(b), "en", { numeric: true })) : Math.sign(a - b);
}

function fillRows(body, columns, rows) {
  const fragment = document.createDocumentFragment();
  rows.forEach((row) => {
    const line = document.createElement("tr");
    columns.forEach((column, index) => {
      const cell = document.createElement(index === 0 ? "th" : "td");
      const value = column.get(row);
      if (index === 0) {
        cell.scope = "row";
      }
      if (!column.text) {
        cell.className = "number";
      }
      if (column.strong && column.strong(row)) {
        cell.classList.add("strong");
      }
      if (column.tint) {
        const share = column.tint(row);
        if (share) {
          cell.classList.add("tint");
          cell.style.setProperty("--share", `${(100 * Math.min(share, 1)).toFixed(1)}%`);
        }
      }
      const known = value !== null && value !== undefined;
      cell.textContent = known ? (column.format ? column.format(value) : String(value)) : "–";
      line.appendChild(cell);
    });
    fragment.appendChild(line);
  });
  body.textContent = "";
  body.appendChild(fragment);
}

function sortBy(state, column, header) {
  const { columns, rows, body, headers } = state;
  // Numbers fall first: the largest is what is looked for.
  const first = columns[column].text ? "ascending" : "descending";
  const other = first === "ascending" ? "descending" : "ascending";
  const direction = header.getAttribute("aria-sort") === first ? other : first;
  headers.forEach((each) => each.removeAttribute("aria-sort"));
  header.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const sorted = rows.map((row, index) => ({ row, index, value: columns[column].get(row) }));
  sorted.sort((a, b) => {
    const order = compareValues(a.value, b.value);
    return (Math.abs(order) === 2 ? order : sign * order) || a.index - b.index;
  });
  fillRows(body, columns, sorted.map((entry) => entry.row));
  document.getElementById("spoken").textContent = `Sorted by ${columns[column].label}, ${direction}`;
}

function headerCell(state, column, index) {
  const header = document.createElement("th");
  header.scope = "col";
  header.className = column.text ? "" : "number";
  const button = document.createElement("button");
  button.type = "button";
  button.appendChild(document.createTextNode(column.label));
  if (column.unit) {
    const unit = document.createElement("span");
    unit.className = "unit";
    unit.textContent = ` ${column.unit}`;
    button.appendChild(unit);
  }
  button.addEventListener("click", () => sortBy(state, index, header));
  header.appendChild(button);
  return header;
}

wf.table = (parent, { caption, columns, rows }) => {
  const region = document.createElement("div");
  const name = document.createElement("p");
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  const body = table.createTBody();
  const state = { columns, rows, body, headers: [] };
  region.className = "scroll";
  region.tabIndex = 0;
  region.setAttribute("role", "region");
  region.setAttribute("aria-label", caption);
  name.className = "table-title";
  name.textContent = caption;
  const hidden = table.createCaption();
  hidden.className = "hidden";
  hidden.textContent = `${caption}. The buttons of the header sort.`;
  columns.forEach((column, index) => {
    const header = headerCell(state, column, index);
    state.headers.push(header);
    head.appendChild(header);
  });
  fillRows(body, columns, rows);
  region.appendChild(table);
  parent.appendChild(name);
  parent.appendChild(region);
  return table;
};

// Common first columns of a table of runs.
wf.runColumns = () => {
  const columns = [
    { label: "Trace", text: true, get: (run) => run.traceName },
    { label: "GPU", text: true, get: (run) => run.gpu },
    { label: "Policy", text: true, get: (run) => run.label },
  ];
  if (wf.groups.some((group) => group.notes)) {
    columns.push({ label: "Variant", text: true, get: (run) => run.group.notes });
  }
  return columns;
};
