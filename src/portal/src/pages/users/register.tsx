// register.tsx - many accounts of a CSV file: read, corrected in a grid, created one by one
import { useRef, useState } from "preact/hooks";
import { call } from "../../call";
import { attempt, textOf } from "../../parts/messages";
import { useCall } from "../../parts/use_call";
import { t, type TextKey } from "../../texts";
import { rowsOf } from "./csv";

const FIELDS = ["username", "password", "email", "admin", "virtual cluster"] as const;
const TEXTS: TextKey[] = ["userName", "password", "email", "admin", "virtualClusters"];
const TEMPLATE = `${FIELDS.join(",")}\nalice,a-password-of-hers,alice@example.com,false,"default,research"\n`;
const MOST = 2000; // rows

type Field = typeof FIELDS[number];

interface Row extends Record<Field, string> { status: "" | "created" | "failed"; error: string }

const isYes = (text: string) => /^(true|yes|y|1|是)$/i.test(text.trim());
const clustersOf = (text: string) => text.split(/[,;]/).map(one => one.trim()).filter(Boolean);

/* The first row names the columns, in any order. */
function parse(text: string): Row[] {
  const [head = [], ...rest] = rowsOf(text);
  const at = FIELDS.map(field => head.findIndex(one => one.trim().toLowerCase() === field));
  if (at[0]! < 0 || at[1]! < 0)
    throw new Error(t("noColumns", FIELDS.join(", ")));
  if (rest.length > MOST)
    throw new Error(t("tooManyRows", MOST));
  return rest.map(row => ({
    ...Object.fromEntries(FIELDS.map((field, i) => [field, (row[at[i]!] ?? "").trim()])) as Record<Field, string>, status: "", error: "",
  }));
}

/* What can be seen to be wrong before anything is sent. */
function problemOf(row: Row, rows: Row[], clusters: string[]): string {
  if (!/^[A-Za-z0-9_.-]+$/.test(row.username))
    return t("wrongName");
  if (rows.filter(one => one.username === row.username).length > 1)
    return t("twice");
  if (row.password.length < 8)
    return t("shortPassword", 8);
  const unknown = clustersOf(row["virtual cluster"]).find(name => !clusters.includes(name));
  return unknown !== undefined ? t("noCluster", unknown) : "";
}

async function create(row: Row): Promise<void> {
  await call("users.create", {
    username: row.username, password: row.password, admin: isYes(row.admin),
    virtualCluster: clustersOf(row["virtual cluster"] || "default"), ...row.email !== "" && { email: row.email },
  });
}

export function Register() {
  const clusters = Object.keys(useCall("vcs.list", {}).value ?? {});
  const [rows, setRows] = useState<Row[]>([]);
  const [isBusy, setBusy] = useState(false);
  const latest = useRef(rows);
  const put = (next: Row[]) => { latest.current = next; setRows(next); };
  const change = (i: number, to: Partial<Row>) => put(latest.current.map((row, k) => k === i ? { ...row, ...to } : row));

  const read = (file: File | undefined) => attempt(async () => {
    if (file !== undefined)
      put(parse(await file.text()));
  });
  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    for (let i = 0; i < latest.current.length; i++) {
      const row = latest.current[i]!;
      if (row.status === "created")
        continue;
      const problem = problemOf(row, latest.current, clusters);
      if (problem !== "")
        change(i, { status: "failed", error: problem });
      else
        await create(row).then(() => change(i, { status: "created", error: "", password: "" }), (error: unknown) => change(i, { status: "failed", error: textOf(error) }));
    }
    setBusy(false);
  }
  const left = rows.filter(row => row.status !== "created").length;
  return <>
    <div class="title"><h1>{t("registerMany")}</h1></div>
    <p>{t("registerAbout")} <code>{FIELDS.join(",")}</code></p>
    <p class="buttons">
      <label class="button file">{t("upload")}<input type="file" accept=".csv,text/csv" onChange={event => { void read(event.currentTarget.files?.[0]); event.currentTarget.value = ""; }} /></label>
      <a class="button" download="users.csv" href={`data:text/csv;charset=utf-8,${encodeURIComponent(TEMPLATE)}`}>{t("template")}</a>
      <button type="button" onClick={() => put([...rows, { username: "", password: "", email: "", admin: "", "virtual cluster": "default", status: "", error: "" }])}>{t("addRow")}</button>
    </p>
    {rows.length > 0 && <form onSubmit={event => void submit(event)}>
      <div class="wide" tabIndex={0} role="region" aria-label={t("registerMany")}><table class="grid-table">
        <thead><tr>{TEXTS.map(text => <th key={text} scope="col">{t(text)}</th>)}<th scope="col">{t("state")}</th><td /></tr></thead>
        <tbody>{rows.map((row, i) => <tr key={i}>
          {FIELDS.map((field, k) => <td key={field}><input aria-label={`${t(TEXTS[k]!)} ${i + 1}`} disabled={row.status === "created" || isBusy}
            type={field === "password" ? "password" : "text"} autocomplete={field === "password" ? "new-password" : "off"} value={row[field]}
            onInput={event => change(i, { [field]: event.currentTarget.value, status: "", error: "" })} /></td>)}
          <td class={row.status === "failed" ? "text failed" : "text"} role="status">{row.status === "created" ? t("created") : row.error}</td>
          <td><button type="button" disabled={isBusy} aria-label={`${t("removeUser")} ${i + 1}`} onClick={() => put(rows.filter((_, k) => k !== i))}>×</button></td>
        </tr>)}</tbody>
      </table></div>
      <p class="buttons"><button type="submit" class="main" disabled={left === 0 || isBusy} aria-busy={isBusy}>{t("register", left)}</button></p>
    </form>}
  </>;
}
