// marketplace.tsx - templates of jobs: those of OpenPAI, and those that users share
import { useEffect } from "preact/hooks";
import type { MarketplaceItem } from "../api";
import { time } from "../format";
import { Failed } from "../parts/failed";
import { useCall } from "../parts/use_call";
import { parameters, parts, setParameters } from "../router";
import { who } from "../session";
import { t, type TextKey } from "../texts";
import { EditItem } from "./marketplace_edit";
import { Item, OwnTemplate } from "./marketplace_item";
import { TEMPLATES } from "./templates";

const TYPES: [string, TextKey][] = [["template", "typeTemplate"], ["data", "typeData"], ["old", "typeOld"]];

/** A template of both kinds, as the list shows it. */
interface Card { id: string; name: string; author: string; summary: string; type: string; tags: string[]; categories: string[]; item?: MarketplaceItem }

const OWN: Card[] = TEMPLATES.map(one => ({ ...one, id: one.name, author: "", type: "template" }));

function cardOf(item: MarketplaceItem): Card {
  const { id, name, author, summary, type, tags, categories } = item;
  return { id, name, author, summary, type, tags, categories, item };
}

const param = (name: string) => parameters.value.get(name) ?? "";

function isShown(card: Card): boolean {
  const keyword = param("keyword").toLowerCase();
  return (param("type") === "" || card.type === param("type")) &&
    (param("category") === "" || card.categories.includes(param("category"))) &&
    (param("tag") === "" || card.tags.includes(param("tag"))) &&
    (param("mine") === "" || card.author === who.value?.name) &&
    [card.name, card.author, card.summary, ...card.tags].some(text => text.toLowerCase().includes(keyword));
}

function Choice({ name, all, values }: { name: string; all: TextKey; values: string[] }) {
  return <select aria-label={t(all)} value={param(name)} onChange={event => setParameters({ [name]: event.currentTarget.value })}>
    <option value="">{t(all)}</option>
    {values.map(value => <option key={value} value={value}>{value}</option>)}
  </select>;
}

const unique = (values: string[]) => [...new Set(values)].sort();

function Filters({ cards }: { cards: Card[] }) {
  return <div class="filters">
    <input type="search" aria-label={t("searchTemplates")} placeholder={t("searchTemplates")} value={param("keyword")} onInput={event => setParameters({ keyword: event.currentTarget.value })} />
    <select aria-label={t("allTypes")} value={param("type")} onChange={event => setParameters({ type: event.currentTarget.value })}>
      <option value="">{t("allTypes")}</option>
      {TYPES.map(([type, text]) => <option key={type} value={type}>{t(text)}</option>)}
    </select>
    <Choice name="category" all="allCategories" values={unique(cards.flatMap(one => one.categories))} />
    <Choice name="tag" all="allTags" values={unique(cards.flatMap(one => one.tags))} />
    <label class="check"><input type="checkbox" checked={param("mine") !== ""} onChange={event => setParameters({ mine: event.currentTarget.checked ? "1" : "" })} /> {t("myTemplates")}</label>
  </div>;
}

function TemplateCard({ card }: { card: Card }) {
  const { item } = card;
  return <section class="card wide-card">
    <h2><a href={`/marketplace/${encodeURIComponent(card.id)}`}>{card.name}</a></h2>
    <p>{card.summary}</p>
    <p class="hint">{card.tags.map(tag => `#${tag}`).join(" ")}</p>
    <p class="hint">{item === undefined ? t("builtIn") : <>{item.author} · <time dateTime={item.createdAt}>{time(Date.parse(item.createdAt))}</time> · {t("uses", item.useNumber)} · {t("stars", item.starNumber)}</>}</p>
  </section>;
}

function List() {
  const items = useCall("marketplace.list", { brief: true });
  const cards = [...(items.value ?? []).map(cardOf), ...OWN];
  const shown = cards.filter(isShown);

  useEffect(() => { document.title = `${t("marketplace")} · OpenPAI`; });
  return <>
    <div class="title">
      <h1>{t("marketplace")}</h1>
      <a class="button main" href="/marketplace/new">{t("newTemplate")}</a>
    </div>
    <Filters cards={cards} />
    {items.error !== undefined && <Failed error={items.error} />}
    {shown.length === 0 && <p class="empty">{t("noTemplates")}</p>}
    <div class="grid">{shown.map(card => <TemplateCard key={card.id} card={card} />)}</div>
  </>;
}

export function Marketplace() {
  const id = parts.value[1];
  const own = TEMPLATES.find(one => one.name === id);
  return id === undefined ? <List /> : id === "new" ? <EditItem /> : own !== undefined ? <OwnTemplate of={own} /> : <Item key={id} id={id} />;
}
