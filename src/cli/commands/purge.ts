import { type Command, InvalidArgumentError } from "commander";
import type { AgentName } from "../../model/index.ts";
import type { Purged } from "../../store/sqlite/index.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { toMs } from "../terminal/duration.ts";
import { ClientError } from "../terminal/errors.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount } from "../terminal/text.ts";
import { dataFolder, dataOption } from "./data-option.ts";

interface PurgeFlags {
  readonly data?: string;
  readonly agent?: string;
  readonly olderThan?: number;
  readonly keep?: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman tasks purge --older-than 30d --dry-run
  dragoman tasks purge --data /srv/tasks --agent echo --older-than 7d --keep 1000

The server must not run; with --dry-run it may. What is older, and what is beyond the newest, goes for ever: a task with
its events and its names. Unfinished tasks stay, and for a day those whose calls have an Idempotency-Key.`;

export function definePurge(tasks: Command, session: CommandContext): void {
  tasks.enablePositionalOptions();
  const command = tasks
    .command("purge")
    .description("Remove old tasks from the store of a server that does not run");
  dataOption(command)
    .option("--agent <name>", "only tasks of this agent")
    .option("--older-than <age>", "tasks that settled longer ago than this: 30d, 12h, 90min, 60s", toMs)
    .option("--keep <count>", "of ended tasks, only the newest so many of each caller", toNumber)
    .option("--dry-run", "only say how many it would be")
    .option("--json", "print JSON for programs")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: PurgeFlags) => {
      session.exitCode = await purge(session.terminal, flags);
    });
}

async function purge(terminal: Terminal, flags: PurgeFlags): Promise<number> {
  const { agent, olderThan: ageMs, keep, dryRun = false } = flags;
  if (ageMs === undefined && keep === undefined)
    throw new ClientError("Say what is to go, with --older-than AGE or --keep COUNT");
  const folder = await dataFolder(terminal, flags.data);
  const { purgeStore } = await import("../../store/sqlite/index.ts");
  const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
  let progress = "looking for old tasks";
  output.startWaiting(() => progress);
  const purged = await purgeStore({
    folder,
    agent: agent as AgentName | undefined,
    retention: { ageMs, count: keep },
    now: terminal.now(),
    ticks: terminal.sinceStartMs,
    dryRun,
    onProgress: (done, total) => {
      progress = `removed ${done.toLocaleString("en")} of ${formatCount(total, "task")}`;
    },
  }).finally(output.stopWaiting);
  if (flags.json) output.json({ ...purged, dryRun });
  else print(output, purged, dryRun);
  return EXIT.ok;
}

function print(output: Output, { tasks, keyed }: Purged, dryRun: boolean): void {
  output.line(`${formatCount(tasks, "task")} ${dryRun ? "would be removed" : "removed"}`);
  if (keyed > 0)
    output.note(`${formatCount(keyed, "task")} kept for a day, so that calls can be repeated with their keys`);
}

function toNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number, 0 or more.");
}
