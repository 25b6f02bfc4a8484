/** A store in one file: memory has the data, and each commit is one line of JSON at the end of the file. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from "node:fs";
import type { Store } from "dragoman/ports";
import {
  type Backend,
  createMemoryBackend,
  createSingleNodeStore,
  type ExpiredData,
  type PushChange,
  type StorageWrite,
  type StoreParts,
  type TaskChange,
} from "dragoman/store";

/** `createServer({ store: parts => createFileStore(parts, "tasks.jsonl") })` */
export const createFileStore = (parts: StoreParts, file: string): Store =>
  createSingleNodeStore({ ...parts, backend: createFileBackend(file) });

type Table = "items" | "resources" | "schedules";
type Methods = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;

/** A call of a table that changes it. */
type TableWrite = readonly [table: Table, method: string, args: readonly unknown[]];
const WRITES: ReadonlySet<string> = new Set(["write", "refresh", "sweep", "delete"]);

/** One line: a commit, or the removal of old data. */
type Entry =
  | {
      readonly changes: readonly TaskChange[];
      readonly storage: readonly StorageWrite[];
      readonly pushes: readonly PushChange[];
      readonly tables: readonly TableWrite[];
    }
  | { readonly prune: ExpiredData };

/** `write`: tests make it fail. */
export function createFileBackend(
  file: string,
  write: (descriptor: number, text: string) => void = (descriptor, text) => void writeSync(descriptor, text),
): Backend {
  let memory = replay(file);
  let tables: TableWrite[] = [];
  const descriptor = openSync(file, "a");

  /** A line is complete or not there at all. */
  function save(entry: Entry): void {
    const { size } = statSync(file);
    try {
      write(descriptor, `${JSON.stringify(entry, withoutSets)}\n`);
      fsyncSync(descriptor);
    } catch (error) {
      ftruncateSync(descriptor, size);
      memory = replay(file);
      throw error;
    }
  }

  const recorded = (table: Table): Methods =>
    new Proxy<Methods>(
      {},
      {
        get:
          (_, method: string) =>
          (...args: readonly unknown[]) => {
            if (WRITES.has(method)) tables.push([table, method, args]);
            return callTable(memory, table, method, args);
          },
      },
    );

  const own: Partial<Backend> = {
    commit(changes, storage, pushes, others) {
      tables = [];
      memory.commit(changes, storage, pushes, others);
      save({ changes: changes.map(toPlain), storage, pushes, tables });
    },
    prune(expired) {
      const pruned = memory.prune(expired);
      save({ prune: expired });
      return pruned;
    },
    check: () => write(descriptor, ""),
    bytes: () => statSync(file).size,
    close: () => closeSync(descriptor),
    items: recorded("items") as unknown as Backend["items"],
    resources: recorded("resources") as unknown as Backend["resources"],
    schedules: recorded("schedules") as unknown as Backend["schedules"],
  };
  // After a failed write `memory` is another one: everything else is looked up when it is used.
  return new Proxy(memory, {
    get(_, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof Backend];
      const value: unknown = memory[name as keyof Backend];
      return typeof value === "function" ? value.bind(memory) : value;
    },
  });
}

/** The data of a file; a last line that a crash cut off is removed. */
function replay(file: string): Backend {
  const memory = createMemoryBackend();
  if (!existsSync(file)) return memory;
  const text = readFileSync(file, "utf8");
  const end = text.lastIndexOf("\n") + 1;
  if (end < text.length) truncate(file, Buffer.byteLength(text.slice(0, end)));
  for (const line of text.slice(0, end).split("\n").slice(0, -1)) {
    const entry = JSON.parse(line) as Entry;
    if ("prune" in entry) memory.prune(entry.prune);
    else {
      const tables = entry.tables.map(
        ([table, method, args]) =>
          () =>
            void callTable(memory, table, method, args),
      );
      memory.commit(entry.changes, entry.storage, entry.pushes, tables);
    }
  }
  return memory;
}

function truncate(file: string, bytes: number): void {
  const descriptor = openSync(file, "r+");
  ftruncateSync(descriptor, bytes);
  closeSync(descriptor);
}

const callTable = (memory: Backend, table: Table, method: string, args: readonly unknown[]): unknown =>
  (memory[table] as unknown as Methods)[method]?.(...args);

/** Steps have the task as a getter, and packed events: memory needs neither. */
const toPlain = (change: TaskChange): TaskChange => ({
  ...change,
  events: "",
  snapshot: null,
  steps: change.steps.map(({ seq, at, event, taskId, contextId }) => ({
    seq,
    at,
    event,
    taskId,
    contextId,
    task: change.task,
  })),
});

/** The agents that a caller may know of are no part of a stored scope. */
const withoutSets = (key: string, value: unknown): unknown =>
  value instanceof Set || key === "memo" ? undefined : value;
