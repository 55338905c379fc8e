// jobs.tsx - the list of jobs, and below its address the page of each of them and of two at once
import { lazy } from "../parts/lazy";
import { parts } from "../router";
import { JobList } from "./job_list";

const Job = lazy(() => import("./job/job"), "Job");
const Compare = lazy(() => import("./job/compare"), "Compare");

export function Jobs() {
  const job = parts.value[1];
  if (job === undefined)
    return <JobList />;
  return job === "compare" ? <Compare /> : <Job key={job} />; // nothing of one job on the page of another
}
