// timeline.tsx - when the tasks of a job waited, started and ran, over all attempts
import { useEffect, useRef, useState } from "preact/hooks";
import type { Job as JobRecord, Task, TaskAttempt } from "../../api";
import { call } from "../../call";
import { duration, time } from "../../format";
import { Failed } from "../../parts/failed";
import { useNow } from "../../parts/lasted";
import { t } from "../../texts";
import type { OfJob } from "./job";

const MOST_ATTEMPTS = 20, MOST_TASKS = 200; // that are drawn, the latest and the first ones
const WIDTH = 1000, HEIGHT = 16, MARKS = 5;

type Phase = "waiting" | "starting" | "running";

/** Null as an end: it goes on. */
interface Span { during: Phase; from: number; to: number | null; ended?: string }
interface Line { name: string; attempt: number; spans: Span[] }

type Times = Pick<TaskAttempt, "currentAttemptCreatedTime" | "currentAttemptLaunchedTime" | "currentAttemptCompletedTime">;

/* Its waiting begins with the task, or with the end of the start before. */
function spansOf(since: number | null, start: Times, state: string): Span[] {
  const { currentAttemptCreatedTime: created, currentAttemptLaunchedTime: launched, currentAttemptCompletedTime: completed } = start;
  const spans: Span[] = [];
  if (since !== null && (created === null || created > since))
    spans.push({ during: "waiting", from: since, to: created ?? completed });
  if (created !== null)
    spans.push({ during: "starting", from: created, to: launched ?? completed });
  if (launched !== null)
    spans.push({ during: "running", from: launched, to: completed });
  const last = spans.at(-1);
  if (last !== undefined && completed !== null)
    last.ended = state;
  return spans;
}

/* The starts of a task; one that started once has all of it in its record. */
async function startsOf(name: string, attempt: number, role: string, task: Task): Promise<Span[]> {
  if (task.retries === 0)
    return spansOf(task.createdTime, task, task.taskState);
  const { attempts } = await call("jobs.show_task", { job: name, attempt: String(attempt), role, index: String(task.taskIndex) });
  let since = task.createdTime;
  return [...attempts].reverse().flatMap((start, i) => {
    const spans = spansOf(since, start, i === attempts.length - 1 ? task.taskState : "FAILED");
    since = start.currentAttemptCompletedTime;
    return spans;
  });
}

/* What does not change any more is asked once, though the job goes on changing. */
class Past {
  #kept = new Map<string, Promise<unknown>>();

  once<Result>(key: string, ask: () => Promise<Result>): Promise<Result> {
    const kept = this.#kept.get(key) ?? ask();
    this.#kept.set(key, kept);
    kept.catch(() => this.#kept.delete(key));
    return kept as Promise<Result>;
  }
}

async function linesOf(past: Past, name: string, latest: JobRecord): Promise<Line[]> {
  const last = latest.jobStatus.attemptId;
  const lines: Promise<Line>[] = [];
  for (let attempt = Math.max(0, last - MOST_ATTEMPTS + 1); attempt <= last; attempt++) {
    const job = attempt === last ? latest
      : await past.once(String(attempt), () => call("jobs.show_attempt", { job: name, attempt: String(attempt) }));
    for (const [role, { taskStatuses }] of Object.entries(job.taskRoles))
      for (const task of taskStatuses.slice(0, MOST_TASKS - lines.length)) {
        const key = [attempt, role, task.taskIndex, task.attemptId, task.taskState, task.currentAttemptLaunchedTime].join(" ");
        lines.push(past.once(key, () => startsOf(name, attempt, role, task)).then(spans => ({ name: `${role}/${task.taskIndex}`, attempt, spans })));
      }
  }
  return Promise.all(lines);
}

function Bar({ line, from, to }: { line: Line; from: number; to: number }) {
  const at = (moment: number) => WIDTH * (moment - from) / Math.max(to - from, 1);
  return <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">{line.spans.map((span, i) =>
    <rect key={i} class={`${span.during} ${(span.ended ?? "").toLowerCase()}`} x={at(span.from)} width={Math.max(at(span.to ?? to) - at(span.from), 1)} height={HEIGHT} />)}</svg>;
}

