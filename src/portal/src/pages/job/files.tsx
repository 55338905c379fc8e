// files.tsx - the folder of a job: browse and download
import { addressOf, CallError } from "../../call";
import { bytes, time } from "../../format";
import { Failed } from "../../parts/failed";
import { useCall } from "../../parts/use_call";
import { parameters, setParameters } from "../../router";
import { t, type TextKey } from "../../texts";
import type { File } from "../../api";
import type { OfJob } from "./job";

const COLUMNS: TextKey[] = ["name", "size", "modified"];

function Row({ name, file }: { name: string; file: File }) {
  const short = file.path.split("/").at(-1);
  return <tr>
    <td>{file.type === "folder"
      ? <button type="button" class="plain" onClick={() => setParameters({ path: file.path, after: "" })}>{short}/</button>
      : <a download={short} href={addressOf("files.read", { job: name, path: file.path }).href}>{short}</a>}
    {file.target !== null && <span class="hint"> → {file.target}</span>}</td>
    <td class="number">{file.type === "file" ? bytes(file.size) : ""}</td>
    <td>{time(file.modified)}</td>
  </tr>;
}

/* The way from the job's folder to the shown one. */
function Path({ path }: { path: string }) {
  const above = path.split("/").filter(part => part !== "");
  return <p class="path"><button type="button" class="plain" onClick={() => setParameters({ path: "", after: "" })}>{t("files")}</button>
    {above.map((part, i) => <> / <button type="button" class="plain" onClick={() => setParameters({ path: above.slice(0, i + 1).join("/"), after: "" })}>{part}</button></>)}
  </p>;
}

export function Files({ name }: OfJob) {
  const path = parameters.value.get("path") ?? "";
  const after = parameters.value.get("after") ?? "";
  const list = useCall("files.list", { job: name, ...path !== "" && { path }, ...after !== "" && { after } });

  if (list.value === undefined && list.error instanceof CallError && list.error.status === 404 && path === "")
    return <p class="empty">{list.error.message}</p>; // such a job has no folder
  if (list.value === undefined)
    return list.error !== undefined ? <Failed error={list.error} /> : null;
  if (list.value.folder === null)
    return <p class="empty">{t("noFolder")}</p>;
  const next = list.value.next;
  return <>
    <Path path={path} />
    {list.value.entries.length === 0 ? <p class="empty">{t("noFiles")}</p>
      : <div class="wide" tabIndex={0} role="region" aria-label={t("files")}><table>
        <thead><tr>{COLUMNS.map(text => <th key={text} scope="col">{t(text)}</th>)}</tr></thead>
        <tbody>{list.value.entries.map(file => <Row key={file.path} name={name} file={file} />)}</tbody>
      </table></div>}
    {next !== null && <p class="pager"><button type="button" onClick={() => setParameters({ after: next })}>{t("next")}</button></p>}
  </>;
}
