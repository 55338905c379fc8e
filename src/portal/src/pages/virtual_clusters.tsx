// virtual_clusters.tsx - what each virtual cluster is guaranteed, and what of it is used
import { useEffect } from "preact/hooks";
import type { VirtualCluster } from "../api";
import { bytes } from "../format";
import { Failed } from "../parts/failed";
import { Meter } from "../parts/meter";
import { useCall } from "../parts/use_call";
import { useJobChanges } from "../parts/use_jobs";
import { t } from "../texts";

function Card({ name, of }: { name: string; of: VirtualCluster }) {
  const { resourcesUsed: used, resourcesGuaranteed: own } = of;
  return <section class="card wide-card">
    <h2><a href={`/jobs?vc=${encodeURIComponent(name)}`}>{name}</a> {of.state !== "running" && <span class="hint">{of.state}</span>}</h2>
    {of.description !== null && <p>{of.description}</p>}
    {own.gpu > 0 && <Meter label={`${name}: ${t("gpus")}`} value={used.gpu} most={own.gpu} text={`${used.gpu} / ${own.gpu} ${t("gpus")}`} />}
    <Meter label={`${name}: ${t("cpus")}`} value={used.cpu} most={own.cpu} text={`${used.cpu} / ${own.cpu} ${t("cpus")}`} />
    <Meter label={`${name}: ${t("memory")}`} value={used.memory} most={own.memory} text={`${bytes(used.memory * 2 ** 20)} / ${bytes(own.memory * 2 ** 20)}`} />
    <p><a href={`/jobs?vc=${encodeURIComponent(name)}&state=RUNNING`}>{t("runningJobs")}: {of.runningJobs}</a> · <a href={`/jobs?vc=${encodeURIComponent(name)}&state=WAITING`}>{t("waitingJobs")}: {of.waitingJobs}</a></p>
  </section>;
}

export function VirtualClusters() {
  const list = useCall("vcs.list", {});

  useEffect(() => { document.title = `${t("virtualClusters")} · OpenPAI`; });
  useJobChanges(list.again, () => true);
  return <>
    <h1>{t("virtualClusters")}</h1>
    {list.error !== undefined && <Failed error={list.error} />}
    <div class="grid">{Object.entries((list.value ?? {}) as Record<string, VirtualCluster>).map(([name, of]) => <Card key={name} name={name} of={of} />)}</div>
  </>;
}
