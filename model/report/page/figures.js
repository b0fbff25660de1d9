// SPDX-License-Identifier: Apache-2.0
// The figures of bars: speedups, where the cycles go, what limits each run, measured times, energy.
"use strict";

wf.familyClass = (run) => `f-${run.family.replace(/[^a-z0-9-]/gi, "")}`;

// Round numbers, 1 among them, as close together as there is room for `most`.
wf.logTicks = (low, high) => (most) => {
  const within = (steps) => d3.merge(d3.range(-6, 9).map((decade) => steps.map((step) => step * 10 ** decade)))
    .filter((tick) => tick >= low && tick <= high);
  const sets = [[1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8], [1, 1.5, 2, 3, 5, 7], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]].map(within);
  return sets.find((ticks) => ticks.length <= most) || sets[sets.length - 1];
};

function speedupScale(values) {
  const low = Math.min(1, d3.min(values)) / 1.04;
  const high = Math.max(1.2, d3.max(values)) * 1.04;
  return { scale: d3.scaleLog().domain([low, high]), ticks: wf.logTicks(low, high) };
}

wf.plainTick = (value) => `${d3.format(",~r")(Number(value.toPrecision(3)))}×`;

wf.runTip = (run) => {
  const rows = [["cycles", wf.count(run.cycles)]];
  if (run.ghz) {
    rows.push(["time", `${wf.fixed(3)(run.cycles / run.ghz / 1e6)} ms at ${run.ghz} GHz`]);
  }
  if (run.speedup !== null) {
    rows.push(["speedup", wf.ratio(run.speedup)]);
  }
  if (run.bounds) {
    rows.push(["limited by", `${wf.nameOf(wf.kinds, run.bounds.tightest)}, ${wf.percent(run.bounds.achieved)} of its bound`]);
  }
  rows.push(["checks", run.ok ? "ok" : "NOT ok"]);
  return rows;
};
const tipTitle = (run) => `${run.label} · ${run.group.name}`;

// Geometric means over the traces of each machine: [{name, rows: [{label, run, value, count}], traces}].
function meanPanels(groups) {
  const machines = wf.groupBy(groups, wf.machineOf);
  return Array.from(machines).filter(([, values]) => values.length > 1).map(([name, values]) => {
    const rows = [];
    const add = (label, chosen) => {
      const runs = values.map(chosen).filter((run) => run);
      if (runs.length > 1) {
        rows.push({ label, run: runs[0], count: runs.length, value: wf.geometricMean(runs.map((run) => run.speedup)) });
      }
    };
    const shown = wf.unique(d3.merge(values.map(wf.shownRuns)).sort((a, b) => a.order - b.order).map((run) => run.label));
    const all = d3.merge(values.map((group) => group.runs));
    const many = ["sw-s", "sw-b"].filter((family) =>
      wf.unique(all.filter((run) => run.family === family).map((run) => run.threshold)).length > 4);
    shown.forEach((label) => {
      if (!many.includes(label.split(":")[0])) {
        add(label, (group) => group.runs.find((run) => run.label === label));
      }
    });
    const best = wf.unique(values.map((group) => (group.bestSoftware ? group.bestSoftware.label : "")));
    if (best.length > 1 || many.length) {
      add("best of ARC-SW", (group) => group.bestSoftware);
    }
    return { name, rows, traces: values.length };
  });
}

function meanRows(panel) {
  return panel.rows.map((row) => ({
    label: row.label,
    parts: [{ className: wf.familyClass(row.run), from: 1, to: row.value, least: 1.5 }],
    value: wf.ratio(row.value),
    strong: row.value === d3.max(panel.rows, (other) => other.value),
    tip: () => ({ title: `${row.label} · ${panel.name}`,
      rows: [["geometric mean", wf.ratio(row.value)], ["traces", wf.count(row.count)]] }),
  }));
}

function speedupRows(group) {
  return wf.shownRuns(group).map((run) => ({
    label: run.label,
    parts: [{ className: `run ${wf.familyClass(run)}`, from: 1, to: run.speedup, least: 1.5 }],
    value: wf.ratio(run.speedup) + (run === group.bestSoftware ? " ◆" : ""),
    strong: run === group.fastest,
    tip: () => ({ title: tipTitle(run), rows: wf.runTip(run) }),
  }));
}

