import { describe, expect, it } from "vitest";
import type { Json } from "../lib/json.ts";
import type { ContextId, Seq, Step, Task, TaskId } from "../model/index.ts";
import { toTextAppend } from "../model/index.ts";
import type { BodyFormat, Dialect } from "../ports/index.ts";
import { JSON_FORMAT } from "./json-format.ts";
import { FrameEncoder } from "./reply-stream.ts";

/** Counts how often it encodes a step. */
function createDialect() {
  const counted = {
    count: 0,
    encodeStep({ event }: Step) {
      counted.count += 1;
      return { data: { text: event?.type === "artifact" ? (event.artifact.parts[0] as object) : null } };
    },
  };
  return counted;
}

const IDS = { at: 0, taskId: "t" as TaskId, contextId: "c" as ContextId };

function createSteps(count: number): readonly Step[] {
  return Array.from({ length: count }, (_, i) => ({
    ...IDS,
    seq: (i + 1) as Seq,
    event: toTextAppend("a", `word ${i}\u2028`),
    get task(): Task {
      throw new Error("the task is not needed");
    },
  }));
}

const BYTES: BodyFormat<Uint8Array> = {
  encode: value => Buffer.from(JSON.stringify(value)),
  encodeFrame: value => Buffer.from(JSON.stringify(value)),
};

const encode = (dialect: object, steps: readonly Step[]) =>
  new FrameEncoder(dialect as unknown as Dialect, undefined, JSON_FORMAT).encode({ steps, closing: false });

/** A dialect with generations, and the number of tasks that it has read. */
function createCounted(generations: readonly (number | undefined)[], ids: readonly string[] = ["a"]) {
  let reads = 0;
  const steps: readonly Step[] = generations.map((generation, i) => ({
    ...IDS,
    seq: (generation ?? i) as Seq,
    event: toTextAppend(ids[i % ids.length] as string, `word ${i}`),
    get task() {
      reads += 1;
      return { generation } as Task;
    },
  }));
  const encodeStep = ({ event, task }: Step) => ({
    data: { event, generation: String(task.generation) } as unknown as Json,
    stableTaskFields: true,
  });
  return { steps, dialect: { encodeStep }, reads: () => reads };
}

describe("frames of a step", () => {
  it("are encoded once for all readers of one dialect and format", () => {
    const dialect = createDialect();
    const steps = createSteps(5);
    const encode = (format: BodyFormat<Uint8Array>) =>
      new FrameEncoder(dialect as unknown as Dialect, undefined, format).encode({ steps, closing: false });
    const first = encode(BYTES);
    expect(dialect.count).toBe(5);
    expect(encode(BYTES).map(frame => frame.data)).toEqual(first.map(frame => frame.data));
    expect(dialect.count).toBe(5);
    encode({ ...BYTES });
    expect(dialect.count).toBe(10);
  });

  it("are made from one template in JSON, and have no line ends", () => {
    const dialect = createDialect();
    const frames = encode(dialect, createSteps(5));
    expect(dialect.count).toBe(1);
    expect(frames[3]?.data).toContain("word 3\\u2028");
  });

  it.each([
    ["one artifact", [4, 5, 6, 7, 8], ["a"], 2],
    ["two artifacts in turn", [4, 5, 6, 7], ["a", "b"], 5],
    ["other steps in between", [4, 5, 9, 10, 12], ["a"], 4],
    ["a task without generations", [undefined, undefined], ["a"], 1],
    ["an id like the mark of a generation", [4, 5], [String(Number.MAX_SAFE_INTEGER)], 3],
  ])("have the generation of each step, and read few tasks: %s", (_, generations, ids, readsMax) => {
    const { steps, dialect, reads } = createCounted(generations, ids);
    const frames = encode(dialect, steps).map(({ data }) => data);
    expect(reads()).toBeLessThanOrEqual(readsMax);
    expect(frames).toEqual(steps.map(step => JSON_FORMAT.encodeFrame(dialect.encodeStep(step).data)));
  });
});
