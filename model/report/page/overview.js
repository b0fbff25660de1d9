// SPDX-License-Identifier: Apache-2.0
// One figure of all traces of a machine: a row for each trace, a symbol for each policy.
"use strict";

// Symbols differ in shape as well as in colour.
const symbols = {
  "sw-s": d3.symbolSquare, "sw-b": d3.symbolDiamond, skip: d3.symbolTriangle, cccl: d3.symbolCross, phi: d3.symbolWye,
  lab: d3.symbolSquare, "lab-ideal": d3.symbolDiamond, "arc-hw": d3.symbolCircle,
};
const symbolPath = (family, fused) => d3.symbol().type(fused ? d3.symbolStar : symbols[family] || d3.symbolCircle)
  .size(family === "arc-hw" ? 64 : 46)();

// Of a policy with thresholds its best on each trace: {name, run}.
function pointsOf(group) {
  const best = new Map();
  group.runs.filter((run) => run.family !== "baseline").forEach((run) => {
    const name = run.threshold === null ? run.label : run.family;
    if (!best.has(name) || run.cycles < best.get(name).cycles) {
      best.set(name, run);
    }
  });
  return Array.from(best, ([name, run]) => ({ name, run, value: run.speedup }));
}

function drawTraces(panel, groups, scale) {
  const rows = groups.map((group) => ({ group, points: pointsOf(group) }))
    .sort((a, b) => d3.max(b.points, (point) => point.value) - d3.max(a.points, (point) => point.value));
  const width = Math.max(240, panel.clientWidth);
  const height = 21;
  const left = Math.min(width * 0.4, 14 + d3.max(rows, (row) => wf.textWidth(row.group.trace)));
  const bottom = rows.length * height + 2;
  const svg = wf.svg(panel, width, bottom + 34, `Speedups of ${wf.plural(rows.length, "trace")} on ${groups[0].gpu}. The table below has the numbers.`);
  const x = scale.range([left, width - 14]);
  const axis = svg.append("g").attr("class", "axis");
  wf.logTicks(...x.domain())(Math.max(3, Math.floor((width - left) / 44))).forEach((tick) => {
    axis.append("line").attr("x1", x(tick)).attr("x2", x(tick)).attr("y1", 0).attr("y2", bottom);
    axis.append("text").attr("x", x(tick)).attr("y", bottom + 14).attr("text-anchor", "middle").text(wf.plainTick(tick));
  });
  axis.append("text").attr("class", "axis-title").attr("x", (left + width) / 2).attr("y", bottom + 29)
    .attr("text-anchor", "middle").text("speedup over baseline");
  svg.append("line").attr("class", "origin").attr("x1", x(1)).attr("x2", x(1)).attr("y1", 0).attr("y2", bottom);
  const marks = [];
  rows.forEach((row, index) => {
    const y = index * height + height / 2 + 1;
    svg.append("line").attr("class", "base").attr("x1", left).attr("x2", width - 14).attr("y1", y).attr("y2", y);
    svg.append("text").attr("class", "label").attr("x", left - 8).attr("y", y).attr("dy", "0.35em").attr("text-anchor", "end")
      .text(wf.fitText(row.group.trace, left - 10));
    row.points.forEach(({ name, run, value }) => {
      const area = svg.append("g").attr("class", "point").attr("transform", `translate(${x(value)},${y})`);
      area.append("circle").attr("class", "hit").attr("r", 8);
      area.append("path").attr("class", `mark ${wf.familyClass(run)}`).attr("d", symbolPath(run.family, run.unit_kind === "fused" && run.family === "arc-hw"));
      marks.push({ area, tip: () => ({ title: `${run.label} · ${run.group.name}`, rows: [...(name === run.label ? [] : [["best of", name]]), ...wf.runTip(run)] }) });
    });
  });
  wf.addTips(svg, marks);
}

wf.drawOverview = (section, groups, scale, table) => {
  const few = 4;
  const machines = Array.from(wf.groupBy(groups, wf.machineOf))
    .filter(([, members]) => members.length >= few);
  if (machines.length === 0) {
    return;
  }
  const names = wf.groupBy(d3.merge(groups.map(pointsOf)).sort((a, b) => a.run.order - b.run.order), (point) => point.name);
  wf.figure(section, {
    name: "Speedup on each trace.",
    caption: "A row for each trace, the largest speedup first. Of a policy with thresholds the best on that trace. The scale is logarithmic.",
    legend: Array.from(names, ([name, [{ run }]]) =>
      [wf.familyClass(run), name, symbolPath(run.family, run.unit_kind === "fused" && run.family === "arc-hw")]),
    height: 21 * machines[0][1].length,
    draw: (place) => wf.panels(place, machines, {
      title: ([name]) => name,
      note: ([, members]) => wf.plural(members.length, "trace"),
      draw: (panel, [, members]) => drawTraces(panel, members, scale),
    }),
    table,
  });
};
