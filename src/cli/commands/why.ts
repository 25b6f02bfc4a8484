import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Json } from "../../lib/json.ts";
import type { ErrorRecord } from "../../model/index.ts";
import type { TaskHistory } from "../../ports/index.ts";
import { describeOutcome } from "../../timeline/outcome.ts";
import { formatUsage, type Timeline, type TimelineEntry, toTimeline } from "../../timeline/timeline.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { ClientError } from "../terminal/errors.ts";
import { runInterruptible } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import { toRemote } from "../terminal/target.ts";
import { oneLine, type Terminal } from "../terminal/terminal.ts";
import { formatCount, formatDuration, formatTable, truncate } from "../terminal/text.ts";
import { dataOption, openStore, readDataSettings } from "./data-option.ts";
import { type RemoteFlags, serverOptions, splitTask } from "./remote-options.ts";

interface WhyFlags extends RemoteFlags {
  readonly data?: string;
}

/** What is known of a task; a server does not say whose scope it is beyond the names. */
export type ReadHistory = Omit<TaskHistory, "scope"> & {
  readonly scope: { readonly tenant: string; readonly principal: string };
};

const EXAMPLES = `
Examples:
  dragoman why 0199a2b4-6c1d-7000-8f3e-2a90d1c4b7e6          by task id
  dragoman why invoice-42 --data /srv/tasks                  by the task id that the caller chose
  dragoman why https://agents.example 0199a2b4-…             of a server elsewhere, by its admin API
  dragoman why 0199a2b4-6c1d-7000-8f3e-2a90d1c4b7e6 --json   everything as JSON

Without a URL the data folder is read, whether its server is running or stopped; without a data folder, the local server
is asked.`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("why [url] [task]").description(SUMMARIES.why);
  serverOptions(dataOption(command))
    .addHelpText("after", EXAMPLES)
    .action(async (first: string | undefined, second: string | undefined, flags: WhyFlags) => {
      const { terminal } = context;
      const { url, taskId } = splitTask(command, first, second);
      context.exitCode = await runInterruptible(terminal, async ({ output, signal }) => {
        const history = await readHistory(terminal, url, taskId, flags, signal);
        const timeline = toTimeline(history.events, history.snapshot, terminal.now());
        const columns = terminal.out.tty ? terminal.out.columns : Number.POSITIVE_INFINITY;
        if (flags.json) output.json(toJson(history, timeline));
        else print(output, history, timeline, columns);
        return EXIT.ok;
      });
    });
}

/** Whether there is a store that can be read without its server. */
async function hasStore(terminal: Terminal, flags: WhyFlags): Promise<boolean> {
  if (flags.data !== undefined) return true;
  const { data } = await readDataSettings(terminal, flags);
  return data.includes("://") || existsSync(resolve(terminal.cwd, data));
}

async function readHistory(
  terminal: Terminal,
  url: string | undefined,
  taskId: string,
  flags: WhyFlags,
  signal: AbortSignal,
): Promise<ReadHistory> {
  const isStored = url === undefined && (await hasStore(terminal, flags));
  if (!isStored) {
    const { readRemoteHistory } = await import("./why-remote.ts");
    return readRemoteHistory(terminal, toRemote(terminal, url, flags), taskId, signal);
  }
  const store = await openStore(terminal, flags);
  const history = await store.readHistory(taskId);
  if (!history) throw new ClientError(`Task ${taskId} not found in ${store.location}`);
  return history;
}

function toJson({ taskId, scope, events, pushes }: ReadHistory, timeline: Timeline): Json {
  const { task, turns, attempts, steps, waits, entries, usage, phase, since, endedAt, isCompacted } =
    timeline;
  const { tenant, principal } = scope;
  const json = {
    task: {
      id: taskId,
      alias: task?.alias,
      agent: task?.agent,
      contextId: task?.contextId,
      thread: task?.thread ?? task?.contextId,
      state: task?.status.state,
      createdAt: task?.createdAt,
      endedAt,
    },
    caller: { tenant, principal, dialect: task?.origin },
    verdict: describeOutcome(timeline),
    phase,
    since,
    isCompacted,
    waitsMs: waits,
    turns,
    attempts,
    notes: steps,
    usage: usage ?? {},
    pushes: pushes.map(push => ({
      id: push.config.id,
      url: push.config.url,
      state: push.state,
      place: push.cursor,
      failed: push.failed,
      nextAt: push.nextAt,
      attempts: push.attempts,
    })),
    events: events.length,
    moments: entries,
  };
  return JSON.parse(JSON.stringify(json)) as Json;
}

type Rows = readonly (readonly string[])[];

function print(output: Output, history: ReadHistory, timeline: Timeline, columns: number): void {
  const printSection = (title: string, rows: Rows): void => {
    output.line("");
    output.line(title);
    for (const line of formatTable(rows)) output.line(`  ${truncate(line, columns - 2)}`);
  };
  for (const line of formatTable(toSummaryRows(history, timeline), columns)) output.line(line);
  const { attempts, entries, task } = timeline;
  if (attempts.length > 1) printSection("attempts", toAttemptRows(timeline));
  for (const { attempt, error } of attempts)
    if (error) printSection(`error of run ${attempt}`, toErrorRows(error));
  if (history.pushes.length > 0) printSection("pushes", toPushRows(history));
  printSection("timeline", toEntryRows(entries, task?.createdAt ?? entries[0]?.at ?? 0));
}

