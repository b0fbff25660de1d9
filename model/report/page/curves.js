// SPDX-License-Identifier: Apache-2.0
// The figures of lines: speedup against the balancing threshold, utilization over time.
"use strict";

// A frame with both axes. Returns the drawing and its scales.
function plot(panel, { label, height, x, y, xTitle, xTicks, yTicks, right }) {
  const width = Math.max(240, panel.clientWidth);
  const box = { left: 38, right: width - right, top: 8, bottom: height - 36 };
  const svg = wf.svg(panel, width, height, label);
  x.range([box.left, box.right]);
  y.range([box.bottom, box.top]);
  const frame = svg.append("g").attr("class", "axis");
  yTicks.values.forEach((tick) => {
    frame.append("line").attr("x1", box.left).attr("x2", box.right).attr("y1", y(tick)).attr("y2", y(tick));
    frame.append("text").attr("x", box.left - 6).attr("y", y(tick)).attr("dy", "0.35em").attr("text-anchor", "end")
      .text(yTicks.format(tick));
  });
  xTicks.values.forEach((tick) => frame.append("text").attr("x", x(tick)).attr("y", box.bottom + 15)
    .attr("text-anchor", "middle").text(xTicks.format(tick)));
  frame.append("line").attr("class", "origin").attr("x1", box.left).attr("x2", box.right).attr("y1", box.bottom).attr("y2", box.bottom);
  frame.append("text").attr("class", "axis-title").attr("x", (box.left + box.right) / 2).attr("y", height - 5)
    .attr("text-anchor", "middle").text(xTitle);
  return { svg, box, x, y };
}

// Moves labels apart that would overlap, keeping their order.
function spread(labels, low, high, gap) {
  labels.sort((a, b) => a.y - b.y);
  labels.forEach((label, index) => {
    label.y = Math.max(label.y, index ? labels[index - 1].y + gap : low);
  });
  for (let index = labels.length - 1; index >= 0; index -= 1) {
    const most = index + 1 < labels.length ? labels[index + 1].y - gap : high;
    labels[index].y = Math.min(labels[index].y, most);
  }
  return labels;
}

function curvesOf(group) {
  return ["sw-b", "sw-s"].map((family) => ({
    family, runs: group.runs.filter((run) => run.family === family).sort((a, b) => a.threshold - b.threshold),
  })).filter((curve) => curve.runs.length > 1);
}

function drawThresholds(panel, group) {
  const value = (run) => (run.speedup === null ? run.cycles / 1e6 : run.speedup);
  const curves = curvesOf(group);
  const lines = group.runs.filter((run) => ["baseline", "arc-hw"].includes(run.family));
  const values = [...d3.merge(curves.map((curve) => curve.runs)), ...lines].map(value);
  const names = [...curves.map((curve) => curve.family), ...lines.map((run) => run.label)];
  const y = d3.scaleLinear().domain([0, d3.max(values)]).nice(5);
  const { svg, box, x } = plot(panel, {
    label: `Threshold curves of ${group.name}. The table below has the numbers.`,
    height: 232, x: d3.scaleLinear().domain([0, 32]), y, xTitle: "balancing threshold X, active lanes",
    xTicks: { values: [0, 8, 16, 24, 32], format: String },
    yTicks: { values: y.ticks(5), format: (tick) => (group.baseline ? wf.plainTick(tick) : d3.format("~r")(tick)) },
    right: 14 + d3.max(names, (name) => wf.textWidth(name)),
  });
  const labels = [];
  lines.forEach((run) => {
    svg.append("line").attr("class", `level s-${run.family}`).attr("x1", box.left).attr("x2", box.right)
      .attr("y1", y(value(run))).attr("y2", y(value(run)));
    labels.push({ y: y(value(run)), name: run.label, family: run.family });
  });
  const marks = [];
  curves.forEach((curve) => {
    svg.append("path").attr("class", `curve s-${curve.family}`)
      .attr("d", d3.line().x((run) => x(run.threshold)).y((run) => y(value(run)))(curve.runs));
    const last = curve.runs[curve.runs.length - 1];
    labels.push({ y: y(value(last)), name: curve.family, family: curve.family });
    curve.runs.forEach((run) => {
      const best = run === group.bestSoftware;
      const area = svg.append("g").attr("class", "point");
      area.append("circle").attr("class", "hit").attr("cx", x(run.threshold)).attr("cy", y(value(run))).attr("r", 9);
      area.append("path").attr("class", `mark f-${curve.family}`)
        .attr("transform", `translate(${x(run.threshold)},${y(value(run))})`)
        .attr("d", d3.symbol().type(best ? d3.symbolDiamond : d3.symbolCircle).size(best ? 110 : 22)());
      marks.push({ area, tip: () => ({ title: `${run.label} · ${group.name}`, rows: wf.runTip(run) }) });
    });
  });
  spread(labels, box.top + 4, box.bottom - 4, 14).forEach((label) => svg.append("text").attr("class", `value t-${label.family}`)
    .attr("x", box.right + 6).attr("y", label.y).attr("dy", "0.35em").text(label.name));
  wf.addTips(svg, marks);
}

