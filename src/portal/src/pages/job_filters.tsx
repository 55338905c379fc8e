// job_filters.tsx - which jobs a list shows: filters, pages, and views that the browser keeps
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ask } from "../parts/dialog";
import { go, parameters, setParameters } from "../router";
import { who } from "../session";
import { t, type TextKey } from "../texts";

const SIZES = ["20", "50", "100"];
const SIZE = "50";
const STATES = ["WAITING", "RUNNING", "STOPPING", "STOPPED", "SUCCEEDED", "FAILED"];
const PRIORITIES = ["default", "prod", "test", "oppo"];

const of = (name: string) => parameters.value.get(name) ?? "";
const size = () => Number(SIZES.includes(of("size")) ? of("size") : SIZE);

/** What the address says, as arguments of the call. */
export function query() {
  const user = of("user") === "@me" ? who.value?.name ?? "" : of("user");
  return {
    limit: size(), offset: Number(of("from")) || 0, withTotalCount: true, order: of("order") || "submissionTime,DESC",
    ...of("state") !== "" && { state: [of("state")] },
    ...of("vc") !== "" && { vc: [of("vc")] },
    ...of("priority") !== "" && { jobPriority: [of("priority")] },
    ...of("keyword") !== "" && { keyword: of("keyword") },
    ...user !== "" && { username: [user] },
  };
}

// --- views -----------------------------------------------------------------------

const STORED = "openpai-job-views";

function stored(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}

const views = signal(stored());

function keep(now: Record<string, string>): void {
  views.value = now;
  localStorage.setItem(STORED, JSON.stringify(now));
}

/* What a view keeps of the address: not the page in it. */
function shownNow(): string {
  const kept = new URLSearchParams(parameters.value);
  kept.delete("from");
  kept.sort();
  return kept.toString();
}

function Views() {
  const now = shownNow();
  const name = Object.keys(views.value).find(one => views.value[one] === now);
  async function save(): Promise<void> {
    const given = await ask(t("saveView"), t("save"), t("name"));
    if (given !== null && given.trim() !== "")
      keep({ ...views.value, [given.trim()]: now });
  }
  return <>
    {Object.keys(views.value).length > 0 && <select aria-label={t("views")} value={name ?? ""} onChange={event => go(`/jobs?${views.value[event.currentTarget.value] ?? ""}`)}>
      <option value="">{t("views")}</option>
      {Object.keys(views.value).map(one => <option key={one} value={one}>{one}</option>)}
    </select>}
    {name !== undefined ? <button type="button" onClick={() => keep(Object.fromEntries(Object.entries(views.value).filter(([one]) => one !== name)))}>{t("removeView")}</button>
      : now !== "" && <button type="button" onClick={() => void save()}>{t("saveView")}</button>}
  </>;
}

// --- filters ---------------------------------------------------------------------

function Choice({ name, label, all, values, shown }: { name: string; label: TextKey; all: TextKey; values: string[]; shown?: (value: string) => string }) {
  return <select aria-label={t(label)} value={of(name)} onChange={event => setParameters({ [name]: event.currentTarget.value, from: "" })}>
    <option value="">{t(all)}</option>
    {values.map(value => <option key={value} value={value}>{shown?.(value) ?? value}</option>)}
  </select>;
}

export function Filters({ clusters }: { clusters: string[] }) {
  const field = useRef<HTMLInputElement>(null);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "/" && !(event.target instanceof HTMLInputElement)) {
        event.preventDefault();
        field.current?.focus();
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return <form role="search" class="filters" onSubmit={event => event.preventDefault()}>
    <input ref={field} type="search" aria-label={t("filter")} placeholder={t("filter")} aria-keyshortcuts="/" value={of("keyword")}
      onInput={event => setParameters({ keyword: event.currentTarget.value, from: "" })} />
    <input class="short" aria-label={t("user")} placeholder={t("userOrMe")} value={of("user")} autocomplete="off"
      onChange={event => setParameters({ user: event.currentTarget.value.trim().toLowerCase() === "@me" ? "@me" : event.currentTarget.value.trim(), from: "" })} />
    <Choice name="state" label="state" all="allStates" values={STATES} shown={state => t(state as TextKey)} />
    <Choice name="vc" label="virtualCluster" all="allClusters" values={clusters} />
    <Choice name="priority" label="priority" all="allPriorities" values={PRIORITIES} />
    <label class="check"><input type="checkbox" checked={of("user") === "@me"}
      onChange={event => setParameters({ user: event.currentTarget.checked ? "@me" : "", from: "" })} />{t("mine")}</label>
    <Views />
  </form>;
}

// --- pages -----------------------------------------------------------------------

export function Pager({ shown, total }: { shown: number; total: number }) {
  const { offset: from, limit } = query();
  const pages = Math.max(1, Math.ceil(total / limit)), page = Math.floor(from / limit) + 1;
  const move = (to: number) => setParameters({ from: to > 0 ? String(to) : "" });
  const turn = (to: number) => move((Math.min(Math.max(Math.round(to) || 1, 1), pages) - 1) * limit);
  return <p class="pager">
    <span>{t("range", total === 0 ? 0 : `${from + 1} – ${from + shown}`, total)}</span>
    <button type="button" disabled={from === 0} onClick={() => move(from - limit)}>{t("previous")}</button>
    <button type="button" disabled={from + shown >= total} onClick={() => move(from + limit)}>{t("next")}</button>
    {pages > 1 && <span>{t("page")} <input key={page} class="short" aria-label={t("page")} inputMode="numeric" defaultValue={String(page)} onChange={event => turn(Number(event.currentTarget.value))} /> {t("ofPages", pages)}</span>}
    <label>{t("pageSize")} <select value={String(limit)} onChange={event => setParameters({ size: event.currentTarget.value === SIZE ? "" : event.currentTarget.value, from: "" })}>
      {SIZES.map(one => <option key={one}>{one}</option>)}
    </select></label>
  </p>;
}
