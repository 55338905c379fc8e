// router.ts - the address of the page: paths, parameters, back and forward
import { computed, signal } from "@preact/signals";
import { who } from "./session";

const where = signal(new URL(location.href));

/** Path of the page, in parts: ["jobs", "alice~train"]. */
export const parts = computed(() => where.value.pathname.split("/").filter(part => part !== "").map(decode));
/** Parameters of the address. */
export const parameters = computed(() => where.value.searchParams);

addEventListener("popstate", () => { where.value = new URL(location.href); });
addEventListener("click", follow);

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a lone % in an address that somebody typed
  }
}

/** Goes to an address of the portal. */
export function go(to: string, options: { replace?: boolean } = {}): void {
  if (options.replace)
    history.replaceState(null, "", to);
  else
    history.pushState(null, "", to);
  where.value = new URL(location.href);
  if (!options.replace)
    scrollTo(0, 0);
}

/** Changes parameters of the address; an empty value removes one. */
export function setParameters(changes: Record<string, string>): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes))
    if (value === "")
      url.searchParams.delete(name);
    else
      url.searchParams.set(name, value);
  go(url.pathname + url.search + url.hash, { replace: true });
}

/** Name of a job with its user, which answers leave out if it is the caller. */
export function fullName(job: string, user = who.value?.name ?? ""): string {
  return job.includes("~") ? job : `${user}~${job}`;
}

/** Address of a job's page, or of one of its tabs. */
export function jobAddress(job: string, tab = ""): string {
  return `/jobs/${encodeURIComponent(job).replace("%7E", "~")}${tab === "" ? "" : `/${tab}`}`;
}

/* A click on a link of the portal changes the page without loading it anew. */
function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.target !== "" || link.hasAttribute("download") ||
      event.defaultPrevented || event.button !== 0 ||
      event.metaKey || event.ctrlKey || event.shiftKey || event.altKey ||
      link.origin !== location.origin || !isPage(link.pathname))
    return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
}

function isPage(path: string): boolean {
  return !path.startsWith("/api/") && !path.startsWith("/portal/") && path !== "/metrics";
}
