// terminal.tsx - a shell in a task of the job
import { useEffect, useRef, useState } from "preact/hooks";
import { openScreen } from "../../parts/screen";
import { isFinal } from "../../parts/state";
import { TaskStream, type StreamEnd } from "../../parts/task_stream";
import { parameters, setParameters } from "../../router";
import { t } from "../../texts";
import type { OfJob } from "./job";

const STORED = "openpai-screen-reader";

interface Place { role: string; index: number }

function endText({ how, code, text }: StreamEnd): string {
  switch (how) {
    case "exited": return t("shellExited", code);
    case "killed": return t("shellKilled", code);
    case "not started": return text === "" ? t("shellNotStarted") : t("shellRefused", text);
    case "gone": return text === "" ? t("taskGone") : t("shellGone", text);
    case "lost": return t("connectionLost");
  }
}

/* The terminal's own keys are the shell's; F6 leads out of it. */
function leave(event: KeyboardEvent): boolean {
  if (event.key !== "F6")
    return true;
  if (event.type === "keydown")
    document.getElementById("tab-terminal")?.focus();
  event.preventDefault();
  return false;
}

function Shell({ name, place, isRead, onEnd }: { name: string; place: Place; isRead: boolean; onEnd: (end: StreamEnd) => void }) {
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const { terminal, fit, close } = openScreen(box.current!, isRead);
    const size = () => ({ columns: terminal.cols, rows: terminal.rows });
    const stream = new TaskStream({ job: name, ...place }, size(), bytes => terminal.write(bytes), onEnd);
    const watch = new ResizeObserver(fit);
    terminal.attachCustomKeyEventHandler(leave);
    terminal.onData(text => stream.input(new TextEncoder().encode(text)));
    terminal.onBinary(text => stream.input(Uint8Array.from(text, one => one.charCodeAt(0))));
    terminal.onResize(() => stream.resize(size()));
    watch.observe(box.current!);
    terminal.focus();
    return () => {
      watch.disconnect();
      stream.close();
      close();
    };
  }, []);
  return <div ref={box} class="terminal" role="group" aria-label={t("shellIn", `${place.role}/${place.index}`)} aria-describedby="terminal-keys" />;
}

export function Terminal({ name, job }: OfJob) {
  const tasks = Object.entries(job.taskRoles).flatMap(([role, of]) => of.taskStatuses
    .filter(task => task.taskState === "RUNNING").map(task => ({ role, index: task.taskIndex })));
  const wanted = parameters.value.get("task");
  const place = tasks.find(one => `${one.role}/${one.index}` === wanted) ?? tasks[0];
  const [shells, setShells] = useState(0);
  const [end, setEnd] = useState<StreamEnd | null>(null);
  const [isRead, setRead] = useState(localStorage.getItem(STORED) === "true");
  const at = useRef<Place | null>(null); // stays after the task has ended, with what the shell has printed
  at.current = end === null && place !== undefined ? place : at.current ?? place ?? null;
  const selected = at.current === null ? "" : `${at.current.role}/${at.current.index}`;

  function begin(): void {
    at.current = null;
    setEnd(null);
    setShells(n => n + 1);
  }
  if (at.current === null)
    return <p class="empty">{t(isFinal(job.jobStatus.state) ? "noShellAfter" : "noShell")}</p>;
  return <>
    <div class="filters">
      <select aria-label={t("task")} value={selected} onChange={event => { setParameters({ task: event.currentTarget.value }); begin(); }}>
        {tasks.map(one => <option key={`${one.role}/${one.index}`} value={`${one.role}/${one.index}`}>{one.role}/{one.index}</option>)}
      </select>
      <label><input type="checkbox" checked={isRead} onChange={event => {
        localStorage.setItem(STORED, String(event.currentTarget.checked));
        setRead(event.currentTarget.checked);
        begin();
      }} /> {t("screenReader")}</label>
      <button type="button" onClick={begin} disabled={place === undefined}>{t("newShell")}</button>
      <span role="status">{end === null ? "" : endText(end)}</span>
    </div>
    <Shell key={`${selected} ${shells}`} name={name} place={at.current} isRead={isRead} onEnd={setEnd} />
    <p class="hint" id="terminal-keys">{t("terminalKeys")}</p>
  </>;
}
