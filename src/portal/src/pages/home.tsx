// home.tsx - counters, the user's latest jobs, virtual clusters, and what is free
import { useEffect } from "preact/hooks";
import type { JobItem, VirtualCluster } from "../api";
import { bytes } from "../format";
import { Failed } from "../parts/failed";
import { Meter } from "../parts/meter";
import { State } from "../parts/state";
import { useCall } from "../parts/use_call";
import { useJobChanges } from "../parts/use_jobs";
import { jobAddress } from "../router";
import { who } from "../session";
import { t, type TextKey } from "../texts";
import { nameOf } from "./job_list";

const COUNTED = ["waiting", "running", "stopped", "succeeded", "failed"] as const;
const SHOWN = 10;
const SLOW = 2000; // milliseconds between two calls, of which this page makes four

function Counters() {
  const counts = useCall("jobs.counts", { username: [who.value?.name ?? ""] });

  useJobChanges(counts.again, change => change.event === "job", SLOW);
  return <div class="counters">{COUNTED.map(state => <a key={state} class="card" href={`/jobs?user=@me&state=${state.toUpperCase()}`}>
    <span class="big">{counts.value?.[state] ?? "…"}</span><State of={state} />
  </a>)}</div>;
}

function MyJobs() {
  const list = useCall("jobs.list", { username: [who.value?.name ?? ""], limit: SHOWN, order: "submissionTime,DESC" });
  const rows = (list.value ?? []) as JobItem[];

  useJobChanges(list.again, () => true, SLOW);
  if (list.error !== undefined)
    return <Failed error={list.error} />;
  if (list.value !== undefined && rows.length === 0)
    return <p class="empty"><a href="/submit">{t("firstJob")}</a></p>;
  return <ul class="rows">{rows.map(job => <li key={nameOf(job)}>
    <a href={jobAddress(nameOf(job))}>{job.name}</a><State of={job.state} />
  </li>)}</ul>;
}

function Cluster({ name, of }: { name: string; of: VirtualCluster }) {
  const { resourcesUsed: used, resourcesGuaranteed: own } = of;
  const key: TextKey = own.gpu > 0 ? "gpus" : "cpus";
  const [taken, all] = own.gpu > 0 ? [used.gpu, own.gpu] : [used.cpu, own.cpu];
  return <li><a href={`/jobs?vc=${encodeURIComponent(name)}`}>{name}</a><Meter label={`${name}: ${t(key)}`} value={taken} most={all} text={`${taken} / ${all} ${t(key)}`} /></li>;
}

function Free() {
  const nodes = useCall("nodes.list", {});
  const sum = (of: "gpus" | "freeGpus" | "cpus" | "freeCpus" | "memory" | "freeMemory") =>
    (nodes.value ?? []).reduce((total, node) => total + node[of], 0);

  useJobChanges(nodes.again, () => true, SLOW);
  if (nodes.value === undefined)
    return nodes.error !== undefined ? <Failed error={nodes.error} /> : null;
  return <dl class="cards">
    {sum("gpus") > 0 && <div><dt>{t("freeGpus")}</dt><dd>{t("ofAll", sum("freeGpus"), sum("gpus"))}</dd></div>}
    <div><dt>{t("freeCpus")}</dt><dd>{t("ofAll", sum("freeCpus"), sum("cpus"))}</dd></div>
    <div><dt>{t("freeMemory")}</dt><dd>{t("ofAll", bytes(sum("freeMemory")), bytes(sum("memory")))}</dd></div>
  </dl>;
}

export function Home() {
  const clusters = useCall("vcs.list", {});

  useEffect(() => { document.title = "OpenPAI"; });
  useJobChanges(clusters.again, () => true, SLOW);
  return <>
    <div class="title"><h1>{t("home")}</h1><a class="button main" href="/submit">{t("submit")}</a></div>
    <Counters />
    <Free />
    <div class="columns">
      <section><h2>{t("myJobs")}</h2><MyJobs /></section>
      <section><h2>{t("virtualClusters")}</h2>
        <ul class="rows">{Object.entries((clusters.value ?? {}) as Record<string, VirtualCluster>).map(([name, of]) => <Cluster key={name} name={name} of={of} />)}</ul>
      </section>
    </div>
  </>;
}
