// tags.tsx - the tags of a job; its owner and administrators add and remove them
import { call } from "../../call";
import { ask } from "../../parts/dialog";
import { attempt } from "../../parts/messages";
import { mayChange } from "../../session";
import { t } from "../../texts";
import type { OfJob } from "./job";

export function Tags({ name, job, again }: OfJob) {
  const isMine = mayChange(name);
  const change = (action: "jobs.tag" | "jobs.untag", value: string) => attempt(async () => {
    await call(action, { job: name, value });
    again();
  });
  async function add(): Promise<void> {
    const value = await ask(t("addTag"), t("addTag"), t("newTag"));
    if (value !== null && value.trim() !== "")
      await change("jobs.tag", value.trim());
  }
  if (job.tags.length === 0 && !isMine)
    return null;
  return <p class="tags">
    {job.tags.map(tag => <span key={tag}>{tag}{isMine &&
      <button type="button" class="plain" aria-label={t("removeTag", tag)} onClick={() => void change("jobs.untag", tag)}>×</button>}</span>)}
    {isMine && <button type="button" class="plain" onClick={() => void add()}>+ {t("addTag")}</button>}
  </p>;
}
