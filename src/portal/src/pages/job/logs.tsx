// logs.tsx - the log of a task, live: only the lines in view are in the page
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { addressOf, ask, call, failureOf } from "../../call";
import { saveAddress } from "../../parts/download";
import { Failed } from "../../parts/failed";
import { attempt } from "../../parts/messages";
import { onChange } from "../../live";
import { overwritten, pieces } from "../../parts/log_text";
import { isFinal } from "../../parts/state";
import { parameters, setParameters } from "../../router";
import { t } from "../../texts";
import type { OfJob } from "./job";

const LINE = 18; // height of a line in pixels, as in styles.css
const AROUND = 20; // lines that are drawn above and below those in view
const TAIL = 100_000; // lines that are asked for of a long log, and kept
const LONG = 4096; // characters of a line from which its overwritten parts are dropped

interface Place { role: string; index: number; attempt: number; retry: number }

/* Lines of a log: all that arrived, or of a long log the last ones. */
class LogLines {
  lines: string[] = [];
  /** Lines that are no longer kept. */
  left = 0;

  add(chunk: string): void {
    const parts = ((this.lines.pop() ?? "") + chunk).split("\n");
    for (const part of parts) // push(...parts) has a limit
      this.lines.push(part);
    this.#shorten();
  }

  get count(): number {
    return this.lines.length - (this.lines.at(-1) === "" ? 1 : 0); // the last line has no text yet
  }

  /* A progress bar is one line that is written over for hours. */
  #shorten(): void {
    const last = this.lines.at(-1)!;
    const start = last.lastIndexOf("\r");
    if (start > LONG)
      this.lines[this.lines.length - 1] = overwritten(last.slice(0, start)) + last.slice(start);
    if (this.lines.length > TAIL * 1.2)
      this.left += this.lines.splice(0, this.lines.length - TAIL).length;
  }
}

/* Reads the log as it grows, and draws at most once a frame. */
function useLog(name: string, place: Place | null, isOver: boolean) {
  const text = useRef(new LogLines());
  const [version, setVersion] = useState(0);
  const [attempts, setAttempts] = useState(0);
  const [error, setError] = useState<unknown>();
  const isDone = useRef(false);
  const key = JSON.stringify(place);

  isDone.current = isOver && error === undefined;
  useEffect(() => onChange(changes => {
    if (changes === null && !isDone.current)
      setAttempts(n => n + 1); // the server is back
  }), []);
  useEffect(() => {
    const mine = text.current = new LogLines();
    let isAsked = false;
    const draw = () => {
      if (!isAsked)
        requestAnimationFrame(() => { isAsked = false; setVersion(n => n + 1); });
      isAsked = true;
    };
    setError(undefined);
    draw();
    if (place === null)
      return;
    const ended = new AbortController();
    read(name, place, ended.signal, chunk => {
      mine.add(chunk);
      draw();
    }).catch((failure: unknown) => {
      if (!ended.signal.aborted)
        setError(failure);
    });
    return () => ended.abort();
  }, [name, key, attempts]);
  return { text: text.current, version, error };
}

/* Where the log of a task is, if it has one. */
async function find(name: string, place: Place, options: { signal?: AbortSignal } = {}) {
  const { locations } = await call("jobs.logs", { job: name, ...place }, options);
  return locations.find(one => one.name === "all") ?? locations[0];
}

/* The address is signed: the browser itself fetches it, however long the log is. */
async function download(name: string, place: Place): Promise<void> {
  const log = await find(name, place);
  if (log !== undefined)
    saveAddress(log.uri, `${name}-${place.role}-${place.index}.log`);
}

async function read(name: string, place: Place, signal: AbortSignal, add: (text: string) => void): Promise<void> {
  const log = await find(name, place, { signal });
  if (log === undefined)
    return;
  const response = await ask(addressOf("jobs.log", { job: name, ...place, name: log.name, follow: true, tail: TAIL }), { signal });
  if (!response.ok)
    throw await failureOf(response);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read())
    add(part.value);
}

/** Whether a line has what is looked for; null: nothing is. */
type Finder = ((line: string) => boolean) | null;

function finderOf(find: string, matchesCase: boolean): Finder {
  const wanted = matchesCase ? find : find.toLowerCase();
  return find === "" ? null : line => (matchesCase ? line : line.toLowerCase()).includes(wanted);
}

