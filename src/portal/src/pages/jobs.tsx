// jobs.tsx - the list of jobs, and the page of each of them below its address
import { lazy } from "../parts/lazy";
import { parts } from "../router";
import { JobList } from "./job_list";

const Job = lazy(() => import("./job/job"), "Job");

export function Jobs() {
  const job = parts.value[1];
  return job === undefined ? <JobList /> : <Job key={job} />; // nothing of one job on the page of another
}
