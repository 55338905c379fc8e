// marketplace_item.tsx - a template: what it is for, its job file, and what one can do with it
import { useEffect } from "preact/hooks";
import type { MarketplaceItem } from "../api";
import { call } from "../call";
import { time } from "../format";
import { ask } from "../parts/dialog";
import { Failed } from "../parts/failed";
import { Markdown } from "../parts/markdown";
import { attempt, tell } from "../parts/messages";
import { useCall } from "../parts/use_call";
import { go, parameters, setParameters } from "../router";
import { t } from "../texts";
import { EditItem } from "./marketplace_edit";
import type { Template } from "./templates";

function JobFile({ text }: { text: string }) {
  return <section>
    <h2>{t("jobFile")}</h2>
    <pre class="log" tabIndex={0}>{text}</pre>
  </section>;
}

/** One that comes with OpenPAI. */
export function OwnTemplate({ of }: { of: Template }) {
  useEffect(() => { document.title = `${of.name} · OpenPAI`; });
  return <>
    <p><a href="/marketplace">{t("back")}</a></p>
    <div class="title">
      <h1>{of.name}</h1>
      <p class="buttons"><a class="button main" href={`/submit?example=${encodeURIComponent(of.name)}`}>{t("use")}</a></p>
    </div>
    <p class="hint">{t("builtIn")} · {of.categories.join(", ")} · {of.tags.join(", ")}</p>
    <section><h2>{t("description")}</h2><Markdown text={of.description} /></section>
    <JobFile text={of.text} />
  </>;
}

function sharedWith(item: MarketplaceItem): string {
  return item.isPrivate ? t("sharePrivate") : item.isPublic ? t("sharePublic") : item.groupList.join(", ");
}

async function remove(item: MarketplaceItem): Promise<void> {
  if (await ask(t("confirmRemove", item.name), t("removeUser")) === null)
    return;
  await call("marketplace.remove", { item: item.id });
  go("/marketplace");
}

async function copy(item: MarketplaceItem): Promise<void> {
  const made = await call("marketplace.create", {
    name: item.name, protocol: item.protocol ?? "", summary: item.summary, description: item.description ?? "",
    type: item.type as "template" | "data" | "old", tags: item.tags, isPrivate: true,
    categories: item.categories.filter(one => one !== "official example"),
  });
  tell(t("templateSaved"));
  go(`/marketplace/${made.id}?edit=1`);
}

function Buttons({ item, again }: { item: MarketplaceItem; again: () => void }) {
  const star = async () => {
    await call(item.isStarred ? "marketplace.unstar" : "marketplace.star", { item: item.id });
    again();
  };
  return <p class="buttons">
    <a class="button main" href={`/submit?template=${item.id}`}>{t("use")}</a>
    <button type="button" aria-pressed={item.isStarred} onClick={() => void attempt(star)}>{t(item.isStarred ? "unstar" : "star")}</button>
    <button type="button" onClick={() => void attempt(() => copy(item))}>{t("copy")}</button>
    {item.isEditable && <>
      <button type="button" onClick={() => setParameters({ edit: "1" })}>{t("edit")}</button>
      <button type="button" onClick={() => setParameters({ edit: "share" })}>{t("share")}</button>
      <button type="button" onClick={() => void attempt(() => remove(item))}>{t("delete")}</button>
    </>}
  </p>;
}

export function Item({ id }: { id: string }) {
  const { value: item, error, again } = useCall("marketplace.show", { item: id });

  useEffect(() => { document.title = `${item?.name ?? t("marketplace")} · OpenPAI`; });
  if (item === undefined)
    return error === undefined ? <p class="loading" /> : <><h1>{t("noTemplate")}</h1><Failed error={error} /></>;
  if (parameters.value.has("edit") && item.isEditable)
    return <EditItem item={item} onSaved={again} />;
  return <>
    <p><a href="/marketplace">{t("back")}</a></p>
    <div class="title"><h1>{item.name}</h1><Buttons item={item} again={again} /></div>
    <p>{item.summary}</p>
    <p class="hint">{item.author} · <time dateTime={item.updatedAt}>{time(Date.parse(item.updatedAt))}</time> · {sharedWith(item)} · {t("uses", item.useNumber)} · {t("stars", item.starNumber)}</p>
    <p class="hint">{[...item.categories, ...item.tags.map(tag => `#${tag}`)].join(" · ")}</p>
    {item.description && <section><h2>{t("description")}</h2><Markdown text={item.description} /></section>}
    <JobFile text={item.protocol ?? ""} />
  </>;
}
