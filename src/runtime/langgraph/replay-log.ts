/**
 * Stores the output of a graph together with its checkpoints. A graph resumes after its last checkpoint, and completed
 * tasks do not run again; the attempt that resumes it writes their output from this log.
 */
import type { Json } from "../../lib/json.ts";
import type { ContextStorage, StorageChange } from "../../ports/index.ts";
import { mergeAdjacent } from "../shared/output-writer.ts";
import { deleteKeys, readItems } from "../shared/storage-pages.ts";
import { type StorageCheckpointer, toPutConfig } from "./checkpointer.ts";
import { type ChannelWrite, type Checkpointer, type GraphConfig, isCompletedBy, taskIdsIn } from "./graph.ts";
import { JoinedChanges } from "./joined-changes.ts";
import { type GraphOutput, mergeTaskOutput, type TaskOutput } from "./task-output.ts";

/** The stored output up to a checkpoint, or up to the writes of one task of the checkpoint. */
interface ReplayEntry {
  readonly ns: string;
  readonly checkpoint: string;
  readonly task?: string;
  readonly words: readonly { readonly path: readonly string[]; readonly words: GraphOutput }[];
}

const PREFIX = "said/";
const PAGE = 100;

export class ReplayLog {
  readonly #storage: ContextStorage;
  readonly #prefix: string;
  #count = 0;
  /** Output that is not stored yet. */
  #pending: TaskOutput[] = [];
  /** Writes of tasks that are not stored yet, or, with the same storage, not yet joined. */
  readonly #writing = new Set<Promise<void>>();

  /** `turn`: unique in this context. */
  constructor(storage: ContextStorage, turn: string) {
    this.#storage = storage;
    this.#prefix = `${PREFIX}${turn}/`;
  }

  add(output: TaskOutput): void {
    this.#pending.push(output);
  }

  /** The output of earlier attempts, as far as its checkpoints exist. */
  async read(checkpointer: Checkpointer, thread: string): Promise<readonly TaskOutput[]> {
    const outputs: TaskOutput[] = [];
    for await (const { value } of readItems(this.#storage, { prefix: this.#prefix }, PAGE)) {
      this.#count += 1;
      const entry = value as unknown as ReplayEntry;
      if (await hasCheckpoint(checkpointer, thread, entry))
        outputs.push(...entry.words.map(({ path, words: output }) => ({ path, output })));
    }
    return outputs;
  }

  /** A checkpointer of the same storage: the output is stored with its checkpoint, in one transaction. */
  wrap(checkpointer: StorageCheckpointer): Checkpointer {
    const joined = new JoinedChanges(this.#storage);
    return withWrites(checkpointer, {
      put: async (config, checkpoint, metadata) => {
        const ns = namespaceOf(config);
        const queue = emptyQueue();
        // LangGraph does not wait. A checkpoint without the writes before it would make their output look incomplete.
        await Promise.allSettled(this.#writing);
        await queue;
        const output = this.#take({ ns, checkpoint: checkpoint.id }, taskIdsIn(ns.split("|")));
        await joined.put([...output, await checkpointer.toPut(config, checkpoint, metadata)]);
        return toPutConfig(config, checkpoint);
      },
      putWrites: async (config, writes, task, path) => {
        let stored: Promise<void> | undefined;
        await this.#write(async () => {
          const changes = [
            ...(await this.#takeOf(config, writes, task)),
            ...(await checkpointer.toWrites(config, writes, task, path)),
          ];
          stored = joined.put(changes);
        });
        await stored;
      },
    });
  }

  /** A checkpointer of the graph's own, which stores elsewhere. */
  wrapOther(checkpointer: Checkpointer): Checkpointer {
    return withWrites(checkpointer, {
      put: async (config, checkpoint, ...more) => {
        const ns = namespaceOf(config);
        await Promise.allSettled(this.#writing);
        await emptyQueue();
        // The output first: `read` ignores output without a checkpoint, but lost output could not be detected.
        await this.#storage.put(this.#take({ ns, checkpoint: checkpoint.id }, taskIdsIn(ns.split("|"))));
        return checkpointer.put(config, checkpoint, ...more);
      },
      putWrites: (config, writes, task, path) =>
        this.#write(async () => {
          await this.#storage.put(await this.#takeOf(config, writes, task));
          await checkpointer.putWrites(config, writes, task, path);
        }),
    });
  }

  /** Checkpoints wait for it. */
  #write(write: () => Promise<void>): Promise<void> {
    const written = write().finally(() => this.#writing.delete(written));
    this.#writing.add(written);
    return written;
  }

  /** Deletes the output of earlier turns. */
  async clear(): Promise<void> {
    const stale: string[] = [];
    for await (const { key } of readItems(this.#storage, { prefix: PREFIX }, PAGE))
      if (!key.startsWith(this.#prefix)) stale.push(key);
    if (stale.length > 0) await deleteKeys(this.#storage, stale);
  }

  async #takeOf(
    config: GraphConfig,
    writes: readonly ChannelWrite[],
    task: string,
  ): Promise<readonly StorageChange[]> {
    await emptyQueue();
    const checkpoint = config.configurable?.checkpoint_id ?? "";
    const isCompleted = writes.some(([channel]) => isCompletedBy(channel));
    return isCompleted ? this.#take({ ns: namespaceOf(config), checkpoint, task }, [task]) : [];
  }

  /** The output inside of these tasks, to be stored. */
  #take(position: Omit<ReplayEntry, "words">, tasks: readonly string[]): readonly StorageChange[] {
    const isInside = ({ path }: TaskOutput): boolean => tasks.every(task => path.includes(task));
    const outputs = mergeAdjacent(this.#pending.filter(isInside), mergeTaskOutput);
    if (outputs.length === 0) return [];
    this.#pending = this.#pending.filter(one => !isInside(one));
    const key = `${this.#prefix}${String(++this.#count).padStart(6, "0")}`;
    const words = outputs.map(({ path, output }) => ({ path, words: output }));
    const entry: ReplayEntry = { ...position, words };
    return [{ key, value: entry as unknown as Json }];
  }
}

/** The last output of a completed task may still be in the promise queue of the stream. */
const emptyQueue = (): Promise<void> => new Promise(resolve => void setImmediate(resolve));

function withWrites(
  checkpointer: Checkpointer,
  writes: Pick<Checkpointer, "put" | "putWrites">,
): Checkpointer {
  return new Proxy(checkpointer, {
    get(target, name) {
      if (name === "put" || name === "putWrites") return writes[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const namespaceOf = (config: GraphConfig): string => config.configurable?.checkpoint_ns ?? "";

/** A crash may have come between storing the output and the checkpoint. */
async function hasCheckpoint(
  checkpointer: Checkpointer,
  thread: string,
  { ns, checkpoint, task }: ReplayEntry,
): Promise<boolean> {
  const configurable = { thread_id: thread, checkpoint_ns: ns, checkpoint_id: checkpoint };
  const tuple = await checkpointer.getTuple({ configurable });
  if (!tuple || task === undefined) return tuple !== undefined;
  return (tuple.pendingWrites ?? []).some(([id, channel]) => id === task && isCompletedBy(channel));
}
