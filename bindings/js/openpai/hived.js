// hived.js - HiveD as an extender of Kubernetes' scheduler
import { Owner, made } from "./shared.js";

function json(value) {
  return typeof value === "string" || value instanceof Uint8Array
    ? value : JSON.stringify(value);
}

export function hivedClass(core) {
  class HiveD extends Owner {
    static parse(text) {
      return new HiveD(core.HiveD.parse(text));
    }

    tell(event, now = 0) {
      this[made].tell(json(event), now);
    }

    request(method, target, body = "", now = 0) {
      return this[made].request(method, target, json(body), now);
    }

    filter(args, now) { return this.request("POST", "/v1/extender/filter", args, now); }
    preempt(args, now) { return this.request("POST", "/v1/extender/preempt", args, now); }
    bind(args, now) { return this.request("POST", "/v1/extender/bind", args, now); }

    inspect(what = "clusterstatus") {
      const { status, body } = this.request("GET", "/v1/inspect/" + what);
      if (status !== 200)
        throw new Error(body ? String(JSON.parse(body)) : `there is no ${what}`);
      return JSON.parse(body);
    }

    unbound(uid, reason) {
      return this[made].unbound(uid, reason);
    }
  }

  return { HiveD };
}
