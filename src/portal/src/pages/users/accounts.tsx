// accounts.tsx - accounts: find, add, change, change several at once, remove
import { useState } from "preact/hooks";
import type { User } from "../../api";
import { call } from "../../call";
import { Choices } from "../../parts/choices";
import { ask } from "../../parts/dialog";
import { Failed } from "../../parts/failed";
import { attempt, tell, textOf } from "../../parts/messages";
import { useCall } from "../../parts/use_call";
import { parameters, setParameters } from "../../router";
import { who } from "../../session";
import { t, type TextKey } from "../../texts";

const COLUMNS: TextKey[] = ["name", "admin", "email", "groups", "virtualClusters"];
const USUAL = "default"; // virtual cluster of everybody
const SHOWN = 100;       // rows until all are wanted
const LEAST = 8;         // characters of a password, as the server wants them by default

interface Known { clusters: string[]; groups: string[] }

function AddUser({ known, again }: { known: Known; again: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const [clusters, setClusters] = useState<string[]>([]);
  async function add(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const of = new FormData(form);
    await attempt(async () => {
      const email = String(of.get("email"));
      await call("users.create", {
        username: String(of.get("username")), password: String(of.get("password")), admin: of.get("admin") !== null,
        virtualCluster: [...new Set([USUAL, ...clusters])], ...email !== "" && { email },
      });
      setOpen(false);
      again();
    });
  }
  if (!isOpen)
    return <button type="button" class="main" onClick={() => setOpen(true)}>{t("addUser")}</button>;
  return <form class="filters boxed" onSubmit={event => void add(event)}>
    <label>{t("userName")} <input name="username" required autoFocus /></label>
    <label>{t("password")} <input name="password" type="password" autocomplete="new-password" minLength={LEAST} required /></label>
    <label>{t("email")} <input name="email" type="email" /></label>
    <label class="check"><input name="admin" type="checkbox" />{t("admin")}</label>
    <Choices label={t("virtualClusters")} all={known.clusters} chosen={clusters} fixed={[USUAL]} change={setClusters} />
    <button type="submit" class="main">{t("addUser")}</button>
    <button type="button" onClick={() => setOpen(false)}>{t("cancel")}</button>
  </form>;
}

/* Only what was changed is sent: each part is a call. Groups first, as they give the other rights. */
function Edit({ user, known, again, close }: { user: User; known: Known; again: () => void; close: () => void }) {
  const [clusters, setClusters] = useState(user.virtualCluster);
  const [groups, setGroups] = useState(user.grouplist);
  const isSelf = user.username === who.value?.name;
  const differs = (a: string[], b: string[]) => [...a].sort().join() !== [...b].sort().join();
  async function save(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const of = new FormData(event.currentTarget as HTMLFormElement), { username } = user;
    const email = String(of.get("email")), password = String(of.get("password")), admin = of.get("admin") !== null;
    await attempt(async () => {
      if (email !== (user.email ?? ""))
        await call("users.set_email", { username, email });
      if (password !== "")
        await call("users.set_password", { username, newPassword: password });
      if (differs(groups, user.grouplist))
        await call("users.set_groups", { username, grouplist: groups });
      if (!isSelf && admin !== user.admin)
        await call("users.set_admin", { username, admin });
      if (differs(clusters, user.virtualCluster))
        await call("users.set_vcs", { username, virtualCluster: clusters });
      close();
      again();
    });
  }
  return <tr><td colSpan={COLUMNS.length + 2}><form class="filters boxed" aria-label={`${t("edit")} ${user.username}`} onSubmit={event => void save(event)}>
    <label>{t("email")} <input name="email" type="email" defaultValue={user.email ?? ""} autoFocus /></label>
    {!isSelf && <label>{t("newPassword")} <input name="password" type="password" autocomplete="new-password" minLength={LEAST} /></label>}
    {isSelf && <input name="password" type="hidden" value="" />}
    <label class="check"><input name="admin" type="checkbox" defaultChecked={user.admin} disabled={isSelf} />{t("admin")}</label>
    <Choices label={t("virtualClusters")} all={known.clusters} chosen={clusters} fixed={[USUAL]} change={setClusters} />
    <Choices label={t("groups")} all={known.groups} chosen={groups} change={setGroups} />
    <button type="submit" class="main">{t("save")}</button>
    <button type="button" onClick={close}>{t("cancel")}</button>
  </form></td></tr>;
}

function Row({ user, isChosen, choose, edit, again }: { user: User; isChosen: boolean; choose: (is: boolean) => void; edit: () => void; again: () => void }) {
  const isSelf = user.username === who.value?.name;
  const remove = () => attempt(async () => {
    const heir = await ask(t("confirmRemove", user.username), t("removeUser"), t("heir"));
    if (heir === null)
      return;
    await call("users.remove", { username: user.username, ...heir !== "" && { heir } });
    again();
  });
  return <tr>
    <td><input type="checkbox" aria-label={t("select", user.username)} checked={isChosen} onChange={event => choose(event.currentTarget.checked)} /></td>
    <th scope="row">{user.username}</th>
    <td>{user.admin ? "✓" : ""}{user.admin && <span class="hidden">{t("admin")}</span>}</td>
    <td>{user.email}</td><td class="wrap">{user.grouplist.join(", ")}</td><td class="wrap">{user.virtualCluster.join(", ")}</td>
    <td><button type="button" aria-label={`${t("edit")} ${user.username}`} onClick={edit}>{t("edit")}</button>{" "}
      <button type="button" aria-label={`${t("removeUser")} ${user.username}`} disabled={isSelf} onClick={() => void remove()}>{t("removeUser")}</button></td>
  </tr>;
}

/* One call for each account; what fails is told by name. */
async function forAll(names: string[], change: (username: string) => Promise<unknown>): Promise<void> {
  let done = 0;
  for (const name of names)
    await change(name).then(() => { done++; }, (error: unknown) => tell(`${name}: ${textOf(error)}`, true));
  tell(t("changedOf", done, names.length));
}

function Batch({ names, known, again }: { names: string[]; known: Known; again: () => void }) {
  const [kind, setKind] = useState<"" | "password" | "clusters">("");
  const [clusters, setClusters] = useState<string[]>([]);
  async function run(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget as HTMLFormElement).get("password") ?? "");
    await forAll(names, username => kind === "password" ?
      call("users.set_password", { username, newPassword: password }) :
      call("users.set_vcs", { username, virtualCluster: [...new Set([USUAL, ...clusters])] }));
    setKind("");
    again();
  }
  return <div class="boxed">
    <p class="buttons"><strong>{t("chosen", names.length)}</strong>
      <button type="button" onClick={() => setKind("password")}>{t("setPasswords")}</button>
      <button type="button" onClick={() => setKind("clusters")}>{t("setClusters")}</button></p>
    {kind !== "" && <form class="filters" onSubmit={event => void run(event)}>
      {kind === "password" ? <label>{t("newPassword")} <input name="password" type="password" autocomplete="new-password" minLength={LEAST} required autoFocus /></label> :
        <Choices label={t("virtualClusters")} all={known.clusters} chosen={clusters} fixed={[USUAL]} change={setClusters} />}
      <button type="submit" class="main">{t("save")}</button>
      <button type="button" onClick={() => setKind("")}>{t("cancel")}</button>
    </form>}
  </div>;
}

