/**
 * The console and the admin API take linear time for what agents write: each case is a reader and an input that is
 * expensive for a quadratic one.
 */
import { marked } from "marked";
import { describe, it } from "vitest";
import { parseCsv } from "../console/lib/csv.ts";
import { oneLine, plainLine, visible } from "../console/lib/format.ts";
import { findIn, openAtFirst } from "../console/lib/json-tree.ts";
import { isMarkdownCheap } from "../console/lib/markdown-cost.ts";
import { TaskLog } from "../console/lib/task-log.ts";
import { toHtml } from "../console/views/task/html.ts";
import { rowsOf, scaleOf } from "../console/views/task/rows.ts";
import type { EventRow, RunRow, TaskDetail, TimelineRow } from "../src/admin/api.ts";
import { lintCard } from "../src/admin/card-lint.ts";
import { containsText, toTaskRow } from "../src/admin/task-row.ts";
import { toScope } from "../src/auth/scope.ts";
import type { JsonObject } from "../src/lib/json.ts";
import type { RecordedEvent, Seq } from "../src/model/index.ts";
import type { OwnedTask } from "../src/ports/index.ts";
import { describeOutcome } from "../src/timeline/outcome.ts";
import { TimelineBuilder } from "../src/timeline/timeline.ts";
import { expectLinear } from "./support/linear.ts";

const cases: (readonly [string, () => Promise<void>])[] = [];
/** `size`: of the smallest input, in repetitions. */
function add<T>(name: string, size: number, work: (input: T) => unknown, make: (size: number) => T): void {
  cases.push([name, () => expectLinear(work, make, size)]);
}

// The console: what agents write.
for (const [name, text] of [
  ["emphasis that does not end", "*a_"],
  ["emphasis in lines", "*a_\n"],
  ["brackets", "[x ![y"],
  ["links without an end", "[a](b 'c "],
  ["code without an end", "`a ``b "],
  ["addresses", "www.a@http://"],
  ["tags", "<a <!-- "],
  ["tables", "|a|b|\n|-|-|\n"],
  ["lists", "- x\n"],
  ["quotes", "> x\n"],
  ["definitions", "[a]: b\n"],
] as const)
  add(
    `Markdown in the console: ${name}`,
    Math.ceil(8_000 / text.length),
    (input: string) => isMarkdownCheap(input) && marked.lexer(input, { gfm: true, breaks: true }),
    size => text.repeat(size),
  );
add(
  "lines of lists in the console",
  500,
  (text: string) => [oneLine(text, text.length), plainLine(text, text.length), visible(text)],
  size => "[a](b\u202e **`".repeat(size),
);
add(
  "CSV in the console",
  500,
  (text: string) => parseCsv(text, ",", 1e9),
  size => 'a,"b""\n'.repeat(size),
);

// The events of a task, as the chat and the list of events show them.
const CREATED = { type: "created", id: "t", contextId: "c", agent: "a", origin: "v1", shown: true };
const MESSAGE = { type: "message", message: { messageId: "m", role: "user", parts: [] } };
const STEP = { type: "noted", note: { kind: "step", name: "s", value: 1 } };
const ASKED = { type: "status", state: "input-required" };
const eventRow = (event: object, at: number): EventRow => ({
  seq: at + 1,
  at,
  type: "",
  event: event as JsonObject,
});
const artifact = (artifactId: string, append = false): object => ({
  type: "artifact",
  artifact: { artifactId, parts: [{ kind: "text", text: "a" }] },
  append,
  join: append,
});
for (const [name, toEvent] of [
  ["artifacts and steps", at => (at % 2 ? artifact(`a${at}`) : STEP)],
  ["pieces of one artifact between steps", at => (at % 2 ? artifact("a", at > 1) : STEP)],
  ["turns", at => (at % 2 ? MESSAGE : ASKED)],
] as readonly (readonly [string, (at: number) => object])[])
  add(
    `a log in the console: ${name}`,
    2_000,
    (rows: readonly EventRow[]) => {
      const log = new TaskLog();
      for (const row of rows) log.apply(row);
    },
    size => Array.from({ length: size }, (_, at) => eventRow(toEvent(at), at)),
  );
