// marketplace_edit.tsx - a template as fields: a new one, from a file or a job, or one that changes
import { useEffect, useRef, useState } from "preact/hooks";
import type { MarketplaceItem } from "../api";
import { call } from "../call";
import { attempt, tell } from "../parts/messages";
import { useCall } from "../parts/use_call";
import { go, parameters } from "../router";
import { who } from "../session";
import { t } from "../texts";

const words = (text: string) => text.split(",").map(word => word.trim()).filter(word => word !== "");

interface Fields { name: string; summary: string; description: string; tags: string; categories: string; share: string; groups: string; protocol: string }

function fieldsOf(item?: MarketplaceItem): Fields {
  return {
    name: item?.name ?? "", summary: item?.summary ?? "", description: item?.description ?? "",
    tags: item?.tags.join(", ") ?? "", categories: item?.categories.join(", ") ?? "", protocol: item?.protocol ?? "",
    share: item === undefined || item.isPrivate ? "private" : item.isPublic ? "public" : "groups",
    groups: item?.groupList.join(", ") ?? "",
  };
}

function bodyOf(of: Fields) {
  return {
    name: of.name, summary: of.summary, description: of.description, protocol: of.protocol,
    tags: words(of.tags), categories: words(of.categories), isPrivate: of.share === "private",
    isPublic: of.share === "public", groupList: of.share === "groups" ? words(of.groups) : [],
  };
}

/* The user's latest jobs, whose files may become templates. */
function FromJob({ onText }: { onText: (name: string, text: string) => void }) {
  const jobs = useCall("jobs.list", { limit: 50, username: [who.value?.name ?? ""] });
  const list = Array.isArray(jobs.value) ? jobs.value : [];
  const take = async (name: string) => onText(name, String(await call("jobs.config", { job: `${who.value?.name ?? ""}~${name}`, format: "yaml" })));
  return <label>{t("fromJob")} <select value="" onChange={event => void attempt(() => take(event.currentTarget.value))}>
    <option value="" disabled>{t("chooseJob")}</option>
    {list.map(job => <option key={job.name} value={job.name}>{job.name}</option>)}
  </select></label>;
}

export function EditItem({ item, onSaved }: { item?: MarketplaceItem; onSaved?: () => void }) {
  const [of, setFields] = useState(() => fieldsOf(item));
  const [isBusy, setBusy] = useState(false);
  const share = useRef<HTMLSelectElement>(null);
  const set = (changes: Partial<Fields>) => setFields(before => ({ ...before, ...changes }));

  useEffect(() => {
    document.title = `${t(item === undefined ? "newTemplate" : "edit")} · OpenPAI`;
    if (parameters.value.get("edit") === "share")
      share.current?.focus();
  }, []);
  async function save(): Promise<void> {
    setBusy(true);
    await attempt(async () => {
      const id = item?.id ?? (await call("marketplace.create", bodyOf(of))).id;
      if (item !== undefined)
        await call("marketplace.update", { item: item.id, ...bodyOf(of) });
      tell(t("templateSaved"));
      onSaved?.();
      go(`/marketplace/${id}`);
    });
    setBusy(false);
  }
  async function open(event: Event): Promise<void> {
    const file = (event.currentTarget as HTMLInputElement).files?.[0];
    if (file !== undefined)
      set({ protocol: await file.text(), ...of.name === "" && { name: file.name.replace(/\.\w+$/, "") } });
  }
  return <form class="fields" onSubmit={event => { event.preventDefault(); void save(); }}>
    <h1>{item === undefined ? t("newTemplate") : item.name}</h1>
    <label>{t("name")}<input required maxLength={128} value={of.name} onInput={event => set({ name: event.currentTarget.value })} /></label>
    <label>{t("summary")}<input maxLength={512} value={of.summary} onInput={event => set({ summary: event.currentTarget.value })} /></label>
    <label>{t("markdown")}<textarea rows={6} value={of.description} onInput={event => set({ description: event.currentTarget.value })} /></label>
    <label>{t("categories")}, {t("commas")}<input value={of.categories} onInput={event => set({ categories: event.currentTarget.value })} /></label>
    <label>{t("tagNames")}, {t("commas")}<input value={of.tags} onInput={event => set({ tags: event.currentTarget.value })} /></label>
    <label>{t("shareWith")}<select ref={share} value={of.share} onChange={event => set({ share: event.currentTarget.value })}>
      <option value="private">{t("sharePrivate")}</option>
      <option value="groups">{t("shareGroups")}</option>
      <option value="public">{t("sharePublic")}</option>
    </select></label>
    {of.share === "groups" && <label>{t("ofGroups")}<input required value={of.groups} onInput={event => set({ groups: event.currentTarget.value })} /></label>}
    <div class="filters">
      <label class="button">{t("upload")}<input type="file" class="hidden" accept=".yaml,.yml,.json" onChange={event => void open(event)} /></label>
      <FromJob onText={(name, protocol) => set({ protocol, ...of.name === "" && { name } })} />
    </div>
    <label>{t("jobFile")}<textarea class="code" rows={18} required spellcheck={false} value={of.protocol} onInput={event => set({ protocol: event.currentTarget.value })} /></label>
    <p class="buttons">
      <button type="submit" class="main" disabled={isBusy}>{t("save")}</button>
      <a class="button" href={item === undefined ? "/marketplace" : `/marketplace/${item.id}`}>{t("cancel")}</a>
    </p>
  </form>;
}
