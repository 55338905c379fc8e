// config.tsx - the file of a job as it was submitted, secrets masked
import { addressOf } from "../../call";
import { save } from "../../parts/download";
import { Failed } from "../../parts/failed";
import { attempt } from "../../parts/messages";
import { useCall } from "../../parts/use_call";
import { t } from "../../texts";
import type { OfJob } from "./job";

export function Config({ name }: OfJob) {
  const file = useCall("jobs.config", { job: name, format: "yaml" });

  if (file.error !== undefined)
    return <Failed error={file.error} />;
  return <>
    <p class="buttons"><button type="button"
      onClick={() => void attempt(() => save(addressOf("jobs.config", { job: name, format: "yaml" }), `${name}.pai.yaml`))}>{t("download")}</button></p>
    <pre class="text" tabIndex={0}>{String(file.value ?? "")}</pre>
  </>;
}
