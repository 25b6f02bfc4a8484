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

/** Words are most of what agents say: a dialect must not put the task together for each of them. */

const WORDS = 200;
const ID = "01890000-0000-7000-8000-000000000000" as TaskId;

/** A task in which an agent has begun to speak, and its next words; `looks` counts how often a task was asked for. */
function createSpeech() {
  let looks = 0;
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
        looks += 1;
        return task;
      },
    };
  });
  return { steps, looks: () => looks };
}

/** Orloj tells the whole task each time. */
const DIALECTS = createDialects(SETTINGS).filter(({ name }) => name !== "orloj");
/** Where a dialect has more than one. */
const FORMS: Readonly<Record<string, readonly string[]>> = { arbiter: ["request"], v03: ["proto"] };
const CASES = DIALECTS.flatMap(dialect =>
  [undefined, ...(FORMS[dialect.name] ?? [])].map(form => ({ name: dialect.name, form, dialect })),
);

describe.each(CASES)("in the dialect $name (form: $form)", ({ dialect, form }) => {
  it(`${WORDS} words are said with a look or two at the task`, () => {
    const { steps, looks } = createSpeech();
    const frames = new FrameEncoder(dialect, form, JSON_FORMAT).encode({ steps, closing: false });
    expect(frames.map(frame => / word \d+/.exec(frame.data)?.[0])).toEqual(steps.map((_, i) => ` word ${i}`));
    expect(looks()).toBeLessThanOrEqual(2);
  });
});
