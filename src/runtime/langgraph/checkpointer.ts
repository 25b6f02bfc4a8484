/** A checkpointer over the shelf of a context: what a graph knows is kept beside the tasks, by caller, agent and context. */
import type { Json } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import type { ContextStorage, StorageChange, StoredItem } from "../../ports/index.ts";
import type {
  Checkpoint,
  CheckpointPlace,
  CheckpointTuple,
  GraphConfig,
  ListWish,
  Saver,
  Write,
} from "./graph.ts";
import type { Library, Serde } from "./library.ts";

export interface ShelfSaver extends Saver {
  /** Takes away what nothing can come back to when the graph has come to its end: all but its last checkpoints. */
  prune(): Promise<void>;
}

/** What lies on the shelf. */
interface Kept {
  readonly thread: string;
  readonly ns: string;
  readonly id: string;
  readonly parent?: string;
  readonly checkpoint: Blob;
  readonly metadata: Blob;
}
interface KeptWrite {
  readonly task: string;
  readonly path: string;
  readonly at: number;
  readonly channel: string;
  readonly value: Blob;
}
/** What a serialiser made: its kind, and text, or bytes as base64. */
type Blob = { readonly kind: string } & ({ readonly text: string } | { readonly base64: string });

const PAGE = 20;
/** The channel of tasks that a node sent. */
const TASKS = "__pregel_tasks";

/** `own`: the thread that is the context. Other threads that a graph may name are kept apart, on the same shelf. */
export type CreateSaver = (shelf: ContextStorage, own: string) => ShelfSaver;

