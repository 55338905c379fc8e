// job_list.tsx - the list of jobs: filtered, sorted and paged by the server, live
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { JobItem, JobPage } from "../api";
import { call } from "../call";
import { time } from "../format";
import { ask } from "../parts/dialog";
import { Failed } from "../parts/failed";
import { Lasted } from "../parts/lasted";
import { attempt, tell } from "../parts/messages";
import { isFinal, State } from "../parts/state";
import { useCall } from "../parts/use_call";
import { useJobChanges } from "../parts/use_jobs";
import { go, jobAddress, parameters, setParameters } from "../router";
import { t, type TextKey } from "../texts";
import { Filters, Pager, query } from "./job_filters";

/** Address of the page that shows two jobs side by side. */
const compareAddress = ([first = "", second = ""]: string[]) =>
  `/jobs/compare?first=${encodeURIComponent(first)}&second=${encodeURIComponent(second)}`;

/** Full name of a job, as calls take it. */
export const nameOf = (job: JobItem) => `${job.username}~${job.name}`;

interface Column {
  text: TextKey;
  /** Field by which the server sorts. */
  order?: string;
  isNumber?: boolean;
  show: (job: JobItem) => preact.ComponentChildren;
}

const COLUMNS: Column[] = [
  { text: "name", order: "jobName", show: job => <a class="cut" title={job.name} href={jobAddress(nameOf(job))}>{job.name}</a> },
  { text: "state", order: "state", show: job => <><State of={job.state} />{job.queuedReason !== null && <span class="hint"> {job.queuedReason}</span>}</> },
  { text: "user", order: "username", show: job => <span class="cut" title={job.username}>{job.username}</span> },
  { text: "virtualCluster", order: "vc", show: job => job.virtualCluster },
  { text: "submitted", order: "submissionTime", show: job => <time dateTime={new Date(job.submissionTime).toISOString()}>{time(job.submissionTime)}</time> },
  { text: "duration", isNumber: true, show: job => <Lasted from={job.launchedTime} to={job.completedTime} /> },
  { text: "retries", order: "retries", isNumber: true, show: job => job.retries },
  { text: "tasks", order: "totalTaskNumber", isNumber: true, show: job => job.totalTaskNumber },
  { text: "gpus", order: "totalGpuNumber", isNumber: true, show: job => job.totalGpuNumber },
  { text: "priority", order: "jobPriority", show: job => job.jobPriority ?? "" },
];

function Heading({ column }: { column: Column }) {
  const [field, direction] = (parameters.value.get("order") ?? "submissionTime,DESC").split(",");
  if (column.order === undefined)
    return <th scope="col" class={column.isNumber ? "number" : undefined}>{t(column.text)}</th>;
  const isSorted = field === column.order;
  const next = isSorted && direction === "DESC" ? "ASC" : "DESC";
  return <th scope="col" class={column.isNumber ? "number" : undefined} aria-sort={!isSorted ? "none" : direction === "ASC" ? "ascending" : "descending"}>
    <button type="button" class="plain" onClick={() => setParameters({ order: `${column.order},${next}`, from: "" })}>{t(column.text)}</button>
  </th>;
}

/* j and k move, Enter opens. The row is known by its job: rows move as jobs come and go. */
function useKeys(rows: JobItem[]): string {
  const [chosen, choose] = useState("");
  const at = rows.findIndex(job => nameOf(job) === chosen);
  const move = (to: number) => {
    if (rows[to] !== undefined)
      choose(nameOf(rows[to]));
  };

  useEffect(() => { document.querySelector("tr.at")?.scrollIntoView({ block: "nearest" }); }, [chosen]);
  // Before the rows are painted: a key that follows at once must not meet the list before.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey ||
          event.target instanceof HTMLElement && event.target.closest("input, select, textarea, dialog, button, a") !== null)
        return;
      if (event.key === "j")
        move(at + 1);
      else if (event.key === "k")
        move(at - 1);
      else if (event.key === "Enter" && rows[at] !== undefined)
        go(jobAddress(nameOf(rows[at])));
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [rows, at]);
  return chosen;
}

async function stopAll(names: string[]): Promise<void> {
  if (await ask(t("confirmStop", names.join(", ")), t("stop")) === null)
    return;
  for (const job of names)
    await attempt(async () => {
      await call("jobs.stop", { job, value: "STOP" });
      tell(t("stopAsked", job));
    });
}

export function JobList() {
  const list = useCall("jobs.list", query());
  const clusters = useCall("vcs.list", {});
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const page = list.value as JobPage | undefined;
  const rows = page?.data ?? [];
  const stoppable = rows.filter(job => chosen.has(nameOf(job)) && !isFinal(job.state)).map(nameOf);

  useEffect(() => { document.title = `${t("jobs")} · OpenPAI`; });
  useJobChanges(list.again, () => true);
  const at = useKeys(rows);
  function choose(name: string, isChosen: boolean): void {
    const next = new Set(chosen);
    if (isChosen)
      next.add(name);
    else
      next.delete(name);
    setChosen(next);
  }

  return <>
    <div class="title">
      <h1>{t("jobs")}</h1>
      <a class="button main" href="/submit">{t("submit")}</a>
      {chosen.size === 2 && <a class="button" href={compareAddress([...chosen])}>{t("compare")}</a>}
      {stoppable.length > 0 && <button type="button" onClick={() => void stopAll(stoppable)}>{t("stopSelected", stoppable.length)}</button>}
    </div>
    <Filters clusters={Object.keys(clusters.value ?? {})} />
    {list.error !== undefined && <Failed error={list.error} />}
    {page !== undefined && <>
      <div class="wide" tabIndex={0} role="region" aria-label={t("jobs")}><table>
        <thead><tr><td><input type="checkbox" aria-label={t("selectAll")} checked={rows.length > 0 && rows.every(job => chosen.has(nameOf(job)))}
          onChange={event => setChosen(new Set(event.currentTarget.checked ? rows.map(nameOf) : []))} /></td>{COLUMNS.map(column => <Heading key={column.text} column={column} />)}</tr></thead>
        <tbody>{rows.map(job => <tr key={nameOf(job)} class={nameOf(job) === at ? "at" : undefined}>
          <td><input type="checkbox" aria-label={t("select", nameOf(job))} checked={chosen.has(nameOf(job))}
            onChange={event => choose(nameOf(job), event.currentTarget.checked)} /></td>
          {COLUMNS.map(column => <td key={column.text} class={column.isNumber ? "number" : undefined}>{column.show(job)}</td>)}
        </tr>)}</tbody>
      </table></div>
      {rows.length === 0 && <p class="empty">{t(parameters.value.size === 0 ? "firstJob" : "noJobs")}</p>}
      <Pager shown={rows.length} total={page.totalCount} />
    </>}
  </>;
}
