// virtual_clusters.tsx - what each virtual cluster is guaranteed, uses, borrows and lends, and who has it
import { useEffect, useState } from "preact/hooks";
import type { VirtualCluster } from "../api";
import { call } from "../call";
import { bytes, duration } from "../format";
import { ask } from "../parts/dialog";
import { Donut } from "../parts/donut";
import { Failed } from "../parts/failed";
import { attempt } from "../parts/messages";
import { Meter } from "../parts/meter";
import { useCall } from "../parts/use_call";
import { useJobChanges } from "../parts/use_jobs";
import { who } from "../session";
import { t } from "../texts";
import type { Picture } from "../world/picture";
import { useNow } from "../world/use_now";
import { useWorld } from "../world/world";

type All = Record<string, VirtualCluster>;
type Unit = "gpu" | "cpu";

const USUAL = "default"; // has what the others leave, and is not changed itself

/* GPUs where there are any, and processors elsewhere. */
const unitOf = (all: All): Unit => Object.values(all).some(one => one.resourcesGuaranteed.gpu > 0) ? "gpu" : "cpu";

const borrowed = (of: VirtualCluster, unit: Unit) => Math.max(0, of.resourcesUsed[unit] - of.resourcesGuaranteed[unit]);

/* What others borrow, at most what is idle of its own share. */
function lent(name: string, all: All, unit: Unit): number {
  const mine = all[name]!;
  const others = Object.entries(all).reduce((sum, [other, of]) => sum + (other === name ? 0 : borrowed(of, unit)), 0);
  return Math.min(others, Math.max(0, mine.resourcesGuaranteed[unit] - mine.resourcesUsed[unit]));
}

const number = (value: number) => String(Math.round(1000 * value) / 1000);

function Change({ name, of, again, close }: { name: string; of?: VirtualCluster; again: () => void; close: () => void }) {
  async function save(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const most = String(form.get("most")), share = Number(form.get("share"));
    await attempt(async () => {
      await call("vcs.put", {
        vc: of === undefined ? String(form.get("name")) : name, vcCapacity: share,
        ...most !== "" && { vcMaxCapacity: Number(most) }, description: String(form.get("about")),
      });
      close();
      again();
    });
  }
  return <form class="filters" onSubmit={event => void save(event)}>
    {of === undefined && <label>{t("name")} <input name="name" required autoFocus /></label>}
    <label>{t("shareInPercent")} <input name="share" type="number" min="0" max="100" step="0.01" required defaultValue={of?.capacity} class="short" /></label>
    <label>{t("mostInPercent")} <input name="most" type="number" min="0" max="100" step="0.01" defaultValue={of?.maxCapacity} class="short" /></label>
    <label>{t("description")} <input name="about" defaultValue={of?.description ?? ""} /></label>
    <button type="submit" class="main">{t("save")}</button>
    <button type="button" onClick={close}>{t("cancel")}</button>
  </form>;
}

