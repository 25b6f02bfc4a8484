import type { JsonResult } from "./report.ts";

/** The bars of the README: how many times the CPU time of Dragoman the official SDK 1.3.0 takes. */
const BARS: readonly { scenario: string; ours: string; label: string }[] = [
  { scenario: "send", ours: "power", label: "send, on disk" },
  { scenario: "postgres", ours: "send on Postgres", label: "send, on Postgres" },
  { scenario: "get", ours: "power", label: "get a task" },
  { scenario: "stream50", ours: "power", label: "stream of 50 chunks, on disk" },
  { scenario: "postgres", ours: "stream50 on Postgres", label: "stream of 50 chunks, on Postgres" },
  { scenario: "stream200", ours: "power", label: "stream of 200 chunks, on disk" },
];

const WIDTH = 760;
const LABEL_WIDTH = 250;
const BAR_HEIGHT = 20;
const ROW_HEIGHT = 30;
const TOP = 54;
const VALUE_WIDTH = 70;

export function toChart(results: readonly JsonResult[]): string {
  const bars = BARS.flatMap(({ scenario, ours, label }) => {
    const result = results.find(one => one.scenario === scenario);
    const compared = result?.comparisons.find(one => one.ours === ours);
    return compared?.cost ? [{ label, ratio: compared.cost.median }] : [];
  });
  const height = TOP + bars.length * ROW_HEIGHT + 14;
  // Logarithmic: the ratios differ by more than ten times.
  const longest = Math.log(Math.max(2, ...bars.map(bar => bar.ratio)));
  const toWidth = (ratio: number): number =>
    Math.max(2, (Math.log(Math.max(1, ratio)) / longest) * (WIDTH - LABEL_WIDTH - VALUE_WIDTH));
  const rows = bars.map(({ label, ratio }, index) => {
    const y = TOP + index * ROW_HEIGHT;
    const width = toWidth(ratio).toFixed(1);
    const value = `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(1)} ×`;
    return `<text x="${LABEL_WIDTH - 12}" y="${y + 15}" text-anchor="end">${label}</text>
<rect x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="3"/>
<text class="value" x="${LABEL_WIDTH + Number(width) + 8}" y="${y + 15}">${value}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="CPU time of the official SDK 1.3.0 as a multiple of Dragoman's">
<style>
text { font: 13px system-ui, sans-serif; fill: #424a53 }
.title { font-weight: 600; font-size: 14px; fill: #1f2328 }
.value { font-weight: 600; fill: #1f2328 }
rect { fill: #2f6f5e }
@media (prefers-color-scheme: dark) {
  text { fill: #9da7b1 }
  .title, .value { fill: #e6edf3 }
  rect { fill: #58b39b }
}
</style>
<text class="title" x="12" y="20">CPU time per operation: official A2A SDK 1.3.0 (in memory) / Dragoman (durable)</text>
<text x="12" y="38">median of interleaved rounds on two cores, logarithmic; more is better for Dragoman</text>
${rows.join("\n")}
</svg>
`;
}
