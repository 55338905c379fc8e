// ending.tsx - why a job failed, and what helps
import type { JobStatus } from "../../api";
import { t } from "../../texts";

export function Ending({ status }: { status: JobStatus }) {
  const { failure, appExitSpec: meaning, appExitCode: code } = status;
  if (status.state !== "FAILED")
    return null;
  const solutions = failure?.solution ?? meaning?.solution ?? [];
  return <section class="ending">
    {failure !== null
      ? <p><strong>{t("cause")}:</strong> {failure.reason}</p>
      : <p><strong>{t("cause")}:</strong> {meaning?.reason ?? t("exitedWith", code ?? "?")}</p>}
    {failure?.line !== null && failure !== null && <pre aria-label={t("printed")}>{failure.line}</pre>}
    {meaning?.type !== undefined && <p class="hint">{t("exitCode")} {meaning.code}: {[meaning.phrase, meaning.type].filter(Boolean).join(", ")}{status.appExitTriggerTaskRoleName !== null && ` · ${t("task")} ${status.appExitTriggerTaskRoleName}/${status.appExitTriggerTaskIndex}`}</p>}
    {solutions.length > 0 && <p><strong>{t("help")}:</strong> {solutions.join(" ")}</p>}
  </section>;
}
