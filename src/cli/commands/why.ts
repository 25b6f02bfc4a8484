import type { Command } from "commander";
import type { Json } from "../../lib/json.ts";
import type { ErrorRecord } from "../../model/index.ts";
import type { TaskHistory } from "../../store/sqlite/index.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { ClientError } from "../terminal/errors.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { oneLine } from "../terminal/terminal.ts";
import { formatCount, truncate, formatTable } from "../terminal/text.ts";
import { type Timeline, type TimelineEntry, formatDuration, toTimeline, formatUsage } from "../terminal/timeline.ts";
import { dataPlace, placeOption } from "./data-option.ts";
import { isDatabase, readStory } from "./open-store.ts";

interface WhyFlags {
  readonly data?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman why 0199a2b4-6c1d-7000-8f3e-2a90d1c4b7e6          by the id of the task
  dragoman why invoice-42 --data /srv/tasks                  by the id that its caller gave it
  dragoman why 0199a2b4-6c1d-7000-8f3e-2a90d1c4b7e6 --json   everything, for programs

It reads the log and nothing else: it works while a server runs, and long after.`;

export function define(program: Command, session: CommandContext): void {
  const command = program
    .command("why <task>")
    .description("Tell what happened to a task: who called, what waited how long, attempts, steps, cost");
  placeOption(command)
    .option("--json", "print JSON for programs")
    .addHelpText("after", EXAMPLES)
    .action(async (task: string, flags: WhyFlags) => {
      const { terminal } = session;
      const place = await dataPlace(terminal, flags.data);
      const story = await readStory(place, task);
      if (!story)
        throw new ClientError(`There is no task ${task} in ${isDatabase(place) ? "the database" : place}`);
      const account = toTimeline(story.events, story.snapshot, terminal.now());
      const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
      if (flags.json) output.json(toJson(story, account));
      else print(output, story, account, terminal.out.tty ? terminal.out.columns : Number.POSITIVE_INFINITY);
      session.exitCode = EXIT.ok;
    });
}

function toJson({ taskId, scope, events, pushes: deliveries }: TaskHistory, account: Timeline): Json {
  const { task, turns, attempts, notes, waits, moments, usage, phase, since, endedAt, isCompacted } = account;
  const { tenant, principal } = scope;
  const told = {
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
    verdict: describeOutcome(account),
    phase,
    since,
    isCompacted,
    waitsMs: waits,
    turns,
    attempts,
    notes,
    usage: usage ?? {},
    pushes: deliveries.map(({ config, state, cursor, attempts: tries, failed, nextAt }) => ({
      id: config.id,
      url: config.url,
      state,
      place: cursor,
      failed,
      nextAt,
      attempts: tries,
    })),
    events: events.length,
    moments,
  };
  return JSON.parse(JSON.stringify(told)) as Json;
}

/** Lines of the story on one screen; the rest is counted. */
const MOMENTS_MAX = 24;

function print(output: Output, story: TaskHistory, account: Timeline, columns: number): void {
  for (const line of formatTable(headOf(story, account), columns)) output.line(line);
  const { attempts, moments, task } = account;
  if (attempts.length > 1) section(output, "attempts", attemptRows(account), columns);
  for (const { attempt, error } of attempts)
    if (error) section(output, `error of run ${attempt}`, errorRows(error), columns);
  if (story.pushes.length > 0) section(output, "pushes", pushRows(story), columns);
  const begun = task?.createdAt ?? moments[0]?.at ?? 0;
  section(output, "what happened", momentRows(moments, begun), columns);
}

function section(output: Output, title: string, rows: readonly (readonly string[])[], columns: number): void {
  output.line("");
  output.line(title);
  for (const line of formatTable(rows)) output.line(`  ${truncate(line, columns - 2)}`);
}

function headOf({ taskId, scope, events }: TaskHistory, account: Timeline): readonly (readonly string[])[] {
  const { task, turns, waits, usage, endedAt, notes } = account;
  const first = turns[0];
  const from = task?.createdAt;
  const took = endedAt !== undefined && from !== undefined ? ` in ${formatDuration(endedAt - from)}` : "";
  const steps = notes.filter(note => note.kind === "step" && note.called === undefined);
  const calls = notes.filter(note => note.called !== undefined);
  return [
    ["task", `${taskId}${task?.alias === undefined ? "" : ` (${oneLine(task.alias)})`}`],
    ["agent", `${task?.agent}: ${task?.status.state}${took}, ${formatCount(events.length, "event")}`],
    ...(from === undefined ? [] : [["begun", `${stamp(from)} UTC`]]),
    ["why", describeOutcome(account)],
    [
      "caller",
      `${oneLine(scope.principal)} of ${oneLine(scope.tenant)}, in ${task?.origin}${viaOf(account)}`,
    ],
    ["context", `${oneLine(task?.contextId ?? "")}${threadOf(account)}`],
    ...(first?.traceId === undefined ? [] : [["trace", first.traceId]]),
    [
      "time",
      [
        `in line ${formatDuration(waits.queue)}`,
        `at work ${formatDuration(waits.run)}`,
        ...(waits.input > 0 ? [`waiting for the caller ${formatDuration(waits.input)}`] : []),
        ...(waits.lost > 0 ? [`cut off ${formatDuration(waits.lost)}`] : []),
      ].join(", "),
    ],
    [
      "turns",
      [
        `${turns.length}`,
        formatCount(account.attempts.length, "run"),
        formatCount(steps.length, "step"),
        ...(calls.length > 0 ? [`${formatCount(calls.length, "call")} to other agents`] : []),
      ].join(", "),
    ],
    ...(usage ? [["usage", formatUsage(usage)]] : []),
  ];
}

const BINDINGS: Readonly<Record<string, string>> = { jsonrpc: "JSON-RPC", rest: "HTTP+JSON", grpc: "gRPC" };

const viaOf = ({ turns }: Timeline): string => {
  const ways = [...new Set(turns.map(turn => BINDINGS[turn.via] ?? turn.via))];
  return ways.length === 0 ? "" : ` over ${ways.join(" and ")}`;
};

const threadOf = ({ task }: Timeline): string =>
  task?.thread === undefined || task.thread === task.contextId ? "" : `, thread ${oneLine(task.thread)}`;

/** The answer in one sentence. */
export function describeOutcome({
  task,
  phase,
  since,
  attempts,
  waits,
  moments,
  endedAt,
  isCompacted,
}: Timeline): string {
  const state = task?.status.state;
  const last = attempts.at(-1);
  const crashes = attempts.filter(one => one.outcome === "cut off").length;
  const cutOff =
    crashes > 0 ? ` after ${formatCount(crashes, "run")} that ${crashes === 1 ? "was" : "were"} cut off` : "";
  if (phase === "queue")
    return `It waits for a run since ${stamp(since)}${task?.cancel ? ", and is to be canceled" : ""}.`;
  if (phase === "run") return `Run ${last?.attempt} is at it since ${stamp(since)}${cutOff}.`;
  if (phase === "input") return `It waits for an answer of its caller since ${stamp(since)}.`;
  if (phase === "auth") return `It waits for a right to act for its caller since ${stamp(since)}.`;
  if (isCompacted) return `It has ended (${state}); how is no longer kept.`;
  if (task?.cancel) return `It was canceled: ${oneLine(task.cancel.reason ?? "a caller wanted it to end")}.`;
  const words = oneLine(
    moments.findLast(moment => moment.at === endedAt && moment.what === state)?.text ?? "",
  );
  const thrown = last?.error ? ` Its error: ${titleOf(last.error)}` : "";
  if (last?.outcome === "broken") return `It broke off${cutOff}: ${words}${thrown}`;
  if (state === "failed" || state === "rejected") return `The agent said so: ${words}${thrown}`;
  const slow = waits.queue > waits.run ? " It waited longer for its run than it ran." : "";
  return `It went well${cutOff}.${slow}`;
}

const attemptRows = ({ attempts }: Timeline): readonly (readonly string[])[] =>
  attempts.map(one => [
    `run ${one.attempt}`,
    `turn ${one.turn}`,
    stamp(one.startedAt),
    one.endedAt === undefined ? "goes on" : `${one.outcome} after ${formatDuration(one.endedAt - one.startedAt)}`,
  ]);

const titleOf = ({ name, message, code }: ErrorRecord): string =>
  oneLine(`${name}: ${message}${code === undefined ? "" : ` (${code})`}`);

/** Its stack, and those of its causes further in. */
function errorRows(error: ErrorRecord, indent = ""): readonly (readonly string[])[] {
  const { name, message, stack = "", causes = [] } = error;
  // A stack begins with the name and the message, which may have several lines.
  const frames = stack.startsWith(`${name}: ${message}`)
    ? stack.slice(name.length + message.length + 2)
    : stack;
  const lines = frames.split("\n").filter(line => line.trim() !== "");
  return [
    [`${indent}${titleOf(error)}`],
    ...lines.map(line => [`${indent}  ${oneLine(line).trim()}`]),
    ...causes.flatMap(cause => errorRows(cause, `${indent}  `)),
  ];
}

const pushRows = ({ pushes: deliveries }: TaskHistory): readonly (readonly string[])[] =>
  deliveries.flatMap(({ config, state, cursor, attempts }) => [
    [config.id, state, `up to event ${cursor}`, oneLine(new URL(config.url).host)],
    ...attempts.map(one => [
      "",
      stamp(one.at),
      one.error === undefined ? `${one.status}` : oneLine(one.error),
      `in ${formatDuration(one.ms)}${one.nextAt === undefined ? "" : `, again ${stamp(one.nextAt)}`}`,
    ]),
  ]);

/** The beginning and the end matter most: what is too much is left out in between. */
function momentRows(moments: readonly TimelineEntry[], begun: number): readonly (readonly string[])[] {
  const toRow = ({ at, what, text }: TimelineEntry): readonly string[] => [
    clock(at),
    `+${formatDuration(at - begun)}`,
    what,
    oneLine(text),
  ];
  if (moments.length <= MOMENTS_MAX) return moments.map(toRow);
  const half = MOMENTS_MAX / 2;
  const left = moments.length - MOMENTS_MAX;
  return [
    ...moments.slice(0, half).map(toRow),
    ["…", "", "", `${left} more: --json has them all`],
    ...moments.slice(-half).map(toRow),
  ];
}

/** As in the log of the server: UTC. */
const stamp = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace("T", " ");
const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 23);
