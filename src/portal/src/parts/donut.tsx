// donut.tsx - how much of a virtual cluster's share is in use, as a ring
import type { VirtualCluster } from "../api";
import { t, type TextKey } from "../texts";

const R = 42, ROUND = 2 * Math.PI * R;

/** What is scarcest of a share, of GPUs, processors and memory: its use, and all of it. */
export function scarcest({ resourcesUsed: used, resourcesGuaranteed: own }: VirtualCluster): { text: TextKey; used: number; own: number } {
  const all = ([["gpus", "gpu"], ["cpus", "cpu"], ["memory", "memory"]] as const)
    .map(([text, of]) => ({ text, used: used[of], own: own[of] })).filter(one => one.own > 0 || one.used > 0);
  return all.sort((a, b) => b.used / Math.max(b.own, 0.001) - a.used / Math.max(a.own, 0.001))[0] ?? { text: "cpus", used: 0, own: 0 };
}

/** The ring fills with the use of the scarcest resource; what is borrowed begins it anew, in another colour. */
export function Donut({ name, of }: { name: string; of: VirtualCluster }) {
  const { text, used, own } = scarcest(of);
  const share = own > 0 ? used / own : used > 0 ? 2 : 0;
  const percent = own > 0 ? `${Math.round(100 * share)} %` : used > 0 ? "> 0" : "0 %";
  const arc = (part: number) => `${(ROUND * Math.max(0, Math.min(part, 1))).toFixed(1)} ${ROUND.toFixed(1)}`;
  return <svg class="donut" viewBox="0 0 100 100" width="84" height="84" role="img" aria-label={`${name}: ${t(text)} ${percent}`}>
    <circle class="track" cx="50" cy="50" r={R} />
    <circle class="part" cx="50" cy="50" r={R} stroke-dasharray={arc(share)} transform="rotate(-90 50 50)" />
    {share > 1 && <circle class="over" cx="50" cy="50" r={R} stroke-dasharray={arc(share - 1)} transform="rotate(-90 50 50)" />}
    <text x="50" y="49">{percent}</text><text class="of" x="50" y="65">{t(text)}</text>
  </svg>;
}
