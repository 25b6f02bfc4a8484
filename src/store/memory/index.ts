import type { Store } from "../../ports/index.ts";
import { createHotStore, type HotParts } from "../single-node/store.ts";
import { createMemoryJournal } from "./backend.ts";

export function createMemoryStore(parts: Omit<HotParts, "journal">): Store {
  return createHotStore({ ...parts, journal: createMemoryJournal() });
}
