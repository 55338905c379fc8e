// job.js - job files: checking, reading, writing, editing
import { Owner, inside, known, made, words } from "./shared.js";

const NONE = "PAI_ENOTFOUND";

function form(options) {
  const { version = 0, hived = false } = known(options, ["version", "hived"]);
  return [version, hived];
}

/** The classes Job and Draft of a core. */
export function jobClasses(core) {
  class Job extends Owner {
    static parse(text) {
      return new Job(core.Job.parse(text));
    }

    static check(text, options = {}) {
      return core.Job.check(text, ...form(options));
    }

    static fix(text, options = {}) {
      return core.Job.fix(text, ...form(options));
    }

    static convert(text) {
      const job = Job.parse(text);
      try {
        return job.toYaml({ secrets: true });
      } finally {
        job.free();
      }
    }

    static placeAt(text, line, column) {
      return core.Job.at(text, line, column);
    }

    static placeOf(text, pointer) {
      return core.Job.range(text, pointer);
    }

    static schema(version = 2) {
      return JSON.parse(core.Job.schema(version));
    }

    get name() { return this[made].name(); }
    get retryCount() { return this[made].retry_count(); }
    get taskCount() { return this[made].task_count(); }
    get virtualCluster() { return this[made].virtual_cluster(); }
    get deployment() { return this[made].deployment(); }
    get description() { return this[made].description(); }
    get contributor() { return this[made].contributor(); }
    get gang() { return this[made].gang(); }
    get roles() { return this[made].roles(); }
    get prerequisites() { return this[made].prerequisites(); }
    get notes() { return this[made].notes(); }
    get unresolved() { return this[made].unresolved(); }
    get missingSecrets() { return this[made].missing_secrets(); }

    render() {
      return Object.fromEntries(this.roles.map((role) => [role.name, role.script]));
    }

    masked() {
      return new Job(this[made].masked());
    }

    toYaml({ secrets = false } = {}) {
      return this[made].to_yaml(secrets);
    }

    toJson({ secrets = false } = {}) {
      return this[made].to_json(secrets);
    }

    get(place) {
      return found(() => this[made].get(place));
    }

    dockerConfig() {
      return this[made].docker_config();
    }

    explain() {
      return this[made].explain();
    }

    explainJson() {
      return JSON.parse(this[made].explain_json());
    }

    diff(other) {
      return this[made].diff(inside(other, Job));
    }

    with(options) {
      const { after, ...rest } = known(options, [
        "time", "after", "virtual_cluster", "priority"]);
      return new Job(this[made].with_options(words({
        ...rest, after: after?.length > 0 ? [after].flat().join(",") : null })));
    }

    edit() {
      return new Draft(this.toYaml({ secrets: true }));
    }

    toString() {
      return this.name;
    }
  }

  class Draft extends Owner {
    constructor(text = "") {
      super(core.Draft.make(text));
    }

    get text() {
      return this[made].text();
    }

    set(place, value) {
      this[made].set(place, typeof value === "string"
        ? { text: value } : { yaml: JSON.stringify(value) });
      return this;
    }

    setYaml(place, yaml) {
      this[made].set_yaml(place, yaml);
      return this;
    }

    get(place) {
      return found(() => this[made].get(place));
    }

    unset(place) {
      this[made].unset(place);
      return this;
    }

    format() {
      this[made].format();
      return this;
    }

    job() {
      return new Job(this[made].job());
    }

    check(options = {}) {
      return this[made].check(...form(options));
    }

    toString() {
      return this.text;
    }
  }

  return { Job, Draft };
}

/** A value, which undefined says there is not. */
function found(get) {
  try {
    return JSON.parse(get());
  } catch (error) {
    if (error.code === NONE)
      return undefined;
    throw error;
  }
}