function speedupTable(parent, groups) {
  const labels = wf.policyLabels.filter((label) => groups.some((group) => group.runs.some((run) => run.label === label)));
  const most = d3.max(groups, (group) => d3.max(group.runs, (run) => run.speedup));
  const find = (group, label) => group.runs.find((run) => run.label === label);
  wf.table(parent, {
    caption: "Speedup over the baseline",
    rows: groups,
    columns: [
      { label: "Trace", text: true, get: (group) => group.trace },
      { label: "Machine", text: true, get: wf.machineOf },
      ...labels.map((label) => ({
        label,
        get: (group) => { const run = find(group, label); return run ? run.speedup : null; },
        format: wf.ratio,
        strong: (group) => find(group, label) === group.fastest,
        tint: (group) => { const run = find(group, label); return run ? Math.max(0, Math.log(run.speedup) / Math.log(Math.max(most, 1.01))) : 0; },
      })),
    ],
  });
}

wf.drawSpeedups = () => {
  const groups = wf.groups.filter((group) => group.runs.every((run) => run.speedup !== null));
  if (groups.length === 0 || wf.runs.every((run) => run.policy === "baseline")) {
    return;
  }
  const { scale, ticks } = speedupScale(wf.runs.filter((run) => run.speedup !== null).map((run) => run.speedup));
  const hidden = d3.sum(groups, wf.hiddenRuns);
  const without = wf.runs.length - d3.sum(groups, (group) => group.runs.length);
  const marked = groups.some((group) => group.bestSoftware);
  const axis = { format: wf.plainTick, ticks, title: "speedup over baseline" };
  const means = meanPanels(groups);
  const section = wf.section("speedup", "Speedup");
  const caption = (hidden ? `Where there are more than four thresholds, the best is shown (Thresholds has the other ${wf.count(hidden)}). ` : "") +
    (marked ? "◆ marks the best threshold of ARC’s software policies, bold the fastest. " : "Bold is the fastest. ") +
    "The scale is logarithmic and the same in all panels." +
    (without ? ` ${wf.plural(without, "run")} without a baseline of the same trace and configuration ${without === 1 ? "is" : "are"} left out.` : "");
  if (means.length) {
    wf.figure(section, {
      name: "Mean speedup of each policy.",
      caption: "Geometric mean over the traces of a machine; the scale is logarithmic.",
      draw: (place) => wf.panels(place, means, {
        title: (panel) => panel.name,
        note: (panel) => wf.plural(panel.traces, "trace"),
        draw: (panel, item) => wf.bars(panel, { label: `Mean speedups on ${item.name}: ` +
          item.rows.map((row) => `${row.label} ${wf.ratio(row.value)}`).join(", "), rows: meanRows(item), beside: d3.merge(means.map(meanRows)), scale, origin: 1, axis }),
      }),
      table: (parent) => speedupTable(parent, groups),
    });
  }
  wf.drawOverview(section, groups, scale.copy(), (parent) => speedupTable(parent, groups));
  groupFigure(section, groups, {
    name: "Speedup of each policy over the baseline.",
    caption,
    says: (group) => `Speedups of ${group.name}: ` +
      wf.shownRuns(group).map((run) => `${run.label} ${wf.ratio(run.speedup)}`).join(", "),
    rows: speedupRows,
    scale: () => scale,
    axis: () => axis,
    origin: 1,
    table: (parent) => speedupTable(parent, groups),
  });
};

// Panels of one row for each run, as most figures of bars are. `figure.rows(group)`, `figure.scale(group)`.
function groupFigure(section, groups, figure) {
  wf.figure(section, {
    ...figure,
    draw: (place) => {
      const rows = new Map(groups.map((group) => [group, figure.rows(group)]));
      const beside = figure.ownScale ? undefined : d3.merge(Array.from(rows.values()));
      wf.panels(place, groups, {
        title: (group) => group.trace,
        note: wf.machineOf,
        draw: (panel, group) => wf.bars(panel, {
          label: figure.says ? figure.says(group) : `${figure.name} ${group.name}. The table below has the numbers.`,
          rows: rows.get(group), beside, scale: figure.scale(group), axis: figure.axis(group), origin: figure.origin,
        }),
      });
    },
  });
}

