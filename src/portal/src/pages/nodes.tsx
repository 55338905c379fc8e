// nodes.tsx - the machines: every GPU a cell; drain and resume
import { useEffect } from "preact/hooks";
import type { Node } from "../api";
import { call } from "../call";
import { bytes } from "../format";
import { ask } from "../parts/dialog";
import { Failed } from "../parts/failed";
import { attempt } from "../parts/messages";
import { Meter } from "../parts/meter";
import { useCall } from "../parts/use_call";
import { useJobChanges } from "../parts/use_jobs";
import { who } from "../session";
import { t, type TextKey } from "../texts";

const COLUMNS: TextKey[] = ["name", "state", "gpus", "cpus", "memory", "address"];

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
  return <button type="button" onClick={() => void change()}>{t(isUp ? "drain" : "resume")}</button>;
}

export function Nodes() {
  const list = useCall("nodes.list", {});

  useEffect(() => { document.title = `${t("nodes")} · OpenPAI`; });
  useJobChanges(list.again, () => true);
  if (list.value === undefined)
    return list.error !== undefined ? <Failed error={list.error} /> : null;
  return <>
    <h1>{t("nodes")}</h1>
    <div class="wide" tabIndex={0} role="region" aria-label={t("nodes")}><table>
      <thead><tr>{COLUMNS.map(text => <th key={text} scope="col">{t(text)}</th>)}{who.value?.admin && <td />}</tr></thead>
      <tbody>{list.value.map(node => <tr key={node.name}>
        <th scope="row">{node.name}</th>
        <td>{node.state}{node.why !== null && <span class="hint"> {node.why}</span>}</td>
        <td>{node.gpus > 0 && <Gpus node={node} />}</td>
        <td><Meter label={`${node.name}: ${t("cpus")}`} value={node.cpus - node.freeCpus} most={node.cpus} text={`${node.cpus - node.freeCpus} / ${node.cpus}`} /></td>
        <td><Meter label={`${node.name}: ${t("memory")}`} value={node.memory - node.freeMemory} most={node.memory} text={`${bytes(node.memory - node.freeMemory)} / ${bytes(node.memory)}`} /></td>
        <td>{node.address}</td>
        {who.value?.admin && <td><Drain node={node} again={list.again} /></td>}
      </tr>)}</tbody>
    </table></div>
  </>;
}
