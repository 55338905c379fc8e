// job.tsx - the page of a job: its heading, what can be done with it, and its tabs
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Job as JobRecord } from "../../api";
import { call } from "../../call";
import { time } from "../../format";
import { ask } from "../../parts/dialog";
import { Failed } from "../../parts/failed";
import { Lasted } from "../../parts/lasted";
import { lazy } from "../../parts/lazy";
import { attempt, tell } from "../../parts/messages";
import { isFinal, State } from "../../parts/state";
import { useCall } from "../../parts/use_call";
import { useJobChanges } from "../../parts/use_jobs";
import { fullName, go, jobAddress, parts } from "../../router";
import { mayChange } from "../../session";
import { t, type TextKey } from "../../texts";
import { Config } from "./config";
import { Ending } from "./ending";
import { Events } from "./events";
import { Files } from "./files";
import { Logs } from "./logs";
import { JobCharts } from "./metrics";
import { Tags } from "./tags";
import { Tasks } from "./tasks";
import { Timeline } from "./timeline";
import { Why } from "./why";

export interface OfJob { name: string; job: JobRecord; again: () => void }

interface Tab { path: string; text: TextKey; show: ComponentType<OfJob> }

/** THE table of a job's tabs. */
const TABS: Tab[] = [
  { path: "tasks", text: "tasks", show: Tasks },
  { path: "logs", text: "logs", show: Logs },
  { path: "why", text: "why", show: Why },
  { path: "timeline", text: "timeline", show: Timeline },
  { path: "events", text: "events", show: Events },
  { path: "config", text: "config", show: Config },
  { path: "metrics", text: "metrics", show: JobCharts },
  { path: "files", text: "files", show: Files },
  { path: "terminal", text: "terminal", show: lazy(() => import("./terminal"), "Terminal") },
];

async function stop(name: string): Promise<void> {
  if (await ask(t("confirmStop", name), t("stop")) !== null)
    await attempt(async () => {
      await call("jobs.stop", { job: name, value: "STOP" });
      tell(t("stopAsked", name));
    });
}

/* Submits the job's file again under a new name: what `openpai retry` does. */
async function retry(name: string): Promise<void> {
  await attempt(async () => {
    const file = await call("jobs.config", { job: name, format: "yaml" });
    const { name: made } = await call("jobs.submit", { like: name, name: `${name.split("~")[1]!.replace(/_[0-9a-z]{8}$/, "")}_${Date.now().toString(36)}`, body: String(file) });
    go(jobAddress(fullName(made)));
  });
}

function Buttons({ name, job }: { name: string; job: JobRecord }) {
  const isOver = isFinal(job.jobStatus.state);
  const isStopping = job.jobStatus.executionType === "STOP";
  const [isBusy, setBusy] = useState(false);
  async function onRetry(): Promise<void> {
    setBusy(true); // a second click would submit a second job
    await retry(name);
    setBusy(false);
  }
  return <p class="buttons">
    <button type="button" disabled={isOver || isStopping || !mayChange(name)} onClick={() => void stop(name)}>{t("stop")}</button>
    <a class="button" role="button" href={`/submit?clone=${encodeURIComponent(name)}`}>{t("clone")}</a>
    <a class="button" role="button" href={`/jobs/compare?first=${encodeURIComponent(name)}`}>{t("compare")}</a>
    <button type="button" disabled={!isOver || isBusy} onClick={() => void onRetry()}>{t("retry")}</button>
  </p>;
}

function Summary({ job }: { job: JobRecord }) {
  const status = job.jobStatus;
  return <dl class="summary">
    <div><dt>{t("virtualCluster")}</dt><dd>{status.virtualCluster}</dd></div>
    <div><dt>{t("submitted")}</dt><dd>{time(status.submissionTime)}</dd></div>
    {status.launchedTime !== null && <div><dt>{t("duration")}</dt><dd><Lasted from={status.launchedTime} to={status.completedTime} /></dd></div>}
    <div><dt>{t("retries")}</dt><dd>{status.retries}</dd></div>
    {job.jobPriority !== null && <div><dt>{t("priority")}</dt><dd>{job.jobPriority}</dd></div>}
    {status.appExitCode !== null && <div><dt>{t("exitCode")}</dt><dd>{status.appExitCode}</dd></div>}
  </dl>;
}

function TabBar({ name, path }: { name: string; path: string }) {
  function onKey(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const at = TABS.findIndex(tab => tab.path === path);
    const next = TABS[(at + step + TABS.length) % TABS.length];
    if (step === 0 || next === undefined)
      return;
    go(jobAddress(name, next.path), { replace: true });
    document.getElementById(`tab-${next.path}`)?.focus();
  }
  return <div role="tablist" aria-label={name} onKeyDown={onKey}>
    {TABS.map(tab => <button key={tab.path} id={`tab-${tab.path}`} type="button" role="tab" aria-controls="tab-panel"
      aria-selected={tab.path === path} tabIndex={tab.path === path ? 0 : -1}
      onClick={() => go(jobAddress(name, tab.path), { replace: true })}>{t(tab.text)}</button>)}
  </div>;
}

export function Job() {
  const [, given = "", path = "tasks"] = parts.value;
  const name = fullName(given);
  const shown = useCall("jobs.show", { job: name });
  const tab = TABS.find(one => one.path === path) ?? TABS[0]!;

  useEffect(() => { document.title = `${name} · OpenPAI`; });
  useJobChanges(shown.again, change => change.name === name);
  if (shown.value === undefined)
    return shown.error !== undefined ? <Failed error={shown.error} /> : <p class="loading" aria-busy="true" />;
  return <>
    <div class="title">
      <h1>{name}</h1>
      <State of={shown.value.jobStatus.state} role="status" />
      <Buttons name={name} job={shown.value} />
    </div>
    <Tags name={name} job={shown.value} again={shown.again} />
    <Summary job={shown.value} />
    <Ending status={shown.value.jobStatus} />
    <TabBar name={name} path={tab.path} />
    <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab.path}`} tabIndex={0}>
      <tab.show name={name} job={shown.value} again={shown.again} />
    </div>
  </>;
}
