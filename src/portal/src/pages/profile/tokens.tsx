// tokens.tsx - tokens of the user: of browsers, and those that programs use
import { useState } from "preact/hooks";
import { call } from "../../call";
import { time } from "../../format";
import { Choices } from "../../parts/choices";
import { Failed } from "../../parts/failed";
import { attempt } from "../../parts/messages";
import { useCall } from "../../parts/use_call";
import { t } from "../../texts";

const SCOPES = ["read", "submit", "admin"];
const DAY = 86400; // seconds
const LIVES = [1, 7, 30, 90, 365]; // days

function NewToken({ again }: { again: () => void }) {
  const [made, setMade] = useState("");
  const [scopes, setScopes] = useState<string[]>([]);
  const create = (event: SubmitEvent) => attempt(async () => {
    event.preventDefault();
    const of = new FormData(event.currentTarget as HTMLFormElement);
    const name = String(of.get("name")), days = Number(of.get("days"));
    const { token } = await call("tokens.create", {
      ...name !== "" && { name }, ...scopes.length > 0 && { scopes }, ...days > 0 && { expiration: days * DAY },
    });
    setMade(token);
    again();
  });
  return <>
    <form class="filters" onSubmit={event => void create(event)}>
      <label>{t("name")} <input name="name" maxLength={64} /></label>
      <label>{t("expires")} <select name="days">
        <option value="0">{t("never")}</option>{LIVES.map(days => <option key={days} value={days}>{t("afterDays", days)}</option>)}
      </select></label>
      <Choices label={t("onlyScopes")} all={SCOPES} chosen={scopes} change={setScopes} />
      <button type="submit">{t("newToken")}</button>
    </form>
    {made !== "" && <p role="status">{t("shownOnce")}<br /><code class="secret">{made}</code></p>}
  </>;
}

export function Tokens() {
  const list = useCall("tokens.list", {});
  const revoke = (token: string) => attempt(async () => {
    await call("tokens.revoke", { token });
    list.again();
  });
  return <>
    <NewToken again={list.again} />
    {list.error !== undefined && <Failed error={list.error} />}
    <div class="wide" tabIndex={0} role="region" aria-label={t("tokens")}><table>
      <thead><tr><th scope="col">{t("name")}</th><th scope="col">{t("type")}</th><th scope="col">{t("scopes")}</th><th scope="col">{t("made")}</th><th scope="col">{t("expires")}</th><th scope="col">{t("lastUsed")}</th><td /></tr></thead>
      <tbody>{(list.value?.details ?? []).map(one => <tr key={one.id}>
        <th scope="row">{one.name ?? one.id.slice(0, 8)}</th><td>{t(one.application ? "application" : "browser")}</td><td>{one.scopes.join(", ")}</td><td>{time(one.created)}</td>
        <td>{one.expires === null ? t("never") : time(one.expires)}</td><td>{one.lastUsed === null ? t("never") : time(one.lastUsed)}</td>
        <td><button type="button" aria-label={`${t("revoke")} ${one.name ?? one.id.slice(0, 8)}`} onClick={() => void revoke(one.id)}>{t("revoke")}</button></td>
      </tr>)}</tbody>
    </table></div>
  </>;
}
