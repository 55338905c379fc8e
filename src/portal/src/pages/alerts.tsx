// alerts.tsx - what is wrong with the machines and the jobs now; silences and rules
import { useEffect } from "preact/hooks";
import type { Alert, AlertMatcher, Silence } from "../api";
import { call } from "../call";
import { time } from "../format";
import { ask } from "../parts/dialog";
import { Failed } from "../parts/failed";
import { alertsChanged } from "../parts/bell";
import { attempt } from "../parts/messages";
import { useCall } from "../parts/use_call";
import { useJobChanges } from "../parts/use_jobs";
import { who } from "../session";
import { t, type TextKey } from "../texts";

const ALERT_COLUMNS: TextKey[] = ["severity", "name", "node", "message", "since", "state"];
const SILENCE_COLUMNS: TextKey[] = ["matchers", "state", "until", "user", "comment"];
const RULE_COLUMNS: TextKey[] = ["name", "severity", "condition", "firingNow"];
const PAUSE = 5000; // milliseconds between two lists while jobs change: the server looks no more often
const HOURS = 2;

const labelsOf = (alert: Alert) => alert.labels as Record<string, string>;

function textOfMatcher({ name, value, isRegex, isEqual }: AlertMatcher): string {
  return `${name}${!isEqual ? "!" : ""}${isRegex ? !isEqual ? "~" : "=~" : "="}${value}`;
}

/* The labels that tell an alert from others; the node is the same for all. */
function matchersOf(alert: Alert): AlertMatcher[] {
  const labels = labelsOf(alert);
  return ["alertname", "job_name"].filter(name => labels[name] !== undefined)
    .map(name => ({ name, value: labels[name] ?? "", isRegex: false, isEqual: true }));
}

function Actions({ alert, again }: { alert: Alert; again: () => void }) {
  const text = `${labelsOf(alert).alertname} ${labelsOf(alert).job_name ?? ""}`.trim();
  const isSeen = alert.acknowledgedBy !== null;
  const acknowledge = () => attempt(async () => {
    await call("alerts.acknowledge", { fingerprint: alert.fingerprint, acknowledged: !isSeen });
    again();
  });
  async function silence(): Promise<void> {
    const comment = await ask(t("silenceAsk", text, HOURS), t("silence"), t("comment"));
    if (comment === null)
      return;
    await attempt(async () => {
      await call("silences.create", { matchers: matchersOf(alert), comment,
        endsAt: new Date(Date.now() + HOURS * 3600000).toISOString() });
      again();
    });
  }
  return <>
    <button type="button" onClick={() => void acknowledge()}>{t(isSeen ? "withdraw" : "acknowledge")}</button>{" "}
    {who.value?.admin && alert.status.state !== "suppressed" && <button type="button" onClick={() => void silence()}>{t("silence")}</button>}
  </>;
}

function Table({ label, columns, buttons, children }: { label: TextKey; columns: TextKey[]; buttons?: boolean; children: preact.ComponentChildren }) {
  return <div class="wide" tabIndex={0} role="region" aria-label={t(label)}><table>
    <thead><tr>{columns.map(text => <th key={text} scope="col" class={text === "firingNow" ? "number" : undefined}>{t(text)}</th>)}{buttons && <td />}</tr></thead>
    <tbody>{children}</tbody>
  </table></div>;
}

function Row({ alert, again }: { alert: Alert; again: () => void }) {
  const { severity, alertname, node_name: node } = labelsOf(alert);
  const isSilent = alert.status.state === "suppressed";
  return <tr class={severity === "warn" ? "warning" : undefined}>
    <td>{severity}</td><td>{alertname}</td><td>{node}</td>
    <td class="text">{alert.annotations.summary}</td><td>{time(Date.parse(alert.startsAt))}</td>
    <td>{isSilent ? t("silenced") : alert.acknowledgedBy !== null ? t("seenBy", alert.acknowledgedBy) : t("firing")}</td>
    <td><Actions alert={alert} again={again} /></td>
  </tr>;
}

function Silences({ list, again }: { list: Silence[]; again: () => void }) {
  const end = (one: Silence) => attempt(async () => {
    await call("silences.end", { id: one.id });
    again();
  });
  return <section>
    <h2>{t("silences")}</h2>
    {list.length === 0 ? <p class="empty">{t("noSilences")}</p> :
      <Table label="silences" columns={SILENCE_COLUMNS} buttons={who.value?.admin ?? false}>
        {list.map(one => <tr key={one.id}>
          <th scope="row">{one.matchers.map(textOfMatcher).join(", ")}</th>
          <td>{t(one.status.state === "active" ? "active" : one.status.state === "expired" ? "expired" : "pending")}</td>
          <td>{time(Date.parse(one.endsAt))}</td><td>{one.createdBy}</td><td class="text">{one.comment}</td>
          {who.value?.admin && <td>{one.status.state !== "expired" &&
            <button type="button" onClick={() => void end(one)}>{t("endSilence")}</button>}</td>}
        </tr>)}
      </Table>}
  </section>;
}

function Rules() {
  const list = useCall("alerts.rules", {});
  if (list.value === undefined)
    return list.error !== undefined ? <Failed error={list.error} /> : null;
  return <section>
    <h2>{t("rules")}</h2>
    <Table label="rules" columns={RULE_COLUMNS}>
      {list.value.map(rule => <tr key={rule.alert}>
        <th scope="row">{rule.alert}</th><td>{rule.disabled ? t("disabled") : rule.severity}</td>
        <td class="text"><code>{rule.expr}</code></td><td class="number">{rule.firing}</td>
      </tr>)}
    </Table>
  </section>;
}

export function Alerts() {
  const list = useCall("alerts.list", {});
  const silences = useCall("silences.list", {});
  const again = () => {
    list.again();
    silences.again();
    alertsChanged.value++;
  };

  useEffect(() => { document.title = `${t("alerts")} · OpenPAI`; });
  useJobChanges(list.again, () => true, PAUSE);
  return <>
    <div class="title"><h1>{t("alerts")}</h1></div>
    {list.error !== undefined && <Failed error={list.error} />}
    {list.value?.length === 0 && <p class="empty">{t("noAlerts")}</p>}
    {list.value !== undefined && list.value.length > 0 &&
      <Table label="alerts" columns={ALERT_COLUMNS} buttons>
        {list.value.map(one => <Row key={one.fingerprint} alert={one} again={again} />)}
      </Table>}
    {silences.value !== undefined && <Silences list={silences.value} again={again} />}
    <Rules />
  </>;
}
