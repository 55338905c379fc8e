// result.tsx - which jobs would start sooner or later, in a table with a picture of each
import { duration, time as timeText } from "../../format";
import { jobAddress } from "../../router";
import { t } from "../../texts";
import type { Band, Effect, Start } from "../../world/effect";

const SHOWN = 100;
const WIDE = 200; // of a picture

const ORDER: Record<Start["change"], number> = { never: 0, later: 1, sooner: 1, new: 2, same: 3 };

/* The largest changes first. */
function sorted(starts: Start[]): Start[] {
  return [...starts].sort((a, b) => ORDER[a.change] - ORDER[b.change] || Math.abs(b.longer ?? 0) - Math.abs(a.longer ?? 0));
}

function startText(band: Band | null, now: number): string {
  return band === null ? t("later") : band[1] <= now ? t("now") : timeText(band[1] / 1000);
}

function differenceText({ change, longer }: Start): string {
  return change === "sooner" ? t("sooner", duration(-(longer ?? 0) / 1e6)) : change === "later" ? t("muchLater", duration((longer ?? 0) / 1e6)) :
    change === "never" ? t("startsNever") : change === "new" ? t("startsNew") : t("same");
}

/* A line from P10 to P90 with a mark at P50, before above after. */
function Bands({ start, now, end }: { start: Start; now: number; end: number }) {
  const x = (time: number | null) => time === null ? WIDE : Math.min(WIDE, WIDE * (time - now) / Math.max(1, end - now));
  const line = (band: Band | null, y: number, name: string) => band !== null && <g class={name}>
    <line x1={x(band[0])} x2={x(band[2])} y1={y} y2={y} /><circle cx={x(band[1])} cy={y} r="4" />
  </g>;
  return <svg class="bands" viewBox={`-5 0 ${WIDE + 10} 22`} width={WIDE + 10} height="22" aria-hidden="true">
    {line(start.before, 6, "before")}{line(start.after, 16, start.change)}
  </svg>;
}

function Sums({ effect }: { effect: Effect }) {
  const { sooner, later, same, never } = effect;
  return <>
    {effect.unsafe && <p class="failed" role="alert">{t("unsafe", effect.stopNow, effect.move)}</p>}
    <div role="status"><dl class="summary">
      <div><dt>{t("startAtOnce")}</dt><dd>{effect.startNow}</dd></div>
      <div><dt>{t("startSooner")}</dt><dd>{sooner}</dd></div>
      <div><dt>{t("startLater")}</dt><dd>{later}{never > 0 && ` (${t("startsNever")}: ${never})`}</dd></div>
      <div><dt>{t("startSame")}</dt><dd>{same}</dd></div>
      <div><dt>{t("meanWait")}</dt><dd>{t("ratherThan", duration(effect.waitAfter / 1e6), duration(effect.waitBefore / 1e6))}</dd></div>
      <div><dt>{t("gpusInUse")}</dt><dd>{t("ratherThan", `${effect.usedAfter.toFixed(1)} %`, `${effect.usedBefore.toFixed(1)} %`)}</dd></div>
    </dl></div>
    {effect.unlike && <p class="hint">{t("unlike")}</p>}
  </>;
}

export function Result({ effect }: { effect: Effect }) {
  const starts = sorted(effect.starts), { now } = effect;
  const shown = starts.slice(0, SHOWN);
  const end = Math.max(now + 1, ...shown.flatMap(one => [one.before, one.after]).map(band => band?.[1] ?? now)) ;
  const turned = effect.turned.filter(one => one.what !== "start");
  return <>
    <Sums effect={effect} />
    {turned.length > 0 && <ul>{turned.map(one => <li key={`${one.id}.${one.instance}`}>{t(one.what === "stop" ? "wouldStop" : "wouldMove", one.name)}</li>)}</ul>}
    {shown.length > 0 && <>
      <div class="wide" tabIndex={0} role="region" aria-label={t("result")}><table>
        <thead><tr><th scope="col">{t("name")}</th><th scope="col">{t("asItIs")}</th><th scope="col">{t("changed")}</th><th scope="col">{t("difference")}</th>
          <th scope="col">{t("bandsFrom", end > now ? duration((end - now) / 1e6) : "")}</th></tr></thead>
        <tbody>{shown.map(one => <tr key={one.id}>
          <th scope="row">{one.name.includes("~") ? <a href={jobAddress(one.name)}>{one.name}</a> : one.name}</th>
          {one.unknown ? <td colSpan={2}>{t("waitUnknown")}</td> : <><td>{one.change === "new" ? "" : startText(one.before, now)}</td><td>{startText(one.after, now)}</td></>}
          <td>{differenceText(one)}</td>
          <td><Bands start={one} now={now} end={end} /></td>
        </tr>)}</tbody>
      </table></div>
      {starts.length > SHOWN && <p class="hint">{t("andMore", starts.length - SHOWN)}</p>}
    </>}
  </>;
}
