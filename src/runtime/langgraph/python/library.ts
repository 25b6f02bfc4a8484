/** Checkpoints of Python graphs in the storage of a context: the same keys as those of LangGraph.js, values as JSON. */
import { createCheckpointerFactory } from "../checkpointer.ts";
import type { CheckpointLibrary, Serde } from "../library.ts";

/** A value from Python is an object of JSON whose content only Python can read (`kind`, `data`). */
const JSON_SERDE: Serde = {
  dumpsTyped: async value => ["json", new TextEncoder().encode(JSON.stringify(value))],
  loadsTyped: async (_kind, data) =>
    JSON.parse(typeof data === "string" ? data : new TextDecoder().decode(data)) as unknown,
};

const LIBRARY: CheckpointLibrary = {
  BaseCheckpointSaver: class {
    readonly serde = JSON_SERDE;
    getNextVersion(): number {
      return 1;
    }
  },
  WRITES_IDX_MAP: { __error__: -1, __scheduled__: -2, __interrupt__: -3, __resume__: -4 },
  getCheckpointId: config => config.configurable?.checkpoint_id ?? "",
};

export const createPythonCheckpointer = createCheckpointerFactory(LIBRARY);
