/** A LangGraph checkpointer over the storage of a context, which is separate for each caller, agent and context. */
import type { Json } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import type { ContextStorage, StorageChange, StoredItem } from "../../ports/index.ts";
import { isRecord } from "../shared/options.ts";
import { deleteKeys, deletePrefix, readItems } from "../shared/storage-pages.ts";
import type {
  ChannelWrite,
  Checkpoint,
  Checkpointer,
  CheckpointKey,
  CheckpointListOptions,
  CheckpointTuple,
  GraphConfig,
} from "./graph.ts";
import type { CheckpointLibrary, Serde } from "./library.ts";

export interface StorageCheckpointer extends Checkpointer {
  /** What `put` stores. */
  toPut(config: GraphConfig, checkpoint: Checkpoint, metadata: unknown): Promise<StorageChange>;
  /** What `putWrites` stores. */
  toWrites(
    config: GraphConfig,
    writes: readonly ChannelWrite[],
    task: string,
    path?: string,
  ): Promise<readonly StorageChange[]>;
  /** The checkpoint that `getTuple` returns, as it is stored. */
  findStored(config: GraphConfig): Promise<StoredTuple | undefined>;
  /** The checkpoints of `list`, as they are stored. */
  listStored(config: GraphConfig, options?: CheckpointListOptions): AsyncGenerator<StoredTuple>;
  /** Deletes all but the last checkpoints: a graph that has ended continues only from those. */
  prune(): Promise<void>;
  /** Deletes the checkpoints that a run of the Agent Server API has written. */
  deleteRun(runId: string): Promise<void>;
}

/** A stored checkpoint with its writes, which is deserialized only where it is needed. */
export interface StoredTuple {
  readonly ns: string;
  readonly id: string;
  /** All that is stored of it: the same texts are the same checkpoint with the same writes. */
  readonly texts: readonly string[];
  toTuple(): Promise<CheckpointTuple>;
}

/** The stored forms; their members and keys must not change. */
interface StoredCheckpoint {
  readonly thread: string;
  readonly ns: string;
  readonly id: string;
  readonly parent?: string;
  readonly checkpoint: StoredValue;
  readonly metadata: StoredValue;
}
interface StaleCheckpoint {
  readonly key: string;
  readonly ns: string;
  readonly id: string;
}
interface StoredWrite {
  readonly task: string;
  readonly path: string;
  readonly at: number;
  readonly channel: string;
  readonly value: StoredValue;
}
/** A serialized value: its kind, and text or base64. */
type StoredValue = { readonly kind: string } & ({ readonly text: string } | { readonly base64: string });

const PAGE = 20;
/** A checkpoint has several writes. */
const WRITES_PAGE = 100;
/** The channel of `Send` tasks. */
const SEND_CHANNEL = "__pregel_tasks";

/** `own`: the thread that is the context. Other thread ids of a graph have other keys in the same storage. */
export type CreateCheckpointer = (storage: ContextStorage, own: string) => StorageCheckpointer;

