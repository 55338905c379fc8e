// profile.tsx - the user's own account
import { useEffect } from "preact/hooks";
import type { User } from "../../api";
import { call } from "../../call";
import { Failed } from "../../parts/failed";
import { attempt, tell } from "../../parts/messages";
import { useCall } from "../../parts/use_call";
import { who } from "../../session";
import { t } from "../../texts";
import { BoundClusters } from "./bound_clusters";
import { SshKeys } from "./ssh_keys";
import { Tokens } from "./tokens";

function Password() {
  async function change(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const of = new FormData(form);
    await attempt(async () => {
      await call("users.set_password", { username: who.value!.name, oldPassword: String(of.get("old")), newPassword: String(of.get("new")) });
      form.reset();
      tell(t("passwordChanged"));
    });
  }
  return <form class="filters" onSubmit={event => void change(event)}>
    <input type="hidden" name="username" autocomplete="username" value={who.value?.name} />
    <label>{t("oldPassword")} <input name="old" type="password" autocomplete="current-password" required /></label>
    <label>{t("newPassword")} <input name="new" type="password" autocomplete="new-password" minLength={8} required /></label>
    <button type="submit">{t("save")}</button>
  </form>;
}

function Email({ user, again }: { user: User; again: () => void }) {
  const change = (event: SubmitEvent) => attempt(async () => {
    event.preventDefault();
    await call("users.set_email", { username: user.username, email: String(new FormData(event.currentTarget as HTMLFormElement).get("email")) });
    tell(t("saved"));
    again();
  });
  return <form class="filters" onSubmit={event => void change(event)}>
    <label>{t("email")} <input name="email" type="email" autocomplete="email" defaultValue={user.email ?? ""} /></label>
    <button type="submit">{t("save")}</button>
  </form>;
}

function Storage({ name }: { name: string }) {
  const { value } = useCall("storages.show", { name });
  const { address, path, mountPath } = (value?.data ?? {}) as Record<string, string | undefined>;
  return <tr><th scope="row">{name}</th><td>{value?.type}</td><td>{address ?? ""}{path ?? mountPath ?? ""}</td><td>{value === undefined ? "" : t(value.readOnly ? "readOnly" : "readWrite")}</td></tr>;
}

function Storages() {
  const list = useCall("storages.list", {});
  const names = (list.value?.storages ?? []).map(one => one.name);
  if (names.length === 0)
    return list.error !== undefined ? <Failed error={list.error} /> : <p class="empty">{t("noUsableStorages")}</p>;
  return <div class="wide" tabIndex={0} role="region" aria-label={t("storages")}><table>
    <thead><tr><th scope="col">{t("name")}</th><th scope="col">{t("type")}</th><th scope="col">{t("address")}</th><th scope="col">{t("permission")}</th></tr></thead>
    <tbody>{names.map(name => <Storage key={name} name={name} />)}</tbody>
  </table></div>;
}

export function Profile() {
  const name = who.value?.name ?? "";
  const user = useCall("users.show", { username: name });
  const info = useCall("authn.info", {});
  const hasPassword = info.value?.authn_type !== "OIDC";

  useEffect(() => { document.title = `${t("profile")} · OpenPAI`; });
  return <>
    <h1>{name}</h1>
    {user.error !== undefined && <Failed error={user.error} />}
    {user.value !== undefined && <p>{t("groups")}: {user.value.grouplist.join(", ")} · {t("virtualClusters")}: {user.value.virtualCluster.map((vc, i) =>
      <>{i > 0 && ", "}<a key={vc} href={`/jobs?vc=${encodeURIComponent(vc)}`}>{vc}</a></>)}</p>}
    {hasPassword && <section><h2>{t("password")}</h2><Password /></section>}
    {hasPassword && user.value !== undefined && <section><h2>{t("email")}</h2><Email user={user.value} again={user.again} /></section>}
    <section><h2>{t("tokens")}</h2><Tokens /></section>
    {user.value !== undefined && <section><h2>{t("sshKeys")}</h2><SshKeys user={user.value} again={user.again} /></section>}
    <section><h2>{t("storages")}</h2><Storages /></section>
    {user.value !== undefined && <section><h2>{t("boundClusters")}</h2><BoundClusters user={user.value} again={user.again} /></section>}
  </>;
}
