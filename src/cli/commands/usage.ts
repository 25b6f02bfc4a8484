import { type Command, Option } from "commander";
import { dayOf, startOfDay, sumUsage, type Usage } from "../../model/index.ts";
import type { UsageRow } from "../../ports/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { ClientError } from "../terminal/errors.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { formatTable } from "../terminal/text.ts";
import { dataOption, openStore } from "./data-option.ts";

const GROUPS = {
  day: row => new Date(startOfDay(row.day)).toISOString().slice(0, 10),
  tenant: row => row.tenant,
  principal: row => row.principal,
  agent: row => row.agent,
  context: row => row.contextId,
} as const satisfies Readonly<Record<string, (row: UsageRow) => string>>;
type Group = keyof typeof GROUPS;
const GROUP_NAMES = Object.keys(GROUPS) as Group[];

interface UsageFlags {
  readonly data?: string;
  readonly by?: readonly Group[];
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman usage                                    by day and tenant, the last 30 days
  dragoman usage --by agent --from 2026-11-01
  dragoman usage --by tenant --by principal --json  one line of JSON for each group`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("usage").description(SUMMARIES.usage);
  dataOption(command)
    .addOption(
      new Option("--by <what>", "group by this; repeatable (default: day, tenant)")
        .choices(GROUP_NAMES)
        .argParser((name: string, others: readonly Group[] = []) => [...others, toGroup(name)]),
    )
    .option("--from <date>", "first day, like 2026-11-01, UTC (default: 30 days ago)")
    .option("--to <date>", "last day (default: today)")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: UsageFlags) => {
      const { terminal } = context;
      const output = createOutput(terminal);
      const store = await openStore(terminal, flags);
      const today = dayOf(terminal.now());
      const query = { from: toDay(flags.from, "--from") ?? today - 30, to: toDay(flags.to, "--to") ?? today };
      const groups = flags.by ?? ["day", "tenant"];
      const totals = sumByGroup(await store.readUsage(query), groups);
      if (flags.json) for (const { group, usage } of totals) output.json({ ...group, usage });
      else print(output, totals, groups);
      context.exitCode = EXIT.ok;
    });
}

function toGroup(name: string): Group {
  const found = GROUP_NAMES.find(one => one === name);
  if (found) return found;
  throw new ClientError(`--by must be one of ${GROUP_NAMES.join(", ")}, not "${name}"`);
}

function toDay(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new ClientError(`${flag} must be a day like 2026-11-01, not "${text}"`);
  return dayOf(ms);
}

interface Total {
  readonly group: Readonly<Record<string, string>>;
  readonly usage: Usage;
}

function sumByGroup(rows: readonly UsageRow[], groups: readonly Group[]): readonly Total[] {
  const totals = new Map<string, Total>();
  for (const row of rows) {
    const group = Object.fromEntries(groups.map(name => [name, GROUPS[name](row)]));
    const key = JSON.stringify(group);
    totals.set(key, { group, usage: sumUsage(totals.get(key)?.usage, row.usage) });
  }
  return [...totals.values()];
}

function print(output: Output, totals: readonly Total[], groups: readonly Group[]): void {
  if (totals.length === 0) return output.line("no usage was reported in this time");
  const counters = [...new Set(totals.flatMap(({ usage }) => Object.keys(usage)))].sort();
  const rows = totals.map(({ group, usage }) => [
    ...groups.map(name => group[name] ?? ""),
    ...counters.map(counter => (usage[counter] ?? 0).toLocaleString("en")),
  ]);
  for (const line of formatTable([[...groups, ...counters], ...rows])) output.line(line);
}
