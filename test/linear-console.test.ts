/**
 * The console and the admin API take linear time for what agents write: each case is a reader and an input that is
 * expensive for a quadratic one.
 */
import { marked } from "marked";
import { describe, it } from "vitest";
import { parseCsv } from "../console/lib/csv.ts";
import { oneLine, plainLine, visible } from "../console/lib/format.ts";
import { isMarkdownCheap } from "../console/lib/markdown-cost.ts";
import { TaskLog } from "../console/lib/task-log.ts";
import type { EventRow } from "../src/admin/api.ts";
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
