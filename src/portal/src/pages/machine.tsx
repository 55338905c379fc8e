// machine.tsx - a node: its use and that of its GPUs over time; /nodes/NAME
import { useEffect } from "preact/hooks";
import { Charts } from "../parts/charts";
import { parts } from "../router";
import { t } from "../texts";

export function Machine() {
  const [, name = ""] = parts.value;

  useEffect(() => { document.title = `${name} · OpenPAI`; });
  return <>
    <h1>{name}</h1>
    <p><a href="/nodes">{t("nodes")}</a></p>
    <Charts of={{ node: name }} />
  </>;
}
