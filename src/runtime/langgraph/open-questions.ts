/**
 * A graph has one state per context, and several tasks of a context may wait for answers. Each keeps the checkpoint at which
 * it asked: after another task has moved the state on, its answer continues from there.
 */
import type { ContextStorage } from "../../ports/index.ts";
import { readItems } from "../shared/storage-pages.ts";

/** The stored form; its members must not change. */
interface StoredQuestion {
  readonly checkpoint: string;
  /** How many turns of other tasks have begun since. */
  readonly overtaken: number;
}

const PREFIX = "asked/";
const PAGE = 20;
/** A question that was never answered, as in a canceled task, does not keep checkpoints forever. */
const OVERTAKEN_MAX = 100;

export interface OpenQuestions {
  /** The checkpoint from which this task continues; undefined: the newest one. */
  readonly checkpoint: string | undefined;
  /** Other tasks wait: their checkpoints must not be deleted. */
  readonly hasOthers: boolean;
}

/** Counts the turn for the questions of the other tasks; a repeated attempt counts again, which does no harm. */
export async function beginTurn(storage: ContextStorage, taskId: string): Promise<OpenQuestions> {
  const changes: { key: string; value: { checkpoint: string; overtaken: number } | undefined }[] = [];
  let own: StoredQuestion | undefined;
  for await (const { key, value } of readItems(storage, { prefix: PREFIX }, PAGE)) {
    const question = value as unknown as StoredQuestion;
    if (key === PREFIX + taskId) own = question;
    else {
      const overtaken = question.overtaken + 1;
      changes.push({ key, value: overtaken > OVERTAKEN_MAX ? undefined : { ...question, overtaken } });
    }
  }
  if (changes.length > 0) await storage.put(changes);
  const hasOthers = changes.some(({ value }) => value !== undefined);
  return { checkpoint: own && own.overtaken > 0 ? own.checkpoint : undefined, hasOthers };
}

/** `checkpoint` undefined: the task no longer asks. */
export async function saveQuestion(
  storage: ContextStorage,
  taskId: string,
  checkpoint: string | undefined,
): Promise<void> {
  const key = PREFIX + taskId;
  if (checkpoint !== undefined) await storage.put([{ key, value: { checkpoint, overtaken: 0 } }]);
  else if ((await storage.get(key)) !== undefined) await storage.put([{ key, value: undefined }]);
}