// The timeline of a task, as the admin API sends it.
add(
  "the timeline of a task",
  1_000,
  (events: readonly object[]) => {
    const builder = new TimelineBuilder(null);
    for (const [at, event] of events.entries())
      builder.add({ seq: at + 1, at, event } as unknown as RecordedEvent);
    return describeOutcome(builder.build(events.length));
  },
  size => [
    CREATED,
    MESSAGE,
    ...Array.from({ length: size }, (_, at) => (at % 2 ? artifact("a", at > 1) : STEP)),
  ],
);

const STEP_NAMES = ["message", "run", "step", "input-required"] as const;
/** A task that is asked again and again, and whose runs are interrupted. */
function longDetail(size: number): TaskDetail {
  const entries = Array.from(
    { length: size },
    (_, at): TimelineRow => ({
      seq: at + 1,
      lastSeq: at + 1,
      at,
      lastAt: at,
      what: STEP_NAMES[at % 4] as string,
      text: "**text**",
      run: at >> 2,
      turn: at >> 2,
    }),
  );
  const runs = entries
    .filter(entry => entry.what === "run")
    .map(
      ({ run, seq, at }): RunRow => ({
        run,
        turn: run,
        seq,
        startedAt: at,
        endedAt: null,
        queueMs: 0,
        outcome: "interrupted",
        error: null,
      }),
    );
  const task = { id: "t", contextId: "c", agent: "a", principal: "p", tenant: "t", state: "working" };
  return {
    task: { ...task, createdAt: 0, title: "title", events: size },
    why: "",
    phase: "input",
    times: { queueMs: 0, runMs: 0, inputMs: 0, interruptedMs: 0 },
    runs,
    steps: [],
    entries,
  } as unknown as TaskDetail;
}
add(
  "the timeline in the console",
  2_000,
  (detail: TaskDetail) => {
    const rows = rowsOf(detail, detail.entries.length);
    const { x } = scaleOf(rows, true);
    return rows.map(row => x(row.from));
  },
  longDetail,
);
add<readonly [TaskDetail, readonly EventRow[]]>(
  "a task that is exported",
  500,
  ([detail, events]) => toHtml(detail, events),
  size => [
    longDetail(size),
    Array.from({ length: size }, (_, at) => eventRow(at % 2 ? artifact("a", at > 1) : STEP, at)),
  ],
);

// JSON of agents, as a tree.
for (const [name, make] of [
  ["wide", size => Array.from({ length: size }, (_, at) => ({ [`name${at}`]: "value" }))],
  ["deep", size => Array.from({ length: size }).reduce<unknown>(inner => ({ inner }), "value")],
  ["many lists", size => Array.from({ length: size }, () => [[1, 2], [3]])],
] as readonly (readonly [string, (size: number) => unknown])[])
  add(
    `a tree of JSON: ${name}`,
    2_000,
    (value: unknown) => [openAtFirst(value, 3), findIn(value, "nothing"), findIn(value, "a")],
    make,
  );

// The lists of the admin API.
const ownedTask = (text: string): OwnedTask => ({
  scope: toScope("t", "p"),
  seq: 1 as Seq,
  since: 0 as Seq,
  task: {
    history: [{ parts: [{ kind: "text", text }] }],
    artifacts: [],
    status: { state: "completed", at: 0 },
  } as never,
});
add(
  "texts of tasks",
  2_000,
  (one: OwnedTask) => [toTaskRow(one), containsText(one.task, "aab")],
  size => ownedTask("aa \n".repeat(size)),
);
add(
  "cards that are checked",
  100,
  (card: JsonObject) => lintCard(card, "v1"),
  size => ({
    name: "x".repeat(size * 20),
    url: "https://".repeat(size),
    skills: Array.from({ length: size }, (_, i) => ({ id: `s${i}`, tags: ["a"], examples: ["b"] })),
    supportedInterfaces: Array.from({ length: size }, (_, i) => ({
      url: `http://a/${i}`,
      protocolBinding: "JSONRPC",
    })),
  }),
);

describe("the cost of reading is linear in the length of", () => {
  it.each(cases)("%s", (_, check) => check());
});
