// role.tsx - a task role in the form: command, resources, image, ports, completion
import type { Sku } from "../../api";
import { useState } from "preact/hooks";
import { t } from "../../texts";
import { append, clear, commandsOf, listAt, mapAt, set, setCommands, textAt, typed, valueAt, type Path, type Value } from "./job_edit";
import { Choice, Field, Part, Typed, type Form } from "./field";
import { Pairs } from "./pairs";

/* Images that OpenPAI's portal offers. */
const IMAGES = ["pytorch_1.4.0", "pytorch_1.2.0", "tensorflow_2.1.0", "tensorflow_1.15.0", "mxnet_1.5.1", "cntk_2.7"]
  .flatMap(name => /mxnet|cntk/.test(name) ? [`${name}-gpu`] : [`${name}-gpu`, `${name}-cpu`])
  .map(tag => `openpai/standard:python_3.6-${tag}`);
const DEFAULT_IMAGE = "openpai/standard:python_3.6-pytorch_1.2.0-gpu";

interface Of { form: Form; name: string; path: Path }

/** What a new role has. */
export function newRole(form: Form): Value {
  const image = listAt(form.file, ["prerequisites"]).find(one => textAt(one, ["type"]) === "dockerimage");
  return {
    instances: 1, dockerImage: textAt(image, ["name"]) || "image",
    resourcePerInstance: { cpu: 1, memoryMB: 1024, gpu: 0 }, commands: ["echo hello"],
  };
}

// --- commands --------------------------------------------------------------------

function Command({ form, path }: Of) {
  const [own, setOwn] = useState<string | null>(null);
  const now = commandsOf(listAt(form.file, [...path, "commands"]));
  const value = own ?? now;
  return <label class="field wide"><span>{t("command")}</span>
    <textarea class="code" rows={Math.min(Math.max(value.split("\n").length, 3), 12)} spellcheck={false} value={value}
      onInput={event => { setOwn(event.currentTarget.value); form.edit(setCommands([...path, "commands"], event.currentTarget.value)); }}
      onBlur={() => setOwn(null)} />
  </label>;
}

// --- image -----------------------------------------------------------------------

/* The role's image in the list of prerequisites; -1: it is not there. */
function imageAt(form: Form, path: Path): number {
  const name = textAt(form.file, [...path, "dockerImage"]);
  return listAt(form.file, ["prerequisites"]).findIndex(one => textAt(one, ["name"]) === name && textAt(one, ["type"]) === "dockerimage");
}

function isShared(form: Form, name: string): boolean {
  return Object.values(mapAt(form.file, ["taskRoles"])).filter(role => textAt(role, ["dockerImage"]) === name).length > 1;
}

/* An image that other roles use, too, stays theirs. */
function putImage(form: Form, path: Path, uri: string): void {
  const list = listAt(form.file, ["prerequisites"]);
  const at = imageAt(form, path);
  if (at >= 0 && !isShared(form, textAt(form.file, [...path, "dockerImage"])))
    return form.edit(set(["prerequisites", at, "uri"], uri));
  const names = list.map(one => textAt(one, ["name"]));
  let name = "image";
  for (let n = 2; names.includes(name); n++)
    name = `image_${n}`;
  form.edit(draft => {
    append(["prerequisites"], { name, type: "dockerimage", uri })(draft);
    set([...path, "dockerImage"], name)(draft);
  });
}

/* The account is a secret, which the image names. */
function Account({ form, at }: { form: Form; at: number }) {
  const auth: Path = ["prerequisites", at, "auth"];
  const secret = `${textAt(form.file, ["prerequisites", at, "name"]).replace(/\W/g, "_")}_password`;
  const isOn = valueAt(form.file, auth) !== undefined;
  const turn = (on: boolean) => form.edit(draft => {
    if (on) {
      set(auth, { username: "", password: `<% $secrets.${secret} %>`, registryuri: "docker.io" })(draft);
      set(["secrets", secret], "")(draft);
    } else {
      clear(auth)(draft);
      clear(["secrets", secret])(draft);
    }
  });
  return <>
    <label class="check"><input type="checkbox" checked={isOn} onChange={event => turn(event.currentTarget.checked)} />{t("imageAccount")}</label>
    {isOn && <div class="fields">
      <Field form={form} path={[...auth, "username"]} label={t("accountName")} isNeeded />
      <Field form={form} path={[...auth, "registryuri"]} label={t("registry")} isNeeded />
      <p class="hint">{t("accountSecret", secret)}</p>
    </div>}
  </>;
}

