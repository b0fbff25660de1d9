// SPDX-License-Identifier: Apache-2.0
// The runs of the page: names, groups of runs that are compared, speedups, and numbers as text.
"use strict";
const wf = {};

wf.data = JSON.parse(document.getElementById("data").textContent);

// What a key of the results file is called, in the order in which it is shown.
wf.causes = [
  ["issued", "issued an instruction"],
  ["memory_queue", "memory queue full"],
  ["arc_unit", "ARC unit busy"],
  ["shuffle", "waits for a shuffle"],
  ["dependency", "waits for an earlier instruction"],
  ["barrier", "all warps at a barrier"],
  ["idle", "no warp"],
];
wf.kinds = [
  ["issue", "issue"],
  ["arc_unit", "ARC unit"],
  ["lsu", "LSU"],
  ["buffer", "atomic buffer"],
  ["noc", "interconnect"],
  ["rop", "L2 and ROPs"],
];
wf.energyParts = [
  ["instructions", "instructions", ["instructions"]],
  ["shuffles", "shuffles", ["shuffles"]],
  ["unit", "reduction unit", ["unit"]],
  ["buffer", "atomic buffer", ["buffer_sram", "buffer_adds"]],
  ["noc", "interconnect", ["noc"]],
  ["rop", "ROPs", ["rop"]],
  ["dram", "DRAM", ["dram"]],
  ["idle", "active and idle power", ["active", "idle"]],
];
wf.nameOf = (list, key) => (list.find((entry) => entry[0] === key) || [key, key.replace(/_/g, " ")])[1];

// Numbers as text.
const grouped = d3.format(",");
wf.count = (value) => grouped(Math.round(value));
wf.fixed = (digits) => d3.format(`,.${digits}f`);
wf.ratio = (value) => (value === null ? "–" : `${d3.format(value < 9.995 ? ",.2f" : ",.1f")(value)}×`);
wf.percent = (share, digits = 1) => `${d3.format(`.${digits}f`)(100 * share)} %`;
wf.signed = (share) => `${share < 0 ? "−" : "+"}${d3.format(".1f")(Math.abs(100 * share))} %`;
wf.short = (value) => {
  const steps = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const [size, letter] = steps.find(([limit]) => Math.abs(value) >= limit) || [1, ""];
  return `${d3.format(",.3~r")(value / size)}${letter ? ` ${letter}` : ""}`;
};
wf.listText = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
wf.plural = (number, word) => `${wf.count(number)} ${word}${number === 1 ? "" : "s"}`;

// Policies in the order of the figures.
const order = ["baseline", "sw-s", "sw-b", "skip", "cccl", "phi", "lab", "lab-ideal", "arc-hw"];
const unitOrder = ["serial", "paired", "fused", "vector"];
wf.isThreshold = (run) => run.threshold !== null;

function shortName(path) {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/(.)\.wft$/, "$1");
  return name || path;
}

function unique(values) {
  return Array.from(new Set(values));
}
wf.unique = unique;

// A Map from each key to the items that have it, in the order of their first.
wf.groupBy = (items, keyOf) => {
  const groups = new Map();
  items.forEach((item) => {
    const key = keyOf(item);
    if (!groups.has(key)) {
      groups.set(key, []);
    }
    groups.get(key).push(item);
  });
  return groups;
};

// A short name for each trace; the whole path where two would have the same.
function nameTraces(runs) {
  const files = wf.groupBy(runs, (run) => shortName(run.trace));
  runs.forEach((run) => {
    const same = files.get(shortName(run.trace));
    run.traceName = same.every((other) => other.trace_hash === run.trace_hash) ? shortName(run.trace) : run.trace;
  });
}

function nameConfig(index) {
  let name = "";
  for (let rest = index; rest >= 0; rest = Math.floor(rest / 26) - 1) {
    name = String.fromCharCode(65 + (rest % 26)) + name;
  }
  return name;
}

// {"sm.count": 128, ...}
wf.flatConfig = (config) => {
  const flat = {};
  Object.keys(config).forEach((section) => {
    const value = config[section];
    if (value !== null && typeof value === "object") {
      Object.keys(value).forEach((key) => { flat[`${section}.${key}`] = value[key]; });
    } else {
      flat[section] = value;
    }
  });
  return flat;
};

// For each configuration, what tells it from others of the same GPU: "lab.bytes = 65536".
function describeConfigs(configs) {
  return configs.map((config, index) => {
    const rivals = configs.filter((other) => other.flat.name === config.flat.name);
    const different = Object.keys(config.flat).filter((key) =>
      rivals.some((other) => other.flat[key] !== config.flat[key]));
    return { ...config, index, letter: nameConfig(index), different,
      text: different.map((key) => `${key} = ${config.flat[key]}`).join(", ") };
  });
}

