import { expect, it } from "vitest";
import { applyAll, type RecordedEvent, type Seq, type Step, type Task } from "../../model/index.ts";
import { type CheckedTask, checkTask } from "./check-task.ts";
import { packEvents } from "./packed-events.ts";

const EVENTS: readonly RecordedEvent[] = [
  {
    seq: 1 as Seq,
    at: 1,
    event: {
      type: "created",
      id: "t" as never,
      contextId: "c" as never,
      agent: "a" as never,
      origin: "v1",
      shown: true,
    },
  },
  {
    seq: 2 as Seq,
    at: 2,
    event: {
      type: "message",
      message: { messageId: "m", role: "user", parts: [{ kind: "text", text: "hi" }] },
    },
  },
];

/** What the check finds in a task whose snapshot is this one. */
function findingsWith(snapshot: Partial<Task>): readonly string[] {
  const row: CheckedTask = {
    id: "t",
    owner: 1,
    agent: "a",
    context_id: "c",
    state: 0,
    status_at: 1,
    hidden: false,
    snapshot_seq: 2,
    snapshot: JSON.stringify(snapshot),
    since: 0,
  };
  const findings: string[] = [];
  checkTask(row, [{ last: 2, events: packEvents(EVENTS as readonly Step[]) }], [], finding =>
    findings.push(finding),
  );
  return findings;
}

it("a snapshot must match its events, except that older versions wrote no generation", () => {
  const { generation, ...older } = applyAll(null, EVENTS) as Task;
  expect(findingsWith({ ...older, generation })).toEqual([]);
  expect(findingsWith(older)).toEqual([]);
  const finding = "task t: its snapshot at event 2 does not match its events";
  expect(findingsWith({ ...older, generation: 7 })).toEqual([finding]);
  expect(findingsWith({ ...older, turn: 9 })).toEqual([finding]);
});
