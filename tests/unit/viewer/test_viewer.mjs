// test_viewer.mjs - draws reports with the viewer's modules
//
// Usage: node test_viewer.mjs FOLDER-OF-MODULES FOLDER-OF-REPORTS, which are the sets of
// tests/unit/sim/reports.c as JSON.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { pathToFileURL } from "node:url";

import { all, begin, press, texts } from "./dom.mjs";

const [modules, reports] = process.argv.slice(2);
const load = name => import(pathToFileURL(`${modules}/${name}.js`));
const format = await load("format"), { drawReport } = await load("report");
const { piecesOf } = await load("timeline"), { sharesOf } = await load("over_time");

const read = name => JSON.parse(readFileSync(`${reports}/${name}.json`, "utf8"));
const titles = view => all(view, "h2").flatMap(texts);

function draw(report, colour) {
  return drawReport(begin(colour), report);
}

function plain(text) {
  return text.replaceAll("\u202f", " ");
}

test("numbers and times as on a terminal", () => {
  const { change, count, duration, factor, hours, percent, roundPercent } = format;
  assert.deepEqual([0, 20e-6, 0.02, 1.5, 59, 60, 61, 3599.7, 3600, 86400 * 3 + 14400, 86400 * 900]
    .map(duration), ["0 s", "20 µs", "20 ms", "1.5 s", "59 s", "1 min", "1 min 1 s", "1 h", "1 h",
    "3 d 4 h", "2 y 170 d"]);
  assert.deepEqual([0, 999, 1234567].map(count).map(plain), ["0", "999", "1 234 567"]);
  assert.deepEqual([0, 1, 1500, 1e6, 1e9].map(hours).map(plain), ["0", "<0.1", "0.4", "278", "277.8K"]);
  assert.deepEqual([1.03, 12.34, 1234].map(factor).map(plain), ["1.03", "12.3", "1 234"]);
  assert.deepEqual([percent(0.8128), roundPercent(0.2)].map(plain), ["81.3 %", "20 %"]);
  assert.deepEqual([[112.3, 100], [450, 10], [0, 10], [1e-9, 10], [5, 5], [5, 0]]
    .map(pair => plain(change(...pair))), ["+12.3 %", "×45", "-100.0 %", "-99.9 %", "", ""]);
});

test("names are harmless and fit", () => {
  assert.equal(format.clean("a\u001b[31m\u202e\u2028b"), "a\ufffd[31m\ufffd\ufffdb");
  assert.equal(format.clean(""), "(no name)");
  assert.equal(format.fit("short", 100), "short");
  assert.equal(format.fit("annabelle", 40), "annab…");
  assert.equal(format.fit("東京の研究室", 40), "東京…");
});

test("ticks are round", () => {
  for (const end of [1e-4, 0.3, 1, 7, 10, 49, 1001, 123456, 9e15]) {
    assert.ok(end / format.step(end, 6) <= 6.001);
    assert.ok(end / format.timeStep(end, 9) <= 9.001);
  }
  assert.deepEqual([10, 11, 3].map(end => format.step(end, 5)), [2, 5, 1]);
  assert.deepEqual([[75 * 86400, 9], [32400, 9], [2400, 5]].map(pair => format.timeStep(...pair)),
    [864000, 3600, 600]);
});

test("masks of GPUs are pieces, and waits are classes", () => {
  assert.deepEqual(piecesOf("0"), []);
  assert.deepEqual(piecesOf("f3"), [[0, 2], [4, 4]]);
  assert.deepEqual(piecesOf("8000000000000001"), [[0, 1], [63, 1]]);
  const at = Array.from({ length: 1001 }, (_, i) => i <= 250 ? 0 : i <= 750 ? 300 : 2592000);
  assert.deepEqual(sharesOf({ count: 4, at }), [0.25, 0, 0.5, 0, 0, 0, 0, 0, 0.25]);
  assert.ok(sharesOf({ count: 0, at: [] }).every(part => part === 0));
});

test("one report has all its charts and tables", () => {
  const view = draw(read("one")), words = texts(view).map(plain);
  assert.deepEqual(titles(view), ["GPUs in use", "Queue", "Backlog", "Waiting time",
    "Waiting time, cumulative", "Waiting time by virtual cluster", "Capacity lent and borrowed",
    "Virtual clusters", "Waiting time by GPUs per job", "GPUs per job", "Users", "Node timeline"]);
  for (const word of ["fifo", "jsonl trace on 2 nodes, 8 GPUs, seed 1", "33.3 %", "ann", "4-7"])
    assert.ok(words.includes(word), word);
});

