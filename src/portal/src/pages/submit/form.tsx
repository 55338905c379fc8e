// form.tsx - a job file as a form: every field is a place of the text beside it
import type { Sku } from "../../api";
import { useState } from "preact/hooks";
import { useCall } from "../../parts/use_call";
import { t } from "../../texts";
import { clear, mapAt, set, textAt, type Path, type Value } from "./job_edit";
import { Choice, Field, Part, type Form } from "./field";
import { Pairs } from "./pairs";
import { newRole, Role } from "./role";
import { DataAndTools } from "./tools";

const CLUSTER: Path = ["defaults", "virtualCluster"];

function About({ form }: { form: Form }) {
  const clusters = useCall("vcs.list", {});
  return <div class="fields">
    <Field form={form} path={["name"]} label={t("jobName")} isNeeded />
    <Choice label={t("virtualCluster")} value={textAt(form.file, CLUSTER)} values={Object.keys(clusters.value ?? {})} none={t("usual")}
      onChoose={vc => form.edit(vc === "" ? clear(CLUSTER) : set(CLUSTER, vc))} />
    <Field form={form} path={["jobRetryCount"]} label={t("jobRetries")} kind="number" hint="0" />
  </div>;
}

function freeName(roles: string[], like: string): string {
  const stem = like.replace(/\d+$/, "");
  let n = 2;
  while (roles.includes(`${stem}${n}`))
    n++;
  return roles.includes(stem) ? `${stem}${n}` : stem;
}

function Roles({ form }: { form: Form }) {
  const roles = mapAt(form.file, ["taskRoles"]);
  const names = Object.keys(roles);
  const [at, setAt] = useState(0);
  const shown = names[Math.min(at, names.length - 1)];
  const vc = textAt(form.file, CLUSTER);
  const skus = useCall("cluster.sku_types", vc === "" ? {} : { vc });

  function add(name: string, role: Value): void {
    form.edit(set(["taskRoles", name], role));
    setAt(names.length);
  }
  function remove(name: string): void {
    form.edit(draft => {
      clear(["taskRoles", name])(draft);
      clear(["extras", "hivedScheduler", "taskRoles", name])(draft);
    });
    setAt(0);
  }
  function onKey(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = (Math.min(at, names.length - 1) + step + names.length) % names.length;
    if (step === 0 || names.length === 0)
      return;
    setAt(next);
    document.getElementById(`role-${next}`)?.focus();
  }
  return <>
    <div class="tabs">
      <div role="tablist" aria-label={t("taskRoles")} onKeyDown={onKey}>
        {names.map((name, i) => <button key={i} id={`role-${i}`} type="button" role="tab" aria-controls="role-panel" aria-selected={name === shown}
          tabIndex={name === shown ? 0 : -1} onClick={() => setAt(i)}>{name}</button>)}
      </div>
      <span class="buttons">
        <button type="button" onClick={() => add(freeName(names, "worker"), newRole(form))}>{t("addRole")}</button>
        {shown !== undefined && <button type="button" onClick={() => add(freeName(names, shown), structuredClone(roles[shown]!))}>{t("copyRole")}</button>}
        {names.length > 1 && <button type="button" onClick={() => remove(shown!)}>{t("removeRole")}</button>}
      </span>
    </div>
    {shown !== undefined && <div role="tabpanel" id="role-panel" aria-labelledby={`role-${names.indexOf(shown)}`}>
      <Role key={shown} form={form} name={shown} skus={(skus.value ?? {}) as Record<string, Sku>} onRename={to => form.rename(["taskRoles"], shown, to)} />
    </div>}
  </>;
}

/** Null: the text could never be read. */
export function JobForm({ form }: { form: Form | null }) {
  const waits = <p class="hint" role="status">{t("formWaits")}</p>;
  if (form === null)
    return waits;
  return <form aria-label={t("form")} onSubmit={event => event.preventDefault()}>
    {!form.isRead && waits}
    <fieldset class="job-form" disabled={!form.isRead}>
      <About form={form} />
      <Roles form={form} />
      <Part title={t("parameters")}><Pairs form={form} path={["parameters"]} one="parameter" value="value" first="" /></Part>
      <Part title={t("secrets")}><Pairs form={form} path={["secrets"]} one="secret" value="value" first="" kind="secret" /></Part>
      <DataAndTools form={form} />
    </fieldset>
  </form>;
}
