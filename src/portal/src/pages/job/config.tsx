// config.tsx - the file of a job as it was submitted, secrets masked
import { addressOf } from "../../call";
import { Failed } from "../../parts/failed";
import { useCall } from "../../parts/use_call";
import { t } from "../../texts";
import type { OfJob } from "./job";

export function Config({ name }: OfJob) {
  const file = useCall("jobs.config", { job: name, format: "yaml" });

  if (file.error !== undefined)
    return <Failed error={file.error} />;
  return <>
    <p class="buttons"><a class="button" download={`${name}.pai.yaml`} href={addressOf("jobs.config", { job: name, format: "yaml" }).href}>{t("download")}</a></p>
    <pre class="text" tabIndex={0}>{String(file.value ?? "")}</pre>
  </>;
}
