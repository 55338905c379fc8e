// picture.ts - what a scheduler shows of machines and jobs at one moment
//
// The worker makes it, of the present or of a moment of the log; pages draw it.
import type { Place, Request, SchedNode, SchedVirtualCluster, SchedulerView } from "openpai";

/** Cells that no task has. */
export const FREE = -1, SICK = -2;

export interface MapNode {
  name: string;
  state: string;
  why?: string;
  /** What its cells are: GPUs, or processors where it has no GPU. */
  unit: "gpu" | "cpu";
  /** Of each cell, which of the picture's tasks has it, or FREE or SICK. */
  cells: number[];
  /** Faulty cells, also those that a task still has. */
  sick: number[];
  cpus: number;
  freeCpus: number;
  memory: number;
  freeMemory: number;
}

export interface MapTask {
  /** Which of the picture's jobs. */
  job: number;
  /** Absent: the job has one task role. */
  role?: string;
  index: number;
  cpus: number;
}

export interface MapJob {
  id: number;
  /** Name with its user. */
  name: string;
  user: string;
  vc: string;
  state: string;
  submitted: number;
  /** When it got its place; 0: it waits. */
  since: number;
  gpus: number;
  cpus: number;
  tasks: number;
  priority: number;
  /** What it lacks, if it waits. */
  lack?: string;
}

export interface Picture {
  /** Microseconds since 1970. */
  now: number;
  policy: string;
  nodes: MapNode[];
  tasks: MapTask[];
  /** By turn. */
  jobs: MapJob[];
  clusters: SchedVirtualCluster[];
}

/** What tells jobs apart in a mode of the map. */
export function nameIn(mode: string, job: MapJob): string {
  return mode === "job" ? job.name : mode === "user" ? job.user : job.vc;
}

function jobOf(request: Request, since: number): MapJob {
  const sum = (of: (want: Request["wants"][number]) => number) =>
    request.wants.reduce((total, want) => total + want.tasks * of(want), 0);
  const user = request.user ?? "", name = request.name ?? "";
  return {
    id: request.id, name: user === "" ? name : `${user}~${name}`, user, vc: request.vc ?? "",
    state: request.waiting > 0 && request.running === 0 ? "WAITING" : request.state === "stopping" ? "STOPPING" : "RUNNING",
    submitted: request.submitted, since, priority: request.priority,
    gpus: sum(want => want.gpus), cpus: sum(want => want.cpus ?? 0), tasks: sum(() => 1),
    ...request.lack !== undefined && { lack: request.lack },
  };
}

function nodeOf(node: SchedNode): MapNode {
  const unit = node.gpus > 0 ? "gpu" : "cpu";
  const cells = Array<number>(unit === "gpu" ? node.gpus : node.cpus).fill(FREE);
  const sick = unit === "gpu" ? node.sick_gpus : [];
  for (const gpu of sick)
    cells[gpu] = SICK;
  return {
    name: node.name, state: node.state, unit, cells, sick,
    cpus: node.cpus, freeCpus: node.free_cpus, memory: node.memory, freeMemory: node.free_memory,
    ...node.why !== undefined && { why: node.why },
  };
}

/* Numbers of a list as "0-3,8". */
function numbersOf(list: string): number[] {
  return list.split(",").filter(part => part !== "").flatMap(part => {
    const [from = 0, to = from] = part.split("-").map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
}

/* Processors that a task has, as cells: those that it was given, or the first free ones. */
function take(node: MapNode, place: Place, cpus: number, task: number): void {
  if (node.unit === "gpu") {
    for (const gpu of place.gpus ?? [])
      node.cells[gpu] = task;
    return;
  }
  const given = numbersOf(place.cpus ?? "").filter(cell => node.cells[cell] === FREE);
  for (const cell of given)
    node.cells[cell] = task;
  for (let left = Math.max(1, Math.round(cpus)) - given.length; left > 0; left--) {
    const free = node.cells.indexOf(FREE);
    if (free < 0)
      return;
    node.cells[free] = task;
  }
}

/** What a scheduler shows; `now`: the moment that is meant, if it is later than its last event. */
export function pictureOf(view: SchedulerView, now = view.now): Picture {
  const nodes = view.nodes.map(nodeOf);
  const byName = new Map(nodes.map(node => [node.name, node]));
  const requests = view.requests;
  const since = new Map<number, number>();
  const running = view.running;
  for (const { id, started } of running)
    since.set(id, Math.min(started, since.get(id) ?? started));
  const jobs = requests.map(request => jobOf(request, since.get(request.id) ?? 0));
  const at = new Map(requests.map((request, i) => [request.id, i]));
  const tasks: MapTask[] = [];
  for (const { id, instance } of running) {
    const job = at.get(id);
    if (job === undefined)
      continue;
    for (const place of view.places(id, instance)) {
      const node = byName.get(place.node), cpus = requests[job]!.wants[place.want]?.cpus ?? 0;
      if (node !== undefined)
        take(node, place, cpus, tasks.length);
      tasks.push({ job, index: place.index, cpus, ...place.name !== undefined && { role: place.name } });
    }
  }
  return { now, policy: view.sums.policy, nodes, tasks, jobs, clusters: view.virtualClusters };
}
