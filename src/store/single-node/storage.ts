import { Fault, LIMITS } from "../../model/index.ts";
import type { AgentStorage, StorageChange } from "../../ports/index.ts";
import type { Journal } from "./backend.ts";
import type { Writer } from "./writer.ts";

/** What is put away beside the log: written with the next commit, read from the journal. */
export function createShelf(journal: Journal, writer: Writer): AgentStorage {
  return {
    async get(place, key) {
      const found = journal.shelved(place, { prefix: key, max: 1 })[0];
      return found?.key === key ? found.value : undefined;
    },
    async list(place, range) {
      return journal.shelved(place, range);
    },
    async put(place, changes) {
      const texts = changes.map(change => ({ key: change.key, text: toShelved(change) }));
      if (texts.length > 0) await writer.put({ place, changes: texts });
    },
  };
}

/** The JSON of a value, made before any commit; undefined: the key goes. */
export function toShelved({ key, value }: StorageChange): string | undefined {
  if (key === "" || key.length > LIMITS.shelfKeyCharsMax || key.includes("\0") || !key.isWellFormed())
    throw new Fault(
      "too-large",
      `A key on a shelf has 1 to ${LIMITS.shelfKeyCharsMax} characters, which are well-formed Unicode without NUL`,
    );
  if (value === undefined) return undefined;
  const text = JSON.stringify(value);
  if (text === undefined || text.length > LIMITS.shelfValueBytesMax)
    throw new Fault(
      "too-large",
      `A value on a shelf is JSON of at most ${LIMITS.shelfValueBytesMax} characters`,
    );
  return text;
}
