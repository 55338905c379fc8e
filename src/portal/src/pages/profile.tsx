// profile.tsx - the user's own account: password, and tokens of programs
import { useEffect, useState } from "preact/hooks";
import { call } from "../call";
import { time } from "../format";
import { Failed } from "../parts/failed";
import { attempt, tell } from "../parts/messages";
import { useCall } from "../parts/use_call";
import { who } from "../session";
import { t } from "../texts";

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

function Tokens() {
  const list = useCall("tokens.list", {});
  const [made, setMade] = useState("");
  const create = () => attempt(async () => {
    const { token } = await call("tokens.create", {});
    setMade(token);
    list.again();
  });
  const revoke = (token: string) => attempt(async () => {
    await call("tokens.revoke", { token });
    list.again();
  });
  return <>
    <p><button type="button" onClick={() => void create()}>{t("newToken")}</button></p>
    {made !== "" && <p role="status">{t("shownOnce")}<br /><code class="secret">{made}</code></p>}
    {list.error !== undefined && <Failed error={list.error} />}
    <div class="wide" tabIndex={0} role="region" aria-label={t("tokens")}><table>
      <thead><tr><th scope="col">{t("name")}</th><th scope="col">{t("type")}</th><th scope="col">{t("started")}</th><th scope="col">{t("expires")}</th><th scope="col">{t("lastUsed")}</th><td /></tr></thead>
      <tbody>{(list.value?.details ?? []).map(one => <tr key={one.id}>
        <td>{one.name ?? one.id.slice(0, 8)}</td><td>{one.application ? "application" : "browser"}</td><td>{time(one.created)}</td>
        <td>{one.expires === null ? t("never") : time(one.expires)}</td><td>{one.lastUsed === null ? t("never") : time(one.lastUsed)}</td>
        <td><button type="button" onClick={() => void revoke(one.id)}>{t("revoke")}</button></td>
      </tr>)}</tbody>
    </table></div>
  </>;
}

export function Profile() {
  useEffect(() => { document.title = `${t("profile")} · OpenPAI`; });
  return <>
    <h1>{who.value?.name}</h1>
    <section><h2>{t("password")}</h2><Password /></section>
    <section><h2>{t("tokens")}</h2><Tokens /></section>
  </>;
}
