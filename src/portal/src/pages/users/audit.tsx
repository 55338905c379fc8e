// audit.tsx - what was changed, by whom, from where
import { useState } from "preact/hooks";
import { time } from "../../format";
import { Failed } from "../../parts/failed";
import { useCall } from "../../parts/use_call";
import { parameters, setParameters } from "../../router";
import { t } from "../../texts";

const PAGE = 100;

export function Audit() {
  const of = (name: string) => parameters.value.get(name) ?? "";
  const [pages, setPages] = useState<number[]>([]); // first ids of the pages before
  const day = (text: string) => text === "" ? undefined : new Date(`${text}T00:00`).getTime();
  const since = day(of("since")), until = day(of("until")), before = pages.at(-1);
  const list = useCall("audit.list", {
    limit: PAGE, ...of("user") !== "" && { username: of("user") }, ...since !== undefined && { since },
    ...until !== undefined && { until: until + 86400000 }, ...before !== undefined && { before },
  });
  const rows = list.value ?? [];
  const filter = (name: string, value: string) => { setPages([]); setParameters({ [name]: value }); };
  return <>
    <div class="title"><h1>{t("audit")}</h1></div>
    <form role="search" class="filters" onSubmit={event => event.preventDefault()}>
      <input type="search" aria-label={t("userName")} placeholder={t("userName")} value={of("user")} onChange={event => filter("user", event.currentTarget.value)} />
      <label class="check">{t("since")} <input type="date" value={of("since")} onChange={event => filter("since", event.currentTarget.value)} /></label>
      <label class="check">{t("until")} <input type="date" value={of("until")} onChange={event => filter("until", event.currentTarget.value)} /></label>
    </form>
    {list.error !== undefined && <Failed error={list.error} />}
    <div class="wide" tabIndex={0} role="region" aria-label={t("audit")}><table>
      <thead><tr><th scope="col">{t("time")}</th><th scope="col">{t("user")}</th><th scope="col">{t("address")}</th><th scope="col">{t("change_kind")}</th><th scope="col" class="number">{t("status")}</th></tr></thead>
      <tbody>{rows.map(one => <tr key={one.id} class={one.status >= 400 ? "warning" : undefined}>
        <td><time dateTime={new Date(one.time).toISOString()}>{time(one.time)}</time></td><td>{one.user}</td><td>{one.from}</td>
        <td class="text"><code>{one.what}</code></td><td class="number">{one.status || ""}</td>
      </tr>)}</tbody>
    </table></div>
    <p class="pager">
      <button type="button" disabled={pages.length === 0} onClick={() => setPages(pages.slice(0, -1))}>{t("previous")}</button>
      <button type="button" disabled={rows.length < PAGE} onClick={() => setPages([...pages, rows.at(-1)!.id])}>{t("next")}</button>
    </p>
  </>;
}
