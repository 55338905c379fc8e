// job.js - draws the page of a job from the messages of the extension
import { button, hint, node, section, table } from "./viewer/chart.js";
import { clean, count, duration } from "./viewer/format.js";
import { drawHistory } from "./history.js";

const vscode = acquireVsCodeApi();
const main = document.querySelector("main");
const press = (action, more = {}) => () => vscode.postMessage({ action, ...more });

const OVER = ["SUCCEEDED", "FAILED", "STOPPED"];
const clock = time => time ? new Date(time).toLocaleString() : "–";
const since = (from, to) => from ? duration(Math.max(0, ((to ?? Date.now()) - from) / 1000)) : "–";
const badge = state => node("span", { class: `state ${state}` }, state.toLowerCase());

function drawHead(job) {
  const { jobStatus: status } = job, over = OVER.includes(status.state);
  const tools = node("div", { class: "tools" }, button("Log", press("log")));
  if (status.state === "RUNNING")
    tools.append(button("Terminal", press("terminal")), button("Open port", press("port")));
  if (!over)
    tools.append(button("Stop", press("stop")));
  else
    tools.append(button("Retry", press("retry")));
  tools.append(button("Clone", press("clone")), button("Job file", press("config")));
  main.append(node("h1", {}, clean(job.name), " ", badge(status.state)),
    ...hint(`${clean(status.username)} · virtual cluster ${clean(status.virtualCluster)} · ` +
      `submitted ${clock(status.submissionTime)}`), tools);
}

function drawCards({ jobStatus: status, taskRoles }) {
  const tasks = Object.values(taskRoles).flatMap(role => role.taskStatuses);
  const cards = [
    ["waited", since(status.submissionTime, status.launchedTime ?? status.completedTime)],
    ["ran", since(status.launchedTime, status.completedTime)],
    ["tasks", count(tasks.length)],
    ["running", count(tasks.filter(task => task.taskState === "RUNNING").length)],
    ["retries", count(status.retries)],
    ["exit code", status.appExitCode ?? "–"],
  ];
  main.append(node("dl", { class: "cards" }, ...cards.map(([name, value]) =>
    node("div", {}, node("dt", {}, name), node("dd", {}, String(value))))));
}

/** Why it waits and until when, in lines, or how it ended */
function drawWhy({ jobStatus: status }, why) {
  const lines = [...why];
  if (status.state === "FAILED" || status.state === "STOPPED") {
    lines.push(status.exitReason, status.appExitSpec?.reason, status.failure?.reason,
      status.failure?.line, ...(status.failure?.solution ?? []), status.appExitDiagnostics);
    if (status.appExitTriggerTaskRoleName)
      lines.push(`Decided by ${status.appExitTriggerTaskRoleName}/${status.appExitTriggerTaskIndex}.`);
  }
  const told = [...new Set(lines.filter(Boolean))];
  if (told.length > 0)
    section(main, status.state === "WAITING" ? "Why it waits" : "How it ended").append(
      ...told.map(line => node("p", { class: "line" }, clean(line))));
}

const tasksOf = ({ taskRoles }) => Object.entries(taskRoles).flatMap(([role, { taskStatuses }]) =>
  taskStatuses.map(task => ({ role, task, name: `${role}/${task.taskIndex}` })));

const MIB = 1048576;
const percentOf = value => value === undefined ? "–" : `${Math.round(value)} %`;
const memoryOf = ({ memory, memoryLimit }) => memory === undefined ? "–"
  : `${count(memory / MIB)} ${memoryLimit ? `of ${count(memoryLimit / MIB)} ` : ""}MiB`;

function drawTasks(job, uses) {
  const some = Object.keys(uses).length > 0;
  const gpus = Object.values(uses).some(use => use.gpuPercent !== undefined);
  const used = name => {
    const use = uses[name] ?? {};
    return [...some ? [[percentOf(use.cpuPercent)], [memoryOf(use)]] : [],
      ...gpus ? [[percentOf(use.gpuPercent)]] : []];
  };
  const rows = tasksOf(job).slice(0, 500).map(({ role, task, name }) => [clean(name), [
    [badge(task.taskState)], [task.containerExitCode ?? ""], [clean(task.containerNodeName ?? "–")],
    [since(task.launchedTime, task.completedTime)], [count(task.retries)], ...used(name),
    [node("span", { class: "tools" }, button("Log", press("log", { role, index: task.taskIndex })),
      ...task.taskState === "RUNNING"
        ? [button("Terminal", press("terminal", { role, index: task.taskIndex }))] : [])],
  ], task.runtime ?? undefined]);
  table(main, "Tasks", "", ["state", "code", "node", "ran", "retries",
    ...some ? ["CPU", "memory"] : [], ...gpus ? ["GPU"] : [], ""], rows);
}

/** A bar for each task: waiting, then running */
function drawTimeline(job) {
  const tasks = tasksOf(job).slice(0, 60), begin = job.jobStatus.submissionTime;
  const end = job.jobStatus.completedTime ?? Date.now(), whole = Math.max(end - begin, 1);
  const part = (from, to, state) => {
    const bar = node("i", { class: state, title: `${state.toLowerCase()} for ${since(from, to)}` });
    bar.style.left = `${(from - begin) / whole * 100}%`;
    bar.style.width = `${Math.max((to - from) / whole * 100, 0.3)}%`;
    return bar;
  };
  const bars = tasks.map(({ name, task }) => {
    const from = task.createdTime ?? begin, launched = task.launchedTime;
    const until = task.completedTime ?? end;
    return node("div", { class: "bar" }, node("span", {}, clean(name)), node("b", {},
      part(from, launched ?? until, "WAITING"),
      ...launched ? [part(launched, until, task.taskState)] : []));
  });
  section(main, "Timeline", `${clock(begin)} to ${clock(end)}, ${duration(whole / 1000)}`)
    .append(...bars);
}

function drawEvents(events) {
  const rows = (events?.data ?? []).slice(0, 200).map(event => [
    new Date(event.lastTimestamp).toLocaleTimeString(),
    [[event.taskroleName ? `${clean(event.taskroleName)}/${event.taskIndex}` : ""],
      [clean(event.reason)], [node("span", { class: "text" }, clean(event.message))]],
  ]);
  if (rows.length > 0)
    table(main, "Events", "", ["task", "reason", "message"], rows);
}

function draw({ error, job, why, events, uses, history }) {
  main.replaceChildren();
  main.classList.toggle("dark", document.body.classList.contains("vscode-dark") ||
    document.body.classList.contains("vscode-high-contrast"));
  if (error) {
    main.append(node("h1", {}, "The job cannot be shown"), ...hint(error));
    return;
  }
  drawHead(job);
  drawCards(job);
  drawWhy(job, why);
  drawTasks(job, uses ?? {});
  drawHistory(main, history);
  drawTimeline(job);
  drawEvents(events);
}

window.addEventListener("message", ({ data }) => draw(data));
vscode.postMessage({ action: "ready" });
