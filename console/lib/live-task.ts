import { type Signal, signal } from "@preact/signals";
import type { EventPage, EventRow, TaskRow } from "../../src/admin/api.ts";
import { adminPath, readAdmin, segment } from "./admin.ts";
import { reasonOf } from "./api.ts";
import { tail } from "./sse.ts";
import { isTerminal } from "./states.ts";
import { TaskLog } from "./task-log.ts";
import type { V1Message, V1Task } from "./v1.ts";

/** Longer logs begin with the task as a whole: a conversation shows its result, not each of its events. */
const REPLAY_MAX = 4000;
const PAGE = 1000;

export interface LiveTask {
  readonly id: string;
  readonly row: Signal<TaskRow>;
  readonly log: TaskLog;
  /** Changes at most once per frame. */
  readonly version: Signal<number>;
  readonly problem: Signal<string>;
  /** The last events, for the details. */
  readonly recent: EventRow[];
  readonly close: () => void;
}

const RECENT_MAX = 200;

/** At most one call per frame, and none more often than the page can draw. */
export function perFrame(run: () => void): () => void {
  let isPlanned = false;
  let tookMs = 0;
  return () => {
    if (isPlanned) return;
    isPlanned = true;
    const draw = (): void => {
      isPlanned = false;
      const start = performance.now();
      run();
      tookMs = performance.now() - start;
    };
    // A hidden tab has no frames, and a slow page needs time for its keys between two drawings.
    if (document.hidden || tookMs > 12) setTimeout(draw, Math.min(500, tookMs * 3));
    else requestAnimationFrame(draw);
  };
}

export function openTask(
  row: TaskRow,
  snapshot?: { readonly task: V1Task; readonly reply: V1Message | null },
): LiveTask {
  const abort = new AbortController();
  const useSnapshot = snapshot !== undefined && row.events > REPLAY_MAX;
  const log = new TaskLog();
  if (useSnapshot) log.takeSnapshot(snapshot.task, row.events, snapshot.reply);
  const version = signal(0);
  const problem = signal("");
  const recent: EventRow[] = [];
  const changed = perFrame(() => {
    version.value += 1;
  });
  const take = (event: EventRow): void => {
    log.apply(event);
    recent.push(event);
    if (recent.length > RECENT_MAX) recent.splice(0, recent.length - RECENT_MAX);
    changed();
  };
  const live: LiveTask = {
    id: row.id,
    row: signal(row),
    log,
    version,
    problem,
    recent,
    close: () => abort.abort(),
  };
  void follow(row.id, log, take, abort.signal, snapshot && { ...snapshot, seq: row.events }).catch(
    (error: unknown) => {
      if (!abort.signal.aborted) problem.value = reasonOf(error);
    },
  );
  return live;
}

/** Reads the recorded events in pages, then the stream from there on until the task has ended. */
async function follow(
  id: string,
  log: TaskLog,
  take: (event: EventRow) => void,
  abort: AbortSignal,
  snapshot?: { readonly task: V1Task; readonly reply: V1Message | null; readonly seq: number },
): Promise<void> {
  const path = `tasks/${segment(id)}/events`;
  for (;;) {
    const page = await readAdmin<EventPage>(path, { after: String(log.lastSeq), max: String(PAGE) }, abort);
    if (page.compactedSeq > log.lastSeq && snapshot)
      log.takeSnapshot(snapshot.task, page.lastSeq, snapshot.reply);
    for (const event of page.events) take(event);
    if (page.events.length === 0 || log.lastSeq >= page.lastSeq) break;
  }
  if (isOver(log)) return;
  const done = new AbortController();
  await tail({
    path: () => adminPath(`${path}/stream`, { after: String(log.lastSeq) }),
    after: String(log.lastSeq),
    signal: AbortSignal.any([abort, done.signal]),
    onEvent: ({ event, data }) => {
      if (event !== "end") take(JSON.parse(data) as EventRow);
      // Nothing but the figures of its last run can follow the end of a task.
      if (isOver(log)) setTimeout(() => done.abort(), 1000);
    },
    again: () => !isOver(log),
  });
}

const isOver = (log: TaskLog): boolean => isTerminal(log.state);
