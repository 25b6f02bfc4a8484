/**
 * Snapshots that were computed before. A snapshot depends on the graph, on its checkpoint and on the writes of that; the
 * stored texts are compared with those it was computed from, so it is valid whichever node has changed them.
 */
import type { ThreadSnapshot } from "../../ports/index.ts";
import type { StoredTuple } from "./checkpointer.ts";
import type { CheckpointTuple } from "./graph.ts";

interface Kept {
  readonly texts: readonly string[];
  readonly snapshot: ThreadSnapshot;
  readonly bytes: number;
}

/** The texts, and the snapshot in memory. */
const BYTES_PER_CHAR = 4;
/** An entry without its texts. */
const ENTRY_BYTES = 1_000;

export class SnapshotCache {
  readonly #bytesMax: number;
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** `key`: names the checkpoint and the way in which it is read. */
  find(key: string, { texts }: StoredTuple): ThreadSnapshot | undefined {
    const kept = this.#kept.get(key);
    if (!kept || !isSame(kept.texts, texts)) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.snapshot;
  }

  put(key: string, { texts }: StoredTuple, snapshot: ThreadSnapshot): void {
    this.#delete(key);
    const bytes = ENTRY_BYTES + BYTES_PER_CHAR * texts.reduce((sum, text) => sum + text.length, 0);
    if (bytes > this.#bytesMax) return;
    this.#kept.set(key, { texts, snapshot, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, i) => text === b[i]);

/** Before version 4 a checkpoint needs the writes of its parent, and a delta checkpoint those of all before it. */
export const isComplete = ({ checkpoint, metadata }: CheckpointTuple): boolean =>
  checkpoint.v >= 4 &&
  (metadata as Readonly<Record<string, unknown>>).counters_since_delta_snapshot === undefined;
