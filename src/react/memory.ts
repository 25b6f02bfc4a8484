import type { Part } from "../client/index.ts";

/** What a conversation needs after a reload of its page. */
export interface Remembered {
  /** Its tasks, the oldest first. */
  readonly tasks: readonly { readonly id: string; readonly contextId: string }[];
  /** A message whose arrival is not known. */
  readonly unsent?: Unsent;
}
export interface Unsent {
  readonly messageId: string;
  readonly parts: readonly Part[];
  readonly taskId?: string;
  readonly contextId?: string;
}

export interface Memory {
  read(): Remembered;
  write(remembered: Remembered): void;
}

const NOTHING: Remembered = { tasks: [] };
/** Older tasks of a conversation are not read again. */
const TASKS_MAX = 50;

/** The storage of this tab. Without one (a page that may not store, a full storage) nothing is remembered. `key`: null for none. */
export function openMemory(key: string | null): Memory {
  return {
    read() {
      try {
        const text = key === null ? null : sessionStorage.getItem(`dragoman ${key}`);
        return text === null ? NOTHING : (JSON.parse(text) as Remembered);
      } catch {
        return NOTHING;
      }
    },
    write(remembered) {
      try {
        const tasks = remembered.tasks.slice(-TASKS_MAX);
        if (key !== null) sessionStorage.setItem(`dragoman ${key}`, JSON.stringify({ ...remembered, tasks }));
      } catch {}
    },
  };
}
