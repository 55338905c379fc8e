// tasks.tsx - the tasks of a job, by role: filters, their starts, and a table for spreadsheets
import { useState } from "preact/hooks";
import type { Job as JobRecord, Task, TaskAttempt } from "../../api";
import { addressOf } from "../../call";
import { time } from "../../format";
import { csv, save, saveText } from "../../parts/download";
import { Failed } from "../../parts/failed";
import { Lasted } from "../../parts/lasted";
import { attempt } from "../../parts/messages";
import { State } from "../../parts/state";
import { useCall } from "../../parts/use_call";
import { useJobChanges } from "../../parts/use_jobs";
import { jobAddress, parameters, setParameters } from "../../router";
import { t, type TextKey } from "../../texts";
import { AttemptChoice, useAttempt } from "./attempts";
import type { OfJob } from "./job";

const NUMBERS: TextKey[] = ["retries", "duration", "exitCode"];
const COLUMNS: TextKey[] = ["task", "state", "retries", "node", "address", "ports", "gpus", "started", "duration", "exitCode"];
const START_COLUMNS: TextKey[] = ["start", "state", "node", "started", "duration", "exitCode", "logs"];

/** A task with its place. */
interface Placed { name: string; attempt: number; role: string; task: Task }

function ports(task: Task): string {
  return Object.entries(task.containerPorts).map(([label, port]) => `${label}: ${String(port)}`).join(", ");
}

// --- filters ---------------------------------------------------------------------

const FILTERS = ["find", "taskState", "taskNode", "code"] as const;
const of = (name: typeof FILTERS[number]) => parameters.value.get(name) ?? "";
const codeOf = (task: Task) => String(task.containerExitCode ?? "");

function isShown(role: string, task: Task): boolean {
  const text = [`${role}/${task.taskIndex}`, task.containerIp, task.containerNodeName, ports(task), task.containerExitSpec?.phrase, task.containerId].join(" ");
  return (of("find") === "" || text.toLowerCase().includes(of("find").toLowerCase())) &&
    (of("taskState") === "" || task.taskState === of("taskState")) &&
    (of("taskNode") === "" || task.containerNodeName === of("taskNode")) &&
    (of("code") === "" || codeOf(task) === of("code"));
}

function Choice({ name, label, all, values }: { name: typeof FILTERS[number]; label: TextKey; all: TextKey; values: (string | null)[] }) {
  const known = [...new Set(values)].filter(value => value !== null && value !== "").sort() as string[];
  if (known.length < 2 && of(name) === "")
    return null;
  return <select aria-label={t(label)} value={of(name)} onChange={event => setParameters({ [name]: event.currentTarget.value })}>
    <option value="">{t(all)}</option>
    {known.map(value => <option key={value} value={value}>{value}</option>)}
  </select>;
}

function Filters({ tasks }: { tasks: Task[] }) {
  return <>
    <input type="search" aria-label={t("filterTasks")} placeholder={t("filterTasks")} value={of("find")} onInput={event => setParameters({ find: event.currentTarget.value })} />
    <Choice name="taskState" label="state" all="allStates" values={tasks.map(task => task.taskState)} />
    <Choice name="taskNode" label="node" all="allNodes" values={tasks.map(task => task.containerNodeName)} />
    <Choice name="code" label="exitCode" all="allCodes" values={tasks.map(codeOf)} />
  </>;
}

// --- the table for spreadsheets ------------------------------------------------------

/* The columns of OpenPAI's portal, whose names programs may look for. */
function tableOf(tasks: Placed[]): string {
  const date = (at: number | null) => at === null ? "" : new Date(at).toISOString();
  const lasted = ({ launchedTime: from, completedTime: to }: Task) => from === null ? "" : ((to ?? Date.now()) - from) / 1000;
  return csv([
    ["Task Role", "Task Index", "Task State", "Task Retries", "IP", "Ports", "Exit Type", "Exit Code", "Running Start Time", "Running Duration", "Node Name", "Container ID"],
    ...tasks.map(({ role, task }) => [role, task.taskIndex, task.taskState, task.retries, task.containerIp, ports(task), task.containerExitSpec?.type,
      task.containerExitCode, date(task.launchedTime), lasted(task), task.containerNodeName, task.containerId]),
  ]);
}

// --- starts ------------------------------------------------------------------------

