// slider.tsx - a moment of the log, with the curve of jobs that ran and waited
import { time as timeText } from "../../format";
import { setParameters } from "../../router";
import { t } from "../../texts";
import type { Span } from "../../world/worker";

const HEIGHT = 48, MINUTE = 60, HOUR = 3600;

/* Points of a curve in a box of 1000 by HEIGHT. */
function Curve({ span }: { span: Span }) {
  const most = Math.max(1, ...span.samples.map(one => one.running + one.waiting));
  const x = (time: number) => 1000 * (time - span.begin) / Math.max(1, span.end - span.begin);
  const y = (jobs: number) => HEIGHT - (HEIGHT - 2) * jobs / most;
  const area = (of: (one: Span["samples"][number]) => number) =>
    `M0,${HEIGHT}${span.samples.map(one => `L${x(one.time).toFixed(1)},${y(of(one)).toFixed(1)}`).join("")}L${x(span.samples.at(-1)?.time ?? 0).toFixed(1)},${HEIGHT}Z`;
  return <svg class="curve" viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={t("jobsOverTime", most)}>
    <path class="waits" d={area(one => one.running + one.waiting)} />
    <path class="runs" d={area(one => one.running)} />
  </svg>;
}

/* As a field for dates has it: local time, without a zone. */
function localText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
}

export function Slider({ span, at, again }: { span: Span; at: number | null; again: () => void }) {
  const begin = Math.ceil(span.begin / 1e6), end = Math.floor(span.end / 1e6);
  const seconds = at === null ? end : Math.round(at / 1e6);
  const to = (value: number) => setParameters({ at: String(Math.max(begin, Math.min(Math.round(value), end))) });
  const step = (by: number, text: string) =>
    <button type="button" disabled={by < 0 ? seconds <= begin : at === null || seconds >= end} onClick={() => to(seconds + by)}>{text}</button>;
  return <div class="slider">
    <Curve span={span} />
    <input type="range" aria-label={t("moment")} min={begin} max={end} step={1} value={seconds} aria-valuetext={timeText(seconds * 1000)}
      onInput={event => to(event.currentTarget.valueAsNumber)} />
    <p class="buttons">
      {step(-HOUR, `− 1 h`)}{step(-MINUTE, `− 1 min`)}{step(-1, `− 1 s`)}{step(1, `+ 1 s`)}{step(MINUTE, `+ 1 min`)}{step(HOUR, `+ 1 h`)}
      <input type="datetime-local" aria-label={t("moment")} step={1} min={localText(begin)} max={localText(end)} value={localText(seconds)}
        onChange={event => { const chosen = new Date(event.currentTarget.value).getTime(); if (!Number.isNaN(chosen)) to(chosen / 1000); }} />
      <button type="button" disabled={at === null} onClick={() => setParameters({ at: "" })}>{t("now")}</button>
      <button type="button" onClick={again}>{t("readAgain")}</button>
    </p>
    <p class="legend"><span class="key runs" />{t("runningJobs")} <span class="key waits" />{t("waitingJobs")}</p>
  </div>;
}