wf.drawThresholds = () => {
  const groups = wf.groups.filter((group) => curvesOf(group).length > 0);
  if (groups.length === 0) {
    return;
  }
  const speedups = groups.every((group) => group.baseline);
  wf.figure(wf.section("thresholds", "Thresholds"), {
    name: "ARC-SW at each balancing threshold.",
    caption: `${speedups ? "Speedup over the baseline" : "Speedup, or million cycles where there is no baseline"}. ` +
      "From X active lanes on, a warp reduces before it adds. ◆ marks the best. Level lines: baseline and arc-hw.",
    height: 260,
    draw: (place) => wf.panels(place, groups, {
      title: (group) => group.trace,
      note: wf.machineOf,
      draw: drawThresholds,
    }),
    table: (parent) => wf.table(parent, {
      caption: "Runs at each threshold",
      rows: d3.merge(groups.map((group) => group.runs.filter(wf.isThreshold))),
      columns: [...wf.runColumns(), { label: "X", get: (run) => run.threshold },
        { label: "Cycles", get: (run) => run.cycles, format: wf.count },
        { label: "Speedup", get: (run) => run.speedup, format: wf.ratio, strong: (run) => run === run.group.bestSoftware }],
    }),
  });
};

// For each machine the kinds of unit that ran, with their transistors and their mean speedup.
function costsOf(groups) {
  // Of several rows of a unit the first counts, with its own scheduler.
  const transistors = new Map(wf.data.area.rows.filter((row) => row.module === "arc_unit").reverse().map((row) => [row.unit, row.transistors]));
  return Array.from(wf.groupBy(groups, wf.machineOf), ([name, members]) => {
    const runs = d3.merge(members.map((group) => group.runs)).filter((run) => run.family === "arc-hw" && transistors.has(run.unit_kind));
    const kinds = Array.from(wf.groupBy(runs, (run) => run.unit_kind), ([kind, own]) => ({
      kind, transistors: transistors.get(kind), count: own.length, value: wf.geometricMean(own.map((run) => run.speedup)) }));
    const software = members.map((group) => group.bestSoftware).filter((run) => run);
    return { name, kinds: kinds.sort((a, b) => a.transistors - b.transistors), traces: members.length,
      software: software.length === members.length ? wf.geometricMean(software.map((run) => run.speedup)) : null };
  }).filter((machine) => machine.kinds.length);
}

