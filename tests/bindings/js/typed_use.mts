// typed_use.mts - what users of TypeScript write
import {
  Cluster, Decision, Draft, Job, OpenpaiError, PolicyHost, Replay, Role, Scheduler,
  SchedulingPolicy, SimReport, Simulation, Trace, When, compare, init, simulate,
} from "openpai";
import { Job as Checked, init as initCheck } from "openpai/check";
import { LanguageServer, init as initLanguage, serve } from "openpai/language";

class Oldest implements SchedulingPolicy {
  started = 0;

  decide(host: PolicyHost): void {
    for (const id of host.waiting())
      if (host.start(id, { place: "pack" }))
        this.started++;
  }
}

export async function use(text: string): Promise<string> {
  await Promise.all([init(), initCheck(fetch("check.wasm"))]);
  const valid: boolean = Checked.check(text, { version: 2 }).valid;
  const roles: Role[] = Job.parse(text).roles;
  const draft = new Draft(text).set("name", "other").unset("defaults");
  try {
    draft.job().free();
  } catch (error) {
    if (error instanceof OpenpaiError && error.report !== null)
      return error.report.diagnostics.map(({ line, help }) => `${line} ${help ?? ""}`).join();
  }
  const cluster = Cluster.synthetic("nodes:2 gpu:8:h100");
  const scheduler = new Scheduler(cluster, { policy: new Oldest() });
  scheduler.submit({ id: 1, gpus: 8, cpus: 0.5, vc: "vc1", after: [2, { id: 3, when: "any" }] });
  const decisions: Decision[] = scheduler.decide(0);
  const when: When = scheduler.when(1, { runs: 10 });
  const later: number | undefined = when.p90;
  const trace = Trace.generate({ jobs: 10, like: "helios" });
  const report: SimReport = simulate(cluster, trace, { policy: (host) => { host.placed(); } });
  const simulation = new Simulation(cluster, trace, { onJob: (job) => job.id });
  simulation.scheduler.fork().cancel(1);
  const sooner: number = scheduler.whatIf([{ event: "cancel", id: 1 }]).sooner;
  const [begin, end]: [number, number] = Replay.parse(text, { check: true }).range;
  // @ts-expect-error there is no such option
  simulate(cluster, trace, { sede: 1 });
  // @ts-expect-error a job does not change
  Job.parse(text).name = "other";
  return [valid, begin, end, roles.length, decisions.length, later, report.wait_mean, sooner,
          compare([report]).toHtml()].join();
}

export async function talk(port: MessagePort): Promise<number | null> {
  await initLanguage();
  const server = new LanguageServer((message: string) => console.log(message), { hived: true });
  server.receive({ method: "exit" });
  while (server.work());
  // @ts-expect-error a message is no number
  server.receive(7);
  const code: number = await serve(port, { source: fetch("language.wasm"), docs: "https://a.b" });
  return server.exitCode ?? code;
}
