import type { AgentStorage } from "../../ports/index.ts";
import { encodeStorageValue } from "../kernel/storage-value.ts";
import type { Backend } from "./backend.ts";
import type { BatchWriter } from "./writer.ts";

/** Agent storage: written with the next commit, read from the backend. */
export function createSingleNodeStorage(backend: Backend, writer: BatchWriter): AgentStorage {
  return {
    async get(area, key) {
      const found = backend.listStorage(area, { prefix: key, max: 1 })[0];
      return found?.key === key ? found.value : undefined;
    },
    async list(area, range) {
      return backend.listStorage(area, range);
    },
    async put(area, changes) {
      const encoded = changes.map(change => ({ key: change.key, text: encodeStorageValue(change) }));
      if (encoded.length > 0) await writer.writeStorage({ area, changes: encoded });
    },
  };
}
