// simulation.js - traces, simulations and their reports
import { policyOf } from "./policy.js";
import { Owner, inside, known, made, thousandths, words } from "./shared.js";

const NEVER = 2n ** 63n - 1n;
const READING = ["form", "strict", "sort", "window", "model", "onLine"];
const MAKING = ["jobs", "seed", "like", "gpus", "load", "most_gpus",
                "gpus_per_node", "users", "virtual_clusters", "model", "faults"];
const SIMULATION = ["seed", "strict", "estimates", "until", "start_cost",
                    "restart_cost", "stop_cost", "checkpoint", "node_up",
                    "node_down", "fail", "patience", "stretch", "spread", "bars"];
const TOLD = ["onJob", "onLine", "log", "events"];

/** Methods that the module calls, of the functions that there are. */
function teller({ onJob, onLine, log, events }) {
  return {
    job: (text) => void onJob(JSON.parse(text)),
    line: (text) => void onLine(JSON.parse(text)),
    log: (text) => void log(text),
    event: (text) => void events(text),
  };
}

function simulationWords(options) {
  const { fail = 0, stretch = 1, spread = 0, ...rest } = options;
  const given = Object.fromEntries(Object.entries(rest).filter(
    ([name]) => SIMULATION.includes(name)));
  return words({
    ...given, fail: thousandths(fail), spread: thousandths(spread),
    stretch: stretch === 1 ? 0 : thousandths(stretch),
    policy_options: options.options && JSON.stringify(options.options),
    tell_jobs: Boolean(options.onJob), tell_lines: Boolean(options.onLine),
    tell_log: Boolean(options.log), tell_events: Boolean(options.events) });
}

export function simulationClasses(core, { Cluster }, { SchedulerView }) {
  /** A trace, which each use reads from its start. */
  class Trace {
    #open;

    constructor(open) {
      this.#open = open;
      open().free(); // what is wrong is told at once
    }

    static parse(text, options = {}) {
      const { onLine, ...rest } = known(options, READING);
      return new Trace(() => core.Trace.parse(
        text, words({ ...rest, tell: Boolean(onLine) }), onLine && teller({ onLine })));
    }

    static generate(options = {}) {
      const { load = 0.8, virtual_clusters: vcs = 0, like = "philly", jobs = 1000,
              ...rest } = known(options, MAKING);
      const names = Array.isArray(vcs) ? vcs : [];
      const given = words({ ...rest, like, jobs, load: thousandths(load),
                            virtual_clusters: Array.isArray(vcs) ? 0 : vcs });
      return new Trace(() => core.Trace.generate(given, names));
    }

    /** For one reading; the caller frees it. */
    open() {
      return this.#open();
    }

    *[Symbol.iterator]() {
      const reading = this.open();
      try {
        for (let record; (record = reading.next()) !== null;)
          yield record;
      } finally {
        reading.free();
      }
    }

    /** The whole trace in OpenPAI's form, a line of JSON for each record. */
    text() {
      const reading = this.open(), parts = [];
      try {
        for (let part; (part = reading.lines()) !== "";)
          parts.push(part);
      } finally {
        reading.free();
      }
      return parts.join("");
    }
  }

  class SimReport extends Owner {
    constructor(object) {
      super(object);
      Object.assign(this, object.look());
      Object.freeze(this);
    }

    static parse(text) {
      return new SimReport(core.SimReport.parse(text));
    }

    toJson() { return written([this], "json"); }
    toCsv() { return written([this], "csv"); }
    toHtml() { return written([this], "html"); }
    toString() { return written([this], "text"); }
  }

  function written(reports, form) {
    const all = core.Reports.make();
    try {
      reports.forEach((report) => all.add(inside(report, SimReport)));
      return all.write(form);
    } finally {
      all.free();
    }
  }

  class Comparison {
    constructor(reports) {
      this.reports = Object.freeze([...reports]);
      if (this.reports.length === 0)
        throw new TypeError("there is no report to compare");
      this.reports.forEach((report) => inside(report, SimReport));
    }

    toJson() { return written(this.reports, "json"); }
    toCsv() { return written(this.reports, "csv"); }
    toHtml() { return written(this.reports, "html"); }
    toString() { return written(this.reports, "text"); }
  }

  class Simulation extends Owner {
    #at = 0;

    constructor(cluster, trace, given = {}) {
      const options = known(given, ["policy", "options", ...SIMULATION, ...TOLD]);
      if (!(trace instanceof Trace))
        throw new TypeError("a Trace is wanted");
      const reading = trace.open();
      try {
        super(core.Simulation.make(
          inside(cluster, Cluster), reading, simulationWords(options),
          policyOf(options.policy ?? "fifo"), teller(options)));
      } finally {
        reading.free();
      }
    }

    step(until) {
      const more = this[made].step(until ?? NEVER);
      this.#at = more && until !== undefined ? until : 0;
      return more;
    }

    run() {
      this.step();
      return this.report();
    }

    report() {
      return new SimReport(this[made].report());
    }

    get scheduler() {
      const view = new SchedulerView(this[made].view());
      view.owner = this; // keeps what is seen alive
      return view;
    }

    get now() {
      return Math.max(this.#at, this.scheduler.now);
    }
  }

  function simulate(cluster, trace, options = {}) {
    const simulation = new Simulation(cluster, trace, options);
    try {
      return simulation.run();
    } finally {
      simulation.free();
    }
  }

  return { Trace, Simulation, SimReport, Comparison, simulate,
           compare: (reports) => new Comparison(reports) };
}
