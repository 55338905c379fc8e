// ssh_keys.tsx - public keys with which the user enters tasks
import type { User } from "../../api";
import { call } from "../../call";
import { time } from "../../format";
import { attempt } from "../../parts/messages";
import { t } from "../../texts";

/** A key in the extension data of an account, as OpenPAI has it. */
interface Key { title: string; value: string; time: number }

const FORM = /^(ssh-(ed25519|rsa|dss)|ecdsa-sha2-\S+|sk-\S+) [A-Za-z0-9+/=]+( .*)?$/;

export function SshKeys({ user, again }: { user: User; again: () => void }) {
  const keys = (user.extension.sshKeys ?? []) as Key[];
  const put = (sshKeys: Key[]) => attempt(async () => {
    await call("users.set_extension", { username: user.username, extension: { sshKeys } });
    again();
  });
  const add = (event: SubmitEvent) => attempt(async () => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement, of = new FormData(form);
    const value = String(of.get("value")).trim();
    if (!FORM.test(value))
      throw new Error(t("wrongKey"));
    await put([...keys, { title: String(of.get("title")), value, time: Date.now() }]);
    form.reset();
  });
  return <>
    {keys.length > 0 && <div class="wide" tabIndex={0} role="region" aria-label={t("sshKeys")}><table>
      <thead><tr><th scope="col">{t("title")}</th><th scope="col">{t("value")}</th><th scope="col">{t("made")}</th><td /></tr></thead>
      <tbody>{keys.map((key, i) => <tr key={key.value}>
        <th scope="row">{key.title}</th><td><code class="cut" title={key.value}>{key.value}</code></td><td>{time(key.time)}</td>
        <td><button type="button" aria-label={`${t("removeUser")} ${key.title}`} onClick={() => void put(keys.filter((_, k) => k !== i))}>{t("removeUser")}</button></td>
      </tr>)}</tbody>
    </table></div>}
    <form class="filters" onSubmit={event => void add(event)}>
      <label>{t("title")} <input name="title" required /></label>
      <label>{t("publicKey")} <input name="value" required placeholder="ssh-ed25519 AAAA..." /></label>
      <button type="submit">{t("addKey")}</button>
    </form>
  </>;
}