function drawCost(panel, machine, { mostTransistors, mostSpeedup }) {
  const y = d3.scaleLinear().domain([0, mostSpeedup]).nice(5);
  const ticks = d3.scaleLinear().domain([0, mostTransistors]).ticks(4);
  const { svg, box, x } = plot(panel, {
    label: `Speedup against transistors on ${machine.name}: ` +
      machine.kinds.map((each) => `${each.kind} ${wf.ratio(each.value)}, ${wf.count(each.transistors)}`).join("; "),
    height: 232, x: d3.scaleLinear().domain([0, mostTransistors * 1.12]), y, xTitle: "transistors of one sub-core’s unit",
    xTicks: { values: ticks, format: wf.short }, yTicks: { values: y.ticks(5), format: wf.plainTick },
    right: 14 + wf.textWidth("best ARC-SW"),
  });
  const levels = [{ name: "baseline", family: "baseline", value: 1 },
    ...(machine.software === null ? [] : [{ name: "best ARC-SW", family: "sw-b", value: machine.software }])];
  const labels = levels.map((level) => ({ ...level, y: y(level.value) }));
  labels.forEach((level) => svg.append("line").attr("class", `level s-${level.family}`).attr("x1", box.left).attr("x2", box.right)
    .attr("y1", level.y).attr("y2", level.y));
  spread(labels, box.top + 4, box.bottom - 4, 14).forEach((label) => svg.append("text").attr("class", "value")
    .attr("x", box.right + 6).attr("y", label.y).attr("dy", "0.35em").text(label.name));
  svg.append("path").attr("class", "curve s-arc-hw").attr("d", d3.line().x((each) => x(each.transistors)).y((each) => y(each.value))(machine.kinds));
  wf.addTips(svg, machine.kinds.map((each) => {
    const area = svg.append("g").attr("class", "point").attr("transform", `translate(${x(each.transistors)},${y(each.value)})`);
    area.append("circle").attr("class", "hit").attr("r", 12);
    area.append("circle").attr("class", "mark f-arc-hw").attr("r", 5);
    area.append("text").attr("y", -11).attr("text-anchor", "middle").text(each.kind);
    return { area, tip: () => ({ title: `${each.kind} unit · ${machine.name}`, rows: [["transistors", wf.count(each.transistors)],
      ["speedup", wf.ratio(each.value)], ["traces", wf.count(each.count)]] }) };
  }));
}

// What a speedup costs, where both are known.
wf.drawCosts = (section) => {
  const machines = costsOf(wf.groups.filter((group) => group.baseline));
  if (machines.length === 0) {
    return;
  }
  const kinds = d3.merge(machines.map((machine) => machine.kinds.map((each) => ({ ...each, machine }))));
  const most = { mostTransistors: d3.max(kinds, (each) => each.transistors),
    mostSpeedup: 1.08 * d3.max([...kinds.map((each) => each.value), ...machines.map((machine) => machine.software || 1)]) };
  wf.figure(section, {
    name: "Speedup against transistors.",
    caption: "Each kind of unit that was simulated, without the address matcher; geometric means over the traces of a machine.",
    height: 260,
    draw: (place) => wf.panels(place, machines, {
      title: (machine) => machine.name,
      note: (machine) => wf.plural(machine.traces, "trace"),
      draw: (panel, machine) => drawCost(panel, machine, most),
    }),
    table: (parent) => wf.table(parent, {
      caption: "Speedup and transistors of each kind of unit",
      rows: kinds,
      columns: [{ label: "Machine", text: true, get: (each) => each.machine.name }, { label: "Kind", text: true, get: (each) => each.kind },
        { label: "Transistors", get: (each) => each.transistors, format: wf.count },
        { label: "Speedup", get: (each) => each.value, format: wf.ratio }, { label: "Traces", get: (each) => each.count }],
    }),
  });
};

// Utilization of each interval; the last one may be shorter.
function utilization(timeline, kind) {
  const units = timeline.units[kind];
  const cycles = wf.data.runs[timeline.run].cycles;
  return timeline.busy[kind].map((busy, index) => {
    const length = Math.min(timeline.interval, cycles - index * timeline.interval);
    return units > 0 && length > 0 ? Math.min(1, busy / (units * length)) : 0;
  });
}

