// compare.tsx - two jobs side by side: how they ended, and what differs in their files
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Change } from "openpai/check";
import type { Job as JobRecord } from "../../api";
import { duration, time } from "../../format";
import { Failed } from "../../parts/failed";
import { useJobFiles, type JobFiles } from "../../parts/job_files";
import { sideBySide } from "../../parts/line_diff";
import { State } from "../../parts/state";
import { useCall } from "../../parts/use_call";
import { useJobChanges } from "../../parts/use_jobs";
import { fullName, jobAddress, parameters, setParameters } from "../../router";
import { t, type TextKey } from "../../texts";

interface Row { text: TextKey; of: (job: JobRecord) => string | number }

function cause({ jobStatus: { failure, appExitSpec } }: JobRecord): string {
  return failure?.reason ?? appExitSpec?.reason ?? "";
}

const ROWS: Row[] = [
  { text: "state", of: job => job.jobStatus.state },
  { text: "virtualCluster", of: job => job.jobStatus.virtualCluster },
  { text: "priority", of: job => job.jobPriority ?? "" },
  { text: "submitted", of: job => time(job.jobStatus.submissionTime) },
  { text: "duration", of: ({ jobStatus: { launchedTime: from, completedTime: to } }) => from === null || to === null ? "" : duration((to - from) / 1000) },
  { text: "retries", of: job => job.jobStatus.retries },
  { text: "tasks", of: job => Object.values(job.taskRoles).reduce((sum, role) => sum + role.taskStatuses.length, 0) },
  { text: "node", of: job => [...new Set(Object.values(job.taskRoles).flatMap(role => role.taskStatuses.map(task => task.containerNodeName ?? "")))].filter(name => name !== "").sort().join(", ") },
  { text: "exitCode", of: job => job.jobStatus.appExitCode ?? "" },
  { text: "cause", of: cause },
];

function Table({ label, heads, children }: { label: string; heads: string[]; children: ComponentChildren }) {
  return <div class="wide" tabIndex={0} role="region" aria-label={label}><table>
    <thead><tr>{heads.map(head => head === "" ? <td key={head} /> : <th key={head} scope="col">{head}</th>)}</tr></thead>
    <tbody>{children}</tbody>
  </table></div>;
}

function Outcome({ names, jobs: [first, second] }: { names: string[]; jobs: [JobRecord, JobRecord] }) {
  const cell = (row: Row, job: JobRecord) => row.text === "state" ? <State of={job.jobStatus.state} /> : row.of(job);
  return <Table label={t("outcome")} heads={["", ...names]}>{ROWS.map(row => <tr key={row.text} class={row.of(first) === row.of(second) ? undefined : "differs"}>
    <th scope="row">{t(row.text)}</th><td class="text">{cell(row, first)}</td><td class="text">{cell(row, second)}</td>
  </tr>)}</Table>;
}

/* What differs by its meaning; null: one of the files cannot be read. */
function changesOf({ Job }: JobFiles, first: string, second: string): Change[] | null {
  try {
    const one = Job.parse(first), other = Job.parse(second);
    try {
      return one.diff(other);
    } finally {
      one.free();
      other.free();
    }
  } catch {
    return null;
  }
}

const shown = (value: unknown) => value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

function Differences({ names, changes }: { names: string[]; changes: Change[] }) {
  if (changes.length === 0)
    return <p>{t("sameFiles")}</p>;
  return <Table label={t("differences")} heads={[t("jobPlace"), ...names]}>{changes.map(change => <tr key={change.pointer}>
    <th scope="row" class="code">{change.pointer}</th><td class="text code">{shown(change.old)}</td><td class="text code">{shown(change.new)}</td>
  </tr>)}</Table>;
}

function Files({ names, files: [first, second] }: { names: string[]; files: [string, string] }) {
  const pairs = useMemo(() => sideBySide(first, second), [first, second]);
  return <Table label={t("config")} heads={names}>{pairs.map((pair, i) => <tr key={i} class={pair.first === pair.second ? "line" : "line differs"}>
    <td class="code">{pair.first}</td><td class="code">{pair.second}</td>
  </tr>)}</Table>;
}

function Both({ names }: { names: [string, string] }) {
  const [one, other] = names;
  const jobs = [useCall("jobs.show", { job: one }), useCall("jobs.show", { job: other })] as const;
  const texts = [useCall("jobs.config", { job: one, format: "yaml" }), useCall("jobs.config", { job: other, format: "yaml" })] as const;
  const { files } = useJobFiles();
  const [first, second] = texts.map(text => text.value === undefined ? null : String(text.value)) as [string | null, string | null];
  const changes = useMemo(() => files === undefined || first === null || second === null ? null : changesOf(files, first, second), [files, first, second]);
  const error = [...jobs, ...texts].find(answer => answer.error !== undefined)?.error;

  useJobChanges(jobs[0].again, change => change.name === one);
  useJobChanges(jobs[1].again, change => change.name === other);
  return <>
    {error !== undefined && <Failed error={error} />}
    {jobs[0].value !== undefined && jobs[1].value !== undefined &&
      <section><h2>{t("outcome")}</h2><Outcome names={names} jobs={[jobs[0].value, jobs[1].value]} /></section>}
    {changes !== null && <section><h2>{t("differences")}</h2><Differences names={names} changes={changes} /></section>}
    {first !== null && second !== null && <section><h2>{t("config")}</h2><Files names={names} files={[first, second]} /></section>}
  </>;
}

/** The address has the names of both jobs. */
export function Compare() {
  const [first, second] = ["first", "second"].map(name => parameters.value.get(name) ?? "") as [string, string];
  const field = (name: string, value: string, label: TextKey) => <label>{t(label)} <input value={value} autocomplete="off"
    onChange={event => setParameters({ [name]: event.currentTarget.value.trim() })} /></label>;

  useEffect(() => { document.title = `${t("comparison")} · OpenPAI`; });
  return <>
    <h1>{t("comparison")}</h1>
    <form class="filters" onSubmit={event => event.preventDefault()}>
      {field("first", first, "firstJobName")}{field("second", second, "secondJobName")}
      {first !== "" && <a href={jobAddress(fullName(first))}>{first}</a>}{second !== "" && <a href={jobAddress(fullName(second))}>{second}</a>}
    </form>
    {first !== "" && second !== "" && <Both key={`${first} ${second}`} names={[fullName(first), fullName(second)]} />}
  </>;
}
