// submit.tsx - write a job file, as a text and as a form beside it, and submit it
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call } from "../call";
import { bytes } from "../format";
import { saveText } from "../parts/download";
import { Editor, type EditorHandle } from "../parts/editor";
import type { Findings, Fix, Problem } from "../parts/editor_language";
import { Failed } from "../parts/failed";
import { demandOf, isV1, jobFiles, useJobFiles, type JobFiles } from "../parts/job_files";
import { attempt, tell, textOf } from "../parts/messages";
import { TemplatePicker } from "../parts/template_picker";
import { fullName, go, jobAddress, parameters } from "../router";
import { t } from "../texts";
import type { Form } from "./submit/field";
import { WaitNow } from "./submit/fit";
import { JobForm } from "./submit/form";
import { edited, moveKey, pointer, readFile, type Edit, type Path } from "./submit/job_edit";
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
    const now = (await jobFiles()).Job.convert(text);
    tell(t("convertedV1"));
    return now;
  } catch {
    return text; // the editor shows what is wrong with it
  }
}

// --- problems ------------------------------------------------------------------

const MOST = 20; // problems that are listed

function Fixes({ fixes, apply }: { fixes: Fix[]; apply: (fix: Fix) => void }) {
  return <>{fixes.map((fix, i) => <button key={i} type="button" onClick={() => apply(fix)}>{fix.title}</button>)}</>;
}

function ProblemLine({ problem, handle }: { problem: Problem; handle: EditorHandle | null }) {
  const { line, column, message, from, fixes } = problem;
  return <li>
    <button type="button" class="plain code" onClick={() => handle?.goTo(from)}>{line}:{column}</button> {message.replace(/\n(help: )?/g, (_all, help?: string) => help ? `. ${t("help")}: ` : " ")}
    {fixes.length > 0 && <span class="buttons"><Fixes fixes={fixes} apply={fix => handle?.apply(fix.changes)} /></span>}
  </li>;
}

function Problems({ findings: { problems, more }, handle }: { findings: Findings; handle: EditorHandle | null }) {
  return <div class="problems">
    <p role="status" class={problems.some(one => one.isError) ? "failed" : undefined}>{problems.length === 0 ? t("noProblems") : t("problems", problems.length)}</p>
    <ul>{problems.slice(0, MOST).map((one, i) => <ProblemLine key={i} problem={one} handle={handle} />)}</ul>
    {more.length > 0 && <p class="buttons"><Fixes fixes={more} apply={fix => handle?.apply(fix.changes)} /></p>}
  </div>;
}

// --- the file, as text and as form -----------------------------------------------

/* What the text says, and edits of it.  While it cannot be read: what it said before. */
function useForm(files: JobFiles | undefined, text: string, setText: (text: string) => void, handle: { current: EditorHandle | null }): Form | null {
  const read = useMemo(() => files === undefined ? null : readFile(files, text), [files, text]);
  const last = useRef(read);
  const latest = useRef(text);
  const file = last.current = read ?? last.current;

  latest.current = text;
  if (files === undefined || file === null)
    return null;
  const edit = (change: Edit) => {
    try {
      latest.current = edited(files, latest.current, change);
      setText(latest.current);
    } catch (error) {
      tell(textOf(error), true);
    }
  };
  const rename = (path: Path, key: string, to: string) => void attempt(async () => {
    const { key: place } = files.Job.placeOf(latest.current, pointer([...path, key]));
    const isDone = place !== undefined && place !== null &&
      await handle.current?.rename({ line: place.line - 1, character: place.column - 1 }, to);
    if (isDone !== true)
      edit(moveKey(path, key, to));
  });
  return { file, isRead: read !== null, edit, rename };
}

export function Submit() {
  const clone = parameters.value.get("clone");
  const item = parameters.value.get("template");
  const example = TEMPLATES.find(one => one.name === parameters.value.get("example")) ?? TEMPLATES[0]!;
  const [text, setText] = useState(() => clone === null && item === null ? withNewName(example.text) : "");
  const [findings, setFindings] = useState<Findings>();
  const [isBusy, setBusy] = useState(false);
  const handle = useRef<EditorHandle | null>(null);
  const { files, error } = useJobFiles();
  const form = useForm(files, text, setText, handle);
  const demand = useMemo(() => files === undefined ? null : demandOf(files.Job, text), [files, text]);

  useEffect(() => { document.title = `${t("submit")} · OpenPAI`; });
  useEffect(() => {
    if (clone !== null)
      void attempt(async () => setText(withNewName(String(await call("jobs.config", { job: clone, format: "yaml" })))));
  }, [clone]);
  useEffect(() => {
    if (item !== null)
      void attempt(async () => setText(withNewName((await call("marketplace.show", { item })).protocol ?? "")));
  }, [item]);
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
    const field = event.currentTarget as HTMLInputElement;
    const file = field.files?.[0];
    if (file !== undefined)
      setText(await converted(await file.text()));
    field.value = ""; // the same file can be opened again
  }

  return <>
    <div class="title">
      <h1>{t("submit")}</h1>
      <button type="button" class="main" disabled={isBusy || text.trim() === ""} onClick={() => void submit()}>{t("submitJob")}</button>
    </div>
    <div class="filters">
      <TemplatePicker item={item} onPick={text => setText(withNewName(text))} />
      <label class="button">{t("upload")}<input type="file" class="hidden" accept=".yaml,.yml,.json" onChange={event => void open(event)} /></label>
      <button type="button" onClick={() => saveText(text, `${String(form?.file.name || "job")}.pai.yaml`, "text/yaml")}>{t("exportYaml")}</button>
      {demand !== null && <span class="hint">{t("asksFor", demand.gpus, Math.round(100 * demand.cpus) / 100, bytes(demand.memory))}</span>}
      <WaitNow text={text} form={form} />
    </div>
    {error !== undefined && <Failed error={error} />}
    <div class="submission">
      <JobForm form={form} />
      <div>
        <Editor label={t("jobYaml")} text={text} onChange={onChange} onFindings={setFindings} handle={handle} />
        {findings !== undefined && <Problems findings={findings} handle={handle.current} />}
      </div>
    </div>
  </>;
}