// Cycles of the longest run with a timeline, of the same trace and machine.
function longestBeside(run) {
  return d3.max(wf.data.timelines.map((other) => wf.data.runs[other.run]).filter((other) => other.group === run.group),
    (other) => other.cycles);
}

function drawTimeline(panel, timeline, shared) {
  const run = wf.data.runs[timeline.run];
  const width = Math.max(240, panel.clientWidth);
  const kinds = wf.kinds.filter(([kind]) => timeline.busy[kind] && d3.sum(timeline.busy[kind]) > 0);
  const strip = 34;
  const left = 8 + d3.max(kinds, ([, name]) => wf.textWidth(name));
  const right = width - 44;
  const bottom = kinds.length * strip;
  const longest = shared ? longestBeside(run) : run.cycles;
  const svg = wf.svg(panel, width, bottom + 36, `Utilization over time of ${run.label}, ${run.group.name}: ` +
    kinds.map(([kind, name]) => `${name} ${wf.percent(run.utilization[kind] || 0, 0)}`).join(", "));
  const x = d3.scaleLinear().domain([0, longest]).range([left, right]);
  const axis = svg.append("g").attr("class", "axis");
  x.ticks(Math.max(2, Math.floor((right - left) / 60))).forEach((tick) => {
    axis.append("line").attr("x1", x(tick)).attr("x2", x(tick)).attr("y1", 0).attr("y2", bottom);
    axis.append("text").attr("x", x(tick)).attr("y", bottom + 14).attr("text-anchor", "middle").text(wf.short(tick));
  });
  axis.append("text").attr("class", "axis-title").attr("x", (left + right) / 2).attr("y", bottom + 30)
    .attr("text-anchor", "middle").text("cycles since launch");
  const series = kinds.map(([kind, name], index) => {
    const values = utilization(timeline, kind);
    const base = (index + 1) * strip - 3;
    const y = d3.scaleLinear().domain([0, 1]).range([base, index * strip + 4]);
    const points = d3.merge(values.map((value, place) => [[place * timeline.interval, value],
      [Math.min(run.cycles, (place + 1) * timeline.interval), value]]));
    svg.append("path").attr("class", `mark strip k-${kind}`).attr("d", d3.area().x((point) => x(point[0]))
      .y0(base).y1((point) => y(point[1]))(points));
    svg.append("line").attr("class", "base").attr("x1", left).attr("x2", right).attr("y1", base).attr("y2", base);
    svg.append("text").attr("class", "label").attr("x", left - 8).attr("y", base - strip / 2 + 3).attr("dy", "0.35em")
      .attr("text-anchor", "end").text(name);
    svg.append("text").attr("class", "value").attr("x", right + 6).attr("y", base - strip / 2 + 3).attr("dy", "0.35em")
      .text(wf.percent(run.utilization[kind] || 0, (run.utilization[kind] || 0) < 0.1 ? 1 : 0));
    return { name, values };
  });
  svg.append("line").attr("class", "end").attr("x1", x(run.cycles)).attr("x2", x(run.cycles)).attr("y1", 0).attr("y2", bottom);
  addCursor(svg, { x, bottom, run, timeline, series });
}

