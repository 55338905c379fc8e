// tools.tsx - storages and runtime plugins in the form
import { useCall } from "../../parts/use_call";
import { t } from "../../texts";
import { append, clear, listAt, set, textAt, valueAt, type Path, type Value } from "./job_edit";
import { Field, Part, type Form } from "./field";

const STORAGES: Path = ["extras", "storages"];
const PLUGINS: Path = ["extras", "com.microsoft.pai.runtimeplugin"];
const FIRST_PORT = 10000, PORTS = 5000; // of TensorBoard, as OpenPAI's portal chooses it

/** The storages that the user may use. */
export function Data({ form }: { form: Form }) {
  const found = useCall("storages.list", {});
  const wanted = listAt(form.file, STORAGES);
  const names = [...new Set([...(found.value?.storages ?? []).map(one => one.name), ...wanted.map(one => textAt(one, ["name"]))])].filter(name => name !== "");
  if (names.length === 0)
    return <p class="hint">{t("noUsableStorages")}</p>;
  return <>{names.map(name => {
    const at = wanted.findIndex(one => textAt(one, ["name"]) === name);
    return <div class="fields" key={name}>
      <label class="check"><input type="checkbox" checked={at >= 0}
        onChange={event => form.edit(event.currentTarget.checked ? append(STORAGES, { name }) : clear([...STORAGES, at]))} />{name}</label>
      {at >= 0 && <Field form={form} path={[...STORAGES, at, "mountPath"]} label={t("mountPath", name)} hint={`/mnt/${name}`} />}
    </div>;
  })}</>;
}

function Plugin({ form, name, label, first, children }: {
  form: Form; name: string; label: string; first: () => Value; children: (at: Path) => preact.ComponentChildren;
}) {
  const at = listAt(form.file, PLUGINS).findIndex(one => textAt(one, ["plugin"]) === name);
  return <>
    <p><label class="check"><input type="checkbox" checked={at >= 0}
      onChange={event => form.edit(event.currentTarget.checked ? append(PLUGINS, { plugin: name, parameters: first() }) : clear([...PLUGINS, at]))} />{label}</label></p>
    {at >= 0 && <div class="fields">{children([...PLUGINS, at, "parameters"])}</div>}
  </>;
}

function UserKey({ form, at }: { form: Form; at: Path }) {
  return <label class="field wide"><span>{t("yourPublicKey")}</span>
    <textarea class="code" rows={2} spellcheck={false} placeholder="ssh-ed25519 AAAA…" value={textAt(form.file, [...at, "userssh", "value"])}
      onInput={event => {
        const value = event.currentTarget.value.trim();
        form.edit(value === "" ? clear([...at, "userssh"]) : set([...at, "userssh"], { type: "custom", value }));
      }} />
  </label>;
}

export function Tools({ form }: { form: Form }) {
  return <>
    <Plugin form={form} name="ssh" label="SSH" first={() => ({ jobssh: true })}>{at => <>
      <label class="check wide"><input type="checkbox" checked={valueAt(form.file, [...at, "jobssh"]) === true}
        onChange={event => form.edit(set([...at, "jobssh"], event.currentTarget.checked))} />{t("sshBetween")}</label>
      <UserKey form={form} at={at} />
    </>}</Plugin>
    <Plugin form={form} name="tensorboard" label="TensorBoard"
      first={() => ({ port: FIRST_PORT + Math.floor(Math.random() * PORTS), logdir: { path: "/mnt/tensorboard" } })}>{at => <>
      <Field form={form} path={[...at, "port"]} label={t("port")} kind="number" />
      <Field form={form} path={[...at, "logdir", "path"]} label={t("logFolder")} />
    </>}</Plugin>
  </>;
}

/** What is beside the task roles. */
export function DataAndTools({ form }: { form: Form }) {
  return <>
    <Part title={t("data")}><Data form={form} /></Part>
    <Part title={t("tools")}><Tools form={form} /></Part>
  </>;
}
