// why.tsx - why a job waits, when it may start or end, and what would start it now
import type { When } from "../../api";
import { duration, time } from "../../format";
import { Failed } from "../../parts/failed";
import { useCall } from "../../parts/use_call";
import { useJobChanges } from "../../parts/use_jobs";
import { t } from "../../texts";
import type { OfJob } from "./job";

function Forecast({ of, now }: { of: When; now: number }) {
  const away = (at: number | null) => at === null ? t("later") : duration((at - now) / 1000);
  return <>{of.p50 === null ? t("later") : t("between", t("inTime", time(of.p50), away(of.p50)), away(of.p10), away(of.p90))}</>;
}

export function Why({ name }: OfJob) {
  const why = useCall("jobs.why", { job: name });
  const estimate = useCall("jobs.estimate", { job: name });

  useJobChanges(why.again, () => true);
  useJobChanges(estimate.again, () => true);
  if (why.value === undefined)
    return why.error !== undefined ? <Failed error={why.error} /> : null;
  const { reasons, line, explanation, failure } = why.value;
  const when = estimate.value;
  return <>
    {reasons.length === 0 && <p>{t("notWaiting")}</p>}
    {reasons.length > 0 && <ul>{reasons.map(one => <li key={one.code + one.text}><span class="code">{one.code}</span> {one.text}</li>)}</ul>}
    <dl class="summary">
      {line !== null && line !== undefined && line.place !== null && <div><dt>{t("place")}</dt><dd>{t("placeOf", line.place, line.waiting)} · {line.virtualCluster}</dd></div>}
      {when?.unknown === true && <div><dt>{t("mayStart")}</dt><dd>{t("waitUnknown")}</dd></div>}
      {when?.start !== undefined && when.start !== null && <div><dt>{t("mayStart")}</dt><dd><Forecast of={when.start} now={when.now} /></dd></div>}
      {when?.end !== undefined && <div><dt>{t("mayEnd")}</dt><dd><Forecast of={when.end} now={when.now} /></dd></div>}
    </dl>
    {explanation !== null && explanation !== undefined && <pre class="text">{explanation}</pre>}
    {failure !== null && failure !== undefined && <p>{failure.reason} {failure.solution.join(" ")}</p>}
  </>;
}
