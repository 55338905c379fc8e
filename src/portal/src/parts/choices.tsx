// choices.tsx - some names of several, as check boxes
export function Choices({ label, all, chosen, change, fixed = [] }: {
  label: string; all: string[]; chosen: string[]; change: (chosen: string[]) => void; /** These stay chosen. */ fixed?: string[];
}) {
  const names = [...new Set([...all, ...chosen])];
  return <fieldset class="choices"><legend>{label}</legend>
    {names.map(name => <label key={name} class="check">
      <input type="checkbox" checked={chosen.includes(name) || fixed.includes(name)} disabled={fixed.includes(name)}
        onChange={event => change(event.currentTarget.checked ? [...chosen, name] : chosen.filter(one => one !== name))} />{name}
    </label>)}
  </fieldset>;
}
