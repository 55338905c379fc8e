// fit.tsx - how long a job would wait, and the smallest change with which it would start now
import { duration } from "../../format";
import { useWait } from "../../parts/use_wait";
import type { Change } from "../../parts/wait_worker";
import { t } from "../../texts";
import { clear, mapAt, set, type Edit, type Path } from "./job_edit";
import type { Form } from "./field";

const MIB = 2 ** 20, MICROSECONDS = 1e6;

interface Fit { text: string; edit: Edit }

/* Where a job file has what the scheduler would change; null: it has no such place. */
function fitOf(form: Form, { key, want, value }: Change): Fit | null {
  const role = Object.keys(mapAt(form.file, ["taskRoles"]))[want];
  if (role === undefined)
    return null;
  const path: Path = ["taskRoles", role];
  const amount = (name: string, place: Path, now: number): Fit => ({ text: `${role}: ${name} ${now}`, edit: set([...path, ...place], now) });
  switch (key) {
    case "tasks": return amount(t("instances"), ["instances"], value);
    case "gpus": return amount(t("gpus"), ["resourcePerInstance", "gpu"], value);
    case "cpus": return amount(t("cpus"), ["resourcePerInstance", "cpu"], value);
    case "memory": return amount(t("memoryMb"), ["resourcePerInstance", "memoryMB"], Math.floor(value / MIB));
    case "type": return { text: `${role}: ${t("skuNone")}`, edit: clear(["extras", "hivedScheduler", "taskRoles", role]) };
    case "limit": {
      const seconds = Math.floor(value / MICROSECONDS);
      return { text: `${t("timeLimit")} ${duration(seconds)}`, edit: set(["extras", "openpai", "timeLimit"], `${seconds}s`) };
    }
    case "priority": return value >= 0 ? null
      : { text: `${t("priority")} oppo`, edit: set(["extras", "hivedScheduler", "jobPriorityClass"], "oppo") };
    default: return null;
  }
}

function MakeItFit({ form, changes }: { form: Form; changes: Change[] }) {
  const fits = changes.map(change => fitOf(form, change)).filter(one => one !== null);
  if (fits.length === 0 || fits.length < changes.length)
    return null;
  return <button type="button" onClick={() => form.edit(draft => fits.forEach(fit => fit.edit(draft)))}>
    {t("makeItFit", fits.map(fit => fit.text).join(", "))}
  </button>;
}

export function WaitNow({ text, form }: { text: string; form: Form | null }) {
  const wait = useWait(text);
  if (wait === undefined)
    return <span class="hint">…</span>;
  const { seconds, never, changes } = wait;
  const [soon, middle, late] = (seconds ?? []).map(duration) as [string, string, string];
  return <>
    <span role="status">
      {never !== null ? <strong class="failed">{t("neverStarts")}: {never}</strong>
        : seconds === null ? <span class="hint">{t("mayStart")}: {t("waitUnknown")}</span>
        : <strong>{seconds[2] < 1 ? t("startsNow") : `${t("mayStart")}: ${t("between", middle, soon, late)}`}</strong>}
    </span>
    {form?.isRead && <MakeItFit form={form} changes={changes} />}
  </>;
}
