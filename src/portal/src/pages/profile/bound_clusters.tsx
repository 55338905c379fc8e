// bound_clusters.tsx - other clusters to which the user's jobs can be copied
import type { User } from "../../api";
import { call } from "../../call";
import { attempt } from "../../parts/messages";
import { t } from "../../texts";

/** In the extension data of an account, by alias, as OpenPAI has it. */
interface Bound { alias: string; uri: string; username: string; token: string }

export function BoundClusters({ user, again }: { user: User; again: () => void }) {
  const bound = (user.extension.boundedClusters ?? {}) as Record<string, Bound>;
  const put = (boundedClusters: Record<string, Bound>) => attempt(async () => {
    await call("users.set_extension", { username: user.username, extension: { boundedClusters } });
    again();
  });
  const add = (event: SubmitEvent) => attempt(async () => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement, of = new FormData(form);
    const text = (name: string) => String(of.get(name)).trim();
    await put({ ...bound, [text("alias")]: { alias: text("alias"), uri: text("uri"), username: text("name"), token: text("token") } });
    form.reset();
  });
  return <>
    <p class="hint">{t("boundAbout")}</p>
    {Object.keys(bound).length > 0 && <div class="wide" tabIndex={0} role="region" aria-label={t("boundClusters")}><table>
      <thead><tr><th scope="col">{t("alias")}</th><th scope="col">{t("address")}</th><th scope="col">{t("userName")}</th><td /></tr></thead>
      <tbody>{Object.entries(bound).map(([alias, { uri, username }]) => <tr key={alias}>
        <th scope="row">{alias}</th><td>{uri}</td><td>{username}</td>
        <td><button type="button" aria-label={`${t("removeUser")} ${alias}`}
          onClick={() => void put(Object.fromEntries(Object.entries(bound).filter(([name]) => name !== alias)))}>{t("removeUser")}</button></td>
      </tr>)}</tbody>
    </table></div>}
    <form class="filters" onSubmit={event => void add(event)}>
      <label>{t("alias")} <input name="alias" required pattern="[A-Za-z0-9_\-]+" /></label>
      <label>{t("address")} <input name="uri" type="url" required pattern="https?://.+" placeholder="https://" /></label>
      <label>{t("userName")} <input name="name" required autocomplete="off" /></label>
      <label>{t("token")} <input name="token" type="password" required autocomplete="off" /></label>
      <button type="submit">{t("addBound")}</button>
    </form>
  </>;
}
