// events.tsx - what happened to a job
import { Failed } from "../../parts/failed";
import { useCall } from "../../parts/use_call";
import { useJobChanges } from "../../parts/use_jobs";
import { time } from "../../format";
import { t, type TextKey } from "../../texts";
import type { OfJob } from "./job";

const COLUMNS: TextKey[] = ["time", "type", "reason", "task", "message", "times"];

export function Events({ name }: OfJob) {
  const list = useCall("jobs.events", { job: name });

  useJobChanges(list.again, change => change.name === name);
  if (list.value === undefined)
    return list.error !== undefined ? <Failed error={list.error} /> : null;
  if (list.value.data.length === 0)
    return <p class="empty">{t("noEvents")}</p>;
  return <div class="wide" tabIndex={0} role="region" aria-label={t("events")}><table>
    <thead><tr>{COLUMNS.map(text => <th key={text} scope="col">{t(text)}</th>)}</tr></thead>
    <tbody>{list.value.data.map(event => <tr key={event.uid} class={event.type === "Warning" ? "warning" : undefined}>
      <td>{time(Date.parse(event.lastTimestamp))}</td><td>{event.type}</td><td>{event.reason}</td>
      <td>{event.taskroleName}/{event.taskIndex}</td><td class="text">{event.message}</td><td class="number">{event.count}</td>
    </tr>)}</tbody>
  </table></div>;
}
