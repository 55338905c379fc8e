// metrics.tsx - the use of a job over time, and against what it asked for
import type { JobUse } from "../../api";
import { amount, time } from "../../format";
import { lazy } from "../../parts/lazy";
import { isFinal } from "../../parts/state";
import { useCall } from "../../parts/use_call";
import { t } from "../../texts";
import type { OfJob } from "./job";

const Charts = lazy(() => import("../../parts/charts"), "Charts");

function Use({ use }: { use: JobUse }) {
  return <dl class="summary">
    {use.gpuUse !== undefined && <div><dt>{t("gpuUse")}</dt><dd>{amount(use.gpuUse, "percent")}</dd></div>}
    {use.cpuUse !== undefined && <div><dt>{t("cpuUse")}</dt><dd>{amount(use.cpuUse, "percent")}</dd></div>}
    {use.memoryUse !== undefined && <div><dt>{t("memoryUse")}</dt><dd>{amount(use.memoryUse, "percent")}</dd></div>}
    {use.memoryMost !== undefined && <div><dt>{t("memoryMost")}</dt><dd>{amount(use.memoryMost, "bytes")}</dd></div>}
    {use.gpuHours > 0 && <div><dt>{t("gpuHoursHeld")}</dt><dd>{use.gpuHours.toFixed(1)}</dd></div>}
    {use.idleSince !== undefined && <div><dt>{t("idleSince")}</dt><dd>{time(use.idleSince)}</dd></div>}
  </dl>;
}

export function JobCharts({ name, job }: OfJob) {
  const { state, launchedTime, submissionTime, completedTime } = job.jobStatus;
  const isOver = isFinal(state) && completedTime !== null;
  const summary = useCall("jobs.metrics", { job: name, series: ["cpu"], step: 86400 });
  return <>
    {summary.value !== undefined && <Use use={summary.value.use} />}
    <Charts of={{ job: name }} over={isOver ? { from: launchedTime ?? submissionTime, to: completedTime } : undefined} />
  </>;
}
