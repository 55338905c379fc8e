// bell.tsx - the number of alerts, in the header
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { t } from "../texts";
import { useCall } from "./use_call";
import { useJobChanges } from "./use_jobs";

const PAUSE = 30000; // milliseconds between two lists while jobs change

/** Counts changes that the page of alerts has made. */
export const alertsChanged = signal(0);

export function Bell() {
  const list = useCall("alerts.list", {});
  const changes = alertsChanged.value;
  const count = list.value?.filter(one => one.status.state === "active" && one.acknowledgedBy === null).length ?? 0;

  useEffect(() => { if (changes > 0) list.again(); }, [changes]);
  useJobChanges(list.again, () => true, PAUSE);
  return <a class="bell" href="/alerts" title={t("alerts")} aria-label={t("alertCount", count)}>
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><path fill="currentColor" d="M8 1a1 1 0 0 0-1 1v.3A4.5 4.5 0 0 0 3.500 6.700V10L2 12v1h12v-1l-1.500-2V6.700A4.500 4.500 0 0 0 9 2.300V2a1 1 0 0 0-1-1zM6.300 14a1.800 1.800 0 0 0 3.400 0z" /></svg>
    {count > 0 && <span class="count">{count}</span>}
  </a>;
}
