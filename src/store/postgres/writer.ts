import {
  type AgentName,
  Fault,
  isTerminal,
  LIMITS,
  type Scope,
  type TaskId,
  taskNotFound,
} from "../../model/index.ts";
import type { CommitObserver, EventLog, Log, Run } from "../../ports/index.ts";
import type { RunQuota } from "../single-node/queue.ts";
import { commit, hasNext, type Written } from "./commit.ts";
import { type Database, isDown, stateOf } from "./database.ts";
import { giveUp } from "./give-up-leases.ts";
import type { Owners } from "./owners.ts";
import type { Reader } from "./reader.ts";
import { extendByOwn, type Known, type Memory } from "./task-cache.ts";
import {
  type Draft,
  isWary,
  movedOn,
  type Request,
  type Sheet,
  taskOf,
  toDraft,
  toSheet,
} from "./write-set.ts";

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
  readonly commits?: CommitObserver | undefined;
  readonly log: Log;
}

/** Appends that are written at once, at most. */
const BATCH_MAX = 1_000;

/**
 * Puts events at the end of logs. All appends that come while a commit is under way are the next commit. Nobody locks
 * anything in between: an append names the event after which it comes, and if others were quicker, it looks again, before
 * anything that was asked for later. After one refused append of a run all its later ones are refused.
 */
export class Writer {
  readonly #parts: WriterParts;
  #queue: Request[] = [];
  #working: Promise<void> | undefined;
  /** Runs of which an append was refused. */
  readonly #fenced = new WeakSet<Run>();
  /** Questions after a commit that no append waits for. */
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
      let { draft, refused } = toDraft(requests, known, now(), this.#fenced);
      if (refused.length > 0 && known) {
        const fresh = await reader.find(first.scope, first.taskId, true);
        if (fresh && fresh.seq !== seq) ({ draft, refused } = toDraft(requests, fresh, now(), this.#fenced));
      }
      for (const { request, fault } of refused) this.#reject([request], fault);
      return draft;
    } catch (error) {
      this.#reject(requests, error);
      this.#giveUpRuns(requests);
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
      memory.ended(made.filter(({ task }) => isTerminal(task.status.state)).map(({ task }) => task.id));
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
    const isNo = error instanceof Fault && error.code !== "unavailable";
    // Not the database as a whole: something in this commit cannot be written.
    const isOfOne = isNo || !(error instanceof Fault);
    if (drafts.length > 1 && (isOfOne || !isDown(error))) {
      // One that cannot be written must not keep the others.
      for (const draft of drafts) await this.#commit([draft]);
      return;
    }
    const requests = drafts.flatMap(draft => draft.requests);
    if (requests.length > 1 && isOfOne) return this.#writeInHalves(requests);
    if (isNo) return this.#reject(requests, error);
    if (stateOf(error) === UNIQUE) return this.#reject(requests, nameTaken(drafts[0]?.taskId as TaskId));
    this.#parts.commits?.failed();
    this.#parts.log.error({ err: error }, "a commit failed");
    this.#reject(requests, new Fault("unavailable", UNCERTAIN, {}, error));
    this.#doubt(drafts);
    this.#giveUpRuns(requests);
  }

  /** One append that is refused must not keep what others append to the same task; their order stays. */
  async #writeInHalves(requests: readonly Request[]): Promise<void> {
    const half = Math.ceil(requests.length / 2);
    this.#queue = [...requests.slice(half), ...this.#queue];
    await this.#write(requests.slice(0, half));
  }

  /** A commit may have happened although its answer was lost: readers, runners and deliveries look again. */
  #doubt(drafts: readonly Draft[]): void {
    const { memory, onCommitted, onDue, onPushDue } = this.#parts;
    for (const { taskId } of drafts) {
      memory.doubt(taskId);
      onCommitted(taskId);
    }
    onDue();
    onPushDue();
  }

  #reject(requests: readonly Request[], error: unknown): void {
    for (const { expected, reject } of requests) {
      if ("run" in expected) this.#fenced.add(expected.run);
      reject(error);
    }
  }

  /** Runs that cannot go on here are due again, as after a crash; if that cannot be written, when their leases end. */
  #giveUpRuns(requests: readonly Request[]): void {
    const runs = new Set(requests.flatMap(({ expected }) => ("run" in expected ? [expected.run] : [])));
    if (runs.size === 0) return;
    const given = giveUp(this.#parts.db, [...runs])
      .then(this.#parts.onDue, () => {})
      .finally(() => this.#looks.delete(given));
    this.#looks.add(given);
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
      this.#again(draft.requests);
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

  /** Others were quicker: these are tried again, before what was asked for after them. */
  #again(requests: readonly Request[]): void {
    for (const request of requests) request.tries += 1;
    const late = requests.filter(request => request.tries > LIMITS.conflictTriesMax);
    for (const request of late) this.#reject([request], movedOn(request.taskId));
    this.#giveUpRuns(late);
    this.#queue = [...requests.filter(request => !late.includes(request)), ...this.#queue];
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
