// users.tsx - administration: accounts, groups, storages, and what was changed
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { parts } from "../../router";
import { t, type TextKey } from "../../texts";
import { Accounts } from "./accounts";
import { Audit } from "./audit";
import { Groups } from "./groups";
import { Register } from "./register";
import { Storages } from "./storages";

/** THE table of the pages below Users. */
const PAGES: { path: string; text: TextKey; show: ComponentType }[] = [
  { path: "", text: "users", show: Accounts },
  { path: "groups", text: "groups", show: Groups },
  { path: "register", text: "registerMany", show: Register },
  { path: "storages", text: "storages", show: Storages },
  { path: "audit", text: "audit", show: Audit },
];

export function Users() {
  const here = PAGES.find(one => one.path === (parts.value[1] ?? "")) ?? PAGES[0]!;
  const Show = here.show;

  useEffect(() => { document.title = `${t(here.text)} · OpenPAI`; });
  return <>
    <nav class="below" aria-label={t("administration")}><ul>{PAGES.map(one => <li key={one.path}>
      <a href={`/users${one.path === "" ? "" : `/${one.path}`}`} aria-current={one === here ? "page" : undefined}>{t(one.text)}</a>
    </li>)}</ul></nav>
    <Show />
  </>;
}
