// report.js - draws the report of a simulation, or several side by side, from its JSON
import { hint, node, table } from "./chart.js";
import { change, clean, count, duration, factor, hours, percent } from "./format.js";
import { drawGroups } from "./groups.js";
import { drawOverTime, drawWaits } from "./over_time.js";
import { drawTimelines } from "./timeline.js";

const work = value => `${hours(value)} h`, index = value => value.toFixed(3);

// The numbers that are compared: key, name, how it is shown, whether less (-1) or more (1) is
// better, and what it means.  Keys and names are those of src/sim/pages.c.
const FIGURES = [
  ["makespan_s", "makespan", duration, -1, "from the first submission to the last end"],
  ["utilization", "utilization", percent, 1, "GPU time in use; CPU time in a cluster without GPUs"],
  ["wait_mean_s", "wait, mean", duration, -1, "from submission to the first start"],
  ["wait_p50_s", "wait, P50", duration, -1, "50 of 100 jobs waited no longer"],
  ["wait_p90_s", "wait, P90", duration, -1, "90 of 100 jobs waited no longer"],
  ["wait_p99_s", "wait, P99", duration, -1, "99 of 100 jobs waited no longer"],
  ["wait_max_s", "wait, longest", duration, -1, "of all jobs that started"],
  ["slowdown_mean", "slowdown, mean", factor, -1, "time in the system by run time, 10 s at least"],
  ["slowdown_p50", "slowdown, P50", factor, -1, "50 of 100 jobs were slowed down no more"],
  ["slowdown_p90", "slowdown, P90", factor, -1, "90 of 100 jobs were slowed down no more"],
  ["fairness", "fairness", index, 1, "Jain's index over users; 1: equal shares"],
  ["fragmentation", "fragmentation", percent, -1, "free GPUs that no whole-node task can use"],
  ["preemptions", "preemptions", count, -1, "how often a job was stopped for another job"],
  ["retries", "retries", count, 0, "how often a failed job was tried again"],
  ["lost_gpu_s", "lost work", work, -1, "work of failed attempts and since the last checkpoint"],
  ["jobs", "jobs", count, 0, "submitted jobs"],
  ["started", "started", count, 1, "jobs that started at least once"],
  ["finished", "finished", count, 1, "jobs that ended by themselves, failed jobs included"],
  ["failed", "failed", count, 0, "jobs that ended by themselves and failed"],
  ["killed", "killed", count, 0, "jobs ended by their owner or their time limit"],
  ["rejected", "rejected", count, -1, "jobs that can never start on this cluster"],
  ["left", "not ended", count, -1, "jobs that were waiting or running at the end"],
];

const NOTES = [
  ["lines_skipped", "lines of the trace were skipped"],
  ["mapped_vcs", "jobs named no known virtual cluster"],
  ["mapped_types", "jobs named no known GPU type"],
];

function labels(runs) {
  const all = runs.map(run => clean(run.policy));
  return all.map((name, i) => {
    const before = all.slice(0, i).filter(other => other === name).length;
    return before > 0 ? `${name} #${before + 1}` : name;
  });
}

function drawHead(view, { runs, names, alone }) {
  const [first] = runs, seed = Number.isSafeInteger(first.seed) ? `, seed ${first.seed}` : "";
  view.append(node("h1", {}, alone ? names[0] : `${runs.length} simulations`), ...[
    `${clean(first.trace)} trace on ${clean(first.cluster)}${seed}`,
    ...runs.map((run, i) => run.options && `${names[i]} with ${clean(run.options)}`),
    ...NOTES.map(([key, what]) => first[key] > 0 && `${count(first[key])} ${what}`),
  ].flatMap(hint));
}

function drawCards(view, { runs: [run] }) {
  view.append(node("dl", { class: "cards" }, ...FIGURES.map(([key, name, show, , title]) =>
    node("div", { title }, node("dt", {}, name),
      node("dd", { class: run[key] === 0 ? "none" : null }, show(run[key]))))));
}

function drawComparison(view, { runs, names }) {
  const rows = FIGURES.map(([key, name, show, better, meaning]) => {
    const values = runs.map(run => run[key]);
    const best = Math.max(...values.map(value => value * better));
    const stars = better !== 0 && values.some(value => value !== values[0]);
    return [name, values.map((value, i) => [
      stars && value * better === best ? node("b", {}, `★ ${show(value)}`) : show(value),
      i > 0 ? node("span", { class: "change" }, change(value, values[0])) : ""]), meaning];
  });
  table(view, "Numbers", "★ best value. Changes are relative to the first column.", names, rows);
}

// Text is light where the page is dark, whatever made it so: the system, an editor or a notebook.
function followTheme(view) {
  const [red, green, blue] = getComputedStyle(view).color.match(/[\d.]+/g).map(Number);
  const dark = 0.3 * red + 0.6 * green + 0.1 * blue > 128;
  if (view.classList.contains("dark") !== dark) {
    view.classList.toggle("dark", dark);
    view.dispatchEvent(new CustomEvent("theme"));
  }
}

/**
 * Draws a report, as the library writes it as JSON, at the end of an element or a shadow root,
 * where viewer.css is in force.  Returns the new element; remove() ends all that was begun.
 */
export function drawReport(parent, report) {
  const runs = report.runs ?? [report];
  const context = { runs, names: labels(runs), alone: runs.length === 1,
    unit: runs[0].gpus || !runs[0].cpus ? "GPU" : "CPU" };
  const view = node("article", { class: "openpai-view" });
  parent.append(view);
  followTheme(view);
  view.addEventListener("pointerenter", () => followTheme(view));
  for (const draw of [drawHead, context.alone ? drawCards : drawComparison, drawOverTime, drawWaits,
    drawGroups, drawTimelines])
    draw(view, context);
  return view;
}

/** Draws every report that stands in the page as JSON, each in a shadow root of its own */
export function drawAll() {
  for (const box of document.querySelectorAll("[data-openpai=report]:not([data-drawn])")) {
    const root = box.attachShadow({ mode: "open" });
    box.dataset.drawn = "";
    try {
      root.append(box.querySelector("template").content.cloneNode(true));
      drawReport(root, JSON.parse(box.querySelector("script").textContent));
    } catch (error) {
      root.replaceChildren(node("slot")); // the same report as text
      console.error(error);
    }
  }
}