function StartRow({ of: { name, attempt: number, role, task }, start }: { of: Placed; start: TaskAttempt }) {
  const place = { job: name, attempt: number, role, index: task.taskIndex, retry: start.attemptId, name: "all" };
  return <tr>
    <td>{start.attemptId}</td><td>{start.attemptState}</td><td>{start.containerNodeName}</td><td>{time(start.currentAttemptLaunchedTime)}</td>
    <td class="number"><Lasted from={start.currentAttemptLaunchedTime} to={start.currentAttemptCompletedTime} /></td>
    <td class="number">{start.containerExitCode}</td>
    <td>{start.containerId !== null && <button type="button"
      onClick={() => void attempt(() => save(addressOf("jobs.log", place), `${name}-${role}-${task.taskIndex}-${start.attemptId}.log`))}>{t("download")}</button>}</td>
  </tr>;
}

/* What is known of a task besides its row: how it ended, and its starts. */
function More({ of: placed }: { of: Placed }) {
  const { name, attempt, role, task } = placed;
  const starts = useCall("jobs.show_task", { job: name, attempt: String(attempt), role, index: String(task.taskIndex) });
  const label = t("starts", `${role}/${task.taskIndex}`);
  const meaning = task.containerExitSpec;

  useJobChanges(starts.again, change => change.name === name);
  return <>
    {meaning?.reason !== undefined && <p>{meaning.type} {meaning.reason} {(task.failure?.solution ?? meaning.solution ?? []).join(" ")}</p>}
    {task.containerExitDiagnostics !== null && <pre class="text" tabIndex={0}>{task.containerExitDiagnostics}</pre>}
    {starts.error !== undefined && <Failed error={starts.error} />}
    {starts.value !== undefined && <table aria-label={label}>
      <thead><tr>{START_COLUMNS.map(text => <th key={text} scope="col" class={NUMBERS.includes(text) ? "number" : undefined}>{t(text)}</th>)}</tr></thead>
      <tbody>{starts.value.attempts.map(start => <StartRow key={start.attemptId} of={placed} start={start} />)}</tbody>
    </table>}
  </>;
}

// --- tasks -------------------------------------------------------------------------

function Row({ of: placed }: { of: Placed }) {
  const { name, role, task } = placed;
  const [isOpen, setOpen] = useState(false);
  const gpus = Array.isArray(task.containerGpus) ? task.containerGpus.join(", ") : "";
  return <>
    <tr>
      <td><a href={`${jobAddress(name, "logs")}?task=${encodeURIComponent(`${role}/${task.taskIndex}`)}`}>{task.taskIndex}</a></td>
      <td><State of={task.taskState} /></td>
      <td class="number">{task.retries}</td>
      <td>{task.containerNodeName}</td><td>{task.containerIp}</td><td>{ports(task)}</td><td>{gpus}</td>
      <td>{time(task.launchedTime)}</td><td class="number"><Lasted from={task.launchedTime} to={task.completedTime} /></td>
      <td class="number" title={task.containerExitSpec?.reason ?? undefined}>{task.containerExitCode}</td>
      <td><button type="button" class="plain" aria-expanded={isOpen} aria-label={`${t("diagnostics")}: ${role}/${task.taskIndex}`} onClick={() => setOpen(!isOpen)}>{isOpen ? "▾" : "▸"}</button></td>
    </tr>
    {isOpen && <tr><td class="text" colSpan={COLUMNS.length + 1}><More of={placed} /></td></tr>}
  </>;
}

function shownTasks(name: string, attempt: number, job: JobRecord): Placed[] {
  return Object.entries(job.taskRoles).flatMap(([role, { taskStatuses }]) =>
    taskStatuses.filter(task => isShown(role, task)).map(task => ({ name, attempt, role, task })));
}

export function Tasks({ name, job: latest }: OfJob) {
  const { job, attempt, error } = useAttempt(name, latest);
  const all = Object.values(job.taskRoles).flatMap(role => role.taskStatuses);
  const shown = shownTasks(name, attempt, job);
  return <>
    <form class="filters" onSubmit={event => event.preventDefault()}>
      <AttemptChoice job={latest} attempt={attempt} />
      <Filters tasks={all} />
      <button type="button" onClick={() => saveText(tableOf(shown), `${name}.csv`, "text/csv")}>{t("exportCsv")}</button>
    </form>
    {error !== undefined && <Failed error={error} />}
    {shown.length === 0 && all.length > 0 && <p class="empty">{t("noTasks")}</p>}
    {Object.keys(job.taskRoles).filter(role => shown.some(one => one.role === role)).map(role => <section key={role}>
      <h2>{role}</h2>
      <div class="wide" tabIndex={0} role="region" aria-label={role}><table>
        <thead><tr>{COLUMNS.map(text => <th key={text} scope="col" class={NUMBERS.includes(text) ? "number" : undefined}>{t(text)}</th>)}<td /></tr></thead>
        <tbody>{shown.filter(one => one.role === role).map(one => <Row key={`${attempt} ${one.task.taskIndex}`} of={one} />)}</tbody>
      </table></div>
    </section>)}
  </>;
}
