// SPDX-License-Identifier: Apache-2.0
// Area of the unit, all counters of all runs, and the machines that were simulated.
"use strict";

wf.drawArea = () => {
  if (!wf.data.area) {
    return;
  }
  const rows = wf.data.area.rows;
  const kinds = wf.unique(rows.filter((row) => row.unit).map((row) => row.unit));
  // The first of each is with its own scheduler.
  const find = (kind, module) => rows.find((row) => row.unit === kind && row.module === module);
  const bars = kinds.map((kind) => ({ kind, alone: find(kind, "arc_unit"), whole: find(kind, "arc_subcore") }))
    .filter((bar) => bar.alone || bar.whole);
  const section = wf.section("area", "Area");
  const table = (parent) => wf.table(parent, {
    caption: "Transistors of each synthesized module",
    rows,
    columns: [{ label: "Module", text: true, get: (row) => row.top },
      { label: "Unit", text: true, get: (row) => row.unit || "" },
      { label: "Scheduler", text: true, get: (row) => row.scheduler || "" },
      { label: "Transistors", get: (row) => row.transistors, format: wf.count },
      { label: "Flip-flops", get: (row) => (row.flops === undefined ? null : row.flops), format: wf.count },
      { label: "Area", unit: "µm²", get: (row) => (row.area === undefined ? null : row.area), format: wf.count },
      { label: "Worst path", unit: "ns", get: (row) => (row.path_ns === undefined ? null : row.path_ns), format: wf.fixed(2) }],
  });
  if (bars.length === 0) {
    table(section);
    return;
  }
  const most = d3.max(bars, (bar) => (bar.whole || bar.alone).transistors);
  const library = wf.data.area.library ? ` Standard cells: ${wf.data.area.library}.` : "";
  wf.figure(section, {
    name: "Transistors of one sub-core’s unit.",
    caption: `The address matcher is in every GPU that coalesces, so it stands apart.${library}`,
    legend: [["a-unit", "reduction unit and scheduler"], ["a-match", "address matcher"]],
    height: 120,
    draw: (place) => {
      const panel = wf.element(wf.element(place, "div", "panels wide"), "div", "panel");
      wf.bars(panel, {
        label: `Transistors: ${bars.map((bar) => `${bar.kind} ${wf.count((bar.alone || bar.whole).transistors)}`).join(", ")}`,
        rowHeight: 26,
        rows: bars.map((bar) => {
          const unit = bar.alone ? bar.alone.transistors : 0;
          const parts = bar.alone ? [{ className: "a-unit", from: 0, to: unit, text: wf.count(unit) }] : [];
          if (bar.whole) {
            parts.push({ className: "a-match", from: unit, to: bar.whole.transistors, text: bar.alone ? wf.count(bar.whole.transistors - unit) : "" });
          }
          return { label: bar.kind, parts, value: wf.count((bar.whole || bar.alone).transistors),
            tip: () => ({ title: `${bar.kind} unit`, rows: [
              ...(bar.alone ? [["unit and scheduler", wf.count(unit)]] : []),
              ...(bar.whole ? [["with address matcher", wf.count(bar.whole.transistors)]] : []),
              ...(bar.alone && bar.alone.path_ns !== undefined ? [["worst path", `${bar.alone.path_ns} ns`]] : [])] }) };
        }),
        scale: d3.scaleLinear().domain([0, most]),
        axis: { format: wf.short, title: "transistors" },
      });
    },
    table,
  });
  wf.drawCosts(section);
};

// Sets of columns of the table of all counters.
function columnSets() {
  const names = (list, keys) => keys.map((key) => [key, wf.nameOf(list, key)]);
  const keysOf = (get) => wf.unique(d3.merge(wf.runs.map((run) => Object.keys(get(run) || {}))));
  const counts = (get, list) => names(list, keysOf(get)).map(([key, label]) => ({
    label, get: (run) => { const value = (get(run) || {})[key]; return value === undefined ? null : value; }, format: wf.count }));
  const configColumn = { label: "Configuration", text: true, get: (run) => wf.configs[run.config].letter };
  return [
    ["Overview", [configColumn, { label: "Cycles", get: (run) => run.cycles, format: wf.count },
      { label: "Speedup", get: (run) => run.speedup, format: wf.ratio, strong: (run) => run === run.group.fastest && run.group.runs.length > 1 },
      { label: "Events", get: (run) => run.events, format: wf.count },
      { label: "Warp atomics", get: (run) => run.warp_atomics, format: wf.count },
      { label: "Lane atomics", get: (run) => run.lane_atomics, format: wf.count },
      { label: "ROP operations", get: (run) => run.rop_ops, format: wf.count },
      { label: "NoC packets", get: (run) => run.noc_packets, format: wf.count },
      { label: "NoC", unit: "bytes", get: (run) => run.noc_bytes, format: wf.count }]],
    ["Checks", [{ label: "Checks", text: true, get: (run) => (run.ok ? "ok" : "NOT ok") },
      { label: "Sums match", text: true, get: (run) => (run.sums_match ? "yes" : "NO") },
      { label: "Conserved", text: true, get: (run) => (run.conserved ? "yes" : "NO") },
      { label: "Sums are", text: true, get: (run) => run.sum_check },
      { label: "Largest error", unit: "of its bound", get: (run) => run.max_sum_error, format: wf.fixed(3) },
      { label: "Unit", text: true, get: (run) => run.unit },
      { label: "Unit kind", text: true, get: (run) => run.unit_kind },
      { label: "Simulated in", unit: "s", get: (run) => run.wall_seconds, format: wf.fixed(1) },
      { label: "Trace hash", text: true, get: (run) => run.trace_hash },
      { label: "File", text: true, get: (run) => wf.data.files[run.file] }]],
    ["Sub-core cycles", counts((run) => run.stalls.subcore_cycles, wf.causes)],
    ["Warp cycles", counts((run) => run.stalls.warp_cycles, wf.causes)],
    ["Utilization", names(wf.kinds, keysOf((run) => run.utilization)).map(([key, label]) => ({
      label, unit: "%", get: (run) => 100 * (run.utilization[key] || 0), format: wf.fixed(1) }))],
    ["Activity", counts((run) => run.activity, [])],
    ["Energy", names([], keysOf((run) => run.energy_nj)).map(([key, label]) => ({
      label, unit: "mJ", get: (run) => (run.energy_nj[key] || 0) / 1e6, format: wf.fixed(3) }))],
  ];
}

