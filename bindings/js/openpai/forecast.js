// forecast.js - what will be: when requests start, what a change would do
import { Owner, inside, known, made, words } from "./shared.js";

const PAST = ["user", "vc", "name", "gpus", "estimate", "limit", "duration"];
const FUTURE = ["history", "runs", "seed", "horizon", "arrivals"];

export function forecastClasses(core) {
  class History extends Owner {
    constructor() {
      super(core.History.make());
    }

    static load(text) {
      const history = Object.create(History.prototype);
      history[made] = core.History.load(text);
      return history;
    }

    add(past) {
      this[made].add(words(known(past, PAST)));
    }

    guess({ ran = 0, ...past } = {}) {
      return this[made].guess(words(known(past, PAST)), ran);
    }

    learn(scheduler, line) {
      this[made].learn(scheduler[made], line);
    }

    save() {
      return this[made].save();
    }
  }

  class Forecast extends Owner {
    constructor(object, owner) {
      super(object);
      this.owner = owner; // a WhatIf, or nothing
    }

    get all() { return this[made].all(); }
    [Symbol.iterator]() { return this.all[Symbol.iterator](); }
    when(id) { return this[made].when(id); }

    met(id, started, history) {
      this[made].met(id, started, inside(history, History));
    }

    toJson() { return this[made].write("json"); }
    toString() { return this[made].write("text"); }
  }

  class WhatIf extends Owner {
    constructor(object) {
      super(object);
      Object.assign(this, object.look());
    }

    get before() { return new Forecast(this[made].before(), this); }
    get after() { return new Forecast(this[made].after(), this); }
    toJson() { return this[made].write("json"); }
    toString() { return this[made].write("text"); }
  }

  return { History, Forecast, WhatIf };
}

function line(event) {
  return typeof event === "string" ? event : JSON.stringify({ time: 0, ...event });
}

/** Adds forecast(), when(), whatIf() and changedCluster() to a class. */
export function futuresOf({ History, Forecast, WhatIf }) {
  function future(options, more = {}) {
    const { history = null, arrivals, ...rest } = known(options, FUTURE);
    return [history && inside(history, History), words({
      runs: 100, ...rest, arrivals: arrivals === false ? 2 : arrivals, ...more })];
  }

  return (View, core, Cluster) => Object.assign(View.prototype, {
    forecast(options = {}, only = 0) {
      return new Forecast(core.Forecast.make(
        this[made], ...future(options, { only })));
    },

    when(id, options = {}) {
      const forecast = View.prototype.forecast.call(this, options, id);
      try {
        return forecast.when(id);
      } finally {
        forecast.free();
      }
    },

    whatIf(events = [], { cluster = null, ...options } = {}) {
      const lines = [events].flat().map(line);
      if (cluster !== null)
        lines.push(line({ event: "cluster", cluster:
          JSON.parse(inside(cluster, Cluster).to_json()) }));
      const [history, given] = future(options);
      return new WhatIf(core.WhatIf.make(this[made], history, lines.join("\n"), given));
    },

    changedCluster({ nodes = null, shares = {}, of = null } = {}) {
      return new Cluster(core.functions.changed_cluster(
        this[made], of && inside(of, Cluster), nodes, Object.entries(shares).flat()));
    },
  });
}
