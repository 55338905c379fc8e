// storages.tsx - storages, and the groups that may use them
import { useState } from "preact/hooks";
import type { Group } from "../../api";
import { call } from "../../call";
import { Choices } from "../../parts/choices";
import { ask } from "../../parts/dialog";
import { Failed } from "../../parts/failed";
import { attempt } from "../../parts/messages";
import { useCall } from "../../parts/use_call";
import { t } from "../../texts";
import { rightsOf } from "./groups";

const TYPES = ["nfs", "samba", "azureFile", "azureBlob", "hdfs", "local"];

/* A storage belongs to the groups whose rights name it. */
async function grant(storage: string, groups: Group[], chosen: string[]): Promise<void> {
  for (const group of groups) {
    const rights = rightsOf(group), has = rights.storageConfigs.includes(storage), wants = chosen.includes(group.groupname);
    if (has !== wants)
      await call("groups.update", { patch: true, data: { groupname: group.groupname, extension: { acls: {
        ...group.extension.acls as object | undefined, ...rights,
        storageConfigs: wants ? [...rights.storageConfigs, storage] : rights.storageConfigs.filter(one => one !== storage),
      } } } });
  }
}

/* Settings of a type are what its protocol needs, so they are JSON. */
function AddStorage({ groups, again, close }: { groups: Group[]; again: () => void; close: () => void }) {
  const [chosen, setChosen] = useState<string[]>([]);
  async function save(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const of = new FormData(event.currentTarget as HTMLFormElement);
    const mounted = String(of.get("mounted"));
    await attempt(async () => {
      const name = String(of.get("name"));
      await call("storages.put", {
        name, type: String(of.get("type")), data: JSON.parse(String(of.get("data")) || "{}") as Record<string, unknown>,
        share: of.get("share") !== null, readOnly: of.get("readonly") !== null, ...mounted !== "" && { mountedAt: mounted },
      });
      await grant(name, groups, chosen);
      close();
      again();
    });
  }
  return <form class="filters boxed" aria-label={t("addStorage")} onSubmit={event => void save(event)}>
    <label>{t("name")} <input name="name" required autoFocus /></label>
    <label>{t("type")} <select name="type">{TYPES.map(type => <option key={type}>{type}</option>)}</select></label>
    <label>{t("settings")} <input name="data" placeholder={'{"address": "10.0.0.1", "path": "/share"}'} /></label>
    <label>{t("mountedAt")} <input name="mounted" placeholder="/mnt/share" /></label>
    <label class="check"><input name="share" type="checkbox" defaultChecked />{t("shared")}</label>
    <label class="check"><input name="readonly" type="checkbox" />{t("readOnly")}</label>
    <Choices label={t("groups")} all={groups.map(group => group.groupname)} chosen={chosen} change={setChosen} />
    <button type="submit" class="main">{t("save")}</button>
    <button type="button" onClick={close}>{t("cancel")}</button>
  </form>;
}

function Row({ name, groups, again }: { name: string; groups: Group[]; again: () => void }) {
  const detail = useCall("storages.show", { name });
  const having = groups.filter(group => rightsOf(group).storageConfigs.includes(name)).map(group => group.groupname);
  const remove = () => attempt(async () => {
    if (await ask(t("confirmRemove", name), t("removeUser")) === null)
      return;
    await call("storages.remove", { name });
    again();
  });
  return <tr>
    <th scope="row">{name}</th><td>{detail.value?.type}</td><td>{detail.value?.share ? t("yes") : t("no")}</td><td>{detail.value?.readOnly ? t("readOnly") : t("readWrite")}</td>
    <td class="text"><Choices label={`${t("groups")}: ${name}`} all={groups.map(group => group.groupname)} chosen={having}
      change={chosen => void attempt(async () => { await grant(name, groups, chosen); again(); })} /></td>
    <td><button type="button" aria-label={`${t("removeUser")} ${name}`} onClick={() => void remove()}>{t("removeUser")}</button></td>
  </tr>;
}

export function Storages() {
  const list = useCall("storages.list", {}), groups = useCall("groups.list", {});
  const [isNew, setNew] = useState(false);
  const again = () => { list.again(); groups.again(); };
  // The list has those that the caller may use; groups name the others.
  const names = [...new Set([...(list.value?.storages ?? []).map(one => one.name), ...(groups.value ?? []).flatMap(group => rightsOf(group).storageConfigs)])].sort();
  return <>
    <div class="title"><h1>{t("storages")}</h1>{!isNew && <button type="button" class="main" onClick={() => setNew(true)}>{t("addStorage")}</button>}</div>
    {isNew && <AddStorage groups={groups.value ?? []} again={again} close={() => setNew(false)} />}
    {list.error !== undefined && <Failed error={list.error} />}
    {list.value !== undefined && names.length === 0 && <p class="empty">{t("noStorages")}</p>}
    {names.length > 0 && <div class="wide" tabIndex={0} role="region" aria-label={t("storages")}><table>
      <thead><tr><th scope="col">{t("name")}</th><th scope="col">{t("type")}</th><th scope="col">{t("shared")}</th><th scope="col">{t("permission")}</th><th scope="col">{t("groups")}</th><td /></tr></thead>
      <tbody>{names.map(name => <Row key={name} name={name} groups={groups.value ?? []} again={again} />)}</tbody>
    </table></div>}
  </>;
}
