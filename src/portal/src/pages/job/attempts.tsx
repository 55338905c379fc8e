// attempts.tsx - the attempt of a job that is shown: the latest, or one before it
import type { Job as JobRecord } from "../../api";
import { useCall } from "../../parts/use_call";
import { parameters, setParameters } from "../../router";
import { t } from "../../texts";

/** The job as its chosen attempt has it. */
export function useAttempt(name: string, job: JobRecord): { job: JobRecord; attempt: number; error: unknown } {
  const latest = job.jobStatus.attemptId;
  const wanted = Number(parameters.value.get("attempt") ?? latest);
  const attempt = Number.isInteger(wanted) && wanted >= 0 && wanted < latest ? wanted : latest;
  const before = useCall("jobs.show_attempt", attempt < latest ? { job: name, attempt: String(attempt) } : null);
  return { job: attempt < latest ? before.value ?? job : job, attempt, error: attempt < latest ? before.error : undefined };
}

export function AttemptChoice({ job, attempt }: { job: JobRecord; attempt: number }) {
  const latest = job.jobStatus.attemptId;
  if (latest === 0)
    return null;
  return <select aria-label={t("attempt")} value={String(attempt)} onChange={event => setParameters({ attempt: event.currentTarget.value === String(latest) ? "" : event.currentTarget.value })}>
    {Array.from({ length: latest + 1 }, (_none, i) => latest - i).map(number =>
      <option key={number} value={String(number)}>{t("attempt")} {number}{number === latest ? ` (${t("latest")})` : ""}</option>)}
  </select>;
}
