import { type AgentName, Fault, LIMITS, type Scope, type TaskId, taskNotFound } from "../../model/index.ts";
import type { CommitWatch, EventLog, Log } from "../../ports.ts";
import type { RunQuota } from "../hot/queue.ts";
import { commit, hasNext, type Written } from "./commit.ts";
import { type Database, isDown, stateOf } from "./database.ts";
import { type Draft, isWary, type Request, type Sheet, taskOf, toDraft, toSheet } from "./draft.ts";
import { extendByOwn, type Known, type Memory } from "./known.ts";
import type { Owners } from "./owners.ts";
import type { Reader } from "./reader.ts";

export interface WriterParts {
  readonly db: Database;
  readonly owners: Owners;
  readonly memory: Memory;
  readonly reader: Reader;
  /** Event time. */
  readonly now: () => number;
  readonly wallTime: () => number;
  readonly onCommitted: (taskId: TaskId) => void;
  readonly onDue: () => void;
  readonly onPushDue: () => void;
  readonly runQuota: (scope: Scope) => RunQuota;
  readonly commits?: CommitWatch | undefined;
  readonly log: Log;
}

/** Appends that are written at once, at most. */
const BATCH_MAX = 1_000;

/**
 * Puts events at the end of logs. All appends that come while a commit is under way are the next commit. Nobody locks
 * anything in between: an append names the event after which it comes, and if others were quicker, it looks again.
 */
export class Writer {
  readonly #parts: WriterParts;
  #queue: Request[] = [];
  #working: Promise<void> | undefined;
  /** Looks for what may run next, which nobody waits for. */
  readonly #looks = new Set<Promise<void>>();
  #closed = false;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  readonly append: EventLog["append"] = (scope, taskId, events, expected, beside) => {
    if (this.#closed) return Promise.reject(new Fault("unavailable", "The store is closed"));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Whoever does not wait is not told.
    promise.catch(() => {});
    this.#queue.push({ scope, taskId, events, expected, push: beside?.push, resolve, reject, tries: 0 });
    this.#working ??= this.#work();
    return promise;
  };

