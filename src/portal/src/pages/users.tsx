// users.tsx - accounts, for administrators: add, remove, and who may do what
import { useEffect, useState } from "preact/hooks";
import type { User } from "../api";
import { call } from "../call";
import { ask } from "../parts/dialog";
import { Failed } from "../parts/failed";
import { attempt } from "../parts/messages";
import { useCall } from "../parts/use_call";
import { who } from "../session";
import { t, type TextKey } from "../texts";

const COLUMNS: TextKey[] = ["name", "admin", "email", "groups", "virtualClusters"];

function Row({ user, again }: { user: User; again: () => void }) {
  const isSelf = user.username === who.value?.name;
  const setAdmin = (admin: boolean) => attempt(async () => {
    await call("users.set_admin", { username: user.username, admin });
    again();
  });
  const remove = () => attempt(async () => {
    if (await ask(t("confirmRemove", user.username), t("removeUser")) === null)
      return;
    await call("users.remove", { username: user.username });
    again();
  });
  return <tr>
    <th scope="row">{user.username}</th>
    <td><input type="checkbox" checked={user.admin} disabled={isSelf} aria-label={`${t("admin")}: ${user.username}`} onChange={event => void setAdmin(event.currentTarget.checked)} /></td>
    <td>{user.email}</td><td>{user.grouplist.join(", ")}</td><td>{user.virtualCluster.join(", ")}</td>
    <td><button type="button" disabled={isSelf} onClick={() => void remove()}>{t("removeUser")}</button></td>
  </tr>;
}

function AddUser({ again }: { again: () => void }) {
  const [isOpen, setOpen] = useState(false);
  async function add(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const of = new FormData(form);
    await attempt(async () => {
      const email = String(of.get("email"));
      await call("users.create", {
        username: String(of.get("username")), password: String(of.get("password")), admin: of.get("admin") !== null,
        ...email !== "" && { email },
      });
      form.reset();
      setOpen(false);
      again();
    });
  }
  if (!isOpen)
    return <button type="button" class="main" onClick={() => setOpen(true)}>{t("addUser")}</button>;
  return <form class="filters" onSubmit={event => void add(event)}>
    <label>{t("userName")} <input name="username" required autoFocus /></label>
    <label>{t("password")} <input name="password" type="password" autocomplete="new-password" minLength={8} required /></label>
    <label>{t("email")} <input name="email" type="email" /></label>
    <label class="check"><input name="admin" type="checkbox" />{t("admin")}</label>
    <button type="submit" class="main">{t("addUser")}</button>
    <button type="button" onClick={() => setOpen(false)}>{t("cancel")}</button>
  </form>;
}

export function Users() {
  const list = useCall("users.list", {});

  useEffect(() => { document.title = `${t("users")} · OpenPAI`; });
  return <>
    <div class="title"><h1>{t("users")}</h1><AddUser again={list.again} /></div>
    {list.error !== undefined && <Failed error={list.error} />}
    {list.value !== undefined && <div class="wide" tabIndex={0} role="region" aria-label={t("users")}><table>
      <thead><tr>{COLUMNS.map(text => <th key={text} scope="col">{t(text)}</th>)}<td /></tr></thead>
      <tbody>{list.value.map(user => <Row key={user.username} user={user} again={list.again} />)}</tbody>
    </table></div>}
  </>;
}
