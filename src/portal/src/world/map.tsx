// map.tsx - the machine map: every GPU a cell, or every processor of a machine without GPUs
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { duration } from "../format";
import { go, jobAddress } from "../router";
import { t } from "../texts";
import { colouring, isMeasured, RANGES, type Mode } from "./colours";
import { draw, type Readings } from "./draw";
import { cornerOf, layoutOf, spotAt, type Spot } from "./layout";
import { Legend } from "./legend";
import { FREE, nameIn, type MapJob, type Picture } from "./picture";

function jobAt(picture: Picture, spot: Spot | null): number | null {
  const task = spot === null ? undefined : picture.tasks[picture.nodes[spot.node]?.cells[spot.cell] ?? FREE];
  return task?.job ?? null;
}

/* What is known of a cell, in a line. */
function textOf(picture: Picture, spot: Spot, mode: Mode, readings: Readings): string {
  const node = picture.nodes[spot.node]!, task = node.cells[spot.cell]!;
  const value = readings[spot.node]?.[spot.cell];
  const job = picture.jobs[picture.tasks[task]?.job ?? -1];
  return [
    `${node.name} ${t(node.unit === "gpu" ? "gpuNumber" : "cpuNumber", spot.cell)}`,
    node.state !== "up" ? `${node.state}${node.why ? `: ${node.why}` : ""}` : "",
    node.sick.includes(spot.cell) ? t("sickCell") : "", task === FREE ? t("freeCell") : "",
    job === undefined ? "" : [job.name, job.vc, duration((picture.now - job.since) / 1e6)].filter(Boolean).join(", "),
    value !== undefined && isMeasured(mode) ? `${Math.round(value)} ${RANGES[mode as keyof typeof RANGES][2]}` : "",
  ].filter(Boolean).join(" · ");
}

/** A link to a job that the map shows. */
export function JobLink({ job }: { job: MapJob }) {
  return job.user === "" ? <>{job.name}</> : <a href={jobAddress(job.name)}>{job.name}</a>;
}

const STEPS: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/* The cell that an arrow leads to: along the cells, or to the node before or behind. */
function moved(picture: Picture, { node, cell }: Spot, [nodes, cells]: [number, number]): Spot {
  const last = picture.nodes.length - 1;
  if (nodes !== 0) {
    const to = Math.max(0, Math.min(node + nodes, last));
    return { node: to, cell: Math.min(cell, picture.nodes[to]!.cells.length - 1) };
  }
  if (cell + cells >= 0 && cell + cells < picture.nodes[node]!.cells.length)
    return { node, cell: cell + cells };
  const to = node + cells;
  return to < 0 || to > last ? { node, cell } : { node: to, cell: cells > 0 ? 0 : picture.nodes[to]!.cells.length - 1 };
}

const NONE: Readings = [];

export function MachineMap({ picture, mode, readings = NONE }: { picture: Picture; mode: Mode; readings?: Readings }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [spot, setSpot] = useState<Spot | null>(null);
  const tapped = useRef<Spot | null>(null);
  const [theme, setTheme] = useState(0);
  const layout = useMemo(() => width === 0 ? null : layoutOf(picture.nodes, width), [picture, width]);
  const named = useMemo(() => colouring(picture.tasks.map(task => nameIn(mode, picture.jobs[task.job]!))), [picture, mode]);
  const job = jobAt(picture, spot);
  const shown = spot !== null && picture.nodes[spot.node]?.cells[spot.cell] !== undefined ? spot : null;

  useLayoutEffect(() => {
    const measured = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    const themed = new MutationObserver(() => setTheme(before => before + 1));
    measured.observe(box.current!);
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
    return () => { measured.disconnect(); themed.disconnect(); };
  }, []);
  useEffect(() => {
    if (layout === null)
      return;
    const frame = requestAnimationFrame(() => draw(canvas.current!, picture, layout, { mode, readings, named, job }));
    return () => cancelAnimationFrame(frame);
  }, [picture, layout, mode, readings, named, job, theme]);

  const point = (event: MouseEvent): Spot | null => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    return layout === null ? null : spotAt(layout, event.clientX - left, event.clientY - top);
  };
  const open = (at: Spot | null) => {
    const found = jobAt(picture, at);
    if (found !== null && picture.jobs[found]!.user !== "")
      go(jobAddress(picture.jobs[found]!.name));
  };
  function onKey(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setSpot(before => before === null || picture.nodes[before.node] === undefined ? { node: 0, cell: 0 } : moved(picture, before, step));
    } else if (event.key === "Enter") {
      open(shown);
    } else if (event.key === "Escape") {
      setSpot(null);
    }
  }

  /* A finger has no other way to ask what a cell is: its second tap opens the job. */
  function onClick(event: MouseEvent): void {
    const at = point(event);
    if ((event as PointerEvent).pointerType === "touch" && (at === null || at.node !== tapped.current?.node || at.cell !== tapped.current.cell)) {
      tapped.current = at;
      setSpot(at);
      return;
    }
    open(at);
  }

  const [x, y] = shown !== null && layout !== null ? cornerOf(layout, shown) : [0, 0];
  return <div class="machines">
    <div ref={box} class="machine-map" role="application" tabIndex={0} aria-label={t("machineMap")} aria-describedby="machine-keys machine-cell"
      onKeyDown={onKey} onFocus={() => { if (spot === null && box.current?.matches(":focus-visible")) setSpot({ node: 0, cell: 0 }); }} onBlur={() => setSpot(null)} onMouseLeave={() => setSpot(null)}>
      <canvas ref={canvas} style={{ width: `${width}px`, height: `${layout?.height ?? 0}px` }} class={job !== null ? "leads" : undefined} aria-hidden="true"
        onMouseMove={event => setSpot(point(event))}
        onClick={onClick} />
      {shown !== null && layout !== null && <svg class="machine-spot" aria-hidden="true" width={layout.cell + 6} height={layout.cell + 6} style={{ left: `${x - 3}px`, top: `${y - 3}px` }}>
        <rect x="1" y="1" width={layout.cell + 4} height={layout.cell + 4} rx="3" />
      </svg>}
    </div>
    <p id="machine-cell" class="machine-cell" role="status">{shown === null ? "" : textOf(picture, shown, mode, readings)}</p>
    <Legend picture={picture} mode={mode} named={named} />
    <p id="machine-keys" class="hidden">{t("mapKeys")}</p>
  </div>;
}