wf.drawCycles = () => {
  const section = wf.section("cycles", "Where the cycles go");
  const total = (run) => d3.sum(wf.causes, ([key]) => run.stalls.subcore_cycles[key] || 0);
  const base = (group) => (group.baseline || group.runs.reduce((a, b) => (a.cycles > b.cycles ? a : b))).cycles;
  const compared = wf.groups.some((group) => group.runs.length > 1);
  let relative = compared;
  const length = (run) => (relative ? run.cycles / base(run.group) : 1);
  const most = d3.max(wf.groups, (group) => d3.max(wf.shownRuns(group), length));
  const rows = (group) => wf.shownRuns(group).map((run) => {
    let end = 0;
    const parts = wf.causes.map(([key]) => {
      const share = (run.stalls.subcore_cycles[key] || 0) / total(run);
      const from = end;
      end += share * length(run);
      return { className: `c-${key}`, from, to: end, text: share >= 0.05 ? `${Math.round(100 * share)}` : "" };
    }).filter((part) => part.to > part.from);
    return { label: run.label, parts, value: relative ? wf.percent(length(run), length(run) < 0.1 ? 1 : 0) : "", strong: run === group.fastest,
      tip: () => ({ title: tipTitle(run), rows: wf.causes.map(([key, name]) =>
        [name, `${wf.percent((run.stalls.subcore_cycles[key] || 0) / total(run))}`]) }) };
  });
  groupFigure(section, wf.groups, {
    name: "What sub-cores do in each cycle.",
    caption: "A cycle without an issue has the first cause that any warp of the sub-core waits for. Numbers in the bars are " +
      "per cent of the run. Under arc-hw a warp that waits for the LSU path counts as ARC unit busy.",
    legend: wf.causes.map(([key, name]) => [`c-${key}`, name]),
    controls: compared && ((bar, redraw) => wf.choice(bar, "Length of the bars",
      [["time", "Time beside the baseline"], ["share", "Share of the run"]], "time",
      (value) => { relative = value === "time"; redraw(); })),
    rows,
    scale: () => d3.scaleLinear().domain([0, relative ? Math.max(1, most) : 1]),
    axis: (group) => ({ format: (value) => `${Math.round(100 * value)}`,
      title: `% of the ${!relative ? "run" : group.baseline ? "baseline" : "slowest run"}’s cycles` }),
    table: (parent) => wf.table(parent, {
      caption: "Sub-core cycles by cause, per cent of the run",
      rows: wf.runs,
      columns: [...wf.runColumns(), { label: "Cycles", get: (run) => run.cycles, format: wf.count },
        ...wf.causes.map(([key, name]) => ({ label: name, unit: "%",
          get: (run) => 100 * (run.stalls.subcore_cycles[key] || 0) / total(run), format: wf.fixed(1) }))],
    }),
  });
};

wf.drawBounds = () => {
  const groups = wf.groups.filter((group) => group.runs.every((run) => run.bounds));
  if (groups.length === 0) {
    return;
  }
  const section = wf.section("bounds", "What limits each run");
  groupFigure(section, groups, {
    name: "Share of the tightest bound that each run achieves.",
    caption: "The kind of unit with the most work sets the bound; at 100 % it was busy in every cycle. The bound holds for the work that " +
      "the policy made. A run far below all bounds waits for latencies, or for few addresses.",
    legend: wf.kinds.filter(([key]) => wf.runs.some((run) => run.bounds.tightest === key)).map(([key, name]) => [`k-${key}`, name]),
    rows: (group) => wf.shownRuns(group).map((run) => ({
      label: run.label,
      parts: [{ className: `k-${run.bounds.tightest}`, from: 0, to: run.bounds.achieved }],
      value: `${wf.percent(run.bounds.achieved, 0)} ${wf.nameOf(wf.kinds, run.bounds.tightest)}`,
      tip: () => ({ title: tipTitle(run), rows: [["cycles of the run", wf.count(run.cycles)],
        ...wf.kinds.map(([key, name]) => [`${name}, at least`, wf.count(run.bounds.cycles[key] || 0)])] }),
    })),
    scale: () => d3.scaleLinear().domain([0, 1]),
    axis: () => ({ format: (value) => `${Math.round(100 * value)}`, ticks: (most) => (most > 5 ? [0, 0.25, 0.5, 0.75, 1] : [0, 0.5, 1]), title: "% of the tightest bound" }),
    table: (parent) => wf.table(parent, {
      caption: "Bounds of each run",
      rows: wf.runs.filter((run) => run.bounds),
      columns: [...wf.runColumns(), { label: "Cycles", get: (run) => run.cycles, format: wf.count },
        { label: "Tightest", text: true, get: (run) => wf.nameOf(wf.kinds, run.bounds.tightest) },
        { label: "Achieved", unit: "%", get: (run) => 100 * run.bounds.achieved, format: wf.fixed(1) },
        ...wf.kinds.map(([key, name]) => ({ label: name, unit: "cycles", get: (run) => run.bounds.cycles[key] || 0, format: wf.count }))],
    }),
  });
};

