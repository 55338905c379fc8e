// logs.tsx - the log of a task, live: only the lines in view are in the page
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { addressOf, call, CallError } from "../../call";
import { Failed } from "../../parts/failed";
import { overwritten, pieces } from "../../parts/log_text";
import { parameters, setParameters } from "../../router";
import { t } from "../../texts";
import type { OfJob } from "./job";

const LINE = 18; // height of a line in pixels, as in styles.css
const AROUND = 20; // lines that are drawn above and below those in view
const TAIL = 100_000; // lines that are asked for of a long log

interface Place { role: string; index: number; attempt: number; retry: number }

/* Reads the log as it grows, in pieces of a frame each. */
function useLog(name: string, place: Place | null) {
  const lines = useRef<string[]>([]);
  const [count, setCount] = useState(0);
  const [error, setError] = useState<unknown>();
  const key = JSON.stringify(place);

  useEffect(() => {
    lines.current = [];
    setCount(0);
    setError(undefined);
    if (place === null)
      return;
    const ended = new AbortController();
    read(name, place, ended.signal, chunk => {
      const parts = ((lines.current.pop() ?? "") + chunk).split("\n");
      for (const part of parts) // push(...parts) has a limit
        lines.current.push(part);
      requestAnimationFrame(() => setCount(lines.current.length));
    }).catch((failure: unknown) => {
      if (!ended.signal.aborted)
        setError(failure);
    });
    return () => ended.abort();
  }, [name, key]);
  const isOpen = lines.current.at(-1) === ""; // the last line has no text yet
  return { lines: lines.current, count: isOpen ? count - 1 : count, error };
}

async function read(name: string, place: Place, signal: AbortSignal, add: (text: string) => void): Promise<void> {
  const of = { job: name, ...place };
  const { locations } = await call("jobs.logs", of, { signal });
  const log = locations.find(one => one.name === "all") ?? locations[0];
  if (log === undefined)
    return;
  const response = await fetch(addressOf("jobs.log", { ...of, name: log.name, follow: true, tail: TAIL }), { signal });
  if (!response.ok)
    throw new CallError(response.status, "", await response.text());
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read())
    add(part.value);
}

function Line({ text, find }: { text: string; find: string }) {
  const shown = useMemo(() => pieces(overwritten(text)), [text]);
  return <div class={find !== "" && text.includes(find) ? "line found" : "line"}>
    {shown.map((piece, i) => piece.style === "" ? piece.text : <span key={i} class={piece.style}>{piece.text}</span>)}
  </div>;
}

function View({ lines, count, find, at }: { lines: string[]; count: number; find: string; at: number }) {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [top, setTop] = useState(0);
  const height = box.current?.clientHeight ?? 600;
  const first = Math.max(0, Math.floor(top / LINE) - AROUND);
  const last = Math.min(count, Math.ceil((top + height) / LINE) + AROUND);

  useEffect(() => {
    if (follows.current && box.current !== null)
      box.current.scrollTop = box.current.scrollHeight;
  }, [count]);
  useEffect(() => {
    if (at >= 0 && box.current !== null)
      box.current.scrollTop = at * LINE - height / 2;
  }, [at]);
  function onScroll(event: Event): void {
    const of = event.currentTarget as HTMLDivElement;
    follows.current = of.scrollTop + of.clientHeight >= of.scrollHeight - LINE;
    setTop(of.scrollTop);
  }
  return <div ref={box} class="log" role="log" aria-label={t("logs")} tabIndex={0} onScroll={onScroll}>
    <div style={{ height: `${count * LINE}px` }}><div style={{ transform: `translateY(${first * LINE}px)` }}>
      {lines.slice(first, last).map((text, i) => <Line key={first + i} text={text} find={find} />)}
    </div></div>
  </div>;
}

export function Logs({ name, job }: OfJob) {
  const tasks = Object.entries(job.taskRoles).flatMap(([role, of]) => of.taskStatuses.map(task => ({ role, task })));
  const wanted = parameters.value.get("task");
  const found = tasks.find(one => `${one.role}/${one.task.taskIndex}` === wanted) ?? tasks[0];
  const place = found === undefined || found.task.containerId === null ? null
    : { role: found.role, index: found.task.taskIndex, attempt: job.jobStatus.attemptId, retry: found.task.attemptId };
  const { lines, count, error } = useLog(name, place);
  const [find, setFind] = useState("");
  const [match, setMatch] = useState(0);
  const matches = useMemo(() => {
    const at: number[] = [];
    for (let i = 0; find !== "" && i < count; i++)
      if (lines[i]!.includes(find))
        at.push(i);
    return at;
  }, [find, count]);
  const selected = found === undefined ? "" : `${found.role}/${found.task.taskIndex}`;

  return <>
    <form class="filters" onSubmit={event => { event.preventDefault(); setMatch(n => (n + 1) % Math.max(matches.length, 1)); }}>
      <select aria-label={t("task")} value={selected} onChange={event => setParameters({ task: event.currentTarget.value })}>
        {tasks.map(({ role, task }) => <option key={`${role}/${task.taskIndex}`} value={`${role}/${task.taskIndex}`}>{role}/{task.taskIndex}</option>)}
      </select>
      <input type="search" aria-label={t("find")} placeholder={t("find")} value={find} onInput={event => { setFind(event.currentTarget.value); setMatch(0); }} />
      {find !== "" && <span role="status">{t("matches", matches.length)}</span>}
      {place !== null && <a class="button" download={`${name}-${place.role}-${place.index}.log`} href={addressOf("jobs.log", { job: name, ...place, name: "all" }).href}>{t("download")}</a>}
    </form>
    {error !== undefined && <Failed error={error} />}
    <View lines={lines} count={count} find={find} at={matches[match] ?? -1} />
  </>;
}
