import type { Seq, Step, Task, TaskId } from "../../model/index.ts";
import type { Journal } from "./journal.ts";

/**
 * Reads old parts of logs, page by page. Where a reader stopped, the task as it stood there is kept for a while, so
 * that its next page need not be folded from the beginning.
 */
export function createPages(journal: Journal, placesMax: number) {
  const places = new Map<string, Task>();

  return {
    read(taskId: TaskId, after: Seq, max: number): readonly Step[] {
      const place = `${taskId}/${after}`;
      const base = places.get(place) ?? null;
      const steps = journal.read(taskId, after, max, base);
      const last = steps.at(-1);
      if (last) places.set(`${taskId}/${last.seq}`, last.task);
      if (places.size > placesMax) places.delete(places.keys().next().value as string);
      return steps;
    },
    forget(taskId: TaskId): void {
      for (const [place, task] of places) if (task.id === taskId) places.delete(place);
    },
  };
}
