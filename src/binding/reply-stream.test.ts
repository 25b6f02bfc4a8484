import { describe, expect, it } from "vitest";
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

function createSteps(count: number): readonly Step[] {
  return Array.from({ length: count }, (_, i) => ({
    seq: (i + 1) as Seq,
    at: 0,
    taskId: "t" as TaskId,
    contextId: "c" as ContextId,
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
    const frames = new FrameEncoder(dialect as unknown as Dialect, undefined, JSON_FORMAT).encode({
      steps: createSteps(5),
      closing: false,
    });
    expect(dialect.count).toBe(1);
    expect(frames[3]?.data).toContain("word 3\\u2028");
  });
});
