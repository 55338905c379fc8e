// time.tsx - the queue and the machines as they were at any second, and what-if beside it
import { useEffect, useRef, useState } from "preact/hooks";
import { bytes, duration, time as timeText } from "../../format";
import { Failed } from "../../parts/failed";
import { State } from "../../parts/state";
import { parameters, setParameters } from "../../router";
import { t } from "../../texts";
import { MODES, isMeasured, type Mode } from "../../world/colours";
import { fetchBytes } from "../../world/fetched";
import { JobLink, MachineMap } from "../../world/map";
import type { MapJob, Picture } from "../../world/picture";
import { useNow } from "../../world/use_now";
import { useWorld, type World } from "../../world/world";
import type { Span } from "../../world/worker";
import { Slider } from "./slider";
import { WhatIf } from "./what_if";

const SHOWN = 100; // waiting jobs

interface Log { span?: Span; error?: unknown; bytes: number; done?: number }

/* What the last line left is so until now. */
function untilNow({ begin, end, samples }: Span): Span {
  const now = Math.max(end, Date.now() * 1000), last = samples.at(-1);
  return { begin, end: now, samples: last === undefined ? [] : [...samples, { ...last, time: now }] };
}

/* The scheduler's log, once it is wanted. */
function useLog(world: World): Log & { again: () => void } {
  const [log, setLog] = useState<Log>({ bytes: 0 });
  const [turn, setTurn] = useState(0);

  useEffect(() => {
    const ended = new AbortController();
    setLog({ bytes: 0 });
    fetchBytes("scheduler.log", {}, ended.signal, all => setLog({ bytes: all }))
      .then(read => world.ask("log", { log: read }, done => { if (!ended.signal.aborted) setLog({ bytes: read.length, done }); })
        .then(span => { if (!ended.signal.aborted) setLog({ bytes: read.length, span: untilNow(span) }); }))
      .catch((error: unknown) => { if (!ended.signal.aborted) setLog({ bytes: 0, error }); });
    return () => ended.abort();
  }, [world, turn]);
  return { ...log, again: () => setTurn(before => before + 1) };
}

/* The picture of a moment; of several asked one after the other, the last. */
function usePast(world: World, at: number | null, isReady: boolean): { picture?: Picture; error?: unknown } {
  const [shown, setShown] = useState<{ picture?: Picture; error?: unknown }>({});
  const wanted = useRef<number | null>(null);
  const isAsking = useRef(false);

  function ask(): void {
    const time = wanted.current;
    if (time === null || isAsking.current)
      return;
    isAsking.current = true;
    wanted.current = null;
    world.ask("at", { time }).then(picture => setShown({ picture }), (error: unknown) => setShown({ error }))
      .finally(() => { isAsking.current = false; ask(); });
  }
  useEffect(() => {
    wanted.current = isReady ? at : null;
    ask();
  }, [world, at, isReady]);
  return at === null ? {} : shown;
}

function Why({ world, job }: { world: World; job: MapJob }) {
  const [text, setText] = useState("");
  const show = () => void world.ask("explain", { request: job.id }).then(setText, (error: unknown) => setText(String(error)));
  return <details onToggle={event => { if (event.currentTarget.open) show(); }}>
    <summary>{job.lack ?? t("why")}</summary>
    <pre class="text">{text}</pre>
  </details>;
}

function Queue({ world, picture }: { world: World; picture: Picture }) {
  const waiting = picture.jobs.filter(job => job.state === "WAITING");
  if (waiting.length === 0)
    return <p class="empty">{t("nothingWaits")}</p>;
  return <>
    <div class="wide" tabIndex={0} role="region" aria-label={t("queue")}><table>
      <thead><tr><th scope="col">{t("name")}</th><th scope="col">{t("virtualCluster")}</th><th scope="col" class="number">{t("tasks")}</th>
        <th scope="col" class="number">{t("gpus")}</th><th scope="col" class="number">{t("waited")}</th><th scope="col">{t("why")}</th></tr></thead>
      <tbody>{waiting.slice(0, SHOWN).map(job => <tr key={job.id}>
        <th scope="row"><JobLink job={job} /></th><td>{job.vc}</td><td class="number">{job.tasks}</td><td class="number">{job.gpus}</td>
        <td class="number">{duration((picture.now - job.submitted) / 1e6)}</td><td class="text"><Why key={picture.now} world={world} job={job} /></td>
      </tr>)}</tbody>
    </table></div>
    {waiting.length > SHOWN && <p class="hint">{t("andMore", waiting.length - SHOWN)}</p>}
  </>;
}

function Reading({ log }: { log: Log }) {
  return <p class="hint" role="status">{log.done === undefined ? t("logComes", bytes(log.bytes)) : t("logIsRead", `${Math.round(100 * log.done)} %`)}</p>;
}

export function Time() {
  const world = useWorld();
  const log = useLog(world);
  const given = Math.round(Number(parameters.value.get("at"))); // seconds; what is none is now
  const at = given > 0 ? given * 1e6 : null;
  const now = useNow(world, at === null);
  const past = usePast(world, at, log.span !== undefined);
  const { picture, error } = at === null ? now : past;
  const colour = parameters.value.get("colour") as Mode;
  const mode = MODES.includes(colour) && !isMeasured(colour) ? colour : "job";
  const running = picture?.jobs.filter(job => job.state !== "WAITING").length ?? 0;

  useEffect(() => { document.title = `${t("timeTravel")} · OpenPAI`; });
  return <>
    <div class="title"><h1>{t("timeTravel")}</h1>
      <label class="check">{t("colours")} <select value={mode} onChange={event => setParameters({ colour: event.currentTarget.value })}>
        {MODES.filter(one => !isMeasured(one)).map(one => <option key={one} value={one}>{t(`by_${one}`)}</option>)}
      </select></label>
    </div>
    {log.span !== undefined ? <Slider span={log.span} at={at} again={log.again} /> :
      log.error !== undefined ? <Failed error={log.error} /> : <Reading log={log} />}
    {error !== undefined && <Failed error={error} />}
    {picture !== undefined && <>
      <p class="moment" role="status"><strong>{at === null ? t("now") : timeText(picture.now / 1000)}</strong> · <State of="RUNNING" /> {running} · <State of="WAITING" /> {picture.jobs.length - running} · {t("policy")}: {picture.policy}</p>
      <MachineMap picture={picture} mode={mode} />
      <section><h2>{t("whatIf")}</h2><WhatIf world={world} picture={picture} /></section>
      <section><h2>{t("queue")}</h2><Queue world={world} picture={picture} /></section>
    </>}
  </>;
}
