// alerts.tsx - what is wrong with the machines and the jobs now
import { useEffect } from "preact/hooks";
import { time } from "../format";
import { Failed } from "../parts/failed";
import { useCall } from "../parts/use_call";
import { useJobChanges } from "../parts/use_jobs";
import { t, type TextKey } from "../texts";

const COLUMNS: TextKey[] = ["severity", "name", "node", "message", "since"];

export function Alerts() {
  const list = useCall("alerts.list", {});

  useEffect(() => { document.title = `${t("alerts")} · OpenPAI`; });
  useJobChanges(list.again, () => true);
  return <>
    <h1>{t("alerts")}</h1>
    {list.error !== undefined && <Failed error={list.error} />}
    {list.value?.length === 0 && <p class="empty">{t("noAlerts")}</p>}
    {list.value !== undefined && list.value.length > 0 && <div class="wide" tabIndex={0} role="region" aria-label={t("alerts")}><table>
      <thead><tr>{COLUMNS.map(text => <th key={text} scope="col">{t(text)}</th>)}</tr></thead>
      <tbody>{list.value.map(one => <tr key={one.fingerprint} class={one.labels.severity === "warn" ? "warning" : undefined}>
        <td>{one.labels.severity}</td><td>{one.labels.alertname}</td><td>{one.labels.node_name}</td>
        <td class="text">{one.annotations.summary}</td><td>{time(Date.parse(one.startsAt))}</td>
      </tr>)}</tbody>
    </table></div>}
  </>;
}
