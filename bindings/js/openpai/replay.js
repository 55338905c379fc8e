// replay.js - logs of schedulers, which can be asked at any time of them
import { policyOf } from "./policy.js";
import { decisions } from "./scheduler.js";
import { Owner, known, made, words } from "./shared.js";

const NEVER = 2n ** 63n - 1n;

/** The class Replay of a core. */
export function replayClass(core, { SchedulerView }) {
  class Replay extends Owner {
    static parse(text, given = {}) {
      const { policy = null, options, check = false } = known(given, [
        "policy", "options", "check"]);
      return new Replay(core.Replay.parse(text, words({
        policy_options: options && JSON.stringify(options), check }), policyOf(policy)));
    }

    /** The times of the first and of the last line. */
    get range() { return this[made].range(); }

    /** Goes to a time, later or earlier: all lines up to then were taken. */
    at(time) {
      this[made].to(this.time(time));
      return this.scheduler;
    }

    /** Takes the next line, unless it is later; false: there is none. */
    step(until) {
      return this[made].step(until === undefined ? NEVER : this.time(until));
    }

    /** As it was; it goes where the replay goes. fork() keeps one. */
    get scheduler() {
      const view = new SchedulerView(this[made].view());
      view.owner = this; // keeps what is seen alive
      return view;
    }

    /** What the line of the last step has decided. */
    get decisions() { return decisions(this[made].decisions()); }
    get line() { return this[made].line(); }
    get skipped() { return this[made].skipped(); }

    time(time) {
      return typeof time === "string" ? this[made].time(time) : time;
    }

    showTime(time) { return this[made].show_time(time); }
  }

  return { Replay };
}