/* When it begins, and how long after that each mark is. */
function Axis({ from, to }: { from: number; to: number }) {
  const after = (seconds: number) => `+ ${seconds < 10 ? `${seconds.toFixed(1)} s` : duration(seconds)}`;
  return <div aria-hidden="true"><span /><span class="axis">{Array.from({ length: MARKS }, (_none, i) =>
    <span key={i}>{i === 0 ? time(from) : after((to - from) / 1000 * i / (MARKS - 1))}</span>)}</span></div>;
}

const LEGEND = ["waiting", "starting", "running", "succeeded", "failed"] as const;

const phase = (span: Span) => span.ended === undefined ? t(span.during) : `${t(span.during)}: ${span.ended}`;

function AsTable({ lines, now, hasAttempts }: { lines: Line[]; now: number; hasAttempts: boolean }) {
  return <details class="part"><summary>{t("asTable")}</summary><div class="wide" tabIndex={0} role="region" aria-label={t("asTable")}><table>
    <thead><tr>{hasAttempts && <th scope="col">{t("attempt")}</th>}<th scope="col">{t("task")}</th><th scope="col">{t("during")}</th><th scope="col">{t("from")}</th><th scope="col">{t("until")}</th><th scope="col" class="number">{t("duration")}</th></tr></thead>
    <tbody>{lines.flatMap(line => line.spans.map(span => <tr key={`${line.attempt} ${line.name} ${span.during} ${span.from}`}>
      {hasAttempts && <td>{line.attempt}</td>}<th scope="row">{line.name}</th><td>{phase(span)}</td><td>{time(span.from)}</td><td>{time(span.to)}</td>
      <td class="number">{duration(((span.to ?? now) - span.from) / 1000)}</td>
    </tr>))}</tbody>
  </table></div></details>;
}

export function Timeline({ name, job }: OfJob) {
  const [lines, setLines] = useState<Line[]>();
  const [error, setError] = useState<unknown>();
  const past = useRef(new Past());
  const isGrowing = lines?.some(line => line.spans.some(span => span.to === null)) === true;
  const now = useNow(isGrowing);

  useEffect(() => {
    let isWanted = true;
    linesOf(past.current, name, job).then(found => { if (isWanted) setLines(found); }, (failure: unknown) => { if (isWanted) setError(failure); });
    return () => { isWanted = false; };
  }, [name, job]);
  if (lines === undefined)
    return error !== undefined ? <Failed error={error} /> : <p class="loading" aria-busy="true" />;
  const spans = lines.flatMap(line => line.spans);
  const from = Math.min(job.jobStatus.submissionTime, ...spans.map(span => span.from));
  const to = Math.max(from + 1, ...spans.map(span => span.to ?? now));
  const hasAttempts = job.jobStatus.attemptId > 0;
  return <>
    <p class="legend">{LEGEND.map(one => <span key={one}><svg viewBox="0 0 10 10" aria-hidden="true"><rect class={one} width="10" height="10" /></svg>{t(one)}</span>)}</p>
    <div class="timeline" role="group" aria-label={t("timelineOf", name)}>
      {lines.map(line => <div key={`${line.attempt} ${line.name}`} role="img" aria-label={`${line.name}: ${line.spans.map(span => `${phase(span)} ${duration(((span.to ?? now) - span.from) / 1000)}`).join(", ")}`}>
        <span>{hasAttempts ? `${line.attempt} · ${line.name}` : line.name}</span><Bar line={line} from={from} to={to} />
      </div>)}
      <Axis from={from} to={to} />
    </div>
    {lines.length === MOST_TASKS && <p class="hint">{t("onlyTasks", MOST_TASKS)}</p>}
    <AsTable lines={lines} now={now} hasAttempts={hasAttempts} />
  </>;
}