function Filters({ clusters }: { clusters: string[] }) {
  const of = (name: string) => parameters.value.get(name) ?? "";
  return <form role="search" class="filters" onSubmit={event => event.preventDefault()}>
    <input type="search" aria-label={t("filterUsers")} placeholder={t("filterUsers")} value={of("keyword")} onInput={event => setParameters({ keyword: event.currentTarget.value })} />
    <select aria-label={t("admin")} value={of("admin")} onChange={event => setParameters({ admin: event.currentTarget.value })}>
      <option value="">{t("allUsers")}</option><option value="yes">{t("admins")}</option><option value="no">{t("others")}</option>
    </select>
    <select aria-label={t("virtualCluster")} value={of("vc")} onChange={event => setParameters({ vc: event.currentTarget.value })}>
      <option value="">{t("allClusters")}</option>{clusters.map(name => <option key={name} value={name}>{name}</option>)}
    </select>
  </form>;
}

function matches(user: User): boolean {
  const of = (name: string) => parameters.value.get(name) ?? "";
  return `${user.username} ${user.email ?? ""}`.toLowerCase().includes(of("keyword").toLowerCase()) &&
    (of("admin") === "" || user.admin === (of("admin") === "yes")) && (of("vc") === "" || user.virtualCluster.includes(of("vc")));
}

export function Accounts() {
  const list = useCall("users.list", {}), groups = useCall("groups.list", {}), clusters = useCall("vcs.list", {});
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [edited, setEdited] = useState("");
  const [isAll, setAll] = useState(false);
  const known = { clusters: Object.keys(clusters.value ?? {}), groups: (groups.value ?? []).map(one => one.groupname) };
  const found = (list.value ?? []).filter(matches), rows = isAll ? found : found.slice(0, SHOWN);
  const names = found.map(one => one.username).filter(name => chosen.has(name));
  const choose = (more: string[], is: boolean) => setChosen(new Set(is ? [...chosen, ...more] : [...chosen].filter(name => !more.includes(name))));
  return <>
    <div class="title"><h1>{t("users")}</h1><AddUser known={known} again={list.again} /></div>
    <Filters clusters={known.clusters} />
    {names.length > 0 && <Batch names={names} known={known} again={list.again} />}
    {list.error !== undefined && <Failed error={list.error} />}
    {list.value !== undefined && <div class="wide" tabIndex={0} role="region" aria-label={t("users")}><table>
      <thead><tr>
        <td><input type="checkbox" aria-label={t("select", found.length)} checked={found.length > 0 && names.length === found.length}
          onChange={event => choose(found.map(one => one.username), event.currentTarget.checked)} /></td>
        {COLUMNS.map(text => <th key={text} scope="col">{t(text)}</th>)}<td /></tr></thead>
      <tbody>{rows.map(user => <>
        <Row key={user.username} user={user} isChosen={chosen.has(user.username)} choose={is => choose([user.username], is)}
          edit={() => setEdited(edited === user.username ? "" : user.username)} again={list.again} />
        {edited === user.username && <Edit key={`${user.username} edit`} user={user} known={known} again={list.again} close={() => setEdited("")} />}
      </>)}</tbody>
    </table></div>}
    {rows.length < found.length && <p><button type="button" onClick={() => setAll(true)}>{t("showAll", found.length)}</button></p>}
  </>;
}
