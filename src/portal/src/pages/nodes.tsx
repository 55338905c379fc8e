// nodes.tsx - the machines: the map, and a table of them; drain and resume
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Node } from "../api";
import { call } from "../call";
import { bytes } from "../format";
import { ask } from "../parts/dialog";
import { Failed } from "../parts/failed";
import { attempt } from "../parts/messages";
import { Meter } from "../parts/meter";
import { useCall } from "../parts/use_call";
import { useJobChanges } from "../parts/use_jobs";
import { parameters, setParameters } from "../router";
import { who } from "../session";
import { t, type TextKey } from "../texts";
import { isMeasured, MODES, type Mode } from "../world/colours";
import { JobLink, MachineMap } from "../world/map";
import { FREE, type MapJob, type Picture } from "../world/picture";
import { metricsOf, readingsOf } from "../world/readings";
import { useNow } from "../world/use_now";
import { useWorld } from "../world/world";

const COLUMNS: TextKey[] = ["name", "state", "gpus", "cpus", "memory", "jobs", "address"];
const SHOWN = 50; // rows until all are wanted

/* Free, used and faulty GPUs of a node, a square each. */
function Gpus({ node }: { node: Node }) {
  const used = node.gpus - node.freeGpus - node.sickGpus;
  const kinds = [...Array<string>(used).fill("used"), ...Array<string>(node.freeGpus).fill("free"), ...Array<string>(node.sickGpus).fill("sick")];
  return <svg class="cells" width={14 * kinds.length} height="12" role="img" aria-label={t("ofAll", node.freeGpus, node.gpus)}>
    {kinds.map((kind, i) => <rect key={i} class={kind} x={14 * i} width="12" height="12" rx="2" />)}
  </svg>;
}

function Drain({ node, again }: { node: Node; again: () => void }) {
  const isUp = node.state === "up";
  async function change(): Promise<void> {
    const reason = isUp ? await ask(`${t("drain")} ${node.name}?`, t("drain"), t("drainReason")) : "";
    if (reason === null)
      return;
    await attempt(async () => {
      await call("nodes.set_status", isUp ? { node: node.name, state: "drained", ...reason !== "" && { reason } } : { node: node.name, state: "up" });
      again();
    });
  }
  return <button type="button" aria-label={`${t(isUp ? "drain" : "resume")} ${node.name}`} onClick={() => void change()}>{t(isUp ? "drain" : "resume")}</button>;
}

/* Jobs of each node, by its name. */
function jobsOf(picture: Picture | undefined): Map<string, MapJob[]> {
  return new Map((picture?.nodes ?? []).map(node => [node.name,
    [...new Set(node.cells.filter(cell => cell > FREE).map(cell => picture!.tasks[cell]!.job))].map(job => picture!.jobs[job]!)]));
}

function Row({ node, jobs, again }: { node: Node; jobs: MapJob[]; again: () => void }) {
  return <tr>
    <th scope="row"><a href={`/nodes/${encodeURIComponent(node.name)}`}>{node.name}</a></th>
    <td>{node.state}{node.why !== null && <span class="hint"> {node.why}</span>}</td>
    <td>{node.gpus > 0 && <Gpus node={node} />}</td>
    <td><Meter label={`${node.name}: ${t("cpus")}`} value={node.cpus - node.freeCpus} most={node.cpus} text={`${node.cpus - node.freeCpus} / ${node.cpus}`} /></td>
    <td><Meter label={`${node.name}: ${t("memory")}`} value={node.memory - node.freeMemory} most={node.memory} text={`${bytes(node.memory - node.freeMemory)} / ${bytes(node.memory)}`} /></td>
    <td class="text">{jobs.map((job, i) => <>{i > 0 && ", "}<JobLink key={job.id} job={job} /></>)}</td>
    <td>{node.address}</td>
    {who.value?.admin && <td><Drain node={node} again={again} /></td>}
  </tr>;
}

function Table({ nodes, picture, again }: { nodes: Node[]; picture: Picture | undefined; again: () => void }) {
  const [wanted, setWanted] = useState("");
  const [isAll, setAll] = useState(false);
  const jobs = useMemo(() => jobsOf(picture), [picture]);
  const lower = wanted.toLowerCase();
  const found = nodes.filter(node => `${node.name} ${node.state} ${node.address}`.toLowerCase().includes(lower));
  const shown = isAll ? found : found.slice(0, SHOWN);
  return <>
    {nodes.length > 8 && <form role="search" class="filters" onSubmit={event => event.preventDefault()}>
      <input type="search" aria-label={t("filterNodes")} placeholder={t("filterNodes")} value={wanted} onInput={event => setWanted(event.currentTarget.value)} />
    </form>}
    <div class="wide" tabIndex={0} role="region" aria-label={t("nodes")}><table>
      <thead><tr>{COLUMNS.map(text => <th key={text} scope="col">{t(text)}</th>)}{who.value?.admin && <td />}</tr></thead>
      <tbody>{shown.map(node => <Row key={node.name} node={node} jobs={jobs.get(node.name) ?? []} again={again} />)}</tbody>
    </table></div>
    {shown.length < found.length && <p><button type="button" onClick={() => setAll(true)}>{t("showAll", found.length)}</button></p>}
  </>;
}

export function Nodes() {
  const list = useCall("nodes.list", {});
  const now = useNow(useWorld());
  const given = parameters.value.get("colour") as Mode;
  const mode = MODES.includes(given) ? given : "taken";
  const metrics = useCall("server.metrics", isMeasured(mode) ? {} : null);
  const readings = useMemo(() => now.picture === undefined || !isMeasured(mode) ? undefined :
    readingsOf(mode, now.picture, metricsOf(String(metrics.value ?? ""))), [now.picture, metrics.value, mode]);

  useEffect(() => { document.title = `${t("nodes")} · OpenPAI`; });
  useJobChanges(list.again, () => true);
  useEffect(() => { if (isMeasured(mode)) metrics.again(); }, [now.picture]);
  if (list.value === undefined)
    return list.error !== undefined ? <Failed error={list.error} /> : null;
  return <>
    <div class="title"><h1>{t("nodes")}</h1>
      <label class="check">{t("colours")} <select value={mode} onChange={event => setParameters({ colour: event.currentTarget.value === "taken" ? "" : event.currentTarget.value })}>
        {MODES.map(one => <option key={one} value={one}>{t(`by_${one}`)}</option>)}
      </select></label>
      <p class="buttons"><a class="button" href="/time">{t("timeTravel")}</a></p>
    </div>
    {now.error !== undefined && <Failed error={now.error} />}
    {now.picture !== undefined ? <MachineMap picture={now.picture} mode={mode} {...readings !== undefined && { readings }} /> :
      now.error === undefined && <div class="machine-map" aria-busy="true" />}
    <Table nodes={list.value} picture={now.picture} again={() => { list.again(); now.again(); }} />
  </>;
}
