import { type Command, Option } from "commander";
import type { FetchedTask, RemoteAgent } from "../../client/open.ts";
import type { RemoteTask } from "../../client/types.ts";
import { TASK_STATES, type TaskState } from "../../model/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import type { Output } from "../terminal/output.ts";
import { withSession } from "../terminal/session.ts";
import { summarizeParts } from "../terminal/task-printer.ts";
import { oneLine } from "../terminal/terminal.ts";
import { formatAge, formatTable, truncate } from "../terminal/text.ts";
import { toCount } from "./arguments.ts";
import { definePurge } from "./purge.ts";
import { type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

interface TasksFlags extends RemoteFlags {
  readonly state?: TaskState;
  readonly context?: string;
  readonly limit: number;
}

const EXAMPLES = `
Examples:
  dragoman tasks http://127.0.0.1:2024
  dragoman tasks http://127.0.0.1:2024 --state input-required
  dragoman tasks http://127.0.0.1:2024 --limit 1000 --json | jq .id`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("tasks <url>").description("List the tasks of an agent, the newest first");
  remoteOptions(command)
    .addOption(new Option("--state <state>", "only tasks in this state").choices(TASK_STATES))
    .option("--context <id>", "only tasks of this context")
    .option("--limit <count>", "maximum number of tasks", toCount, 50)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, flags: TasksFlags) => {
      const { terminal } = context;
      const options = { remote: toRemote(url, flags) };
      context.exitCode = await withSession(terminal, options, async ({ agent, output, signal, json }) => {
        output.startWaiting(`waiting for the tasks of ${agent.name}`);
        const now = terminal.now();
        const rows: (readonly string[])[] = [];
        // Only the printed columns are kept: tasks may be large.
        const remaining = await readTasks(agent, flags, signal, ({ task, raw }) => {
          if (json) output.json(raw);
          else rows.push(toRow(task, now));
        });
        if (!json) print(output, rows, remaining, terminal.out.tty ? terminal.out.columns : undefined);
        return EXIT.ok;
      });
    });
  definePurge(command, context);
}

/** Reads pages up to the limit. Returns the number of tasks beyond it. */
async function readTasks(
  agent: RemoteAgent,
  flags: TasksFlags,
  signal: AbortSignal,
  onTask: (task: FetchedTask) => void,
): Promise<number> {
  let count = 0;
  let pageToken = "";
  // A page may have fewer tasks than its size.
  for (let page = 0; page < CLI_LIMITS.pagesMax + flags.limit; page++) {
    const left = flags.limit - count;
    const query = {
      pageSize: Math.min(left, CLI_LIMITS.pageSizeMax),
      ...(pageToken !== "" && { pageToken }),
      ...(flags.state !== undefined && { state: flags.state }),
      ...(flags.context !== undefined && { contextId: flags.context }),
    };
    const found = await agent.list(query, signal);
    const tasks = found.tasks.slice(0, left);
    for (const task of tasks) onTask(task);
    count += tasks.length;
    pageToken = found.nextPageToken;
    if (pageToken === "" || count >= flags.limit) return Math.max(0, (found.totalSize ?? 0) - count);
  }
  return 0;
}

const HEADING = ["ID", "STATE", "CONTEXT", "WHEN", "FIRST WORDS"];
/** Room for two whole ids and some text. */
const WIDE_COLUMNS = 120;
const SUMMARY_CHARS_MAX = 80;

/** `columns`: the width of the terminal; undefined: not a terminal. */
function print(
  output: Output,
  tasks: readonly (readonly string[])[],
  remaining: number,
  columns: number | undefined,
): void {
  if (tasks.length === 0) return output.note("no tasks");
  const isNarrow = columns !== undefined && columns < WIDE_COLUMNS;
  // The task id is never truncated, because users copy it: the context gives way.
  const rows = [HEADING, ...tasks].map(row => (isNarrow ? row.toSpliced(2, 1) : row));
  for (const line of formatTable(rows, columns)) output.line(line);
  if (remaining > 0) output.note(`${remaining} more; show them with --limit ${tasks.length + remaining}`);
}

function toRow(task: RemoteTask, now: number): readonly string[] {
  const first = task.history.find(message => message.role === "user") ?? task.message;
  const summary = first ? truncate(summarizeParts(first.parts), SUMMARY_CHARS_MAX) : "";
  return [oneLine(task.id), task.state, oneLine(task.contextId), formatAge(task.at, now), summary];
}
