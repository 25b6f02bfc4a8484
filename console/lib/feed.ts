import { signal } from "@preact/signals";
import type { TaskRow } from "../../src/admin/api.ts";
import { adminPath } from "./admin.ts";
import { ApiError } from "./api.ts";
import { tail } from "./sse.ts";

/** One subscription to the changes of all tasks feeds every list of the page. */

type Listener = (change: Change) => void;
export type Change =
  | { readonly kind: "task"; readonly row: TaskRow }
  | { readonly kind: "gone"; readonly id: string }
  | { readonly kind: "reload" };

const listeners = new Set<Listener>();
export const isFeedOpen = signal(false);

export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const tell = (change: Change): void => {
  for (const listener of listeners) listener(change);
};

export function startFeed(onWaiting: () => void): () => void {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const countSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(onWaiting, 300);
  };
  void tail({
    path: () => adminPath("tasks/changes", { replies: "true" }),
    signal: abort.signal,
    onEvent: ({ event, data }) => {
      if (event === "ready") {
        isFeedOpen.value = true;
        // Changes before this event are not repeated: lists that may lack them are read again.
        tell({ kind: "reload" });
        countSoon();
      } else if (event === "task") {
        tell({ kind: "task", row: JSON.parse(data) as TaskRow });
        countSoon();
      } else if (event === "gone") tell({ kind: "gone", id: (JSON.parse(data) as { id: string }).id });
      else if (event === "reload") tell({ kind: "reload" });
    },
  })
    .catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
    })
    .finally(() => {
      isFeedOpen.value = false;
    });
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}
