import type { ItemStore } from "../../ports/index.ts";
import {
  decodeItem,
  encodeItem,
  endOfPrefix,
  fromNamespaceKey,
  toItemKey,
  toNamespaceKey,
} from "../kernel/item-row.ts";
import type { Backend } from "./backend.ts";
import type { BatchWriter } from "./writer.ts";

export interface SingleNodeItemsParts {
  readonly backend: Backend;
  readonly writer: BatchWriter;
  readonly wallTime: () => number;
}

/** Items: written with the next commit, read from the backend. */
export function createSingleNodeItems({ backend, writer, wallTime }: SingleNodeItemsParts): ItemStore {
  const { items } = backend;
  return {
    async get(scope, id) {
      const { namespace, key } = toItemKey(id);
      const row = items.get(scope, namespace, key, wallTime());
      return row && decodeItem(row);
    },
    async put(scope, changes) {
      const encoded = changes.map(encodeItem);
      const now = wallTime();
      if (encoded.length > 0)
        await writer.write(() => {
          for (const change of encoded) items.write(scope, change, now);
        });
    },
    async list(scope, { prefix, after, max, withVectors }) {
      const from = toNamespaceKey(prefix);
      const last = after && { ...toItemKey(after), updated_at: after.updatedAt };
      const range = { from, to: endOfPrefix(from), after: last, max, withVectors };
      return items.list(scope, range, wallTime()).map(decodeItem);
    },
    async listNamespaces(scope, { prefix, after, max }) {
      const from = toNamespaceKey(prefix);
      const next = after === undefined ? from : `${toNamespaceKey(after)}\u0001`;
      const keys = items.listNamespaces(scope, next, endOfPrefix(from), max, wallTime());
      return keys.map(fromNamespaceKey);
    },
    async refresh(scope, ids) {
      const keys = ids.map(toItemKey);
      const now = wallTime();
      if (keys.length > 0)
        await writer.write(() => {
          for (const { namespace, key } of keys) items.refresh(scope, namespace, key, now);
        });
    },
    async sweep(max) {
      let count = 0;
      const now = wallTime();
      await writer.write(() => void (count = items.sweep(max, now)));
      return count;
    },
  };
}