function prepareRuns(runs) {
  nameTraces(runs);
  const kinds = unique(runs.filter((run) => run.policy === "arc-hw").map((run) => run.unit_kind));
  runs.forEach((run, index) => {
    const threshold = /^(sw-[sb]):(\d+)$/.exec(run.policy);
    run.index = index;
    run.family = threshold ? threshold[1] : run.policy;
    run.threshold = threshold ? Number(threshold[2]) : null;
    run.label = run.policy === "arc-hw" && kinds.length > 1 ? `arc-hw ${run.unit_kind}` : run.policy;
    run.ok = run.sums_match && run.conserved;
    const place = order.indexOf(run.family);
    run.order = (place < 0 ? order.length : place) * 1000 +
      (run.threshold === null ? unitOrder.indexOf(run.unit_kind) : run.threshold);
    run.ghz = (wf.data.configs[run.config].sm || {}).clock_ghz || null;
  });
}

// Runs are compared within a group: one trace on one machine. Where the same run was made more than once, with
// both units or in several files, those are groups too.
function groupRuns(runs) {
  const distinct = (key) => unique(runs.map((run) => `${key(run)}|${run.policy}|${run.unit_kind}`)).length;
  const parts = [(run) => JSON.stringify([run.traceName, run.gpu, run.config, run.gpu_part])];
  const keyOf = (run) => parts.map((part) => part(run)).join("|");
  const extra = { unit: false, file: false };
  [["unit", (run) => run.unit], ["file", (run) => String(run.file)]].forEach(([name, part]) => {
    const before = distinct(keyOf);
    if (before < runs.length) {
      parts.push(part);
      extra[name] = distinct(keyOf) > before;
      if (!extra[name]) {
        parts.pop();
      }
    }
  });
  return Array.from(wf.groupBy(runs, keyOf).values(), (members) => ({ runs: members, extra }));
}

function describeGroup(group) {
  const [run] = group.runs;
  const config = wf.configs[run.config];
  const notes = [];
  if (config.text) {
    notes.push(config.different.length <= 3 ? config.text : `configuration ${config.letter}`);
  }
  if (run.gpu_part > 1) {
    notes.push(`1/${run.gpu_part} of the GPU`);
  }
  if (group.extra.unit) {
    notes.push(`${run.unit} unit`);
  }
  if (group.extra.file) {
    notes.push(wf.data.files[run.file]);
  }
  group.trace = run.traceName;
  group.gpu = run.gpu;
  group.notes = notes.join(", ");
  group.name = [group.trace, group.gpu, ...notes].join(" · ");
  group.runs.sort((a, b) => a.order - b.order);
  group.baseline = group.runs.find((other) => other.policy === "baseline") || null;
  group.runs.forEach((other) => {
    other.group = group;
    other.speedup = group.baseline ? group.baseline.cycles / other.cycles : other.speedup;
  });
  // Of ARC's software policies, the threshold that takes the fewest cycles.
  group.bestSoftware = group.runs.filter(wf.isThreshold)
    .reduce((best, other) => (best === null || other.cycles < best.cycles ? other : best), null);
  group.fastest = group.runs.reduce((best, other) => (other.cycles < best.cycles ? other : best));
}

// Of a family with many thresholds its best alone, so that a figure of policies stays one.
wf.shownRuns = (group) => {
  const many = 4;
  const families = wf.groupBy(group.runs, (run) => run.family);
  return group.runs.filter((run) => {
    const family = families.get(run.family).filter(wf.isThreshold);
    return run.threshold === null || family.length <= many ||
      family.every((other) => run.cycles < other.cycles || (run.cycles === other.cycles && run.index <= other.index));
  });
};
wf.hiddenRuns = (group) => group.runs.length - wf.shownRuns(group).length;

wf.machineOf = (group) => [group.gpu, group.notes].filter(Boolean).join(" · ");
wf.geometricMean = (values) => Math.exp(d3.mean(values, Math.log));

prepareRuns(wf.data.runs);
wf.configs = describeConfigs(wf.data.configs.map((config) => ({ config, flat: wf.flatConfig(config) })));
wf.groups = groupRuns(wf.data.runs);
wf.groups.forEach(describeGroup);
// In the order of the figures; wf.data.runs has that of the files.
wf.runs = d3.merge(wf.groups.map((group) => group.runs));
wf.gpus = unique(wf.groups.map((group) => group.gpu));
wf.traces = unique(wf.groups.map((group) => group.trace));
wf.policyLabels = unique(wf.runs.slice().sort((a, b) => a.order - b.order).map((run) => run.label));
