// meter.tsx - how much of something is used, as a bar
const WARM = 0.5, HOT = 0.9; // shares from which the colour changes, as in OpenPAI's portal

export function Meter({ label, value, most, text }: { label: string; value: number; most: number; text: string }) {
  const share = most > 0 ? Math.min(value / most, 1) : 0;
  const heat = share > HOT ? "hot" : share > WARM ? "warm" : "cool";
  return <span class={`meter ${heat}`} role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={most} aria-valuenow={value} aria-valuetext={text}>
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="8" /><rect class="part" width={100 * share} height="8" /></svg>
    <span>{text}</span>
  </span>;
}
