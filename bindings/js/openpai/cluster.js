// cluster.js - descriptions of clusters
import { Owner, known, made } from "./shared.js";

/** The class Cluster of a core. */
export function clusterClass(core) {
  class Cluster extends Owner {
    static parse(text, form = null) {
      return new Cluster(core.Cluster.parse(text, form));
    }

    static synthetic(description) {
      return new Cluster(core.Cluster.synthetic(description));
    }

    static check(text, form = null) {
      return core.Cluster.check(text, form);
    }

    get sums() { return this[made].sums(); }
    get nodeCount() { return this[made].node_count(); }
    get skus() { return this[made].skus(); }
    get virtualClusters() { return this[made].virtual_clusters(); }

    get nodes() {
      return Array.from({ length: this.nodeCount }, (_, i) => this[made].node(i));
    }

    node(node) {
      return this[made].node(node);
    }

    setSick(node, why, gpu = -1) {
      this[made].set_sick(node, why, gpu);
    }

    toYaml() { return this[made].to_yaml(); }
    toJson() { return this[made].to_json(); }
    toHived(format = "yaml") { return this[made].to_hived(format); }

    text(options = {}) {
      const { marks = [], colour = false } = known(options, ["marks", "colour"]);
      return this[made].text(marks.flatMap(marked), colour);
    }

    svg(options = {}) {
      const { marks = [] } = known(options, ["marks"]);
      return this[made].svg(marks.flatMap(marked));
    }

    toString() {
      return this.text();
    }
  }

  return { Cluster };
}

/** { node, gpu, state, text } as four words. */
function marked({ node = "", gpu, state = "used", text = "" }) {
  return [node, String(gpu), state, text];
}