// A line that follows the pointer or the arrow keys, and says what each kind does there.
function addCursor(svg, { x, bottom, run, timeline, series }) {
  const cursor = svg.append("line").attr("class", "cursor").attr("y1", 0).attr("y2", bottom).attr("visibility", "hidden");
  const intervals = series.length ? series[0].values.length : 0;
  const area = svg.append("rect").attr("class", "hit").attr("x", x.range()[0]).attr("y", 0)
    .attr("width", Math.max(0, x(run.cycles) - x.range()[0])).attr("height", bottom);
  let at = -1;
  const show = (index, clientX, clientY) => {
    at = Math.max(0, Math.min(intervals - 1, index));
    const from = at * timeline.interval;
    const place = x(Math.min(run.cycles, from + timeline.interval / 2));
    const content = { title: `${run.label} · ${wf.count(from)} to ${wf.count(Math.min(run.cycles, from + timeline.interval))} cycles`,
      rows: series.map((each) => [each.name, wf.percent(each.values[at] || 0)]) };
    cursor.attr("x1", place).attr("x2", place).attr("visibility", "visible");
    const frame = svg.node().getBoundingClientRect();
    wf.showTip(content, clientX === undefined ? frame.left + place : clientX, clientY === undefined ? frame.top + 20 : clientY);
    return content;
  };
  const hide = () => { cursor.attr("visibility", "hidden"); wf.hideTip(); };
  const node = svg.node();
  area.node().addEventListener("pointermove", (event) => {
    // The drawing may be shown wider or narrower than it was made.
    const frame = node.getBoundingClientRect();
    const place = (event.clientX - frame.left) * node.viewBox.baseVal.width / frame.width;
    show(Math.floor(x.invert(place) / timeline.interval), event.clientX, event.clientY);
  });
  area.node().addEventListener("pointerleave", hide);
  node.setAttribute("tabindex", "0");
  node.addEventListener("blur", () => { at = -1; hide(); });
  node.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step && intervals) {
      event.preventDefault();
      wf.speak(show(at < 0 ? 0 : at + step * Math.max(1, Math.round(intervals / 60))));
    }
  });
}

wf.drawTimelines = () => {
  if (wf.data.timelines.length === 0) {
    return;
  }
  const place = (timeline) => wf.runs.indexOf(wf.data.runs[timeline.run]);
  const timelines = wf.data.timelines.slice().sort((a, b) => place(a) - place(b));
  // A common axis, unless a run would be a sliver on it.
  let shared = timelines.every((timeline) => 8 * wf.data.runs[timeline.run].cycles > longestBeside(wf.data.runs[timeline.run]));
  const samples = d3.merge(timelines.map((timeline) => {
    const run = wf.data.runs[timeline.run];
    const values = wf.kinds.map(([kind]) => (timeline.busy[kind] ? utilization(timeline, kind) : []));
    return d3.range(d3.max(values, (list) => list.length) || 0).map((index) => ({ run, index, timeline, values }));
  }));
  wf.figure(wf.section("time", "Utilization over time"), {
    name: "How busy the units of each kind were.",
    caption: "Each strip is 0 to 100 % high; at the right its mean over the run. The vertical line is where a run ends. " +
      "Kinds that did nothing are left out.",
    height: 260,
    controls: (bar, redraw) => wf.choice(bar, "Time axis", [["shared", "Shared time axis"],
      ["own", "Each run fills the width"]], shared ? "shared" : "own", (value) => { shared = value === "shared"; redraw(); }),
    draw: (parent) => wf.panels(parent, timelines, {
      title: (timeline) => wf.data.runs[timeline.run].label,
      note: (timeline) => wf.data.runs[timeline.run].group.name,
      draw: (panel, timeline) => drawTimeline(panel, timeline, shared),
      wide: true,
      more: "runs",
    }),
    table: (parent) => wf.table(parent, {
      caption: samples.length > 2000 ? "Utilization of the first 2,000 intervals" : "Utilization of each interval",
      rows: samples.slice(0, 2000),
      columns: [{ label: "Run", text: true, get: (row) => `${row.run.group.name} · ${row.run.label}` },
        { label: "From", unit: "cycle", get: (row) => row.index * row.timeline.interval, format: wf.count },
        ...wf.kinds.map(([, name], place) => ({ label: name, unit: "%",
          get: (row) => (row.values[place].length ? 100 * row.values[place][row.index] : null), format: wf.fixed(1) }))],
    }),
  });
};
