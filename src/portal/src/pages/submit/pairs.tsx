// pairs.tsx - names with values: parameters, secrets, ports
import { useState } from "preact/hooks";
import { t, type TextKey } from "../../texts";
import { clear, mapAt, set, textAt, type Path } from "./job_edit";
import { Field, Typed, type Form } from "./field";

const MOST = 100; // that are shown; the text has all
const MASK = "******"; // what a job's file has in place of a secret

interface Props {
  form: Form;
  path: Path;
  /** What one of them is called. */
  one: TextKey;
  value: TextKey;
  /** The value of a new one. */
  first: string | number;
  kind?: "any" | "number" | "secret";
}

/* A secret is typed, and never shown. */
function Secret({ form, path, name }: { form: Form; path: Path; name: string }) {
  const now = textAt(form.file, path);
  const [own, setOwn] = useState("");
  const hint = t(now === MASK || now === "" ? "secretMissing" : "secretSet");
  return <div>
    <label class="field"><span>{t("secretValue", name)}</span>
      <input type="password" autocomplete="new-password" placeholder={hint} value={own}
        onInput={event => { setOwn(event.currentTarget.value); form.edit(set(path, event.currentTarget.value)); }}
        onBlur={() => setOwn("")} />
    </label>
    {(now === MASK || now === "") && <span class="failed">{hint}</span>}
  </div>;
}

export function Pairs({ form, path, one, value, first, kind = "any" }: Props) {
  const map = mapAt(form.file, path);
  const names = Object.keys(map);
  function add(): void {
    let n = names.length + 1;
    while (names.includes(`name${n}`))
      n++;
    form.edit(set([...path, `name${n}`], first));
  }
  return <>
    {names.slice(0, MOST).map((name, i) => <div class="pair" key={i}>
      <Typed label={t("nameOf", t(one))} value={name} onDone={to => { if (to !== "") form.rename(path, name, to); }} />
      {kind === "secret" ? <Secret form={form} path={[...path, name]} name={name} />
        : <Field form={form} path={[...path, name]} label={t(value)} kind={kind} isNeeded />}
      <button type="button" aria-label={t("removeOne", name)} title={t("removeOne", name)} onClick={() => form.edit(clear([...path, name]))}>×</button>
    </div>)}
    {names.length > MOST && <p class="hint">{t("moreInText", names.length - MOST)}</p>}
    <p><button type="button" onClick={add}>{t("addOne", t(one))}</button></p>
  </>;
}