  async close(): Promise<void> {
    this.#closed = true;
    await this.#working;
    await Promise.all(this.#looks);
  }

  async #work(): Promise<void> {
    // All appends of one turn of the event loop go together.
    await new Promise(resolve => void setImmediate(resolve));
    while (this.#queue.length > 0) await this.#write(this.#queue.splice(0, BATCH_MAX));
    this.#working = undefined;
  }

  /** Whatever goes wrong is told to those whom it concerns. */
  async #write(batch: readonly Request[]): Promise<void> {
    const byTask = Map.groupBy(batch, request => request.taskId);
    const drafts = await Promise.all([...byTask.values()].map(requests => this.#draft(requests)));
    const ready = drafts.filter(draft => draft !== null && draft.requests.length > 0) as Draft[];
    // Those that must find their context free are looked at one by one, under a lock.
    const [wary = [], plain = []] = [true, false].map(is =>
      ready.filter(draft => draft.requests.some(isWary) === is),
    );
    if (plain.length > 0) await this.#commit(plain);
    for (const draft of wary) await this.#commit([draft]);
  }

  /** What of these appends fits; the others are told so. null: none can be made at all. */
  async #draft(requests: readonly Request[]): Promise<Draft | null> {
    const [first] = requests as readonly [Request];
    const { reader, now } = this.#parts;
    try {
      const isNew = first.events[0]?.type === "created" && first.tries === 0;
      const known = isNew ? null : await reader.find(first.scope, first.taskId, first.tries > 0);
      if (!isNew && !known) throw taskNotFound(first.taskId);
      const seq = known?.seq;
      let { draft, refused } = toDraft(requests, known, now());
      if (refused.length > 0 && known) {
        const fresh = await reader.find(first.scope, first.taskId, true);
        if (fresh && fresh.seq !== seq) ({ draft, refused } = toDraft(requests, fresh, now()));
      }
      for (const { request, fault } of refused) request.reject(fault);
      return draft;
    } catch (error) {
      for (const { reject } of requests) reject(error);
      return null;
    }
  }

  async #commit(drafts: readonly Draft[]): Promise<void> {
    const { memory, db, wallTime } = this.#parts;
    const watch = memory.watch(drafts.map(draft => draft.taskId));
    try {
      const sheets = await Promise.all(drafts.map(draft => this.#toSheet(draft)));
      const done = this.#parts.commits?.begin();
      const written = await commit(db, sheets, wallTime);
      const made = sheets.filter(({ draft }) => written.has(draft.taskId));
      done?.(
        made.length,
        made.reduce((count, { steps }) => count + steps.length, 0),
      );
      for (const sheet of sheets)
        this.#settle(sheet, written.get(sheet.draft.taskId), watch.isDoubted(sheet.draft.taskId));
      this.#ring(made, written);
    } catch (error) {
      await this.#refuse(drafts, error);
    } finally {
      watch.end();
    }
  }

  async #toSheet(draft: Draft): Promise<Sheet> {
    return toSheet(draft, await this.#parts.owners.idOf(draft.scope, taskOf(draft).agent as AgentName));
  }

  async #refuse(drafts: readonly Draft[], error: unknown): Promise<void> {
    const isOnlyOne = drafts.length === 1;
    const isNo = error instanceof Fault && error.code !== "unavailable";
    if (!isOnlyOne && (isNo || !isDown(error))) {
      // One that cannot be written must not keep the others.
      for (const draft of drafts) await this.#commit([draft]);
      return;
    }
    const requests = drafts.flatMap(draft => draft.requests);
    if (isNo) for (const { reject } of requests) reject(error);
    else if (stateOf(error) === UNIQUE) for (const { reject, taskId } of requests) reject(nameTaken(taskId));
    else {
      this.#parts.commits?.failed();
      this.#parts.log.error({ err: error }, "a commit failed");
      for (const { reject } of requests) reject(new Fault("unavailable", UNCERTAIN, {}, error));
      // It may have happened all the same: whoever reads these looks again.
      for (const { taskId } of drafts) {
        this.#parts.memory.doubt(taskId);
        this.#parts.onCommitted(taskId);
      }
    }
  }

  /** `doubted`: others may have written to it since. */
  #settle(
    { draft, task, steps, events, snapshot }: Sheet,
    written: Written | undefined,
    doubted: boolean,
  ): void {
    const { memory } = this.#parts;
    const { taskId, scope } = draft;
    if (!written) {
      memory.doubt(taskId);
      for (const request of draft.requests) this.#again(request);
      return;
    }
    const made = { since: 0, seq: 0, snapshotSeq: 0, steps: [], bytes: 0, stale: doubted };
    const known: Known = memory.find(taskId) ??
      // It was let go meanwhile, and nobody told it of what others wrote.
      (draft.known && { ...draft.known, bytes: 0, stale: true }) ?? {
        ...made,
        taskId,
        key: written.key,
        scope,
        task,
      };
    extendByOwn(known, steps);
    if (snapshot !== null) known.snapshotSeq = draft.end.seq;
    memory.keep(known, events.length);
    for (const { resolve } of draft.requests) resolve();
  }

  /** Others were quicker: it looks again. */
  #again(request: Request): void {
    request.tries += 1;
    if (request.tries > LIMITS.conflictTriesMax)
      request.reject(new Fault("conflict", "The task has moved on", { taskId: request.taskId }));
    else this.#queue.push(request);
  }

  /** Wakes whoever wants to know of what was written. */
  #ring(sheets: readonly Sheet[], written: ReadonlyMap<TaskId, Written>): void {
    const { runQuota, onCommitted, onDue, onPushDue } = this.#parts;
    for (const { draft } of sheets) onCommitted(draft.taskId);
    const isDue = ({ moved, task }: Sheet): boolean => moved && task.status.state === "submitted";
    const isHeld = ({ freed, draft }: Sheet): boolean =>
      freed && Object.values(runQuota(draft.scope)).some(Number.isFinite);
    if (sheets.some(sheet => isDue(sheet) || isHeld(sheet))) onDue();
    else this.#lookForNext(sheets.filter(({ freed, task }) => freed && !task.alone));
    const isPushed = ({ draft }: Sheet): boolean =>
      draft.pushes.length > 0 || (written.get(draft.taskId)?.pushed ?? false);
    if (sheets.some(isPushed)) onPushDue();
  }

  #lookForNext(sheets: readonly Sheet[]): void {
    const look = hasNext(this.#parts.db, sheets)
      // Who cannot find out lets the others look.
      .catch(() => true)
      .then(next => {
        if (next) this.#parts.onDue();
        this.#looks.delete(look);
      });
    this.#looks.add(look);
  }
}

const UNIQUE = "23505";
const UNCERTAIN =
  "The store cannot write now, and may not have recorded this; try again, with the same key if there is one";

const nameTaken = (taskId: TaskId): Fault => new Fault("conflict", "The name is taken", { taskId });