wf.drawTables = () => {
  const section = wf.section("counters", "All counters");
  const sets = columnSets();
  wf.element(section, "p", "lead", "Every number of the results files. A click on a header sorts, a second one turns the order; " +
    "on the keyboard, Tab goes to a header and Enter sorts.");
  const bar = wf.element(section, "div", "controls");
  const place = wf.element(section, "div", "counters");
  const show = (name) => {
    place.textContent = "";
    wf.table(place, { caption: `${name} of ${wf.plural(wf.runs.length, "run")}`, rows: wf.runs,
      columns: [...wf.runColumns(), ...sets.find((set) => set[0] === name)[1]] });
  };
  wf.choice(bar, "Columns", sets.map(([name]) => [name, name]), "Overview", show);
  const watcher = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && !place.firstChild) {
      watcher.disconnect();
      show("Overview");
    }
  }, { rootMargin: "600px" });
  watcher.observe(place);
  wf.drawings.push({ place, shown: false, width: 0, show() { this.shown = true; if (!place.firstChild) { show("Overview"); } } });
};

// One column for each configuration, one row for each parameter.
function fillConfigs(parent, keys) {
  const differs = (key) => wf.configs.some((config) => config.different.includes(key)) ||
    (wf.configs.length > 1 && wf.configs.some((config) => config.flat[key] !== wf.configs[0].flat[key]));
  wf.table(parent, {
    caption: "Parameters of each configuration",
    rows: keys,
    columns: [{ label: "Parameter", text: true, get: (key) => key },
      ...wf.configs.map((config) => ({ label: `${config.letter}: ${config.flat.name}`, text: false,
        get: (key) => (config.flat[key] === undefined ? null : config.flat[key]),
        format: (value) => (typeof value === "number" ? d3.format(",~r")(value) : String(value)),
        strong: (key) => config.different.includes(key),
        tint: (key) => (config.different.includes(key) ? 1 : 0) })),
      ...(wf.configs.length > 1 ? [{ label: "Differs", text: true, get: (key) => (differs(key) ? "yes" : "") }] : [])],
  });
}

wf.drawConfigs = () => {
  const section = wf.section("configurations", "Configurations");
  const many = wf.configs.length > 1;
  const rivals = wf.configs.filter((config) => config.text);
  const text = many
    ? `${wf.plural(wf.configs.length, "configuration")} were simulated.` +
      (rivals.length ? " Those of one GPU differ in what is highlighted:" : " Each GPU has one.")
    : "All runs have the same configuration.";
  wf.element(section, "p", "lead", text);
  if (rivals.length) {
    const keys = wf.unique(d3.merge(rivals.map((config) => config.different)));
    wf.table(section, {
      caption: "What differs between configurations of one GPU",
      rows: rivals,
      columns: [{ label: "Configuration", text: true, get: (config) => config.letter },
        { label: "GPU", text: true, get: (config) => config.flat.name },
        ...keys.map((key) => ({ label: key, get: (config) => (config.flat[key] === undefined ? null : config.flat[key]),
          strong: (config) => config.different.includes(key), tint: (config) => (config.different.includes(key) ? 1 : 0),
          format: (value) => (typeof value === "number" ? d3.format(",~r")(value) : String(value)) })),
        { label: "Runs", get: (config) => wf.runs.filter((run) => run.config === config.index).length }],
    });
  }
  const details = wf.element(section, "details", "alternative");
  const keys = wf.unique(d3.merge(wf.configs.map((config) => Object.keys(config.flat))));
  wf.element(details, "summary", "", `All ${wf.count(keys.length)} parameters`);
  details.addEventListener("toggle", () => {
    if (!details.querySelector("table")) {
      fillConfigs(details, keys);
    }
  });
};
