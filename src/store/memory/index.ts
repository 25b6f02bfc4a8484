import type { Store } from "../../ports/index.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import { createSingleNodeStore } from "../single-node/store.ts";
import { createMemoryBackend } from "./backend.ts";

export function createMemoryStore(parts: StoreParts): Store {
  return createSingleNodeStore({ ...parts, backend: createMemoryBackend() });
}
