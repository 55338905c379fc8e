// groups.tsx - groups: who is in them, and what they may use
import { useState } from "preact/hooks";
import type { Group } from "../../api";
import { call } from "../../call";
import { Choices } from "../../parts/choices";
import { ask } from "../../parts/dialog";
import { Failed } from "../../parts/failed";
import { attempt } from "../../parts/messages";
import { useCall } from "../../parts/use_call";
import { t, type TextKey } from "../../texts";

const COLUMNS: TextKey[] = ["name", "description", "externalName", "admin", "virtualClusters", "storages"];

/** What members of a group may use. */
export interface Rights { admin: boolean; virtualClusters: string[]; storageConfigs: string[] }

export function rightsOf(group: Group | undefined): Rights {
  const acls = (group?.extension.acls ?? {}) as Partial<Rights>;
  return { admin: acls.admin === true, virtualClusters: acls.virtualClusters ?? [], storageConfigs: acls.storageConfigs ?? [] };
}

interface Known { clusters: string[]; storages: string[] }

function Form({ group, known, again, close }: { group?: Group; known: Known; again: () => void; close: () => void }) {
  const [rights, setRights] = useState(rightsOf(group));
  async function save(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const of = new FormData(event.currentTarget as HTMLFormElement);
    const said = { description: String(of.get("description")), externalName: String(of.get("external")) };
    const extension = { acls: { ...group?.extension.acls as object | undefined, ...rights, admin: of.get("admin") !== null } };
    await attempt(async () => {
      if (group === undefined)
        await call("groups.create", { groupname: String(of.get("name")), ...said, extension });
      else
        await call("groups.update", { data: { groupname: group.groupname, ...said, extension }, patch: true });
      close();
      again();
    });
  }
  return <form class="filters boxed" aria-label={group === undefined ? t("addGroup") : `${t("edit")} ${group.groupname}`} onSubmit={event => void save(event)}>
    {group === undefined && <label>{t("name")} <input name="name" required autoFocus /></label>}
    <label>{t("description")} <input name="description" defaultValue={group?.description ?? ""} /></label>
    <label>{t("externalName")} <input name="external" defaultValue={group?.externalName ?? ""} /></label>
    <label class="check"><input name="admin" type="checkbox" defaultChecked={rights.admin} />{t("admin")}</label>
    <Choices label={t("virtualClusters")} all={known.clusters} chosen={rights.virtualClusters} change={virtualClusters => setRights({ ...rights, virtualClusters })} />
    {known.storages.length > 0 && <Choices label={t("storages")} all={known.storages} chosen={rights.storageConfigs} change={storageConfigs => setRights({ ...rights, storageConfigs })} />}
    <button type="submit" class="main">{t("save")}</button>
    <button type="button" onClick={close}>{t("cancel")}</button>
  </form>;
}

function Members({ group }: { group: string }) {
  const list = useCall("groups.members", { groupname: group });
  const join = (event: SubmitEvent) => attempt(async () => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    await call("users.join", { username: String(new FormData(form).get("user")), groupname: group });
    form.reset();
    list.again();
  });
  const leave = (username: string) => attempt(async () => {
    await call("users.leave", { username, groupname: group });
    list.again();
  });
  return <div class="boxed">
    {list.error !== undefined && <Failed error={list.error} />}
    <ul class="names" aria-label={`${t("members")}: ${group}`}>{(list.value ?? []).map(({ username }) => <li key={username}>{username}
      <button type="button" aria-label={`${t("removeUser")} ${username}`} onClick={() => void leave(username)}>×</button></li>)}</ul>
    {list.value?.length === 0 && <p class="empty">{t("noMembers")}</p>}
    <form class="filters" onSubmit={event => void join(event)}>
      <label>{t("userName")} <input name="user" required /></label><button type="submit">{t("addMember")}</button>
    </form>
  </div>;
}

function Row({ group, known, again }: { group: Group; known: Known; again: () => void }) {
  const [open, setOpen] = useState<"" | "edit" | "members">("");
  const { admin, virtualClusters, storageConfigs } = rightsOf(group), name = group.groupname;
  const turn = (to: "edit" | "members") => setOpen(open === to ? "" : to);
  const remove = () => attempt(async () => {
    if (await ask(t("confirmRemove", name), t("removeUser")) === null)
      return;
    await call("groups.remove", { groupname: name });
    again();
  });
  return <>
    <tr>
      <th scope="row">{name}</th><td class="wrap">{group.description}</td><td>{group.externalName}</td><td>{admin ? "✓" : ""}{admin && <span class="hidden">{t("admin")}</span>}</td>
      <td class="wrap">{virtualClusters.join(", ")}</td><td class="wrap">{storageConfigs.join(", ")}</td>
      <td><button type="button" aria-expanded={open === "members"} aria-label={`${t("members")} ${name}`} onClick={() => turn("members")}>{t("members")}</button>{" "}
        <button type="button" aria-expanded={open === "edit"} aria-label={`${t("edit")} ${name}`} onClick={() => turn("edit")}>{t("edit")}</button>{" "}
        <button type="button" aria-label={`${t("removeUser")} ${name}`} onClick={() => void remove()}>{t("removeUser")}</button></td>
    </tr>
    {open !== "" && <tr><td colSpan={COLUMNS.length + 1}>{open === "edit" ?
      <Form group={group} known={known} again={again} close={() => setOpen("")} /> : <Members group={name} />}</td></tr>}
  </>;
}

export function Groups() {
  const list = useCall("groups.list", {}), clusters = useCall("vcs.list", {}), storages = useCall("storages.list", {});
  const [isNew, setNew] = useState(false);
  const known = { clusters: Object.keys(clusters.value ?? {}), storages: (storages.value?.storages ?? []).map(one => one.name) };
  return <>
    <div class="title"><h1>{t("groups")}</h1>{!isNew && <button type="button" class="main" onClick={() => setNew(true)}>{t("addGroup")}</button>}</div>
    {isNew && <Form known={known} again={list.again} close={() => setNew(false)} />}
    {list.error !== undefined && <Failed error={list.error} />}
    {list.value !== undefined && <div class="wide" tabIndex={0} role="region" aria-label={t("groups")}><table>
      <thead><tr>{COLUMNS.map(text => <th key={text} scope="col">{t(text)}</th>)}<td /></tr></thead>
      <tbody>{list.value.map(group => <Row key={group.groupname} group={group} known={known} again={list.again} />)}</tbody>
    </table></div>}
  </>;
}
