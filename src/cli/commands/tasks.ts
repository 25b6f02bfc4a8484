import { type Command, Option } from "commander";
import type { RemoteAgent, FetchedTask } from "../../client/open.ts";
import type { TaskListQuery, RemoteTask } from "../../client/types.ts";
import { TASK_STATES, type TaskState } from "../../model/index.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import type { Output } from "../terminal/output.ts";
import { withSession } from "../terminal/session.ts";
import { summarizeParts } from "../terminal/task-printer.ts";
import { oneLine } from "../terminal/terminal.ts";
import { formatAge, truncate, formatTable } from "../terminal/text.ts";
import { definePurge } from "./purge.ts";
import { type RemoteFlags, remoteOptions, toCount, toRemote } from "./remote-options.ts";

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

export function define(program: Command, session: CommandContext): void {
  const command = program.command("tasks <url>").description("List the tasks of an agent, the newest first");
  remoteOptions(command)
    .addOption(new Option("--state <state>", "only tasks in this state").choices(TASK_STATES))
    .option("--context <id>", "only tasks of this context")
    .option("--limit <count>", "at most so many", toCount, 50)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, flags: TasksFlags) => {
      const { terminal } = session;
      const wish = { remote: toRemote(url, flags), history: false };
      session.exitCode = await withSession(terminal, wish, async ({ agent, output, signal, json }) => {
        output.startWaiting(`waiting for the tasks of ${agent.name}`);
        const now = terminal.now();
        const rows: (readonly string[])[] = [];
        // Of a page no more is kept than is printed: tasks may be large.
        const more = await readTasks(agent, flags, signal, ({ task, raw }) => {
          if (json) output.json(raw);
          else rows.push(toRow(task, now));
        });
        if (!json) printTasks(output, rows, more, terminal.out.tty ? terminal.out.columns : undefined);
        return EXIT.ok;
      });
    });
  definePurge(command, session);
}

/** Page after page, until there are enough or no more. How many there are beyond these. */
async function readTasks(
  agent: RemoteAgent,
  flags: TasksFlags,
  signal: AbortSignal,
  show: (one: FetchedTask) => void,
): Promise<number> {
  let count = 0;
  let pageToken = "";
  // A page may have fewer tasks than were asked for.
  for (let page = 0; page < CLI_LIMITS.pagesMax + flags.limit; page++) {
    const left = flags.limit - count;
    const found = await agent.list(toWish(flags, Math.min(left, CLI_LIMITS.pageSizeMax), pageToken), signal);
    const tasks = found.tasks.slice(0, left);
    for (const one of tasks) show(one);
    count += tasks.length;
    pageToken = found.nextPageToken;
    if (pageToken === "" || count >= flags.limit) return Math.max(0, (found.totalSize ?? 0) - count);
  }
  return 0;
}

const toWish = (flags: TasksFlags, pageSize: number, pageToken: string): TaskListQuery => ({
  pageSize,
  ...(pageToken !== "" && { pageToken }),
  ...(flags.state !== undefined && { state: flags.state }),
  ...(flags.context !== undefined && { contextId: flags.context }),
});

/** `columns`: how wide the terminal is; undefined: it is none, and nothing needs to be short. */
function printTasks(
  output: Output,
  found: readonly (readonly string[])[],
  more: number,
  columns: number | undefined,
): void {
  if (found.length === 0) {
    output.note("no tasks");
    return;
  }
  const rows = [HEADING, ...found];
  const isNarrow = columns !== undefined && columns < WIDE_COLUMNS;
  for (const line of formatTable(isNarrow ? rows.map(withoutContext) : rows, columns)) output.line(line);
  if (more > 0) output.note(`${more} more; show them with --limit ${found.length + more}`);
}

const HEADING = ["ID", "STATE", "CONTEXT", "WHEN", "FIRST WORDS"];
/** What two whole ids and some words need. */
const WIDE_COLUMNS = 120;
const WORDS_CHARS_MAX = 80;

function toRow(task: RemoteTask, now: number): readonly string[] {
  const first = task.history.find(message => message.role === "user") ?? task.message;
  const words = first ? truncate(summarizeParts(first.parts), WORDS_CHARS_MAX) : "";
  return [oneLine(task.id), task.state, oneLine(task.contextId), formatAge(task.at, now), words];
}

/** The task's id stays, and stays whole: it is what one copies. */
const withoutContext = ([id, state, , when, words]: readonly string[]): readonly string[] =>
  [id, state, when, words].map(cell => cell ?? "");