function Line({ text, find }: { text: string; find: Finder }) {
  const shown = useMemo(() => pieces(overwritten(text)), [text]);
  return <div class={find?.(text) ? "line found" : "line"}>
    {shown.map((piece, i) => piece.style === "" ? piece.text : <span key={i} class={piece.style}>{piece.text}</span>)}
  </div>;
}

/* The version is what tells that the same lines have other text. */
function View({ text, find, at }: { text: LogLines; version: number; find: Finder; at: number }) {
  const { lines, count, left } = text;
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const known = useRef(left);
  const [top, setTop] = useState(0);
  const height = box.current?.clientHeight ?? 600;
  const first = Math.max(0, Math.floor(top / LINE) - AROUND);
  const last = Math.min(count, Math.ceil((top + height) / LINE) + AROUND);

  // Before the browser paints and tells of scrolling, which would look like the user's.
  useLayoutEffect(() => {
    if (follows.current && box.current !== null)
      box.current.scrollTop = box.current.scrollHeight;
  }, [count, left]);
  useLayoutEffect(() => {
    if (!follows.current && box.current !== null)
      box.current.scrollTop -= (left - known.current) * LINE; // what is read stays in view
    known.current = left;
  }, [left]);
  useEffect(() => {
    if (at >= 0 && box.current !== null)
      box.current.scrollTop = at * LINE - height / 2;
  }, [at + left]);
  function onScroll(event: Event): void {
    const of = event.currentTarget as HTMLDivElement;
    follows.current = of.scrollTop + of.clientHeight >= of.scrollHeight - LINE;
    setTop(of.scrollTop);
  }
  return <div ref={box} class="log" role="log" aria-label={t("logs")} tabIndex={0} onScroll={onScroll}>
    <div style={{ height: `${count * LINE}px` }}><div style={{ transform: `translateY(${first * LINE}px)` }}>
      {lines.slice(first, last).map((line, i) => <Line key={left + first + i} text={line} find={find} />)}
    </div></div>
  </div>;
}

export function Logs({ name, job }: OfJob) {
  const tasks = Object.entries(job.taskRoles).flatMap(([role, of]) => of.taskStatuses.map(task => ({ role, task })));
  const wanted = parameters.value.get("task");
  const found = tasks.find(one => `${one.role}/${one.task.taskIndex}` === wanted) ?? tasks[0];
  const place = found === undefined || found.task.containerId === null ? null
    : { role: found.role, index: found.task.taskIndex, attempt: job.jobStatus.attemptId, retry: found.task.attemptId };
  const { text, version, error } = useLog(name, place, isFinal(job.jobStatus.state));
  const [typed, setTyped] = useState("");
  const [matchesCase, setMatchesCase] = useState(false);
  const find = useMemo(() => finderOf(typed, matchesCase), [typed, matchesCase]);
  const [match, setMatch] = useState(0);
  const matches = useMemo(() => {
    const at: number[] = [];
    for (let i = 0; find !== null && i < text.count; i++)
      if (find(text.lines[i]!))
        at.push(i);
    return at;
  }, [find, version]);
  const selected = found === undefined ? "" : `${found.role}/${found.task.taskIndex}`;

  return <>
    <form class="filters" onSubmit={event => { event.preventDefault(); setMatch(n => (n + 1) % Math.max(matches.length, 1)); }}>
      <select aria-label={t("task")} value={selected} onChange={event => setParameters({ task: event.currentTarget.value })}>
        {tasks.map(({ role, task }) => <option key={`${role}/${task.taskIndex}`} value={`${role}/${task.taskIndex}`}>{role}/{task.taskIndex}</option>)}
      </select>
      <input type="search" aria-label={t("find")} placeholder={t("find")} value={typed} onInput={event => { setTyped(event.currentTarget.value); setMatch(0); }} />
      <label class="check"><input type="checkbox" checked={matchesCase} onChange={event => { setMatchesCase(event.currentTarget.checked); setMatch(0); }} />{t("matchCase")}</label>
      {find !== null && <span role="status">{t("matches", matches.length)}</span>}
      {place !== null && <button type="button" onClick={() => void attempt(() => download(name, place))}>{t("download")}</button>}
    </form>
    {error !== undefined && <Failed error={error} />}
    {text.count + text.left >= TAIL && <p class="hint">{t("longLog", TAIL.toLocaleString())}</p>}
    {place === null ? <p class="empty">{t("noLog")}</p> : <View key={`${selected} ${place.attempt} ${place.retry}`} text={text} version={version} find={find} at={matches[match] ?? -1} />}
  </>;
}
