// plugin.tsx - a plugin that the administrator has listed, in a frame of its own origin
//
// The plugin gets a token that submits and reads, for an hour, and is made anew before that.
import { useEffect, useRef } from "preact/hooks";
import { call } from "../call";
import { Failed } from "../parts/failed";
import { attempt } from "../parts/messages";
import { useCall } from "../parts/use_call";
import { parameters, parts } from "../router";
import { who } from "../session";
import { t } from "../texts";

const LIFE = 3600;            // seconds of a token
const AHEAD = 300;            // seconds before its end, when the next one is made
const SCOPES = ["read", "submit"];

/* Parameters of the address become attributes, as in OpenPAI; none replaces what the portal says. */
function attributesOf(token: string, version: string): Record<string, string> {
  const given = [...parameters.value].filter(([name]) => /^[a-z][a-z0-9-]*$/i.test(name) && !/^(pai-|on)/i.test(name));
  return {
    ...Object.fromEntries(given), "pai-rest-server-uri": `${location.origin}/rest-server`, "pai-version": version,
    "pai-user": who.value?.name ?? "", "pai-rest-server-token": token,
  };
}

function Frame({ index, title, version }: { index: string; title: string; version: string }) {
  const frame = useRef<HTMLIFrameElement>(null);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined, made = "", isOver = false;
    const revoke = (token: string) => { if (token !== "") call("tokens.revoke", { token }).catch(() => {}); };
    const give = () => attempt(async () => {
      const { token, id } = await call("tokens.create", { name: `plugin: ${title}`.slice(0, 64), scopes: SCOPES, expiration: LIFE });
      if (isOver) {
        revoke(id);
        return;
      }
      const before = made;
      made = id;
      // The frame has no origin that could be named here; its page is this server's.
      frame.current?.contentWindow?.postMessage({ attributes: attributesOf(token, version) }, "*");
      revoke(before);
      timer = setTimeout(() => void give(), (LIFE - AHEAD) * 1000);
    });
    const onMessage = (event: MessageEvent) => {
      if (event.source === frame.current?.contentWindow && event.data === "openpai-plugin-ready") {
        clearTimeout(timer);
        void give();
      }
    };
    addEventListener("message", onMessage);
    return () => {
      isOver = true;
      clearTimeout(timer);
      removeEventListener("message", onMessage);
      revoke(made);
    };
  }, [index]);
  return <iframe ref={frame} class="plugin" title={title} src={`/plugin-frame/${index}`} sandbox="allow-scripts allow-forms allow-popups allow-downloads" />;
}

export function Plugin() {
  const index = parts.value[1] ?? "";
  const list = useCall("plugins.list", {}), info = useCall("server.info", {});
  const plugin = /^\d+$/.test(index) ? list.value?.[Number(index)] : undefined;

  useEffect(() => { document.title = `${plugin?.title ?? ""} · OpenPAI`; });
  if (list.error !== undefined)
    return <Failed error={list.error} />;
  if (list.value === undefined || info.value === undefined)
    return null;
  return plugin === undefined ? <p class="empty">{t("noPage")}</p> : <>
    <h1>{plugin.title}</h1>
    <Frame key={index} index={index} title={plugin.title} version={info.value.version} />
  </>;
}
