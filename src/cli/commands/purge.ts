import type { Command } from "commander";
import type { AgentName } from "../../model/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { ClientError } from "../terminal/errors.ts";
import { createOutput } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount } from "../terminal/text.ts";
import { toCountOrZero, toMs } from "./arguments.ts";
import { dataFolderOption, openStore } from "./data-option.ts";

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

The server must be stopped, except for --dry-run. Tasks are deleted with their events and names, and cannot be restored.
Unfinished tasks stay, and for a day tasks whose calls have an Idempotency-Key.`;

export function definePurge(tasks: Command, context: CommandContext): void {
  tasks.enablePositionalOptions();
  const command = tasks.command("purge").description("Delete old tasks from the store of a stopped server");
  dataFolderOption(command)
    .option("--agent <name>", "only tasks of this agent")
    .option("--older-than <age>", "tasks that settled longer ago: 30d, 12h, 90min, 60s", toMs)
    .option("--keep <count>", "all ended tasks except this many of the newest of each caller", toCountOrZero)
    .option("--dry-run", "only print how many tasks would be deleted")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: PurgeFlags) => {
      context.exitCode = await purge(context.terminal, flags);
    });
}

async function purge(terminal: Terminal, flags: PurgeFlags): Promise<number> {
  const { agent, olderThan: ageMs, keep, dryRun = false } = flags;
  if (ageMs === undefined && keep === undefined)
    throw new ClientError("Choose the tasks to delete with --older-than AGE or --keep COUNT");
  const store = await openStore(terminal, flags);
  const output = createOutput(terminal);
  let progress = "looking for old tasks";
  output.startWaiting(() => progress);
  const { tasks, keyed } = await store
    .purge({
      agent: agent as AgentName | undefined,
      retention: { ageMs, count: keep },
      dryRun,
      onProgress: (done, total) => {
        progress = `deleted ${done.toLocaleString("en")} of ${formatCount(total, "task")}`;
      },
    })
    .finally(output.stopWaiting);
  if (flags.json) output.json({ tasks, keyed, dryRun });
  else {
    output.line(`${formatCount(tasks, "task")} ${dryRun ? "would be deleted" : "deleted"}`);
    if (keyed > 0)
      output.note(
        `${formatCount(keyed, "task")} kept for a day, so that calls with an Idempotency-Key can be repeated`,
      );
  }
  return EXIT.ok;
}