const BINDINGS: Readonly<Record<string, string>> = { jsonrpc: "JSON-RPC", rest: "HTTP+JSON", grpc: "gRPC" };

function toSummaryRows({ taskId, scope, events }: ReadHistory, timeline: Timeline): Rows {
  const { task, turns, attempts, waits, usage, endedAt, steps } = timeline;
  const createdAt = task?.createdAt;
  const duration =
    endedAt !== undefined && createdAt !== undefined ? ` in ${formatDuration(endedAt - createdAt)}` : "";
  const bindings = [...new Set(turns.map(turn => BINDINGS[turn.via] ?? turn.via))];
  const hasThread = task?.thread !== undefined && task.thread !== task.contextId;
  const calls = steps.filter(step => step.called !== undefined).length;
  const ownSteps = steps.filter(step => step.kind === "step" && step.called === undefined).length;
  const times = [
    `queued ${formatDuration(waits.queue)}`,
    `running ${formatDuration(waits.run)}`,
    ...(waits.input > 0 ? [`waiting for the caller ${formatDuration(waits.input)}`] : []),
    ...(waits.lost > 0 ? [`interrupted ${formatDuration(waits.lost)}`] : []),
  ];
  const counts = [
    `${turns.length}`,
    formatCount(attempts.length, "run"),
    formatCount(ownSteps, "step"),
    ...(calls > 0 ? [`${formatCount(calls, "call")} to other agents`] : []),
  ];
  const caller = `${oneLine(scope.principal)} of ${oneLine(scope.tenant)}, in ${task?.origin}`;
  return [
    ["task", `${taskId}${task?.alias === undefined ? "" : ` (${oneLine(task.alias)})`}`],
    ["agent", `${task?.agent}: ${task?.status.state}${duration}, ${formatCount(events.length, "event")}`],
    ...(createdAt === undefined ? [] : [["created", `${formatTime(createdAt)} UTC`]]),
    ["why", oneLine(describeOutcome(timeline))],
    ["caller", `${caller}${bindings.length === 0 ? "" : ` over ${bindings.join(" and ")}`}`],
    [
      "context",
      `${oneLine(task?.contextId ?? "")}${hasThread ? `, thread ${oneLine(task.thread ?? "")}` : ""}`,
    ],
    ...(turns[0]?.traceId === undefined ? [] : [["trace", turns[0].traceId]]),
    ["time", times.join(", ")],
    ["turns", counts.join(", ")],
    ...(usage ? [["usage", formatUsage(usage)]] : []),
  ];
}

const toAttemptRows = ({ attempts }: Timeline): Rows =>
  attempts.map(one => [
    `run ${one.attempt}`,
    `turn ${one.turn}`,
    formatTime(one.startedAt),
    one.endedAt === undefined
      ? "running"
      : `${one.outcome} after ${formatDuration(one.endedAt - one.startedAt)}`,
  ]);

const formatErrorTitle = ({ name, message, code }: ErrorRecord): string =>
  oneLine(`${name}: ${message}${code === undefined ? "" : ` (${code})`}`);

/** The stack of an error, and indented those of its causes. */
function toErrorRows(error: ErrorRecord, indent = ""): Rows {
  const { name, message, stack = "", causes = [] } = error;
  // A stack begins with the name and the message, which may have several lines.
  const frames = stack.startsWith(`${name}: ${message}`)
    ? stack.slice(name.length + message.length + 2)
    : stack;
  const lines = frames.split("\n").filter(line => line.trim() !== "");
  return [
    [`${indent}${formatErrorTitle(error)}`],
    ...lines.map(line => [`${indent}  ${oneLine(line).trim()}`]),
    ...causes.flatMap(cause => toErrorRows(cause, `${indent}  `)),
  ];
}

const toPushRows = ({ pushes }: ReadHistory): Rows =>
  pushes.flatMap(({ config, state, cursor, attempts }) => [
    [config.id, state, `up to event ${cursor}`, oneLine(new URL(config.url).host)],
    ...attempts.map(one => [
      "",
      formatTime(one.at),
      one.error === undefined ? `${one.status}` : oneLine(one.error),
      `in ${formatDuration(one.ms)}${one.nextAt === undefined ? "" : `, retry at ${formatTime(one.nextAt)}`}`,
    ]),
  ]);

/** Entries that fit on one screen; those in the middle are omitted. */
const ENTRIES_MAX = 24;

function toEntryRows(entries: readonly TimelineEntry[], start: number): Rows {
  const rows = entries.map(({ at, what, text }) => [
    new Date(at).toISOString().slice(11, 23),
    `+${formatDuration(at - start)}`,
    what,
    oneLine(text),
  ]);
  if (rows.length <= ENTRIES_MAX) return rows;
  const half = ENTRIES_MAX / 2;
  const omitted = ["…", "", "", `${rows.length - ENTRIES_MAX} more: --json prints them all`];
  return [...rows.slice(0, half), omitted, ...rows.slice(-half)];
}

/** UTC, as in the log of the server. */
const formatTime = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace("T", " ");