/** Made of the class that the graph itself knows, so that it has what the rest of LangGraph expects. */
export function createSavers(library: Library): CreateSaver {
  const { BaseCheckpointSaver, WRITES_IDX_MAP, getCheckpointId } = library;
  class OnShelf extends BaseCheckpointSaver implements ShelfSaver {
    readonly #shelf: ContextStorage;
    readonly #own: string;

    constructor(shelf: ContextStorage, own: string) {
      super();
      this.#shelf = shelf;
      this.#own = own;
    }

    async getTuple(config: GraphConfig): Promise<CheckpointTuple | undefined> {
      const { thread_id: thread, checkpoint_ns: ns = "" } = config.configurable ?? {};
      if (thread === undefined) return undefined;
      const id = getCheckpointId(config);
      const prefix = this.#prefix("c", thread, ns);
      const found = id
        ? await this.#shelf.get(prefix + id)
        : (await this.#shelf.list({ prefix, backwards: true, max: 1 }))[0]?.value;
      return found === undefined ? undefined : this.#tuple(found as unknown as Kept);
    }

    async *list(
      config: GraphConfig,
      { limit, before, filter }: ListWish = {},
    ): AsyncGenerator<CheckpointTuple> {
      const { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {};
      const end = before?.configurable?.checkpoint_id;
      let left = limit ?? Number.POSITIVE_INFINITY;
      for await (const { value } of all(this.#shelf, this.#prefix("c", thread, ns), true)) {
        const kept = value as unknown as Kept;
        const isWanted =
          (ns === undefined || kept.ns === ns) &&
          (id === undefined || kept.id === id) &&
          (end === undefined || kept.id < end);
        if (!isWanted || !(await this.#fits(kept, filter))) continue;
        if (left-- <= 0) return;
        yield this.#tuple(kept);
      }
    }

    async put(config: GraphConfig, checkpoint: Checkpoint, metadata: unknown): Promise<GraphConfig> {
      const { thread, ns } = needPlace(config);
      const parent = config.configurable?.checkpoint_id;
      const kept: Kept = {
        thread,
        ns,
        id: checkpoint.id,
        ...(parent !== undefined && { parent }),
        checkpoint: await toBlob(this.serde, checkpoint),
        metadata: await toBlob(this.serde, metadata),
      };
      await this.#shelf.put([toChange(this.#prefix("c", thread, ns) + checkpoint.id, kept)]);
      return toConfig(thread, ns, checkpoint.id);
    }

    async putWrites(config: GraphConfig, writes: readonly Write[], task: string, path = ""): Promise<void> {
      const { thread, ns } = needPlace(config);
      const id = config.configurable?.checkpoint_id;
      if (id === undefined) throw new Error("Writes belong to a checkpoint: its checkpoint_id is missing");
      const prefix = `${this.#prefix("w", thread, ns)}${id}/${encodeURIComponent(task)}/`;
      const changes: StorageChange[] = [];
      for (const [nth, [channel, value]] of writes.entries()) {
        const at = WRITES_IDX_MAP[channel] ?? nth;
        const key = `${prefix}${at}`;
        // A task that is done again does not change what it wrote; what is no value of a channel is as it was last.
        if (at >= 0 && (await this.#shelf.get(key)) !== undefined) continue;
        const kept: KeptWrite = { task, path, at, channel, value: await toBlob(this.serde, value) };
        changes.push(toChange(key, kept));
      }
      // All or none: a task with some of its writes would count as done.
      await this.#shelf.put(changes);
    }

    async deleteThread(thread: string): Promise<void> {
      for (const kind of ["c", "w"] as const) await remove(this.#shelf, this.#prefix(kind, thread));
    }

    async prune(): Promise<void> {
      const { stale, isNeeded } = await this.#stale();
      if (isNeeded) return;
      const changes: StorageChange[] = stale.map(({ key }) => ({ key, value: undefined }));
      if (changes.length > 0) await this.#shelf.put(changes);
      for (const { value } of stale) {
        const { ns, id } = value as unknown as Kept;
        await remove(this.#shelf, `${this.#prefix("w", this.#own, ns)}${id}/`);
      }
    }

    /** All but the newest of each namespace; one that belongs to a single task of the graph ends with it. */
    async #stale(): Promise<{ readonly stale: readonly StoredItem[]; readonly isNeeded: boolean }> {
      const stale: StoredItem[] = [];
      let newest: string | undefined;
      for await (const one of all(this.#shelf, this.#prefix("c", this.#own), true)) {
        const { ns, metadata } = one.value as unknown as Kept;
        if (ns !== newest && !ns.includes(":")) {
          newest = ns;
          // Such a checkpoint is told by what was written before it.
          const { counters_since_delta_snapshot: deltas } = (await this.#read(metadata)) as Record<
            string,
            unknown
          >;
          if (deltas !== undefined) return { stale: [], isNeeded: true };
        } else stale.push({ key: one.key, value: { ns, id: (one.value as unknown as Kept).id } });
      }
      return { stale, isNeeded: false };
    }

    async #tuple(kept: Kept): Promise<CheckpointTuple> {
      const { thread, ns, id, parent } = kept;
      const checkpoint = (await this.#read(kept.checkpoint)) as Checkpoint;
      if (checkpoint.v < 4 && parent !== undefined) await this.#attachSends(checkpoint, thread, ns, parent);
      return {
        config: toConfig(thread, ns, id),
        checkpoint,
        metadata: await this.#read(kept.metadata),
        pendingWrites: await this.#writes(thread, ns, id),
        ...(parent !== undefined && { parentConfig: toConfig(thread, ns, parent) }),
      };
    }

    /** Older checkpoints have the tasks that were sent to them in the writes of the one before. */
    async #attachSends(checkpoint: Checkpoint, thread: string, ns: string, parent: string): Promise<void> {
      const writes = await this.#writes(thread, ns, parent);
      checkpoint.channel_values[TASKS] = writes.filter(one => one[1] === TASKS).map(one => one[2]);
      const versions = Object.values(checkpoint.channel_versions).toSorted(byVersion);
      checkpoint.channel_versions[TASKS] = versions.at(-1) ?? this.getNextVersion(undefined);
    }

    async #writes(thread: string, ns: string, id: string): Promise<readonly [string, string, unknown][]> {
      const kept: KeptWrite[] = [];
      const prefix = `${this.#prefix("w", thread, ns)}${id}/`;
      for await (const { value } of all(this.#shelf, prefix, false)) kept.push(value as unknown as KeptWrite);
      kept.sort((a, b) => order(a.path, b.path) || order(a.task, b.task) || a.at - b.at);
      return Promise.all(
        kept.map(
          async ({ task, channel, value }) =>
            [task, channel, await this.#read(value)] as [string, string, unknown],
        ),
      );
    }

    async #fits(kept: Kept, filter: ListWish["filter"]): Promise<boolean> {
      if (!filter) return true;
      const metadata = (await this.#read(kept.metadata)) as Record<string, unknown>;
      return Object.entries(filter).every(([name, value]) => metadata[name] === value);
    }

    #read(blob: Blob): Promise<unknown> {
      const data = "text" in blob ? blob.text : new Uint8Array(Buffer.from(blob.base64, "base64"));
      return this.serde.loadsTyped(blob.kind, data);
    }

    #prefix(kind: "c" | "w", thread?: string, ns?: string): string {
      if (thread === undefined) return `${kind}/`;
      const whose = thread === this.#own ? "own" : `of-${encodeURIComponent(thread)}`;
      return ns === undefined ? `${kind}/${whose}/` : `${kind}/${whose}/${encodeURIComponent(ns)}/`;
    }
  }
  return (shelf, own) => new OnShelf(shelf, own);
}

function toChange(key: string, kept: Kept | KeptWrite): StorageChange {
  const chars = JSON.stringify(kept).length;
  if (chars <= LIMITS.shelfValueBytesMax) return { key, value: kept as unknown as Json };
  throw new Error(
    `The state of the graph has ${chars} characters, and at most ${LIMITS.shelfValueBytesMax} are kept: ` +
      "trim its messages, or keep large things outside of the state",
  );
}

async function toBlob(serde: Serde, value: unknown): Promise<Blob> {
  const [kind, bytes] = await serde.dumpsTyped(value);
  if (kind === "json") return { kind, text: new TextDecoder().decode(bytes) };
  return { kind, base64: Buffer.from(bytes).toString("base64") };
}

function needPlace(config: GraphConfig): { readonly thread: string; readonly ns: string } {
  const { thread_id: thread, checkpoint_ns: ns = "" } = (config.configurable ??
    {}) as Partial<CheckpointPlace>;
  if (thread === undefined) throw new Error("A checkpoint belongs to a thread: its thread_id is missing");
  return { thread, ns };
}

const toConfig = (thread_id: string, checkpoint_ns: string, checkpoint_id: string): GraphConfig => ({
  configurable: { thread_id, checkpoint_ns, checkpoint_id },
});

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byVersion = (a: number | string, b: number | string): number =>
  typeof a === "number" && typeof b === "number" ? a - b : order(String(a), String(b));

/** All that is there, a page at a time. */
async function* all(shelf: ContextStorage, prefix: string, backwards: boolean): AsyncGenerator<StoredItem> {
  for (let beyond: string | undefined; ; ) {
    const page = await shelf.list({ prefix, backwards, max: PAGE, ...(beyond !== undefined && { beyond }) });
    yield* page;
    if (page.length < PAGE) return;
    beyond = page.at(-1)?.key as string;
  }
}

async function remove(shelf: ContextStorage, prefix: string): Promise<void> {
  for (;;) {
    const page = await shelf.list({ prefix, max: PAGE });
    if (page.length > 0) await shelf.put(page.map(({ key }) => ({ key, value: undefined })));
    if (page.length < PAGE) return;
  }
}
