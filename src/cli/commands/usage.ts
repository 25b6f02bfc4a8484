import { type Command, Option } from "commander";
import { dayOf, startOfDay, sumUsage, type Usage } from "../../model/index.ts";
import type { UsageRow } from "../../ports/index.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { ClientError } from "../terminal/errors.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { formatTable } from "../terminal/text.ts";
import { dataPlace, placeOption } from "./data-option.ts";
import { readUsage } from "./open-store.ts";

const GROUPS = ["day", "tenant", "principal", "agent", "context"] as const;
type Group = (typeof GROUPS)[number];

interface UsageFlags {
  readonly data?: string;
  readonly by: readonly Group[];
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman usage                                    by day and tenant, the last 30 days
  dragoman usage --by agent --from 2026-11-01
  dragoman usage --by tenant --by principal --json  one line of JSON for each`;

export function define(program: Command, session: CommandContext): void {
  const command = program
    .command("usage")
    .description("Show what agents have spent, as they told with ctx.usage");
  placeOption(command)
    .addOption(
      new Option("--by <what>", "what to add up by; repeatable (default: day, tenant)")
        .choices(GROUPS)
        .argParser((one: string, all: readonly Group[] = []) => [...all, toGroup(one)]),
    )
    .option("--from <date>", "from this day on, like 2026-11-01, UTC (default: 30 days ago)")
    .option("--to <date>", "up to this day (default: today)")
    .option("--json", "print JSON for programs")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: UsageFlags) => {
      const { terminal } = session;
      const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
      const place = await dataPlace(terminal, flags.data);
      const today = dayOf(terminal.now());
      const query = { from: toDay(flags.from, "--from") ?? today - 30, to: toDay(flags.to, "--to") ?? today };
      const groups = flags.by ?? ["day", "tenant"];
      const rows = addUp(await readUsage(place, query), groups);
      if (flags.json) for (const row of rows) output.json({ ...row.place, usage: row.usage });
      else print(output, rows, groups);
      session.exitCode = EXIT.ok;
    });
}

function toGroup(word: string): Group {
  const found = GROUPS.find(one => one === word);
  if (found) return found;
  throw new ClientError(`There is no way to add up by "${word}"; there are: ${GROUPS.join(", ")}`);
}

function toDay(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new ClientError(`${flag} must be a day like 2026-11-01, not "${text}"`);
  return dayOf(ms);
}

interface Sum {
  readonly place: Readonly<Record<string, string>>;
  readonly usage: Usage;
}

const PLACES: Readonly<Record<Group, (row: UsageRow) => string>> = {
  day: row => new Date(startOfDay(row.day)).toISOString().slice(0, 10),
  tenant: row => row.tenant,
  principal: row => row.principal,
  agent: row => row.agent,
  context: row => row.contextId,
};

function addUp(rows: readonly UsageRow[], groups: readonly Group[]): readonly Sum[] {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const place = Object.fromEntries(groups.map(group => [group, PLACES[group](row)]));
    const key = JSON.stringify(place);
    sums.set(key, { place, usage: sumUsage(sums.get(key)?.usage, row.usage) });
  }
  return [...sums.values()];
}

function print(output: Output, sums: readonly Sum[], groups: readonly Group[]): void {
  if (sums.length === 0) return output.line("nothing was spent in this time, or no agent told of it");
  const counters = [...new Set(sums.flatMap(({ usage }) => Object.keys(usage)))].sort();
  const rows = sums.map(({ place, usage }) => [
    ...groups.map(group => place[group] ?? ""),
    ...counters.map(counter => (usage[counter] ?? 0).toLocaleString("en")),
  ]);
  for (const line of formatTable([[...groups, ...counters], ...rows])) output.line(line);
}
