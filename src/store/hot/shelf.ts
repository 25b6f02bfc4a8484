import { Fault, LIMITS } from "../../model/index.ts";
import type { Shelf, ShelfChange } from "../../ports.ts";
import type { Journal } from "./journal.ts";
import type { Writer } from "./writer.ts";

/** What is put away beside the log: written with the next commit, read from the journal. */
export function createShelf(journal: Journal, writer: Writer): Shelf {
  return {
    async get(place, key) {
      const found = journal.shelved(place, { prefix: key, max: 1 })[0];
      return found?.key === key ? found.value : undefined;
    },
    async list(place, range) {
      return journal.shelved(place, range);
    },
    async put(place, changes) {
      for (const change of changes) checkShelved(change);
      if (changes.length > 0) await writer.put({ place, changes });
    },
  };
}

export function checkShelved({ key, value }: ShelfChange): void {
  if (key === "" || key.length > LIMITS.shelfKeyCharsMax || key.includes("\0"))
    throw new Fault("too-large", `A key on a shelf has 1 to ${LIMITS.shelfKeyCharsMax} characters`);
  if (value !== undefined && JSON.stringify(value).length > LIMITS.shelfValueBytesMax)
    throw new Fault("too-large", `A value on a shelf has at most ${LIMITS.shelfValueBytesMax} characters`);
}
