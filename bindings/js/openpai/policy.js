// policy.js - policies that are written in JavaScript
import { made } from "./shared.js";

/** What a scheduler shows; a policy's host, as well. */
export class Views {
  constructor(sched) {
    this[made] = sched;
  }

  get now() { return this[made].now(); }
  get sums() { return this[made].sums(); }
  get requests() { return this[made].requests(); }
  get queue() { return this.requests.filter((request) => request.waiting > 0); }
  get nodes() { return this[made].nodes(); }
  get virtualClusters() { return this[made].virtual_clusters(); }
  get running() { return this[made].running(); }

  request(id) { return this[made].request(id); }
  places(id, instance = 0) { return this[made].places(id, instance); }
}

export class PolicyHost extends Views {
  /** Ids of the requests that may start, by turn. */
  *waiting() {
    for (let id = 0; (id = this[made].next_waiting(id)) !== 0;)
      yield id;
  }

  placed() {
    return this[made].placed().map(([id, instance]) => ({ id, instance }));
  }

  node(number) {
    return this[made].node(number);
  }

  start(id, { place = "topo", beyondShare = false } = {}) {
    return this[made].start(id, place, beyondShare, false);
  }

  startOver(id, { place = "topo", beyondShare = false } = {}) {
    return this[made].start(id, place, beyondShare, true);
  }

  startAt(id, places) {
    return this[made].start_at(id, places.flatMap(placed), false);
  }

  claimAt(id, places) {
    return this[made].start_at(id, places.flatMap(placed), true);
  }

  preempt(id, instance = 0, by = 0) {
    this[made].preempt(id, instance, by);
  }

  resize(id, instance, want, tasks) {
    return this[made].resize(id, instance, want, tasks);
  }

  refuse(id, text = null, more = {}) {
    const { lack = "policy", node = null, behind = 0, until = 0 } = more;
    this[made].refuse(id, lack, text, node, behind, until);
  }
}

/** { node: name or number, gpus: numbers } as three words. */
function placed({ node, gpus = [] }) {
  const named = typeof node === "string";
  return [named ? node : "", named ? "0" : String(node), gpus.join(",")];
}

/** The methods that the module calls (facade/policy.c). */
class Adapter {
  constructor(policy) {
    this.policy = policy;
    this.name = policy.name || policy.constructor.name;
    this.lends = policy.lends === true;
    this.hears = typeof policy.event === "function";
  }

  open(host, options) {
    const given = JSON.parse(options);
    if (this.policy.open !== undefined)
      this.policy.open(new PolicyHost(host), given);
    else if (Object.keys(given).length > 0)
      throw new TypeError(`${this.name} takes no options: it has no open()`);
  }

  decide(host) {
    this.policy.decide(new PolicyHost(host));
  }

  event(host, event) {
    this.policy.event(new PolicyHost(host), JSON.parse(event));
  }

  clone() {
    return new Adapter(this.policy.clone !== undefined
      ? this.policy.clone() : copied(this.policy));
  }

  save() {
    return JSON.stringify(this.policy.save !== undefined
      ? this.policy.save() : state(this.policy));
  }

  load(host, both) {
    const [options, saved] = JSON.parse(both);
    this.policy.open?.(new PolicyHost(host), options);
    if (this.policy.load !== undefined)
      this.policy.load(saved);
    else
      Object.assign(this.policy, saved);
  }
}

/** The fields of a policy: no functions, and not what the scheduler keeps. */
function state(policy) {
  return Object.fromEntries(Object.entries(policy).filter(
    ([name, value]) => typeof value !== "function" &&
      name !== "name" && name !== "lends"));
}

function copied(policy) {
  const copy = Object.create(Object.getPrototypeOf(policy));
  for (const [name, value] of Object.entries(policy))
    copy[name] = typeof value === "function" ? value : structuredClone(value);
  return copy;
}

/** What the module takes for a policy: a name, a function, or an object. */
export function policyOf(policy) {
  if (policy === null || policy === undefined || typeof policy === "string")
    return policy ?? null;
  if (typeof policy === "function")
    policy = { name: policy.name || "javascript", decide: policy };
  if (typeof policy.decide !== "function")
    throw new TypeError("a policy is a name, a function, or an object with decide()");
  return new Adapter(policy);
}
