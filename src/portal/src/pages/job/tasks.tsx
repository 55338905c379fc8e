// tasks.tsx - the tasks of a job, by role
import type { Task } from "../../api";
import { time } from "../../format";
import { Lasted } from "../../parts/lasted";
import { State } from "../../parts/state";
import { jobAddress } from "../../router";
import { t, type TextKey } from "../../texts";
import type { OfJob } from "./job";

const NUMBERS: TextKey[] = ["retries", "duration", "exitCode"];
const COLUMNS: TextKey[] = ["task", "state", "retries", "node", "address", "ports", "gpus", "started", "duration", "exitCode"];

function ports(task: Task): string {
  return Object.entries(task.containerPorts).map(([label, port]) => `${label}: ${String(port)}`).join(", ");
}

function Row({ name, role, task }: { name: string; role: string; task: Task }) {
  const gpus = Array.isArray(task.containerGpus) ? task.containerGpus.join(", ") : "";
  return <tr>
    <td><a href={`${jobAddress(name, "logs")}?task=${encodeURIComponent(`${role}/${task.taskIndex}`)}`}>{task.taskIndex}</a></td>
    <td><State of={task.taskState} /></td>
    <td class="number">{task.retries}</td>
    <td>{task.containerNodeName}</td><td>{task.containerIp}</td><td>{ports(task)}</td><td>{gpus}</td>
    <td>{time(task.launchedTime)}</td><td class="number"><Lasted from={task.launchedTime} to={task.completedTime} /></td>
    <td class="number" title={task.containerExitSpec?.reason ?? undefined}>{task.containerExitCode}</td>
  </tr>;
}

export function Tasks({ name, job }: OfJob) {
  return <>{Object.entries(job.taskRoles).map(([role, of]) => <section key={role}>
    <h2>{role}</h2>
    <div class="wide" tabIndex={0} role="region" aria-label={role}><table>
      <thead><tr>{COLUMNS.map(text => <th key={text} scope="col" class={NUMBERS.includes(text) ? "number" : undefined}>{t(text)}</th>)}</tr></thead>
      <tbody>{of.taskStatuses.map(task => <Row key={task.taskIndex} name={name} role={role} task={task} />)}</tbody>
    </table></div>
  </section>)}</>;
}
