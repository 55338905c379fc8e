// palette.tsx - Ctrl+K: pages and jobs by a few letters of their names
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { JobItem, JobPage } from "../api";
import { call } from "../call";
import { pagesOf } from "../frame";
import { go, jobAddress } from "../router";
import type { Who } from "../session";
import { t } from "../texts";
import { State } from "./state";

const isOpen = signal(false);
const MOST_JOBS = 8;

export function openPalette(): void {
  isOpen.value = true;
}

addEventListener("keydown", event => {
  if ((event.ctrlKey || event.metaKey) && event.key === "k") {
    event.preventDefault();
    isOpen.value = !isOpen.value;
  }
});

interface Choice { text: string; to: string; state?: string }

export function Palette({ who }: { who: Who }) {
  return isOpen.value ? <Opened who={who} /> : null;
}

function Opened({ who }: { who: Who }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [jobs, setJobs] = useState<JobItem[]>([]);
  const [at, setAt] = useState(0);
  const lower = typed.toLowerCase();
  const choices: Choice[] = [
    ...pagesOf(who).filter(page => !page.inner).map(page => ({ text: t(page.text), to: `/${page.path}` }))
      .filter(one => one.text.toLowerCase().includes(lower)),
    ...jobs.map(job => ({ text: `${job.username}~${job.name}`, to: jobAddress(`${job.username}~${job.name}`), state: job.state })),
  ];
  const shown = Math.min(at, choices.length - 1);

  useEffect(() => {
    dialog.current?.showModal();
    return () => { isOpen.value = false; };
  }, []);
  useEffect(() => {
    const ended = new AbortController();
    const values = { limit: MOST_JOBS, ...typed !== "" && { keyword: typed } };
    call("jobs.list", values, { signal: ended.signal })
      .then(found => setJobs(Array.isArray(found) ? found : (found as JobPage).data), () => {});
    return () => ended.abort();
  }, [typed]);

  function open(choice: Choice | undefined): void {
    dialog.current?.close(); // gives the focus back
    isOpen.value = false;
    if (choice !== undefined)
      go(choice.to);
  }
  function onKey(event: KeyboardEvent): void {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter") {
      event.preventDefault();
      open(choices[shown]);
    } else if (step !== 0) {
      event.preventDefault();
      setAt((shown + step + choices.length) % Math.max(choices.length, 1));
    }
  }

  return <dialog ref={dialog} class="palette" aria-label={t("search")} onClose={() => { isOpen.value = false; }}
    onClick={event => { if (event.target === dialog.current) isOpen.value = false; }}>
    <input type="search" role="combobox" aria-expanded="true" aria-controls="palette-choices" aria-label={t("search")}
      aria-activedescendant={choices.length > 0 ? `palette-${shown}` : undefined} placeholder={t("search")} value={typed}
      onKeyDown={onKey} onInput={event => { setTyped(event.currentTarget.value); setAt(0); }} />
    <ul id="palette-choices" role="listbox" aria-label={t("search")}>
      {choices.map((choice, i) =>
        <li key={choice.to} id={`palette-${i}`} role="option" aria-selected={i === shown} onClick={() => open(choice)}>
          <span>{choice.text}</span>{choice.state !== undefined && <State of={choice.state} />}
        </li>)}
    </ul>
  </dialog>;
}
