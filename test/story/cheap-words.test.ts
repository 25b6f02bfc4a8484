import { describe, expect, it } from "vitest";
import { JSON_FORMAT } from "../../src/binding/json-format.ts";
import { FrameEncoder } from "../../src/binding/reply-stream.ts";
import {
  apply,
  type ContextId,
  type Seq,
  type Step,
  type Task,
  type TaskId,
  toTextAppend,
} from "../../src/model/index.ts";
import { createDialects } from "../../src/protocol/index.ts";
import { SETTINGS } from "../support/server.ts";

/** Most events are text chunks: a dialect must not build the task for each of them. */

const WORDS = 200;
const ID = "01890000-0000-7000-8000-000000000000" as TaskId;

/**
 * A task whose agent has begun to send text, and its next chunks; `reads` counts how often the task was read.
 */
function createChunks() {
  let reads = 0;
  const begun = [
    {
      type: "created",
      id: ID,
      contextId: "c" as ContextId,
      agent: "a" as Task["agent"],
      origin: "v1",
      shown: true,
    },
    { type: "message", message: { messageId: "m", role: "user", parts: [] } },
    { type: "started", attempt: 1 },
    { ...toTextAppend("response", "Once"), append: false, join: false },
  ] as const;
  const task = begun.reduce<Task | null>(
    (folded, event, i) => apply(folded, { seq: (i + 1) as Seq, at: 0, event: event as never }),
    null,
  ) as Task;
  const steps = Array.from({ length: WORDS }, (_, i): Step => {
    const seq = (begun.length + i + 1) as Seq;
    const event = toTextAppend("response", ` word ${i}`);
    return {
      seq,
      at: 0,
      taskId: ID,
      contextId: task.contextId,
      event,
      get task() {
        reads += 1;
        return task;
      },
    };
  });
  return { steps, readCount: () => reads };
}

/** Orloj sends the whole task each time. */
/** Orloj sends whole tasks; dialects without JSON-RPC have an encoder for each stream. */
const DIALECTS = createDialects(SETTINGS).filter(
  ({ name, routes }) => name !== "orloj" && routes.some(({ transport }) => transport === "jsonrpc"),
);
/** Of a dialect that has more than one. */
const FORMS: Readonly<Record<string, readonly string[]>> = { arbiter: ["request"], v03: ["proto"] };
const CASES = DIALECTS.flatMap(dialect =>
  [undefined, ...(FORMS[dialect.name] ?? [])].map(form => ({ name: dialect.name, form, dialect })),
);

describe.each(CASES)("in the dialect $name (form: $form)", ({ dialect, form }) => {
  it(`${WORDS} chunks are encoded with one or two reads of the task`, () => {
    const { steps, readCount } = createChunks();
    const frames = new FrameEncoder(dialect, form, JSON_FORMAT).encode({ steps, closing: false });
    expect(frames.map(frame => / word \d+/.exec(frame.data)?.[0])).toEqual(steps.map((_, i) => ` word ${i}`));
    expect(readCount()).toBeLessThanOrEqual(2);
  });
});
