import { describe, expect, it } from "vitest";
import {
  type ContextId,
  type Seq,
  type Step,
  snapshotOf,
  type Task,
  toTextAppend,
} from "../../model/index.ts";
import { ResponseEncoder } from "./response-encoder.ts";

const TASK = {
  id: "t",
  contextId: "c" as ContextId,
  agent: "a",
  status: { state: "working", at: 0 },
  artifacts: [],
  history: [],
  createdAt: 0,
  turn: 1,
} as unknown as Task;

/** The steps of a stream that appends these texts. */
function createSteps(texts: readonly string[]): readonly Step[] {
  const { task: _task, ...snapshot } = snapshotOf(TASK, 1 as Seq);
  const chunks = texts.map((text, i) => ({
    ...snapshot,
    seq: (i + 2) as Seq,
    event: toTextAppend("text", text),
    get task(): Task {
      throw new Error("the task of a chunk is not needed");
    },
  }));
  const artifacts = [{ artifactId: "text", parts: [{ kind: "text" as const, text: texts.join("") }] }];
  const ended: Task = { ...TASK, status: { state: "completed", at: 1 }, artifacts };
  const end = { ...snapshotOf(ended, 99 as Seq), event: { type: "status", state: "completed" } as const };
  return [snapshotOf(TASK, 1 as Seq), ...chunks, end];
}

function encode(texts: readonly string[]): readonly string[] {
  const encoder = new ResponseEncoder({ turn: undefined, startingAfter: undefined, after: undefined });
  return createSteps(texts).flatMap(step => encoder.encode(step, false).map(({ data }) => data));
}

describe("a text that comes in pieces", () => {
  it.each([
    ["plain", ["one ", "two ", "three"]],
    ["with quotes and control characters", ['"a', '\\"', "\u0000", "\n"]],
    ["with line separators", ["a\u2028", "\u2029b"]],
    ["cut in the middle of a character", ["a\ud83d", "\ude00b"]],
    ["like the mark of a text", ["\u0000"]],
  ])("is whole in the events that end it: %s", (_, texts) => {
    const lines = encode(texts);
    expect(lines.filter(line => /[\n\u2028\u2029]/.test(line))).toEqual([]);
    const events = lines.map(line => JSON.parse(line));
    expect(events.map(event => event.sequence_number)).toEqual(events.map((_event, i) => i));
    const text = texts.join("");
    const part = { type: "output_text", text, annotations: [], logprobs: [] };
    expect(events.filter(({ type }) => type.endsWith(".delta")).map(({ delta }) => delta)).toEqual(texts);
    expect(events.slice(-4)).toMatchObject([
      { type: "response.output_text.done", text },
      { type: "response.content_part.done", part },
      { type: "response.output_item.done", item: { status: "completed", content: [part] } },
      { type: "response.completed", response: { output: [{ content: [part] }] } },
    ]);
  });
});
