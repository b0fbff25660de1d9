// SPDX-License-Identifier: Apache-2.0
// What all figures share: the frame with number, caption and data table, small panels, bars, and the tooltip for
// pointer and keyboard.
"use strict";

const tip = document.getElementById("tip");

function placeTip(x, y) {
  const box = tip.getBoundingClientRect();
  const gap = 14;
  const left = x + gap + box.width > window.innerWidth - 8 ? x - gap - box.width : x + gap;
  const top = y + gap + box.height > window.innerHeight - 8 ? y - gap - box.height : y + gap;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, top)}px`;
}

// `content`: {title, rows: [[name, value]]}.
wf.showTip = (content, x, y) => {
  tip.textContent = "";
  const title = document.createElement("p");
  title.textContent = content.title;
  const list = document.createElement("dl");
  content.rows.forEach(([name, value]) => {
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = name;
    text.textContent = value;
    list.append(term, text);
  });
  tip.append(title, list);
  tip.hidden = false;
  placeTip(x, y);
};
wf.hideTip = () => { tip.hidden = true; };
["wheel", "touchmove"].forEach((type) => window.addEventListener(type, wf.hideTip, { passive: true }));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    wf.hideTip();
  }
});

wf.speak = (content) => {
  document.getElementById("spoken").textContent =
    `${content.title}: ${content.rows.map((row) => row.join(" ")).join(", ")}`;
};

// Marks of a drawing say what they are to a pointer, and to the arrow keys once the drawing has the focus.
wf.addTips = (svg, marks) => {
  const node = svg.node();
  let current = -1;
  const mark = (index) => marks.forEach((each, place) => each.area.classed("current", place === index));
  marks.forEach((each) => {
    const area = each.area.node();
    area.addEventListener("pointermove", (event) => wf.showTip(each.tip(), event.clientX, event.clientY));
    area.addEventListener("pointerleave", wf.hideTip);
  });
  node.setAttribute("tabindex", "0");
  node.addEventListener("blur", () => { wf.hideTip(); mark(-1); current = -1; });
  node.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step || marks.length === 0) {
      return;
    }
    event.preventDefault();
    current = Math.max(0, Math.min(marks.length - 1, current + step));
    mark(current);
    const box = marks[current].area.node().getBoundingClientRect();
    const frame = node.getBoundingClientRect();
    const content = marks[current].tip();
    wf.showTip(content, Math.min(box.left + box.width / 2, frame.right - 40), box.bottom - 8);
    wf.speak(content);
  });
};

wf.svg = (parent, width, height, label) => d3.select(parent).append("svg")
  .attr("viewBox", `0 0 ${width} ${height}`).attr("width", width).attr("height", height)
  .attr("role", "img").attr("aria-label", label);

// Width that a text takes, near enough to keep a place for it. Bold text is as wide as one of 13.4 px.
wf.textWidth = (text, size = 12) => {
  const pen = wf.textWidth.pen || (wf.textWidth.pen = document.createElement("canvas").getContext("2d"));
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
};

function element(parent, name, className, text) {
  const node = document.createElement(name);
  node.className = className || "";
  if (text !== undefined) {
    node.textContent = text;
  }
  parent.appendChild(node);
  return node;
}
wf.element = element;

let figures = 0;
wf.drawings = [];

// Draws when the place comes into view, or at once for print.
const watcher = new IntersectionObserver((entries) => entries.forEach((entry) => {
  if (entry.isIntersecting) {
    wf.drawings.find((each) => each.place === entry.target).show();
  }
}), { rootMargin: "600px" });

function addDrawing(place, draw) {
  const drawing = { place, shown: false, width: 0 };
  drawing.show = () => {
    drawing.shown = true;
    watcher.unobserve(place);
    drawing.width = place.clientWidth;
    place.textContent = "";
    place.style.minHeight = "";
    draw(place);
  };
  wf.drawings.push(drawing);
  watcher.observe(place);
  return drawing;
}
wf.drawAll = () => wf.drawings.filter((drawing) => !drawing.shown).forEach((drawing) => drawing.show());

let resizing = 0;
window.addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => wf.drawings.forEach((drawing) => {
    if (drawing.shown && drawing.place.clientWidth !== drawing.width) {
      drawing.show();
    }
  }), 120);
});
// On paper all figures are there, made for its width.
window.addEventListener("beforeprint", () => {
  document.body.classList.add("printing");
  wf.drawings.forEach((drawing) => drawing.show());
});
window.addEventListener("afterprint", () => {
  document.body.classList.remove("printing");
  wf.drawings.forEach((drawing) => drawing.show());
});

// `legend`: [[class, name, path of a symbol if it is no square]].
function addLegend(figure, legend) {
  const list = element(figure, "ul", "legend");
  legend.forEach(([className, name, symbol]) => {
    const item = element(list, "li");
    if (symbol) {
      d3.select(item).append("svg").attr("width", 14).attr("height", 14).attr("viewBox", "-7 -7 14 14").attr("aria-hidden", "true")
        .append("path").attr("class", `mark ${className}`).attr("d", symbol);
    } else {
      element(item, "span", `swatch ${className}`).setAttribute("aria-hidden", "true");
    }
    item.appendChild(document.createTextNode(name));
  });
}

function addAlternative(figure, table) {
  const details = element(figure, "details", "alternative");
  element(details, "summary", "", "Data of this figure as a table");
  const fill = () => {
    if (!details.querySelector("table")) {
      table(details);
    }
  };
  details.addEventListener("toggle", fill);
}

// One figure: `draw(place)` draws it, `table(parent)` gives the same as a table.
wf.figure = (section, { name, caption, legend, draw, table, height, controls }) => {
  const figure = element(section, "figure");
  const text = element(figure, "figcaption");
  figures += 1;
  figure.id = `figure-${figures}`;
  element(text, "b", "", `Figure ${figures}. ${name} `);
  text.appendChild(document.createTextNode(caption));
  if (legend) {
    addLegend(figure, legend);
  }
  const bar = controls ? element(figure, "div", "controls") : null;
  const place = element(figure, "div", "drawing");
  place.style.minHeight = `${height || 200}px`;
  const drawing = addDrawing(place, draw);
  if (controls) {
    controls(bar, drawing.show);
  }
  if (table) {
    addAlternative(figure, table);
  }
};

// Buttons of which one is pressed. `options`: [[value, text]].
wf.choice = (parent, name, options, chosen, change) => {
  const group = element(parent, "div", "choice");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", name);
  const buttons = options.map(([value, text]) => {
    const button = element(group, "button", "", text);
    button.type = "button";
    button.setAttribute("aria-pressed", String(value === chosen));
    button.addEventListener("click", () => {
      buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      change(value);
    });
    return button;
  });
};

wf.section = (id, title) => {
  const section = element(document.getElementById("main"), "section");
  section.id = id;
  element(section, "h2", "", title).id = `${id}-title`;
  section.setAttribute("aria-labelledby", `${id}-title`);
  return section;
};

// Panels side by side, the first twelve and the rest on demand. `draw(panel, item)`.
wf.panels = (place, items, { title, note, draw, wide, more }) => {
  const first = 12;
  const grid = element(place, "div", wide ? "panels wide" : "panels");
  // All have their places, and so their widths, before any is drawn.
  const add = (added) => added.map((item) => {
    const panel = element(grid, "div", "panel");
    const heading = element(panel, "h3", "", title(item));
    const text = note && note(item);
    if (text) {
      element(heading, "span", "note", ` ${text}`);
    }
    return panel;
  }).forEach((panel, index) => draw(panel, added[index]));
  const shown = place.dataset.all === "yes" || items.length <= first + 1 ? items.length : first;
  add(items.slice(0, shown));
  if (shown < items.length) {
    const button = element(place, "button", "more", `Show the other ${items.length - shown} ${more || "panels"}`);
    button.type = "button";
    button.addEventListener("click", () => {
      place.dataset.all = "yes";
      button.remove();
      add(items.slice(shown));
    });
  }
};

// Rounded to what an axis of this width can carry.
function axisTicks(scale, width, ticks) {
  const most = Math.max(3, Math.floor(width / 44));
  return ticks ? ticks(most) : scale.ticks(Math.min(most - 1, 6));
}

// How far right the scale may go so that the value behind each bar still has its place.
function rightEnd(rows, scale, left, width) {
  scale.range([0, 1]);
  const ends = rows.filter((row) => row.value).map((row) => {
    const share = Math.max(0.001, d3.max(row.parts, (part) => Math.max(scale(part.from), scale(part.to))) || 0);
    return left + (width - left - 10 - wf.textWidth(row.value) * 1.06) / share;
  });
  return Math.min(width - 10, ...ends);
}

// Horizontal bars. `rows`: [{label, marks, parts: [{className, from, to, text}], value, strong, tip()}],
// `scale`: scale whose range is set here, `origin`: where a line stands, `axis`: {format, ticks, title}. `beside`: the
// rows of all panels that share the scale, so that a length means the same in each.
wf.bars = (panel, { label, rows, scale, origin, axis, beside = rows, rowHeight = 21 }) => {
  const width = Math.max(240, panel.clientWidth);
  const left = Math.min(width * 0.42, 14 + d3.max(beside, (row) => wf.textWidth(row.label, row.strong ? 13.4 : 12)));
  const right = width - rightEnd(beside, scale, left, width);
  const top = 2;
  const bottom = top + rows.length * rowHeight;
  const svg = wf.svg(panel, width, bottom + 34, label);
  scale.range([left, width - right]);
  const ticks = axisTicks(scale, width - right - left, axis.ticks);
  const frame = svg.append("g").attr("class", "axis");
  ticks.forEach((tick) => {
    frame.append("line").attr("x1", scale(tick)).attr("x2", scale(tick)).attr("y1", top).attr("y2", bottom);
    frame.append("text").attr("x", scale(tick)).attr("y", bottom + 14).attr("text-anchor", "middle").text(axis.format(tick));
  });
  frame.append("text").attr("class", "axis-title").attr("x", (left + width - right) / 2).attr("y", bottom + 29)
    .attr("text-anchor", "middle").text(axis.title);
  const marks = rows.map((row, index) => drawRow(svg, row, { top: top + index * rowHeight, rowHeight, left, scale, width }));
  if (origin !== undefined) {
    svg.append("line").attr("class", "origin").attr("x1", scale(origin)).attr("x2", scale(origin))
      .attr("y1", top).attr("y2", bottom);
  }
  wf.addTips(svg, marks);
  return svg;
};

function drawRow(svg, row, { top, rowHeight, left, scale, width }) {
  const group = svg.append("g").attr("class", row.strong ? "row strong" : "row");
  const area = group.append("rect").attr("class", "hit").attr("x", 0).attr("y", top).attr("width", width)
    .attr("height", rowHeight);
  const middle = top + rowHeight / 2;
  const height = rowHeight - 7;
  let end = left;
  group.append("text").attr("class", "label").attr("x", left - 8).attr("y", middle).attr("dy", "0.35em")
    .attr("text-anchor", "end").text(fitText(row.label, left - 10, row.strong ? 13.4 : 12));
  row.parts.forEach((part) => {
    const from = Math.min(scale(part.from), scale(part.to));
    const to = Math.max(scale(part.from), scale(part.to));
    const length = Math.max(part.least || 0, to - from);
    end = Math.max(end, from + length);
    group.append("rect").attr("class", `mark ${part.className}`).attr("x", from).attr("y", middle - height / 2)
      .attr("width", length).attr("height", height);
    if (part.text && wf.textWidth(part.text, 10.5) + 6 < length) {
      group.append("text").attr("class", `inside on-${part.className}`).attr("x", from + length / 2).attr("y", middle)
        .attr("dy", "0.35em").attr("text-anchor", "middle").text(part.text);
    }
  });
  if (row.value) {
    group.append("text").attr("class", "value").attr("x", end + 6).attr("y", middle).attr("dy", "0.35em").text(row.value);
  }
  return { area: group, hit: area, tip: row.tip };
}

function fitText(text, room, size = 12) {
  if (wf.textWidth(text, size) <= room) {
    return text;
  }
  let kept = text;
  while (kept.length > 1 && wf.textWidth(`${kept}…`, size) > room) {
    kept = kept.slice(0, -1);
  }
  return `${kept}…`;
}
wf.fitText = fitText;