test("arrow keys step through the values", () => {
  const view = draw(read("one")), charts = all(view, "div").filter(box => box.attributes.has("tabindex")
    && box.className().includes("chart"));
  const told = (chart, ...keys) => {
    keys.forEach(key => press(chart, key));
    const [tip] = all(chart, "div");
    return tip.hidden ? null : texts(tip).map(plain);
  };
  assert.equal(charts.length, 9);
  assert.deepEqual(told(charts[0], "Home"), ["at 0 s", "0.0 % in use", "0.0 % fragmented",
    "100.0 % free", "0.0 % down"]);
  assert.deepEqual(told(charts[0], "End", "ArrowRight").slice(1), ["50.0 % in use", "0.0 % fragmented",
    "25.0 % free", "25.0 % down"]);
  assert.equal(told(charts[0], "Escape"), null);
  assert.deepEqual(told(charts[5], "ArrowRight"), ["default", "P50 1 min", "P90 1 min", "P99 1 min"]);
  assert.deepEqual(told(charts[6], "ArrowDown"), ["default", "share 0.4 h, 0.1 h of it used",
    "lent 0 h, borrowed 0 h"]);
  assert.deepEqual(told(charts.at(-1), "ArrowRight"), ["job 1 of default, succeeded", "4 GPUs of n1",
    "2 min from 1 min"]);
});

test("several reports stand side by side", () => {
  const view = draw(read("compared")), words = texts(view).map(plain);
  assert.ok(words.includes("4 simulations") && words.includes("fifo #2"));
  assert.ok(words.includes("★ 85.0 %") && words.includes("-8.2 %"));
  assert.equal(all(view, "h3").length, all(view, "canvas").length);
});

test("every set is drawn, in the text's colour", () => {
  for (const name of ["empty", "large", "few", "cpus", "strange", "huge"]) {
    assert.ok(draw(read(name), "rgb(230, 237, 243)").className().includes("dark"), name);
    assert.ok(!draw(read(name)).className().includes("dark"), name);
    for (const path of all(draw(read(name)), "path"))
      assert.ok(!/NaN|Infinity|undefined/.test(path.attributes.get("d")), `${name}: ${path.attributes.get("d")}`);
    for (const rect of all(draw(read(name)), "rect"))
      for (const key of ["x", "y", "width", "height"])
        assert.ok(!(Number(rect.attributes.get(key) ?? 0) < 0) &&
          !isNaN(rect.attributes.get(key) ?? 0), `${name}: ${key}`);
  }
  const words = texts(draw(read("strange")));
  assert.ok(words.includes("<b>&amp;\"'</b>") && words.includes("(no name)"));
});

test("a press on a virtual cluster shows its runs alone, and zooming less of the time", () => {
  const view = draw(read("few")), rects = () => {
    const [canvas] = all(view, "canvas");
    const before = canvas.context.rects;
    return act => (act(), canvas.context.rects - before);
  };
  const buttons = all(view, "button"), click = button => () => button.dispatchEvent({ type: "click" });
  const named = name => buttons.find(button => texts(button).includes(name));
  const whole = rects()(click(named("Whole time")));
  const zoomed = rects()(click(named("Zoom in")));
  assert.ok(zoomed < whole, `${zoomed} of ${whole}`);
  click(named("Whole time"))();
  assert.ok(rects()(click(buttons[0])) < whole);
  assert.equal(buttons[0].attributes.get("aria-pressed"), "true");
  assert.equal(rects()(click(buttons[0])), whole);
});

test("a hundred thousand runs take no more than a moment", () => {
  const report = read("few"), [node] = report.bar_nodes, begin = report.begin_s;
  report.bar_nodes = Array.from({ length: 1000 }, (_, i) => ({ ...node, name: `node${i}` }));
  report.bars = Array.from({ length: 100000 }, (_, i) =>
    [i, begin + i, begin + i + 5000, i % 1000, 0, "f", "succeeded"]);
  const start = performance.now();
  draw(report);
  assert.ok(performance.now() - start < 20000);
});