wf.drawMeasured = () => {
  const measured = (run) => run.measured !== null && run.measured.ratio !== null;
  const groups = wf.groups.filter((group) => group.runs.some(measured));
  if (groups.length === 0) {
    return;
  }
  const runs = wf.runs.filter(measured);
  const errors = runs.map((run) => run.measured.ratio - 1);
  const most = Math.max(0.05, d3.max(errors, Math.abs)) * 1.02;
  const section = wf.section("measured", "Measured beside modelled");
  groupFigure(section, groups, {
    name: "Error of the modelled time against the measured GPU.",
    caption: `${wf.plural(runs.length, "run")}: ${wf.percent(d3.mean(errors, Math.abs))} off on average, ` +
      `${wf.percent(d3.max(errors, Math.abs))} at most. Bars to the right: the model takes longer than the GPU.`,
    rows: (group) => group.runs.filter(measured).map((run) => ({
      label: run.label,
      parts: [{ className: run.measured.ratio > 1 ? "e-slow" : "e-fast", from: 0, to: run.measured.ratio - 1, least: 1.5 }],
      value: wf.signed(run.measured.ratio - 1),
      tip: () => ({ title: tipTitle(run), rows: [["modelled", `${wf.count(run.cycles)} cycles`],
        ["measured", `${wf.count(run.measured.cycles)} cycles`], ["median time", `${wf.fixed(4)(run.measured.ms)} ms`],
        ["GPU", run.measured.gpu], ["clock", `${wf.count(run.measured.clock_mhz)} MHz`]] }),
    })),
    scale: () => d3.scaleLinear().domain([-most, most]),
    axis: () => ({ format: (value) => `${value < 0 ? "−" : ""}${d3.format(".3~r")(Math.abs(100 * value))}`, title: "error, %" }),
    origin: 0,
    table: (parent) => wf.table(parent, {
      caption: "Measured and modelled time",
      rows: runs,
      columns: [...wf.runColumns(), { label: "Modelled", unit: "cycles", get: (run) => run.cycles, format: wf.count },
        { label: "Measured", unit: "cycles", get: (run) => run.measured.cycles, format: wf.count },
        { label: "Measured", unit: "ms", get: (run) => run.measured.ms, format: wf.fixed(4) },
        { label: "Clock", unit: "MHz", get: (run) => run.measured.clock_mhz, format: wf.count },
        { label: "Error", unit: "%", get: (run) => 100 * (run.measured.ratio - 1), format: wf.fixed(1) },
        { label: "Measured on", text: true, get: (run) => run.measured.gpu }],
    }),
  });
};

wf.drawEnergy = () => {
  const part = (run, keys) => d3.sum(keys, (key) => run.energy_nj[key] || 0) / 1e6;
  const total = (run) => (run.energy_nj.total || 0) / 1e6;
  const groups = wf.groups.filter((group) => group.runs.some((run) => total(run) > 0));
  if (groups.length === 0) {
    return;
  }
  const most = (group) => d3.max(wf.shownRuns(group), total);
  const digits = (value) => wf.fixed(value < 1 ? 3 : value < 100 ? 1 : 0)(value);
  const section = wf.section("energy", "Energy");
  groupFigure(section, groups, {
    name: "Energy of each run by what took it.",
    caption: "Of the whole GPU from launch to the last addition. Each panel has its own scale.",
    ownScale: true,
    legend: wf.energyParts.filter(([, , keys]) => wf.runs.some((run) => part(run, keys) > 0)).map(([key, name]) => [`p-${key}`, name]),
    rows: (group) => wf.shownRuns(group).map((run) => {
      let end = 0;
      const parts = wf.energyParts.map(([key, , keys]) => {
        const from = end;
        end += part(run, keys);
        return { className: `p-${key}`, from, to: end };
      }).filter((each) => each.to > each.from);
      return { label: run.label, parts, value: `${digits(total(run))} mJ`,
        tip: () => ({ title: tipTitle(run), rows: [["total", `${digits(total(run))} mJ`],
          ...wf.energyParts.map(([, name, keys]) => [name, `${digits(part(run, keys))} mJ`])] }) };
    }),
    scale: (group) => d3.scaleLinear().domain([0, most(group)]),
    axis: () => ({ format: (value) => d3.format(",~r")(Number(value.toPrecision(3))), title: "energy, mJ" }),
    table: (parent) => wf.table(parent, {
      caption: "Energy by part, millijoules",
      rows: wf.runs,
      columns: [...wf.runColumns(), { label: "Total", unit: "mJ", get: total, format: wf.fixed(3) },
        ...wf.energyParts.map(([, name, keys]) => ({ label: name, unit: "mJ", get: (run) => part(run, keys), format: wf.fixed(3) }))],
    }),
  });
};