function Image({ form, path }: Of) {
  const at = imageAt(form, path);
  return <>
    <Typed label={t("image")} value={textAt(form.file, ["prerequisites", at, "uri"])} hint={DEFAULT_IMAGE} list="image-presets"
      onType={uri => { if (uri !== "") putImage(form, path, uri); }} />
    <datalist id="image-presets">{IMAGES.map(one => <option key={one} value={one} />)}</datalist>
    {at >= 0 && <Account form={form} at={at} />}
  </>;
}

// --- resources -------------------------------------------------------------------

/* So many units of a kind of machine, as its cluster sells them. */
function Skus({ form, name, path, skus }: Of & { skus: Record<string, Sku> }) {
  const hived: Path = ["extras", "hivedScheduler", "taskRoles", name];
  const type = textAt(form.file, [...hived, "skuType"]);
  const put = (kind: string, count: number) => form.edit(draft => {
    const sku = skus[kind];
    if (kind === "")
      return clear(hived)(draft);
    set([...hived, "skuType"], kind)(draft);
    set([...hived, "skuNum"], count)(draft);
    if (sku !== undefined)
      for (const [key, value] of [["cpu", sku.cpu], ["memoryMB", sku.memory], ["gpu", sku.gpu]] as const)
        set([...path, "resourcePerInstance", key], value * count)(draft);
  });
  return <>
    <Choice label={t("sku")} value={type} values={Object.keys(skus)} none={t("skuNone")} onChoose={kind => put(kind, Number(textAt(form.file, [...hived, "skuNum"])) || 1)} />
    {type !== "" && <Typed label={t("skuCount")} value={textAt(form.file, [...hived, "skuNum"])} isNumber
      onType={text => { if (typeof typed(text) === "number") put(type, Number(text)); }} />}
  </>;
}

/** A role; its key in the file is its name. */
export function Role({ form, name, skus, onRename }: { form: Form; name: string; skus: Record<string, Sku>; onRename: (to: string) => void }) {
  const path: Path = ["taskRoles", name];
  const of = { form, name, path };
  const each: Path = [...path, "resourcePerInstance"];
  return <>
    <div class="fields">
      <Typed label={t("roleName")} value={name} onDone={to => { if (to !== "" && to !== name) onRename(to); }} />
      <Field form={form} path={[...path, "instances"]} label={t("instances")} kind="number" />
    </div>
    <Command {...of} />
    <div class="fields">
      <Skus {...of} skus={skus} />
      <Field form={form} path={[...each, "gpu"]} label={t("gpus")} kind="number" />
      <Field form={form} path={[...each, "cpu"]} label={t("cpus")} kind="number" />
      <Field form={form} path={[...each, "memoryMB"]} label={t("memoryMb")} kind="number" />
    </div>
    <Image {...of} />
    <Part title={t("ports")}><Pairs form={form} path={[...each, "ports"]} one="port" value="howMany" first={1} kind="number" /></Part>
    <Part title={t("retriesAndEnd")}><div class="fields">
      <Field form={form} path={[...path, "taskRetryCount"]} label={t("taskRetries")} kind="number" hint="0" />
      <Field form={form} path={[...path, "completion", "minFailedInstances"]} label={t("minFailed")} kind="number" hint="1" />
      <Field form={form} path={[...path, "completion", "minSucceededInstances"]} label={t("minSucceeded")} kind="number" hint="-1" />
    </div></Part>
  </>;
}
