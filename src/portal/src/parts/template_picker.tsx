// template_picker.tsx - a field to begin a job file with: templates of OpenPAI and of the marketplace
import { useState } from "preact/hooks";
import { go, parameters } from "../router";
import { t } from "../texts";
import { TEMPLATES } from "../pages/templates";
import { useCall } from "./use_call";

/** `onPick` gets the text of one that comes with OpenPAI; an item of the marketplace changes the address. */
export function TemplatePicker({ item, onPick }: { item: string | null; onPick: (text: string) => void }) {
  const [picked, setPicked] = useState(parameters.value.get("example") ?? TEMPLATES[0]!.name);
  const items = useCall("marketplace.list", { brief: true, type: "template" });

  function pick(value: string): void {
    if (value.startsWith("item:"))
      go(`/submit?template=${value.slice(5)}`);
    else {
      setPicked(value);
      onPick(TEMPLATES.find(one => one.name === value)!.text);
    }
  }
  return <label>{t("example")} <select value={item !== null ? `item:${item}` : picked} onChange={event => pick(event.currentTarget.value)}>
    {TEMPLATES.map(one => <option key={one.name} value={one.name}>{one.name}</option>)}
    {items.value !== undefined && items.value.length > 0 && <optgroup label={t("marketplace")}>
      {items.value.map(one => <option key={one.id} value={`item:${one.id}`}>{one.name} ({one.author})</option>)}
    </optgroup>}
  </select></label>;
}
