// legend.tsx - what the colours of the machine map mean
import { t } from "../texts";
import { isMeasured, RANGES, SCALE, SICK_CELL, TAKEN, UNKNOWN, type Mode } from "./colours";
import { nameIn, type Picture } from "./picture";

const MOST = 12; // names

function Swatch({ colour, isCrossed }: { colour?: string; isCrossed?: boolean }) {
  return <svg class="swatch" width="14" height="14" aria-hidden="true">
    <rect width="14" height="14" rx="2" fill={colour ?? "var(--track)"} />
    {isCrossed && <path d="M2 2L12 12M12 2L2 12" stroke={SICK_CELL} stroke-width="2" />}
  </svg>;
}

/* The names with most cells. */
function namesOf(picture: Picture, mode: Mode): string[] {
  const cells = new Map<string, number>();
  for (const node of picture.nodes)
    for (const cell of node.cells) {
      const job = picture.jobs[picture.tasks[cell]?.job ?? -1];
      if (job !== undefined) {
        const name = nameIn(mode, job);
        cells.set(name, (cells.get(name) ?? 0) + 1);
      }
    }
  return [...cells].sort((a, b) => b[1] - a[1]).map(([name]) => name).filter(Boolean);
}

export function Legend({ picture, mode, named }: { picture: Picture; mode: Mode; named: (name: string) => string }) {
  const names = mode === "job" || mode === "user" || mode === "vc" ? namesOf(picture, mode) : [];
  return <ul class="legend" aria-label={t("legend")}>
    {mode === "taken" && <li><Swatch colour={TAKEN} />{t("takenCell")}</li>}
    {names.slice(0, MOST).map(name => <li key={name}><Swatch colour={named(name)} />{name}</li>)}
    {names.length > MOST && <li>{t("andMore", names.length - MOST)}</li>}
    {isMeasured(mode) && (() => {
      const [least, most, unit] = RANGES[mode as keyof typeof RANGES];
      return <>
        <li>{least} {SCALE.map(colour => <Swatch key={colour} colour={colour} />)} {most} {unit}</li>
        <li><Swatch colour={UNKNOWN} />{t("unmeasured")}</li>
      </>;
    })()}
    <li><Swatch />{t("freeCell")}</li>
    <li><Swatch isCrossed />{t("sickCell")}</li>
    <li><svg class="swatch" width="18" height="14" aria-hidden="true"><rect x="1" y="1" width="16" height="12" fill="none" stroke={SICK_CELL} stroke-width="2" stroke-dasharray="4 3" /></svg>{t("closedNode")}</li>
  </ul>;
}
