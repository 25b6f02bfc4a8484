/**
 * What a run of a graph has said and will not say again. A graph goes on after its last checkpoint, and parts of it that
 * were done stay silent then; so their words are kept with the checkpoint, and said again by the attempt that goes on.
 */
import type { Json } from "../../lib/json.ts";
import type { ContextStorage } from "../../ports/index.ts";
import { type GraphConfig, isDoneBy, type Saver, taskIdsIn } from "./graph.ts";
import { type Heard, joined } from "./output-writer.ts";

/** Words and the checkpoint that they are kept with; `task`: with what that task wrote to it. */
interface Entry {
  readonly ns: string;
  readonly checkpoint: string;
  readonly task?: string;
  readonly words: readonly Heard[];
}

const PREFIX = "said/";
const PAGE = 100;

export class Journal {
  readonly #shelf: ContextStorage;
  readonly #prefix: string;
  #count = 0;
  #heard: Heard[] = [];

  /** `turn`: what no other turn of this context is called. */
  constructor(shelf: ContextStorage, turn: string) {
    this.#shelf = shelf;
    this.#prefix = `${PREFIX}${turn}/`;
  }

  hear(heard: Heard): void {
    this.#heard.push(heard);
  }

  /** The words of earlier attempts that are kept, in order, as far as what they are kept with is there. */
  async read(saver: Saver, thread: string): Promise<readonly Heard[]> {
    const kept: Heard[] = [];
    for (const { key, value } of await this.#list()) {
      if (!key.startsWith(this.#prefix)) continue;
      this.#count += 1;
      const entry = value as unknown as Entry;
      if (await isThere(saver, thread, entry)) kept.push(...entry.words);
    }
    return kept;
  }

  /** A checkpointer that keeps words with what it keeps. */
  around(saver: Saver): Saver {
    const wrapped: Pick<Saver, "put" | "putWrites"> = {
      put: async (config, checkpoint, ...more) => {
        const ns = nsOf(config);
        // First the words: words without a checkpoint are seen to be so, but not the other way round.
        await this.#keep({ ns, checkpoint: checkpoint.id }, taskIdsIn(ns.split("|")));
        return saver.put(config, checkpoint, ...more);
      },
      putWrites: async (config, writes, task, path) => {
        const checkpoint = config.configurable?.checkpoint_id ?? "";
        if (writes.some(([channel]) => isDoneBy(channel)))
          await this.#keep({ ns: nsOf(config), checkpoint, task }, [task]);
        await saver.putWrites(config, writes, task, path);
      },
    };
    // Whatever else it can do, it does itself.
    return new Proxy(saver, {
      get(target, name) {
        if (name === "put" || name === "putWrites") return wrapped[name];
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  /** Turns before this one have ended: nobody says their words again. */
  async clear(): Promise<void> {
    const stale = (await this.#list()).filter(({ key }) => !key.startsWith(this.#prefix));
    if (stale.length > 0) await this.#shelf.put(stale.map(({ key }) => ({ key, value: undefined })));
  }

  /** Keeps what was said inside of these tasks. */
  async #keep(place: Omit<Entry, "words">, tasks: readonly string[]): Promise<void> {
    // What a task said is on its way here when it is done: as fast as promises are, and they are faster than this.
    await new Promise(resolve => void setImmediate(resolve));
    const isDone = ({ path }: Heard): boolean => tasks.every(task => path.includes(task));
    const words = joined(this.#heard.filter(isDone));
    if (words.length === 0) return;
    this.#heard = this.#heard.filter(one => !isDone(one));
    const key = `${this.#prefix}${String(++this.#count).padStart(6, "0")}`;
    const entry: Entry = { ...place, words };
    await this.#shelf.put([{ key, value: entry as unknown as Json }]);
  }

  async #list() {
    const found = [];
    for (let beyond = ""; ; ) {
      const page = await this.#shelf.list({ prefix: PREFIX, beyond, max: PAGE });
      found.push(...page);
      if (page.length < PAGE) return found;
      beyond = page.at(-1)?.key as string;
    }
  }
}

const nsOf = (config: GraphConfig): string => config.configurable?.checkpoint_ns ?? "";

/** A crash may have come between the words and what they are kept with. */
async function isThere(saver: Saver, thread: string, { ns, checkpoint, task }: Entry): Promise<boolean> {
  const configurable = { thread_id: thread, checkpoint_ns: ns, checkpoint_id: checkpoint };
  const tuple = await saver.getTuple({ configurable });
  if (!tuple || task === undefined) return tuple !== undefined;
  return (tuple.pendingWrites ?? []).some(([id, channel]) => id === task && isDoneBy(channel));
}
