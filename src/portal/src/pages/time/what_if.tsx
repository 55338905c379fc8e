// what_if.tsx - changes of the cluster, and what would come of them
import { useEffect, useRef, useState } from "preact/hooks";
import { Failed } from "../../parts/failed";
import { t } from "../../texts";
import type { Change, Effect } from "../../world/effect";
import { fetchText } from "../../world/fetched";
import type { Picture } from "../../world/picture";
import type { World } from "../../world/world";
import { Result } from "./result";

type Kind = Change["kind"];

const KINDS: Kind[] = ["drain", "resume", "add", "share", "policy", "cancel"];
const LEARNED = 1000; // jobs by which durations are told, as the program does it

/* What a form says, as a change; null: something is missing. */
function changeOf(kind: Kind, of: FormData, picture: Picture): Change | null {
  const value = String(of.get("value") ?? "").trim(), share = String(of.get("share") ?? "").trim();
  if (value === "")
    return null;
  switch (kind) {
    case "share": return share === "" ? null : { kind, vc: value, share };
    case "add": return { kind, nodes: value };
    case "policy": return { kind, policy: value };
    case "cancel": {
      const job = picture.jobs.find(one => one.name === value);
      return job === undefined ? null : { kind, id: job.id };
    }
    default: return { kind, node: value };
  }
}

function textOf(change: Change, picture: Picture): string {
  const kind = t(`change_${change.kind}`);
  switch (change.kind) {
    case "share": return `${kind}: ${change.vc} = ${change.share}`;
    case "add": return `${kind}: ${change.nodes}`;
    case "policy": return `${kind}: ${change.policy}`;
    case "cancel": return `${kind}: ${picture.jobs.find(one => one.id === change.id)?.name ?? change.id}`;
    default: return `${kind}: ${change.node}`;
  }
}

/* What can be chosen for a kind of change; null: anything can be typed. */
function choicesOf(kind: Kind, picture: Picture, policies: string[]): string[] | null {
  switch (kind) {
    case "drain": return picture.nodes.filter(node => node.state === "up").map(node => node.name);
    case "resume": return picture.nodes.filter(node => node.state !== "up").map(node => node.name);
    case "share": return picture.clusters.map(one => one.name);
    case "policy": return policies.filter(name => name !== picture.policy);
    case "cancel": return picture.jobs.map(job => job.name);
    default: return null;
  }
}

function Adder({ picture, policies, add }: { picture: Picture; policies: string[]; add: (change: Change) => void }) {
  const [kind, setKind] = useState<Kind>("drain");
  const choices = choicesOf(kind, picture, policies);
  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    const change = changeOf(kind, new FormData(event.currentTarget as HTMLFormElement), picture);
    if (change !== null)
      add(change);
  }
  return <form class="filters" onSubmit={onSubmit}>
    <select aria-label={t("change_kind")} value={kind} onChange={event => setKind(event.currentTarget.value as Kind)}>
      {KINDS.map(one => <option key={one} value={one}>{t(`change_${one}`)}</option>)}
    </select>
    {choices === null ?
      <input name="value" aria-label={t("newNodes")} placeholder="2x gpu:8:a100 cpus:64 mem:512G" required /> :
      <select name="value" key={kind} class="cut" aria-label={t(`change_${kind}`)} required>
        {choices.map(one => <option key={one} value={one}>{one}</option>)}
      </select>}
    {kind === "share" && <label class="check">{t("newShare")} <input name="share" class="short" required placeholder="8" /></label>}
    <button type="submit" disabled={choices?.length === 0}>{t("addChange")}</button>
  </form>;
}

export function WhatIf({ world, picture }: { world: World; picture: Picture }) {
  const [policies, setPolicies] = useState<string[]>([]);
  const [changes, setChanges] = useState<Change[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [found, setFound] = useState<{ effect?: Effect; error?: unknown }>({});
  const ended = useRef(new AbortController());

  useEffect(() => {
    world.ask("policies", {}).then(setPolicies, () => {});
    return () => ended.current.abort();
  }, [world]);
  function compare(): void {
    setBusy(true);
    fetchText("jobs.list", { state: ["SUCCEEDED", "FAILED"], limit: LEARNED }, ended.current.signal)
      .then(jobs => world.ask("whatIf", { changes, jobs }))
      .then(effect => setFound({ effect }), (error: unknown) => setFound({ error }))
      .finally(() => setBusy(false));
  }
  return <>
    <p class="hint">{t("whatIfAbout")}</p>
    <Adder picture={picture} policies={policies} add={change => setChanges([...changes, change])} />
    {changes.length > 0 && <ul class="rows">{changes.map((change, i) => <li key={i}>
      <span>{textOf(change, picture)}</span>
      <button type="button" aria-label={`${t("removeUser")}: ${textOf(change, picture)}`} onClick={() => setChanges(changes.filter((_, k) => k !== i))}>×</button>
    </li>)}</ul>}
    <p><button type="button" class="main" disabled={changes.length === 0 || isBusy} aria-busy={isBusy} onClick={compare}>{t(isBusy ? "comparing" : "compare")}</button></p>
    {found.error !== undefined && <Failed error={found.error} />}
    {found.effect !== undefined && <Result effect={found.effect} />}
  </>;
}

