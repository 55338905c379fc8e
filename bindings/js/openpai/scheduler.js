// scheduler.js - schedulers: events go in, decisions come out
import { Views, policyOf } from "./policy.js";
import { inside, known, made, thousandths } from "./shared.js";

const NEVER = 2 ** 63; // INT64_MAX, as a number
const WANT = ["tasks", "gpus", "cpus", "memory", "ports", "type", "min_tasks"];

/** Names as Decision has them. */
function decided({ decision, tasks, places = [], ...rest }) {
  return { kind: decision, ...rest, count: tasks,
           tasks: places.map((place) => ({ gpus: [], ...place })) };
}

export function decisions(list) {
  return list === null ? null : list.map(decided);
}

/** CPUs in whole thousandths: 0.1 + 0.2 is 0.3. */
function exact(want) {
  return want.cpus === undefined ? want
    : { ...want, cpus: thousandths(want.cpus) / 1000 };
}

function requestOf(given) {
  const request = {}, want = {};
  for (const [name, value] of Object.entries(given))
    (WANT.includes(name) ? want : request)[name] = value;
  if (request.wants !== undefined && Object.keys(want).length > 0)
    throw new TypeError("tasks are described by wants, or without it");
  request.wants = (request.wants ?? [want]).map(exact);
  if (request.after !== undefined)
    request.after = request.after.map(
      (one) => (typeof one === "object" ? one : { id: one }));
  return request;
}

function tell(scheduler, event, time, what) {
  scheduler.send({ time: time ?? scheduler.now, event, ...what });
}

function choose(scheduler, beside, policy, options, time) {
  scheduler[made].policy(time ?? scheduler.now, beside,
                         options && JSON.stringify(options), policyOf(policy));
}

/** The classes of a core that show and drive a scheduler. */
export function schedulerClasses(core, { Cluster }, futures) {
  class SchedulerView extends Views {
    get nextTime() {
      const time = this[made].next_time();
      return time < NEVER ? time : null;
    }

    explain(id) { return this[made].explain(id); }

    reason(id) {
      const { failed = {}, ...rest } = this[made].explain_json(id);
      return { ...rest, nodes_failed: failed };
    }

    fork() { return Scheduler.of(this[made].fork()); }
    save() { return this[made].save(); }
  }
  futures(SchedulerView, core, Cluster);

  class Scheduler extends SchedulerView {
    constructor(cluster, given = {}) {
      const { policy = "fifo", options = {}, firstPort = 0, lastPort = 0,
              unchecked = false } = known(given, [
        "policy", "options", "firstPort", "lastPort", "unchecked"]);
      super(core.Scheduler.make(inside(cluster, Cluster), JSON.stringify(options),
                                firstPort, lastPort, unchecked, policyOf(policy)));
    }

    static of(object) {
      const scheduler = Object.create(Scheduler.prototype);
      scheduler[made] = object;
      return scheduler;
    }

    static load(text, { policy = null, shadow = null } = {}) {
      return Scheduler.of(core.Scheduler.load(text, policyOf(policy),
                                              policyOf(shadow)));
    }

    /** The decisions of a log, from its lines. */
    static *replay(lines, policies = {}) {
      let scheduler = null;
      try {
        for (const line of lines)
          if (scheduler === null)
            scheduler = Scheduler.load(line, policies);
          else if (line.trim() !== "" && scheduler[made].send({ text: line }) > 0)
            yield* scheduler.decisions;
      } finally {
        scheduler?.free();
      }
    }

    free() {
      this[made].free();
    }

    // --- events ---

    send(event) {
      this[made].send({ text: typeof event === "string" ? event
        : JSON.stringify({ time: this.now, ...event }) });
    }

    submit(request, time) {
      tell(this, "submit", time, { request: requestOf(request) });
    }

    change(id, what, time) {
      const { want, ...changes } = what;
      for (const [key, value] of Object.entries(changes))
        tell(this, "change", time, { id, key, want,
          value: typeof value === "boolean" ? Number(value) : value });
    }

    cancel(id, instance, time) { tell(this, "cancel", time, { id, instance }); }
    started(id, instance = 0, time) { tell(this, "started", time, { id, instance }); }

    finished(id, { instance = 0, code = 0, time } = {}) {
      tell(this, "finished", time, { id, instance, code });
    }

    returned(id, instance = 0, time) { tell(this, "returned", time, { id, instance }); }
    resized(id, instance = 0, time) { tell(this, "resized", time, { id, instance }); }

    node(node, state, { why, gpu, time } = {}) {
      tell(this, "node", time, { node, state, why, gpu });
    }

    cluster(cluster, time) {
      this[made].cluster(inside(cluster, Cluster), time ?? this.now);
    }

    setPolicy(policy, options = null, time) {
      choose(this, false, policy, options, time);
    }

    setShadow(policy, options = null, time) {
      choose(this, true, policy, options, time);
    }

    // --- decisions ---

    decide(now) {
      return decisions(this[made].decide(now ?? this.now));
    }

    get decisions() { return decisions(this[made].decisions()); }
    get shadowDecisions() { return decisions(this[made].beside()); }

    log(write, { snapshots = false, every = 0 } = {}) {
      this[made].log_options(snapshots, every);
      this[made].log(write && { write: (line) => void write(line) });
    }
  }
  if (Symbol.dispose !== undefined)
    Object.defineProperty(Scheduler.prototype, Symbol.dispose, {
      value() { this.free(); } });

  return { Scheduler, SchedulerView };
}
