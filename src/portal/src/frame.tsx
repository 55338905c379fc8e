// frame.tsx - what is around each page: navigation, the user's menu, messages, the palette
import type { ComponentType } from "preact";
import { Bell } from "./parts/bell";
import { lazy } from "./parts/lazy";
import { Dialogs } from "./parts/dialog";
import { attempt, Messages } from "./parts/messages";
import { openPalette, Palette } from "./parts/palette";
import { useCall } from "./parts/use_call";
import { isLive } from "./live";
import { parts } from "./router";
import { signOut, type Who } from "./session";
import { language, setLanguage, t, type TextKey } from "./texts";
import { switchTheme } from "./theme";

interface Page {
  path: string;
  text: TextKey;
  admin?: boolean;
  /** Not in the navigation. */
  hidden?: boolean;
  /** Nothing without the next part of its address. */
  inner?: boolean;
  show: ComponentType;
  /** What shows one of them: the address has a second part. */
  one?: ComponentType;
}

/** THE table of pages: the first part of their address, and what shows them. */
export const PAGES: Page[] = [
  { path: "", text: "home", show: lazy(() => import("./pages/home"), "Home") },
  { path: "jobs", text: "jobs", show: lazy(() => import("./pages/jobs"), "Jobs") },
  { path: "submit", text: "submit", show: lazy(() => import("./pages/submit"), "Submit") },
  { path: "nodes", text: "nodes", show: lazy(() => import("./pages/nodes"), "Nodes"),
    one: lazy(() => import("./pages/machine"), "Machine") },
  { path: "virtual-clusters", text: "virtualClusters", show: lazy(() => import("./pages/virtual_clusters"), "VirtualClusters") },
  { path: "marketplace", text: "marketplace", show: lazy(() => import("./pages/marketplace"), "Marketplace") },
  { path: "alerts", text: "alerts", show: lazy(() => import("./pages/alerts"), "Alerts") },
  { path: "users", text: "users", admin: true, show: lazy(() => import("./pages/users/users"), "Users") },
  { path: "time", text: "timeTravel", hidden: true, show: lazy(() => import("./pages/time/time"), "Time") },
  { path: "plugins", text: "plugins", hidden: true, inner: true, show: lazy(() => import("./pages/plugin"), "Plugin") },
  { path: "profile", text: "profile", hidden: true, show: lazy(() => import("./pages/profile/profile"), "Profile") },
];

function Link({ page }: { page: Page }) {
  const isHere = (parts.value[0] ?? "") === page.path;
  return <li><a href={`/${page.path}`} aria-current={isHere ? "page" : undefined}>{t(page.text)}</a></li>;
}

/* Plugins that the administrator has listed, with their own titles. */
function PluginLinks() {
  const list = useCall("plugins.list", {});
  return <>{(list.value ?? []).map(({ title }, i) => <li key={i}>
    <a href={`/plugins/${i}`} aria-current={parts.value[0] === "plugins" && parts.value[1] === String(i) ? "page" : undefined}>{title}</a>
  </li>)}</>;
}

function NoPage() {
  return <p class="empty">{t("noPage")}</p>;
}

/** The pages that a user can open. */
export function pagesOf(who: Who): Page[] {
  return PAGES.filter(page => !page.admin || who.admin);
}

export function Frame({ who }: { who: Who }) {
  const pages = pagesOf(who);
  const page = pages.find(one => one.path === (parts.value[0] ?? ""));
  const Show = (parts.value[1] !== undefined ? page?.one : undefined) ?? page?.show ?? NoPage;
  return <>
    <a class="skip" href="#content">{t("skip")}</a>
    <header>
      <strong><a href="/">OpenPAI</a></strong>
      <nav aria-label={t("menu")}>
        <ul>{pages.filter(one => !one.hidden).map(one => <Link key={one.path} page={one} />)}<PluginLinks /></ul>
      </nav>
      <div class="tools">
        <Bell />
        <button type="button" onClick={openPalette} title={t("search")} aria-label={t("search")} aria-keyshortcuts="Control+K">⌕</button>
        <button type="button" onClick={switchTheme} title={t("darkOrLight")} aria-label={t("darkOrLight")}>◐</button>
        <button type="button" lang={language.value === "en" ? "zh" : "en"} onClick={() => setLanguage(language.value === "en" ? "zh" : "en")}>{t("language")}</button>
        <a href="/profile">{who.name}</a>
        <button type="button" onClick={() => void attempt(signOut)}>{t("signOut")}</button>
      </div>
    </header>
    {!isLive.value && <p class="offline" role="status">{t("offline")}</p>}
    <main id="content" tabIndex={-1}><Show /></main>
    <Messages />
    <Dialogs />
    <Palette who={who} />
  </>;
}