function Card({ name, all, again }: { name: string; all: All; again: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const of = all[name]!, { resourcesUsed: used, resourcesGuaranteed: own } = of, unit = unitOf(all);
  const jobs = `/jobs?vc=${encodeURIComponent(name)}`, isUp = of.state === "running";
  const remove = () => attempt(async () => {
    if (await ask(t("confirmRemove", name), t("removeUser")) === null)
      return;
    await call("vcs.remove", { vc: name });
    again();
  });
  const turn = () => attempt(async () => {
    if (isUp && await ask(t("confirmStopCluster", name), t("stop")) === null)
      return;
    await call("vcs.set_status", { vc: name, vcStatus: isUp ? "stopped" : "running" });
    again();
  });
  return <section class="card vc-card">
    <h2><a href={jobs}>{name}</a> {!isUp && <span class="hint">{of.state}</span>}</h2>
    {of.description && <p>{of.description}</p>}
    <div class="vc-use">
      <Donut name={name} of={of} />
      <dl class="facts">
        <div><dt>{t("guaranteed")}</dt><dd>{number(own[unit])}</dd></div>
        <div><dt>{t("usedNow")}</dt><dd>{number(used[unit])}</dd></div>
        <div><dt>{t("borrowed")}</dt><dd>{number(borrowed(of, unit))}</dd></div>
        <div><dt>{t("lent")}</dt><dd>{number(lent(name, all, unit))}</dd></div>
        <div><dt>{t("atMost")}</dt><dd>{of.maxCapacity} %</dd></div>
      </dl>
    </div>
    {own.gpu > 0 && <Meter label={`${name}: ${t("gpus")}`} value={used.gpu} most={own.gpu} text={`${used.gpu} / ${own.gpu} ${t("gpus")}`} />}
    <Meter label={`${name}: ${t("cpus")}`} value={used.cpu} most={own.cpu} text={`${used.cpu} / ${own.cpu} ${t("cpus")}`} />
    <Meter label={`${name}: ${t("memory")}`} value={used.memory} most={own.memory} text={`${bytes(used.memory * 2 ** 20)} / ${bytes(own.memory * 2 ** 20)}`} />
    <p><a href={`${jobs}&state=RUNNING`}>{t("runningJobs")}: {of.runningJobs}</a> · <a href={`${jobs}&state=WAITING`}>{t("waitingJobs")}: {of.waitingJobs}</a></p>
    {who.value?.admin && !isOpen && <p class="buttons">
      {name !== USUAL && <button type="button" aria-label={`${t("edit")} ${name}`} onClick={() => setOpen(true)}>{t("edit")}</button>}
      <button type="button" aria-label={`${t(isUp ? "stop" : "resume")} ${name}`} onClick={() => void turn()}>{t(isUp ? "stop" : "resume")}</button>
      {name !== USUAL && <button type="button" aria-label={`${t("removeUser")} ${name}`} onClick={() => void remove()}>{t("removeUser")}</button>}
    </p>}
    {isOpen && <Change name={name} of={of} again={again} close={() => setOpen(false)} />}
  </section>;
}

interface Entry { vc: string; user: string; running: number; waiting: number; gpus: number; cpus: number; gpuTime: number; cpuTime: number; waited: number }

/* What each user has in each virtual cluster: jobs, GPUs, and for how long. */
function ledgerOf(picture: Picture): Entry[] {
  const entries = new Map<string, Entry>();
  for (const job of picture.jobs) {
    const key = `${job.vc}\n${job.user}`;
    const entry = entries.get(key) ?? { vc: job.vc, user: job.user, running: 0, waiting: 0, gpus: 0, cpus: 0, gpuTime: 0, cpuTime: 0, waited: 0 };
    entries.set(key, entry);
    if (job.state === "WAITING") {
      entry.waiting++;
      entry.waited = Math.max(entry.waited, picture.now - job.submitted);
      continue;
    }
    const hours = (picture.now - job.since) / 3600e6;
    entry.running++;
    entry.gpus += job.gpus;
    entry.cpus += job.cpus;
    entry.gpuTime += job.gpus * hours;
    entry.cpuTime += job.cpus * hours;
  }
  return [...entries.values()].sort((a, b) => a.vc.localeCompare(b.vc) || b.gpus - a.gpus || b.cpus - a.cpus);
}

function Ledger() {
  const { picture, error } = useNow(useWorld());
  if (picture === undefined)
    return error !== undefined ? <Failed error={error} /> : <p aria-busy="true" />;
  const rows = ledgerOf(picture), hours = (value: number) => value.toFixed(1);
  if (rows.length === 0)
    return <p class="empty">{t("nobodyHas")}</p>;
  return <div class="wide" tabIndex={0} role="region" aria-label={t("ledger")}><table>
    <thead><tr><th scope="col">{t("virtualCluster")}</th><th scope="col">{t("user")}</th>
      {(["runningJobs", "gpus", "cpus", "gpuHours", "cpuHours", "waitingJobs", "longestWait"] as const).map(text => <th key={text} scope="col" class="number">{t(text)}</th>)}</tr></thead>
    <tbody>{rows.map(one => <tr key={`${one.vc} ${one.user}`}>
      <td>{one.vc}</td><td><a href={`/jobs?vc=${encodeURIComponent(one.vc)}&user=${encodeURIComponent(one.user)}`}>{one.user}</a></td>
      <td class="number">{one.running}</td><td class="number">{one.gpus}</td><td class="number">{number(one.cpus)}</td>
      <td class="number">{hours(one.gpuTime)}</td><td class="number">{hours(one.cpuTime)}</td>
      <td class="number">{one.waiting}</td><td class="number">{one.waiting > 0 ? duration(one.waited / 1e6) : ""}</td>
    </tr>)}</tbody>
  </table></div>;
}

export function VirtualClusters() {
  const list = useCall("vcs.list", {});
  const all = (list.value ?? {}) as All;
  const [isNew, setNew] = useState(false);
  const [isOpen, setOpen] = useState(false);

  useEffect(() => { document.title = `${t("virtualClusters")} · OpenPAI`; });
  useJobChanges(list.again, () => true);
  return <>
    <div class="title"><h1>{t("virtualClusters")}</h1>
      {who.value?.admin && !isNew && <button type="button" class="main" onClick={() => setNew(true)}>{t("addCluster")}</button>}</div>
    {isNew && <Change name="" again={list.again} close={() => setNew(false)} />}
    {list.error !== undefined && <Failed error={list.error} />}
    <div class="grid">{Object.keys(all).map(name => <Card key={name} name={name} all={all} again={list.again} />)}</div>
    <details class="ledger" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary><h2>{t("ledger")}</h2></summary>
      {isOpen && <Ledger />}
    </details>
  </>;
}
