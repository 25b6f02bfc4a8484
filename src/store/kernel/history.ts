import type { RecordedEvent, Scope, Task, TaskId } from "../../model/index.ts";
import type { PushSubscription } from "../../ports/index.ts";

/** All that is kept of one task. */
export interface TaskStory {
  readonly taskId: TaskId;
  readonly scope: Scope;
  /** Of a task whose events were compacted: how it stood then. */
  readonly snapshot: Task | undefined;
  readonly events: readonly RecordedEvent[];
  readonly deliveries: readonly PushSubscription[];
}

/** So many tasks of one name are told. */
export const NAMESAKES_MAX = 10;
export const namesakes = (ids: readonly string[]): string =>
  `Several callers call a task so. Name one of: ${ids.join(", ")}`;
