// SPDX-License-Identifier: Apache-2.0
// The page from top to bottom: theme, summary, sections, contents.
"use strict";

function setTheme(dark) {
  const button = document.getElementById("theme");
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  button.setAttribute("aria-pressed", String(dark));
}

// As the system has it, until somebody presses the button.
function startTheme() {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = false;
  setTheme(system.matches);
  system.addListener(() => { if (!chosen) { setTheme(system.matches); } });
  document.getElementById("theme").addEventListener("click", () => {
    chosen = true;
    setTheme(document.documentElement.dataset.theme !== "dark");
  });
}

function listSome(names, most) {
  return names.length <= most ? wf.listText(names) : `${names.slice(0, most - 1).join(", ")} and ${names.length - most + 1} more`;
}

function whatWasSimulated() {
  const units = wf.unique(wf.runs.map((run) => ({ rtl: "the RTL", golden: "the C++ model" }[run.unit] || run.unit)));
  const kinds = wf.unique(wf.runs.filter((run) => run.policy === "arc-hw").map((run) => run.unit_kind));
  const policies = wf.unique(wf.runs.slice().sort((a, b) => a.order - b.order)
    .map((run) => (wf.isThreshold(run) && wf.policyLabels.length > 12 ? run.family : run.label)));
  return `${wf.plural(wf.runs.length, "run")}: ${wf.traces.length === 1 ? "trace" : `${wf.count(wf.traces.length)} traces,`} ` +
    `${listSome(wf.traces, 6)}; on ${listSome(wf.gpus, 6)}; ${policies.length === 1 ? "policy" : "policies"} ${listSome(policies, 14)}. ` +
    (kinds.length ? `The reduction unit is ${wf.listText(units)}, ${wf.listText(kinds)}.` : "");
}

function addChecks(parent) {
  const failed = wf.runs.filter((run) => !run.ok);
  const line = wf.element(parent, "p", failed.length ? "checks bad" : "checks good");
  wf.element(line, "b", "", failed.length ? "Checks NOT ok" : "All checks ok");
  line.appendChild(document.createTextNode(failed.length
    ? ` in ${wf.plural(failed.length, "run")} of ${wf.count(wf.runs.length)}: ${listSome(failed.map((run) =>
      `${run.label} on ${run.group.name} (${[run.sums_match ? "" : "sums differ", run.conserved ? "" : "values lost or counted twice"]
        .filter(Boolean).join(", ")})`), 8)}. Numbers of these runs mean nothing.`
    : ": in every run each lane value was added once, and each sum is the reference’s."));
  const warned = wf.groupBy(wf.runs.filter((run) => run.warning), (run) => run.warning);
  warned.forEach((runs, warning) => {
    const note = wf.element(parent, "p", "checks bad");
    wf.element(note, "b", "", "Warning");
    note.appendChild(document.createTextNode(`: ${listSome(wf.unique(runs.map((run) => run.traceName)), 8)}: ${warning}.`));
  });
  const doubtful = wf.runs.filter((run) => run.speedup_is_doubtful);
  if (doubtful.length) {
    const note = wf.element(parent, "p", "checks bad");
    wf.element(note, "b", "", "Speedups that may not hold");
    note.appendChild(document.createTextNode(`: modelled and measured cycles differ by more than 15 % in ${listSome(
      wf.unique(doubtful.map((run) => `${run.traceName} on ${run.group.name}`)), 8)}.`));
  }
  const remarks = wf.unique(wf.runs.flatMap((run) => (run.remarks || []).map((remark) => `${run.traceName}: ${remark}`)));
  remarks.forEach((remark) => wf.element(parent, "p", "checks", `${remark}.`));
}

// For each machine, variants and files apart, the best of hardware and of software, over all its traces that have a baseline.
function headlines() {
  const machines = wf.groupBy(wf.groups.filter((group) => group.baseline && group.runs.length > 1), wf.machineOf);
  return Array.from(machines, ([gpu, values]) => {
    const entries = [];
    const add = (name, chosen) => {
      const runs = values.map(chosen).filter((run) => run);
      if (runs.length) {
        entries.push({ name, value: wf.geometricMean(runs.map((run) => run.speedup)), runs });
      }
    };
    wf.unique(wf.runs.filter((run) => run.family === "arc-hw").map((run) => run.label)).forEach((label) =>
      add(label, (group) => group.runs.find((run) => run.label === label)));
    add("best ARC-SW", (group) => group.bestSoftware);
    const limits = Array.from(wf.groupBy(values.map((group) => group.baseline).filter((run) => run.bounds), (run) => run.bounds.tightest))
      .sort((a, b) => b[1].length - a[1].length);
    return { gpu, groups: values, entries, limit: limits.length ? limits[0][0] : null };
  }).filter((machine) => machine.entries.length);
}

function addHeadlines(parent) {
  const machines = headlines();
  if (machines.length === 0 || machines.length > 6) {
    return;
  }
  const list = wf.element(parent, "div", "headlines");
  machines.forEach((machine) => {
    const card = wf.element(list, "div", "headline");
    wf.element(card, "h2", "", machine.gpu);
    const values = wf.element(card, "dl");
    machine.entries.forEach((entry) => {
      const pair = wf.element(values, "div");
      const [run] = entry.runs;
      wf.element(pair, "dt", "", entry.name + (entry.runs.length === 1 && wf.isThreshold(run) ? `, ${run.label}` : ""));
      wf.element(pair, "dd", "", wf.ratio(entry.value));
    });
    const several = machine.groups.length > 1;
    wf.element(card, "p", "note", (several ? `Geometric mean over ${machine.groups.length} traces. ` : "Speedup over the baseline. ") +
      (machine.limit ? `Tightest bound of ${several ? "most baselines" : "the baseline"}: ${wf.nameOf(wf.kinds, machine.limit)}.` : ""));
  });
}

function addContents() {
  const contents = document.getElementById("contents");
  const list = wf.element(contents, "ul");
  document.querySelectorAll("#main > section").forEach((section) => {
    const link = wf.element(wf.element(list, "li"), "a", "", section.querySelector("h2").textContent);
    link.href = `#${section.id}`;
  });
}

startTheme();
const summary = document.getElementById("summary");
wf.element(summary, "p", "lead", whatWasSimulated());
addChecks(summary);
addHeadlines(summary);
wf.drawSpeedups();
wf.drawCycles();
wf.drawThresholds();
wf.drawTimelines();
wf.drawBounds();
wf.drawMeasured();
wf.drawEnergy();
wf.drawArea();
wf.drawTables();
wf.drawConfigs();
addContents();
