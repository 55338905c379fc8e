// list.ts - the jobs of a cluster: pages, a filter, and what events change of them

import type { JobItem, JobPage, State } from "../api";
import type { Arguments, JobEvent } from "../helper/protocol";
import { jobId } from "./names";

export interface Filter {
  keyword?: string;
  states?: State[];
  user?: string;
}

export type Ask = (args: Arguments<"jobs.list">) => Promise<JobPage>;

/** What an event has changed: nothing, what is shown, or more than the event says. */
export type Change = "none" | "shown" | "ask";

const idOf = (job: JobItem): string => jobId(job.username, job.name);

export class JobList {
  jobs: JobItem[] = [];
  total = 0;
  private asked = 0;

  constructor(private readonly ask: Ask, readonly pageSize: number, public filter: Filter = {}) {}

  /** Loads what is shown again: the first page, or as many jobs as there were. */
  async load(): Promise<void> {
    const turn = ++this.asked;
    const page = await this.page(0, Math.max(this.pageSize, this.jobs.length));
    if (turn === this.asked) // else a later question is the one that counts
      [this.jobs, this.total] = [page.data, page.totalCount];
  }

  /** Adds a page; a job that moved meanwhile is not shown twice. */
  async more(): Promise<void> {
    const turn = ++this.asked;
    const page = await this.page(this.jobs.length, this.pageSize);
    if (turn !== this.asked)
      return;
    const known = new Set(this.jobs.map(idOf));
    this.jobs = [...this.jobs, ...page.data.filter(job => !known.has(idOf(job)))];
    this.total = page.totalCount;
  }

  get hasMore(): boolean {
    return this.jobs.length < this.total;
  }

  find(id: string): JobItem | undefined {
    return this.jobs.find(job => idOf(job) === id);
  }

  apply(event: JobEvent): Change {
    const job = this.find(event.job), state = event.state as State;
    if (job === undefined)
      return "ask"; // a new one, or one that the filter left out
    if (job.state === state)
      return "none";
    job.state = state;
    // Times, codes and whether the filter still takes it are the server's to say.
    return event.final || state === "RUNNING" || this.filter.states !== undefined ? "ask" : "shown";
  }

  private page(offset: number, limit: number): Promise<JobPage> {
    const { keyword, states, user } = this.filter;
    return this.ask({
      offset, limit, withTotalCount: true, ...(keyword ? { keyword } : {}),
      ...(states?.length ? { state: states } : {}), ...(user ? { username: [user] } : {}),
    });
  }
}
