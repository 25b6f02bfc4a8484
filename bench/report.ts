import { CONTENDERS } from "./contenders.ts";
import { type Compared, compare, type Reading, type Rounds, type Spread, toSpread } from "./ratios.ts";
import type { Result } from "./run.ts";
import type { Comparison, Scenario, Target } from "./scenarios.ts";

/** Above this the load generator, and not the server, may have been the limit. */
const GENERATOR_SHARE_FAIR_MAX = 0.85;

const COSTS: Record<"operation" | "chunk" | "stream", string> = {
  operation: "µs CPU/op",
  chunk: "µs CPU/chunk",
  stream: "KiB/stream",
};

/** The latest round in one line. */
export function describeRound({ scenario, rounds }: Result): string {
  const cells = [...rounds].map(([id, readings]) => `${toLabel(id)} ${toCell(readings.at(-1), scenario)}`);
  return cells.join("  |  ");
}

export function describeResults(results: Result[]): string {
  return [
    "",
    ...toTable(["measured", "", "op/s", "cost"], results.flatMap(toMeasuredRows)),
    "",
    ...toTable(
      ["compared", "ours against theirs", "op/s ratio", "cost ratio", "target", ""],
      results.flatMap(toComparedRows),
    ),
    "",
    "Medians with [lowest..highest] round. op/s: ours / theirs. Cost: theirs / ours where the target is a least,",
    "ours / theirs where it is a most. A median within 1.3 of 1 is noise. linear counts chunks, not operations.",
    ...results.flatMap(toWarnings),
    "",
    toSummary(results),
    "",
  ].join("\n");
}

/** One scenario in the JSON. */
export interface JsonResult {
  scenario: string;
  about: string;
  costUnit: string;
  rounds: Record<string, Rounds>;
  comparisons: (Comparison & Partial<Compared>)[];
  problems: string[];
  generatorShareMax: number;
}

export function toJsonResult({ scenario, rounds, problems, generatorShareMax }: Result): JsonResult {
  return {
    scenario: scenario.name,
    about: scenario.about,
    costUnit: toCostUnit(scenario),
    rounds: Object.fromEntries(rounds),
    comparisons: scenario.comparisons.map(comparison => ({
      ...comparison,
      ...compareIn(rounds, comparison),
    })),
    problems,
    generatorShareMax,
  };
}

function toMeasuredRows({ scenario, rounds }: Result): string[][] {
  return [...rounds].map(([id, readings]) => {
    const found = readings.filter(reading => reading !== undefined);
    const rates = found.map(reading => reading.perSecond).filter(rate => rate !== undefined);
    const costs = found.map(reading => reading.cost);
    const rate = rates.length > 0 ? toSpreadText(toSpread(rates)) : "-";
    const cost =
      costs.length > 0 ? `${toSpreadText(toSpread(costs))} ${toCostUnit(scenario)}` : "not measured";
    return [scenario.name, toLabel(id), rate, cost];
  });
}

function toComparedRows({ scenario, rounds }: Result): string[][] {
  return scenario.comparisons.map(comparison => {
    const compared = compareIn(rounds, comparison);
    const pair = `${toLabel(comparison.ours)} against ${toLabel(comparison.theirs)}`;
    const target = toTargetText(comparison.target);
    if (compared === undefined) return [scenario.name, pair, "-", "not measured", target, ""];
    const rate = compared.perSecond ? toSpreadText(compared.perSecond) : "-";
    return [scenario.name, pair, rate, toSpreadText(compared.cost), target, compared.verdict ?? ""];
  });
}

function toSummary(results: Result[]): string {
  const verdicts = results.flatMap(({ scenario, rounds }) =>
    scenario.comparisons
      .filter(one => one.target)
      .map(one => compareIn(rounds, one)?.verdict ?? "not measured"),
  );
  const reached = verdicts.filter(verdict => verdict === "ok").length;
  return `${reached} of ${verdicts.length} targets reached.`;
}

function toWarnings({ scenario, problems, generatorShareMax }: Result): string[] {
  const share = `${scenario.name}: the load generator used ${Math.round(generatorShareMax * 100)} % of a core`;
  const limit = `${share}, so op/s may be its limit and not the server's (CPU per operation is not affected)`;
  return generatorShareMax > GENERATOR_SHARE_FAIR_MAX ? [...problems, limit] : problems;
}

function compareIn(rounds: Map<string, Rounds>, comparison: Comparison): Compared | undefined {
  return compare(rounds.get(comparison.ours) ?? [], rounds.get(comparison.theirs) ?? [], comparison);
}

function toCell(reading: Reading | undefined, scenario: Scenario): string {
  if (reading === undefined) return "-";
  const rate = reading.perSecond === undefined ? "" : `${toText(reading.perSecond)}/s `;
  return `${rate}${toText(reading.cost)} ${toCostUnit(scenario)}`;
}

function toCostUnit(scenario: Scenario): string {
  return COSTS[scenario.kind === "idle" ? "stream" : scenario.unit];
}

/** Entries are named after their contender, or have their own label. */
function toLabel(id: string): string {
  return Object.entries(CONTENDERS).find(([known]) => known === id)?.[1].label ?? id;
}

function toTargetText(target: Target | undefined): string {
  if (target === undefined) return "";
  if ("atMost" in target) return `≤ ${target.atMost}`;
  return `≥ ${target.atLeast}${target.perSecond === undefined ? "" : `, op/s ≥ ${target.perSecond}`}`;
}

function toSpreadText({ median, lowest, highest }: Spread): string {
  return `${toText(median)} [${toText(lowest)}..${toText(highest)}]`;
}

function toText(value: number): string {
  return value >= 100 ? Math.round(value).toString() : value.toPrecision(value >= 10 ? 3 : 2);
}

export function toTable(head: string[], rows: string[][]): string[] {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map(row => row[column]?.length ?? 0)),
  );
  const toLine = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [toLine(head), widths.map(width => "-".repeat(width)).join("  "), ...rows.map(toLine)];
}