/** Extends the base class of the graph's own LangGraph, which provides the serializer. */
export function createCheckpointerFactory(library: CheckpointLibrary): CreateCheckpointer {
  const { BaseCheckpointSaver, WRITES_IDX_MAP, getCheckpointId } = library;
  class ContextCheckpointer extends BaseCheckpointSaver implements StorageCheckpointer {
    readonly #storage: ContextStorage;
    readonly #own: string;
    /** By namespace: the checkpoint that was stored last, and the tasks that have stored writes of it. */
    readonly #newest = new Map<string, { readonly id: string; readonly tasks: Set<string> }>();

    constructor(storage: ContextStorage, own: string) {
      super();
      this.#storage = storage;
      this.#own = own;
    }

    async getTuple(config: GraphConfig): Promise<CheckpointTuple | undefined> {
      return (await this.findStored(config))?.toTuple();
    }

    async findStored(config: GraphConfig): Promise<StoredTuple | undefined> {
      const { thread_id: thread, checkpoint_ns: ns = "" } = config.configurable ?? {};
      if (thread === undefined) return undefined;
      const id = getCheckpointId(config);
      const prefix = this.#prefix("c", thread, ns);
      const found = id
        ? await this.#storage.get(prefix + id)
        : (await this.#storage.list({ prefix, backwards: true, max: 1 }))[0]?.value;
      if (found === undefined) return undefined;
      const stored = found as unknown as StoredCheckpoint;
      return this.#toStored(stored, await this.#writes(stored.thread, stored.ns, stored.id));
    }

    async *list(config: GraphConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
      for await (const stored of this.listStored(config, options)) yield await stored.toTuple();
    }

    async *listStored(
      config: GraphConfig,
      { limit, before, filter }: CheckpointListOptions = {},
    ): AsyncGenerator<StoredTuple> {
      const { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {};
      const end = before?.configurable?.checkpoint_id;
      let left = limit ?? Number.POSITIVE_INFINITY;
      const writes = new WritesCursor(this.#read(this.#prefix("w", thread, ns), true, WRITES_PAGE));
      for await (const { value } of this.#read(this.#prefix("c", thread, ns), true)) {
        const stored = value as unknown as StoredCheckpoint;
        const isSelected =
          (ns === undefined || stored.ns === ns) &&
          (id === undefined || stored.id === id) &&
          (end === undefined || stored.id < end);
        if (!isSelected || !(await this.#matches(stored, filter))) continue;
        if (left-- <= 0) return;
        yield this.#toStored(
          stored,
          await writes.of(this.#prefix("w", stored.thread, stored.ns) + stored.id),
        );
      }
    }

    async put(config: GraphConfig, checkpoint: Checkpoint, metadata: unknown): Promise<GraphConfig> {
      await this.#storage.put([await this.toPut(config, checkpoint, metadata)]);
      return toPutConfig(config, checkpoint);
    }

    async toPut(config: GraphConfig, checkpoint: Checkpoint, metadata: unknown): Promise<StorageChange> {
      const { thread, ns } = requireThread(config);
      const parent = config.configurable?.checkpoint_id;
      const stored: StoredCheckpoint = {
        thread,
        ns,
        id: checkpoint.id,
        ...(parent !== undefined && { parent }),
        checkpoint: await serialize(this.serde, checkpoint),
        metadata: await serialize(this.serde, { ...metadataOf(config), ...(metadata as object) }),
      };
      this.#newest.set(`${thread}|${ns}`, { id: checkpoint.id, tasks: new Set() });
      return toChange(this.#prefix("c", thread, ns) + checkpoint.id, stored);
    }

    async putWrites(
      config: GraphConfig,
      writes: readonly ChannelWrite[],
      task: string,
      path = "",
    ): Promise<void> {
      // In one transaction: a task with only some of its writes would count as completed.
      await this.#storage.put(await this.toWrites(config, writes, task, path));
    }

    async toWrites(
      config: GraphConfig,
      writes: readonly ChannelWrite[],
      task: string,
      path = "",
    ): Promise<readonly StorageChange[]> {
      const { thread, ns } = requireThread(config);
      const id = config.configurable?.checkpoint_id;
      if (id === undefined) throw new Error("Writes belong to a checkpoint: its checkpoint_id is missing");
      const prefix = `${this.#prefix("w", thread, ns)}${id}/${encodeURIComponent(task)}/`;
      const isFirst = this.#isFirstWrite(`${thread}|${ns}`, id, task);
      const changes: StorageChange[] = [];
      for (const [nth, [channel, value]] of writes.entries()) {
        const at = WRITES_IDX_MAP[channel] ?? nth;
        const key = `${prefix}${at}`;
        // A repeated task does not change its channel values; of special writes (negative index) the last one counts.
        if (at >= 0 && !isFirst && (await this.#storage.get(key)) !== undefined) continue;
        const stored: StoredWrite = { task, path, at, channel, value: await serialize(this.serde, value) };
        changes.push(toChange(key, stored));
      }
      return changes;
    }

    /** Nothing else knows the id of a checkpoint before it is stored, so it has no writes yet. */
    #isFirstWrite(place: string, id: string, task: string): boolean {
      const newest = this.#newest.get(place);
      if (newest?.id !== id || newest.tasks.has(task)) return false;
      newest.tasks.add(task);
      return true;
    }

    async deleteThread(thread: string): Promise<void> {
      for (const kind of ["c", "w"] as const)
        await deletePrefix(this.#storage, this.#prefix(kind, thread), PAGE);
    }

    async prune(): Promise<void> {
      await this.#delete(await this.#findStale());
    }

    async deleteRun(runId: string): Promise<void> {
      const found: StaleCheckpoint[] = [];
      for await (const { key, value } of this.#read(this.#prefix("c", this.#own), true)) {
        const { ns, id, metadata } = value as unknown as StoredCheckpoint;
        const about = (await this.#deserialize(metadata)) as Record<string, unknown>;
        if (about.run_id === runId) found.push({ key, ns, id });
      }
      await this.#delete(found);
    }

    async #delete(stale: readonly StaleCheckpoint[]): Promise<void> {
      if (stale.length > 0)
        await deleteKeys(
          this.#storage,
          stale.map(({ key }) => key),
        );
      for (const { ns, id } of stale)
        await deletePrefix(this.#storage, `${this.#prefix("w", this.#own, ns)}${id}/`, PAGE);
    }

    /** All but the newest of each namespace; a namespace of a single task (`:`) is not needed after the task. */
    async #findStale() {
      const stale: StaleCheckpoint[] = [];
      let newest: string | undefined;
      for await (const { key, value } of this.#read(this.#prefix("c", this.#own), true)) {
        const { ns, id, metadata } = value as unknown as StoredCheckpoint;
        if (ns !== newest && !ns.includes(":")) {
          newest = ns;
          // A delta checkpoint needs the writes before it: nothing can be deleted.
          const about = (await this.#deserialize(metadata)) as Record<string, unknown>;
          if (about.counters_since_delta_snapshot !== undefined) return [];
        } else stale.push({ key, ns, id });
      }
      return stale;
    }

    #toStored(stored: StoredCheckpoint, writes: readonly StoredWrite[]): StoredTuple {
      const { ns, id, parent = "", checkpoint, metadata } = stored;
      const texts = [parent, ...textsOf(checkpoint), ...textsOf(metadata)];
      for (const { task, path, at, channel, value } of writes)
        texts.push(task, path, String(at), channel, ...textsOf(value));
      return { ns, id, texts, toTuple: () => this.#toTuple(stored, writes) };
    }

    async #toTuple(stored: StoredCheckpoint, writes: readonly StoredWrite[]): Promise<CheckpointTuple> {
      const { thread, ns, id, parent } = stored;
      const checkpoint = (await this.#deserialize(stored.checkpoint)) as Checkpoint;
      if (checkpoint.v < 4 && parent !== undefined) await this.#attachSends(checkpoint, thread, ns, parent);
      return {
        config: toConfig(thread, ns, id),
        checkpoint,
        metadata: await this.#deserialize(stored.metadata),
        pendingWrites: await this.#toWrites(writes),
        ...(parent !== undefined && { parentConfig: toConfig(thread, ns, parent) }),
      };
    }

    /** Before version 4, `Send` tasks are in the writes of the parent checkpoint. */
    async #attachSends(checkpoint: Checkpoint, thread: string, ns: string, parent: string): Promise<void> {
      const writes = await this.#toWrites(await this.#writes(thread, ns, parent));
      checkpoint.channel_values[SEND_CHANNEL] = writes
        .filter(one => one[1] === SEND_CHANNEL)
        .map(one => one[2]);
      const versions = Object.values(checkpoint.channel_versions).toSorted(byVersion);
      checkpoint.channel_versions[SEND_CHANNEL] = versions.at(-1) ?? this.getNextVersion(undefined);
    }

    async #writes(thread: string, ns: string, id: string): Promise<readonly StoredWrite[]> {
      const stored: StoredWrite[] = [];
      const prefix = `${this.#prefix("w", thread, ns)}${id}/`;
      for await (const { value } of this.#read(prefix, false)) stored.push(value as unknown as StoredWrite);
      return stored;
    }

    #toWrites(stored: readonly StoredWrite[]): Promise<readonly [string, string, unknown][]> {
      const sorted = stored.toSorted(
        (a, b) => compare(a.path, b.path) || compare(a.task, b.task) || a.at - b.at,
      );
      return Promise.all(
        sorted.map(
          async ({ task, channel, value }) =>
            [task, channel, await this.#deserialize(value)] as [string, string, unknown],
        ),
      );
    }

    async #matches(
      { metadata: value }: StoredCheckpoint,
      filter: CheckpointListOptions["filter"],
    ): Promise<boolean> {
      if (!filter) return true;
      const metadata = (await this.#deserialize(value)) as Record<string, unknown>;
      return Object.entries(filter).every(([name, value]) => metadata[name] === value);
    }

    #deserialize(blob: StoredValue): Promise<unknown> {
      const data = "text" in blob ? blob.text : new Uint8Array(Buffer.from(blob.base64, "base64"));
      return this.serde.loadsTyped(blob.kind, data);
    }

    #read(prefix: string, backwards: boolean, page = PAGE) {
      return readItems(this.#storage, { prefix, backwards }, page);
    }

    #prefix(kind: "c" | "w", thread?: string, ns?: string): string {
      if (thread === undefined) return `${kind}/`;
      const owner = thread === this.#own ? "own" : `of-${encodeURIComponent(thread)}`;
      return ns === undefined ? `${kind}/${owner}/` : `${kind}/${owner}/${encodeURIComponent(ns)}/`;
    }
  }
  return (storage, own) => new ContextCheckpointer(storage, own);
}

/** The writes of checkpoints that are asked for in the order of the keys, newest first: one range instead of many. */
class WritesCursor {
  readonly #items: AsyncGenerator<StoredItem>;
  #next: StoredItem | undefined;
  #isOver = false;

  constructor(items: AsyncGenerator<StoredItem>) {
    this.#items = items;
  }

  /** `prefix`: of the checkpoint, without the slash after its id. */
  async of(prefix: string): Promise<readonly StoredWrite[]> {
    const found: StoredWrite[] = [];
    const [first, end] = [`${prefix}/`, `${prefix}0`];
    for (;;) {
      if (!this.#next && !this.#isOver) {
        const { value, done } = await this.#items.next();
        this.#next = value as StoredItem | undefined;
        this.#isOver = done === true;
      }
      if (!this.#next || this.#next.key < first) return found;
      // A key beyond belongs to a checkpoint that was not asked for.
      if (this.#next.key < end) found.push(this.#next.value as unknown as StoredWrite);
      this.#next = undefined;
    }
  }
}

function toChange(key: string, stored: StoredCheckpoint | StoredWrite): StorageChange {
  const chars = JSON.stringify(stored).length;
  if (chars <= LIMITS.storageValueBytesMax) return { key, value: stored as unknown as Json };
  throw new Error(
    `The state of the graph has ${chars} characters; the maximum is ${LIMITS.storageValueBytesMax}: ` +
      "trim its messages, or store large values outside of the state",
  );
}

async function serialize(serde: Serde, value: unknown): Promise<StoredValue> {
  const [kind, bytes] = await serde.dumpsTyped(value);
  if (kind === "json") return { kind, text: new TextDecoder().decode(bytes) };
  return { kind, base64: Buffer.from(bytes).toString("base64") };
}

function requireThread(config: GraphConfig): { readonly thread: string; readonly ns: string } {
  const { thread_id: thread, checkpoint_ns: ns = "" } = (config.configurable ?? {}) as Partial<CheckpointKey>;
  if (thread === undefined) throw new Error("A checkpoint belongs to a thread: its thread_id is missing");
  return { thread, ns };
}

/** What a history shows of the run and can be searched by. Members that LangGraph adds for each node are left out. */
function metadataOf({ metadata }: GraphConfig): object {
  if (!isRecord(metadata)) return {};
  const isOwn = (name: string): boolean => !name.startsWith("langgraph_") && name !== "checkpoint_ns";
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => isOwn(name)));
}

/** The config that `put` returns. */
export function toPutConfig(config: GraphConfig, { id }: Checkpoint): GraphConfig {
  const { thread, ns } = requireThread(config);
  return toConfig(thread, ns, id);
}

const textsOf = (value: StoredValue): readonly [string, string] => [
  value.kind,
  "text" in value ? value.text : value.base64,
];

const toConfig = (thread_id: string, checkpoint_ns: string, checkpoint_id: string): GraphConfig => ({
  configurable: { thread_id, checkpoint_ns, checkpoint_id },
});

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byVersion = (a: number | string, b: number | string): number =>
  typeof a === "number" && typeof b === "number" ? a - b : compare(String(a), String(b));
