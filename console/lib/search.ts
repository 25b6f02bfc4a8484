import type { ContextPage, TaskRowPage } from "../../src/admin/api.ts";
import { readAdmin } from "./admin.ts";
import { oneLine, shortId } from "./format.ts";
import { go } from "./router.ts";

/** An entry of the palette. */
export interface Command {
  readonly id: string;
  readonly group: string;
  readonly icon: string;
  readonly label: string;
  readonly hint?: string;
  readonly run: () => unknown;
}

/** Tasks and conversations that contain the words, for the palette; returns a function that gives the search up. */
export function searchAll(text: string, onFound: (found: readonly Command[]) => void): () => void {
  const words = text.trim();
  const abort = new AbortController();
  if (words.length < 2) {
    onFound([]);
    return () => abort.abort();
  }
  const timer = setTimeout(() => {
    const query = { text: words, pageSize: "6" };
    Promise.all([
      readAdmin<TaskRowPage>("tasks", query, abort.signal),
      readAdmin<ContextPage>("contexts", query, abort.signal),
    ]).then(
      ([{ tasks }, { contexts }]) =>
        onFound([
          ...contexts.map(
            (one): Command => ({
              id: `c-${one.agent}-${one.contextId}`,
              group: "Conversations",
              icon: "chat",
              label: oneLine(one.title, 60),
              hint: one.agent,
              run: () => go(["chat", one.agent, one.contextId]),
            }),
          ),
          ...tasks.map(
            (one): Command => ({
              id: `t-${one.id}`,
              group: "Tasks",
              icon: "tasks",
              label: oneLine(one.title, 60) || shortId(one.id),
              hint: `${one.agent}, ${one.state}`,
              run: () => go(["tasks", one.id]),
            }),
          ),
        ]),
      () => {},
    );
  }, 180);
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}
