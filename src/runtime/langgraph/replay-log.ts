/**
 * Stores the output of a graph together with its checkpoints. A graph resumes after its last checkpoint, and completed
 * tasks do not run again; the attempt that resumes it writes their output from this log.
 */
import type { Json } from "../../lib/json.ts";
import type { ContextStorage } from "../../ports/index.ts";
import { mergeAdjacent } from "../shared/output-writer.ts";
import { deleteKeys, readItems } from "../shared/storage-pages.ts";
import { type Checkpointer, type GraphConfig, isCompletedBy, taskIdsIn } from "./graph.ts";
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
  /** Writes of tasks that are being stored. */
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

  /** A checkpointer that also stores the output. */
  wrap(checkpointer: Checkpointer): Checkpointer {
    const wrapped: Pick<Checkpointer, "put" | "putWrites"> = {
      put: async (config, checkpoint, ...more) => {
        const ns = namespaceOf(config);
        // LangGraph does not wait. A checkpoint without the writes before it would make their output look incomplete.
        await Promise.allSettled(this.#writing);
        // The output first: `read` ignores output without a checkpoint, but lost output could not be detected.
        await this.#store({ ns, checkpoint: checkpoint.id }, taskIdsIn(ns.split("|")));
        return checkpointer.put(config, checkpoint, ...more);
      },
      putWrites: (config, writes, task, path) => {
        const store = async (): Promise<void> => {
          const checkpoint = config.configurable?.checkpoint_id ?? "";
          if (writes.some(([channel]) => isCompletedBy(channel)))
            await this.#store({ ns: namespaceOf(config), checkpoint, task }, [task]);
          await checkpointer.putWrites(config, writes, task, path);
        };
        const stored = store().finally(() => this.#writing.delete(stored));
        this.#writing.add(stored);
        return stored;
      },
    };
    return new Proxy(checkpointer, {
      get(target, name) {
        if (name === "put" || name === "putWrites") return wrapped[name];
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  /** Deletes the output of earlier turns. */
  async clear(): Promise<void> {
    const stale: string[] = [];
    for await (const { key } of readItems(this.#storage, { prefix: PREFIX }, PAGE))
      if (!key.startsWith(this.#prefix)) stale.push(key);
    if (stale.length > 0) await deleteKeys(this.#storage, stale);
  }

  /** Stores the output inside of these tasks. */
  async #store(position: Omit<ReplayEntry, "words">, tasks: readonly string[]): Promise<void> {
    // The last output of a completed task may still be in the promise queue of the stream.
    await new Promise(resolve => void setImmediate(resolve));
    const isInside = ({ path }: TaskOutput): boolean => tasks.every(task => path.includes(task));
    const outputs = mergeAdjacent(this.#pending.filter(isInside), mergeTaskOutput);
    if (outputs.length === 0) return;
    this.#pending = this.#pending.filter(one => !isInside(one));
    const key = `${this.#prefix}${String(++this.#count).padStart(6, "0")}`;
    const words = outputs.map(({ path, output }) => ({ path, words: output }));
    const entry: ReplayEntry = { ...position, words };
    await this.#storage.put([{ key, value: entry as unknown as Json }]);
  }
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
