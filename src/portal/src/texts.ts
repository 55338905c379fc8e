// texts.ts - every text of the portal, in English and in Chinese; % stands for a value
import { signal } from "@preact/signals";

export type Language = "en" | "zh";

const TEXTS = {
  // Navigation and sign-in
  home: ["Home", "首页"],
  jobs: ["Jobs", "任务"],
  submit: ["Submit", "提交"],
  nodes: ["Nodes", "节点"],
  virtualClusters: ["Virtual clusters", "虚拟集群"],
  alerts: ["Alerts", "告警"],
  users: ["Users", "用户"],
  profile: ["Profile", "个人信息"],
  signIn: ["Sign in", "登录"],
  signOut: ["Sign out", "退出登录"],
  signInTo: ["Sign in to OpenPAI", "登录 OpenPAI"],
  signInWith: ["Sign in with your organization", "使用组织账号登录"],
  userName: ["User name", "用户名"],
  password: ["Password", "密码"],
  language: ["中文", "English"],
  darkOrLight: ["Dark or light", "深色或浅色"],
  skip: ["Skip to the content", "跳到内容"],
  menu: ["Menu", "菜单"],
  search: ["Search jobs, pages and commands", "搜索任务、页面和命令"],
  noPage: ["There is no such page.", "没有这个页面。"],
  offline: ["The server does not answer. Trying again ...", "服务器没有响应，正在重试……"],
  // States
  WAITING: ["WAITING", "WAITING"],
  RUNNING: ["RUNNING", "RUNNING"],
  STOPPING: ["STOPPING", "STOPPING"],
  STOPPED: ["STOPPED", "STOPPED"],
  SUCCEEDED: ["SUCCEEDED", "SUCCEEDED"],
  FAILED: ["FAILED", "FAILED"],
  // Columns
  name: ["Name", "名称"],
  user: ["User", "用户"],
  state: ["State", "状态"],
  virtualCluster: ["Virtual cluster", "虚拟集群"],
  submitted: ["Submitted", "提交时间"],
  duration: ["Duration", "时长"],
  retries: ["Retries", "重试"],
  tasks: ["Tasks", "实例"],
  gpus: ["GPUs", "GPU"],
  priority: ["Priority", "优先级"],
  cpus: ["CPUs", "CPU"],
  memory: ["Memory", "内存"],
  node: ["Node", "节点"],
  address: ["Address", "地址"],
  ports: ["Ports", "端口"],
  exitCode: ["Exit code", "退出码"],
  started: ["Started", "开始时间"],
  type: ["Type", "类型"],
  reason: ["Reason", "原因"],
  message: ["Message", "消息"],
  time: ["Time", "时间"],
  times: ["Times", "次数"],
  size: ["Size", "大小"],
  modified: ["Modified", "修改时间"],
  admin: ["Administrator", "管理员"],
  email: ["Email", "邮箱"],
  // Job list
  filter: ["Filter by name, user or tag", "按名称、用户或标签筛选"],
  mine: ["Only my jobs", "只看我的任务"],
  allStates: ["All states", "所有状态"],
  allClusters: ["All virtual clusters", "所有虚拟集群"],
  stopSelected: ["Stop %", "停止 % 个"],
  select: ["Select %", "选择 %"],
  previous: ["Previous", "上一页"],
  next: ["Next", "下一页"],
  range: ["% of %", "% / %"],
  noJobs: ["No jobs match.", "没有匹配的任务。"],
  firstJob: ["There are no jobs yet. Submit the first one.", "还没有任务。提交第一个吧。"],
  // A job
  logs: ["Logs", "日志"],
  why: ["Why", "原因"],
  events: ["Events", "事件"],
  config: ["Config", "配置"],
  files: ["Files", "文件"],
  stop: ["Stop", "停止"],
  clone: ["Clone", "克隆"],
  retry: ["Retry", "重试"],
  confirmStop: ["Stop % ?", "停止 % ？"],
  stopAsked: ["% was asked to stop.", "已请求停止 %。"],
  cancel: ["Cancel", "取消"],
  close: ["Close", "关闭"],
  mayStart: ["May start", "预计开始"],
  mayEnd: ["May end", "预计结束"],
  startsNow: ["It would start now", "现在就可以开始"],
  waitUnknown: ["not known yet: no similar job has ended", "未知：还没有类似的任务结束"],
  between: ["% (between % and %)", "%（% 至 %）"],
  later: ["more than 90 days", "超过 90 天"],
  place: ["Place in the queue", "队列位置"],
  placeOf: ["% of %", "第 % 位，共 % 个"],
  nothingWaits: ["Nothing waits.", "没有等待。"],
  change: ["A change that would start it now", "现在就能开始的改动"],
  cause: ["Cause", "原因"],
  help: ["Help", "解决方法"],
  printed: ["Printed", "输出"],
  find: ["Find in the log", "在日志中查找"],
  matches: ["Matches: %", "匹配：%"],
  download: ["Download", "下载"],
  longLog: ["Only the last % lines or so are shown here. Download has all of them.", "这里只显示大约最后 % 行，下载可得到全部。"],
  noLog: ["The task has not started: there is no log yet.", "该实例尚未启动，还没有日志。"],
  task: ["Task", "实例"],
  noEvents: ["There are no events.", "没有事件。"],
  noFiles: ["The folder is empty.", "文件夹是空的。"],
  noFolder: ["The job has no folder: it was submitted without code.", "该任务没有文件夹：提交时没有代码。"],
  exitedWith: ["exited with code %", "退出码 %"],
  // Submission
  jobYaml: ["Job YAML", "任务 YAML"],
  submitJob: ["Submit job", "提交任务"],
  example: ["Example", "示例"],
  problems: ["Problems: %", "问题：%"],
  noProblems: ["No problems found.", "没有发现问题。"],
  convertedV1: ["Converted from the old JSON format.", "已从旧的 JSON 格式转换。"],
  asksFor: ["Asks for % GPUs, % CPUs, % of memory", "需要 % 个 GPU、% 个 CPU、% 内存"],
  upload: ["Open a file", "打开文件"],
  // Home and cluster
  myJobs: ["My jobs", "我的任务"],
  freeGpus: ["Free GPUs", "空闲 GPU"],
  freeCpus: ["Free CPUs", "空闲 CPU"],
  freeMemory: ["Free memory", "空闲内存"],
  ofAll: ["% of %", "% / %"],
  used: ["used", "已用"],
  waitingJobs: ["Waiting jobs", "等待任务"],
  runningJobs: ["Running jobs", "运行任务"],
  drain: ["Drain", "排空"],
  resume: ["Resume", "恢复"],
  drainReason: ["Reason, shown to users", "原因（用户可见）"],
  noAlerts: ["There are no alerts.", "没有告警。"],
  severity: ["Severity", "级别"],
  since: ["Since", "开始时间"],
  tokens: ["Tokens", "令牌"],
  newToken: ["New token", "新建令牌"],
  revoke: ["Revoke", "吊销"],
  shownOnce: ["Copy the token now. It is not shown again.", "请立即复制令牌，之后不再显示。"],
  expires: ["Expires", "过期时间"],
  lastUsed: ["Last used", "上次使用"],
  never: ["never", "从不"],
  groups: ["Groups", "用户组"],
  addUser: ["Add user", "添加用户"],
  removeUser: ["Remove", "删除"],
  confirmRemove: ["Remove % ?", "删除 % ？"],
  save: ["Save", "保存"],
  oldPassword: ["Current password", "当前密码"],
  passwordChanged: ["The password is changed.", "密码已更改。"],
  newPassword: ["New password", "新密码"],
} satisfies Record<string, readonly [string, string]>;

export type TextKey = keyof typeof TEXTS;

const STORED = "openpai-language";

export const language = signal<Language>(
  (localStorage.getItem(STORED) ?? navigator.language).startsWith("zh") ? "zh" : "en");

export function setLanguage(to: Language): void {
  localStorage.setItem(STORED, to);
  document.documentElement.lang = to;
  language.value = to;
}

/** A text in the user's language; each % is replaced by the next value. */
export function t(key: TextKey, ...values: (string | number)[]): string {
  let next = 0;
  return TEXTS[key][language.value === "zh" ? 1 : 0].replace(/%/g, () => String(values[next++] ?? ""));
}
