// submit.tsx - write a job file, check it as you type, and submit it
import { useEffect, useState } from "preact/hooks";
import { call } from "../call";
import { bytes, duration } from "../format";
import { checker, demandOf, isV1, type Demand, type Diagnostic } from "../parts/check";
import { Editor } from "../parts/editor";
import { attempt, tell } from "../parts/messages";
import { TemplatePicker } from "../parts/template_picker";
import { useWait } from "../parts/use_wait";
import { fullName, go, jobAddress, parameters } from "../router";
import { t } from "../texts";
import { TEMPLATES } from "./templates";

/* A name that the user has not used, as OpenPAI's portal makes it. */
function withNewName(text: string): string {
  const tail = Math.floor(Math.random() * 0xffffff).toString(16).padStart(6, "0");
  return text.replace(/^(name:\s*)(['"]?)([\w.~-]+?)(_[0-9a-f]{6})?\2\s*$/m, `$1$3_${tail}`);
}

/* Old job files are JSON: they are shown as what they mean now. */
async function converted(text: string): Promise<string> {
  if (!isV1(text))
    return text;
  try {
    const now = (await checker()).convert(text);
    tell(t("convertedV1"));
    return now;
  } catch {
    return text; // the editor shows what is wrong with it
  }
}

function Wait({ text }: { text: string }) {
  const seconds = useWait(text);
  if (seconds === undefined)
    return <span class="hint">…</span>;
  if (seconds === null)
    return <span class="hint">{t("mayStart")}: {t("waitUnknown")}</span>;
  const [soon, middle, late] = seconds.map(duration) as [string, string, string];
  return <strong role="status">{seconds[2] < 1 ? t("startsNow") : `${t("mayStart")}: ${t("between", middle, soon, late)}`}</strong>;
}

function Problems({ list }: { list: Diagnostic[] }) {
  const errors = list.filter(one => one.severity === "error");
  return <div class="problems" role="status">
    <p class={errors.length > 0 ? "failed" : undefined}>{list.length === 0 ? t("noProblems") : t("problems", list.length)}</p>
    <ul>{list.slice(0, 20).map((one, i) => <li key={i}><span class="code">{one.line}:{one.column}</span> {one.message}{one.help ? ` ${t("help")}: ${one.help}` : ""}</li>)}</ul>
  </div>;
}

export function Submit() {
  const clone = parameters.value.get("clone");
  const item = parameters.value.get("template");
  const example = TEMPLATES.find(one => one.name === parameters.value.get("example")) ?? TEMPLATES[0]!;
  const [text, setText] = useState(() => clone === null && item === null ? withNewName(example.text) : "");
  const [problems, setProblems] = useState<Diagnostic[]>([]);
  const [demand, setDemand] = useState<Demand | null>(null);
  const [isBusy, setBusy] = useState(false);

  useEffect(() => { document.title = `${t("submit")} · OpenPAI`; });
  useEffect(() => {
    if (clone !== null)
      void attempt(async () => setText(withNewName(String(await call("jobs.config", { job: clone, format: "yaml" })))));
  }, [clone]);
  useEffect(() => {
    if (item !== null)
      void attempt(async () => setText(withNewName((await call("marketplace.show", { item })).protocol ?? "")));
  }, [item]);
  useEffect(() => {
    void checker().then(Job => setDemand(demandOf(Job, text)));
  }, [text]);
  function onChange(now: string): void {
    setText(now);
    if (isV1(now))
      void converted(now).then(setText);
  }
  async function submit(): Promise<void> {
    setBusy(true);
    await attempt(async () => {
      const made = await call("jobs.submit", { body: await converted(text), ...item !== null && { template: item } });
      go(jobAddress(fullName(made.name)));
    });
    setBusy(false);
  }
  async function open(event: Event): Promise<void> {
    const file = (event.currentTarget as HTMLInputElement).files?.[0];
    if (file !== undefined)
      setText(await converted(await file.text()));
  }

  return <>
    <div class="title">
      <h1>{t("submit")}</h1>
      <button type="button" class="main" disabled={isBusy || text.trim() === ""} onClick={() => void submit()}>{t("submitJob")}</button>
    </div>
    <div class="filters">
      <TemplatePicker item={item} onPick={text => setText(withNewName(text))} />
      <label class="button">{t("upload")}<input type="file" class="hidden" accept=".yaml,.yml,.json" onChange={event => void open(event)} /></label>
      {demand !== null && <span class="hint">{t("asksFor", demand.gpus, demand.cpus, bytes(demand.memory))}</span>}
      <Wait text={text} />
    </div>
    <Editor label={t("jobYaml")} text={text} onChange={onChange} onProblems={setProblems} />
    <Problems list={problems} />
  </>;
}
