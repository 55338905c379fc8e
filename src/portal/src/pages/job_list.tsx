// job_list.tsx - the list of jobs: filtered, sorted and paged by the server, live
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
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
import { who } from "../session";
import { t, type TextKey } from "../texts";

const PAGE = 50;
const STATES = ["WAITING", "RUNNING", "STOPPING", "STOPPED", "SUCCEEDED", "FAILED"];

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

/* What the address says, as arguments of the call. */
function query() {
  const of = (name: string) => parameters.value.get(name) ?? "";
  const user = of("user") === "@me" ? who.value?.name ?? "" : of("user");
  return {
    limit: PAGE, offset: Number(of("from")) || 0, withTotalCount: true, order: of("order") || "submissionTime,DESC",
    ...of("state") !== "" && { state: [of("state")] },
    ...of("vc") !== "" && { vc: [of("vc")] },
    ...of("keyword") !== "" && { keyword: of("keyword") },
    ...user !== "" && { username: [user] },
  };
}

function Filters({ clusters }: { clusters: string[] }) {
  const field = useRef<HTMLInputElement>(null);
  const of = (name: string) => parameters.value.get(name) ?? "";

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "/" && !(event.target instanceof HTMLInputElement)) {
        event.preventDefault();
        field.current?.focus();
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return <form role="search" class="filters" onSubmit={event => event.preventDefault()}>
    <input ref={field} type="search" aria-label={t("filter")} placeholder={t("filter")} aria-keyshortcuts="/" value={of("keyword")}
      onInput={event => setParameters({ keyword: event.currentTarget.value, from: "" })} />
    <select aria-label={t("state")} value={of("state")} onChange={event => setParameters({ state: event.currentTarget.value, from: "" })}>
      <option value="">{t("allStates")}</option>
      {STATES.map(state => <option key={state} value={state}>{t(state as TextKey)}</option>)}
    </select>
    <select aria-label={t("virtualCluster")} value={of("vc")} onChange={event => setParameters({ vc: event.currentTarget.value, from: "" })}>
      <option value="">{t("allClusters")}</option>
      {clusters.map(name => <option key={name} value={name}>{name}</option>)}
    </select>
    <label class="check"><input type="checkbox" checked={of("user") === "@me"}
      onChange={event => setParameters({ user: event.currentTarget.checked ? "@me" : "", from: "" })} />{t("mine")}</label>
  </form>;
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

function Pager({ from, shown, total }: { from: number; shown: number; total: number }) {
  const move = (to: number) => setParameters({ from: to > 0 ? String(to) : "" });
  return <p class="pager">
    <span>{t("range", total === 0 ? 0 : `${from + 1} – ${from + shown}`, total)}</span>
    <button type="button" disabled={from === 0} onClick={() => move(from - PAGE)}>{t("previous")}</button>
    <button type="button" disabled={from + shown >= total} onClick={() => move(from + PAGE)}>{t("next")}</button>
  </p>;
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
      {stoppable.length > 0 && <button type="button" onClick={() => void stopAll(stoppable)}>{t("stopSelected", stoppable.length)}</button>}
    </div>
    <Filters clusters={Object.keys(clusters.value ?? {})} />
    {list.error !== undefined && <Failed error={list.error} />}
    {page !== undefined && <>
      <div class="wide" tabIndex={0} role="region" aria-label={t("jobs")}><table>
        <thead><tr><td />{COLUMNS.map(column => <Heading key={column.text} column={column} />)}</tr></thead>
        <tbody>{rows.map(job => <tr key={nameOf(job)} class={nameOf(job) === at ? "at" : undefined}>
          <td><input type="checkbox" aria-label={t("select", nameOf(job))} checked={chosen.has(nameOf(job))}
            onChange={event => choose(nameOf(job), event.currentTarget.checked)} /></td>
          {COLUMNS.map(column => <td key={column.text} class={column.isNumber ? "number" : undefined}>{column.show(job)}</td>)}
        </tr>)}</tbody>
      </table></div>
      {rows.length === 0 && <p class="empty">{t(parameters.value.size === 0 ? "firstJob" : "noJobs")}</p>}
      <Pager from={query().offset} shown={rows.length} total={page.totalCount} />
    </>}
  </>;
}
