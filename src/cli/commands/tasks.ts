import { type Command, Option } from "commander";
import type { FetchedTask, RemoteAgent } from "../../client/open.ts";
import { TASK_STATES, type TaskState } from "../../model/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { SUMMARIES } from "../summaries.ts";
import type { Interruptible } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import { oneLine, type Terminal } from "../terminal/terminal.ts";
import { formatAge, formatTable, truncate } from "../terminal/text.ts";
import { toCount } from "./arguments.ts";
import { definePurge } from "./purge.ts";
import { type Remote, type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

interface TasksFlags extends RemoteFlags {
  readonly state?: TaskState;
  readonly context?: string;
  readonly limit: number;
}

const EXAMPLES = `
Examples:
  dragoman tasks                                  of all agents of the local server
  dragoman tasks --agent booking --state input-required
  dragoman tasks https://agents.example --limit 1000 --json | jq .id`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("tasks [url]").description(SUMMARIES.tasks);
  remoteOptions(command)
    .addOption(new Option("--state <state>", "only tasks in this state").choices(TASK_STATES))
    .option("--context <id>", "only tasks of this context")
    .option("--limit <count>", "maximum number of tasks", toCount, 50)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string | undefined, flags: TasksFlags) => {
      const { terminal } = context;
      const { runInterruptible } = await import("../terminal/interrupt.ts");
      context.exitCode = await runInterruptible(terminal, io =>
        list(terminal, toRemote(terminal, url, flags), flags, io),
      );
    });
  definePurge(command, context);
}

/** A task in the list; `agent` is empty where the address is that of one agent. */
interface ListedTask {
  readonly agent: string;
  readonly at: number;
  readonly row: readonly string[];
  readonly raw: FetchedTask["raw"] | undefined;
}

async function list(
  terminal: Terminal,
  remote: Remote,
  flags: TasksFlags,
  { output, signal }: Interruptible,
): Promise<number> {
  const { listAgents, toAgentRemote } = await import("../terminal/find-task.ts");
  const { openRemote } = await import("../terminal/session.ts");
  const agents = await listAgents(terminal, remote, signal);
  const targets = agents?.map(name => ({ name, target: toAgentRemote(remote, name) })) ?? [
    { name: "", target: remote },
  ];
  const tasks: ListedTask[] = [];
  let remaining = 0;
  for (const { name, target } of targets) {
    const agent = await openRemote(terminal, target, output, signal);
    try {
      output.startWaiting(`waiting for the tasks of ${agent.name}`);
      remaining += await readTasks(agent, flags, signal, found =>
        tasks.push(toListed(found, name, terminal.now(), remote.json)),
      );
    } finally {
      agent.close();
    }
  }
  const newest = tasks.sort((one, other) => other.at - one.at).slice(0, flags.limit);
  remaining += tasks.length - newest.length;
  if (remote.json) for (const { raw } of newest) output.json(raw ?? null);
  else
    print(
      output,
      newest,
      remaining,
      agents !== undefined,
      terminal.out.tty ? terminal.out.columns : undefined,
    );
  return EXIT.ok;
}

/** Only what is printed is kept: tasks may be large. */
function toListed({ task, raw }: FetchedTask, agent: string, now: number, json: boolean): ListedTask {
  const first = task.history.find(message => message.role === "user") ?? task.message;
  const texts = first?.parts.flatMap(part => (part.kind === "text" ? [part.text] : [`[${part.kind}]`])) ?? [];
  const summary = truncate(oneLine(texts.join(" ")), SUMMARY_CHARS_MAX);
  const at = task.at === undefined ? 0 : new Date(task.at).getTime() || 0;
  const row = [oneLine(task.id), task.state, oneLine(task.contextId), formatAge(task.at, now), summary];
  return { agent, at, row, raw: json ? raw : undefined };
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
  tasks: readonly ListedTask[],
  remaining: number,
  hasAgents: boolean,
  columns: number | undefined,
): void {
  if (tasks.length === 0) return output.note("no tasks");
  const isNarrow = columns !== undefined && columns < WIDE_COLUMNS;
  const withAgent = (row: readonly string[], agent: string) => (hasAgents ? row.toSpliced(1, 0, agent) : row);
  // The task id is never truncated, because users copy it: the context gives way.
  const shorten = (row: readonly string[]) => (isNarrow ? row.toSpliced(2, 1) : row);
  const rows = [
    withAgent(shorten(HEADING), "AGENT"),
    ...tasks.map(({ row, agent }) => withAgent(shorten(row), agent)),
  ];
  for (const line of formatTable(rows, columns)) output.line(line);
  if (remaining > 0) output.note(`${remaining} more; show them with --limit ${tasks.length + remaining}`);
}
