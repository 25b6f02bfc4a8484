import type { Store } from "../../ports.ts";
import { createHotStore, type HotParts } from "../hot/store.ts";
import { createMemoryJournal } from "./journal.ts";

export function createMemoryStore(parts: Omit<HotParts, "journal">): Store {
  return createHotStore({ ...parts, journal: createMemoryJournal() });
}
