import { ChurnMap } from "../../lib/churn-map.ts";
import type { Scope } from "../../model/index.ts";
import type { ResourceKind, Resources } from "../../ports/index.ts";
import { encodeResource, resourceConflict, toOwnedResource, toResource } from "../kernel/resource-row.ts";
import type { Backend, ResourceKey } from "./backend.ts";
import type { BatchWriter } from "./writer.ts";

/** Records of callers: written with the next commit, read from the backend. */
export function createSingleNodeResources({ resources }: Backend, writer: BatchWriter): Resources {
  /** The last pending change of each record: changes of one record are made one after another. */
  const pending = new ChurnMap<string, Promise<unknown>>();

  function enqueue<T>(key: ResourceKey, change: () => Promise<T>): Promise<T> {
    const name = JSON.stringify(key);
    const done = (pending.get(name) ?? Promise.resolve()).then(change);
    const settled: Promise<unknown> = done
      .catch(() => {})
      .then(() => {
        if (pending.get(name) === settled) pending.delete(name);
      });
    pending.set(name, settled);
    return done;
  }

  const toKey = ({ tenant, principal }: Scope, kind: ResourceKind, id: string): ResourceKey => [
    tenant,
    principal,
    kind,
    id,
  ];

  return {
    async find(scope, kind, id) {
      const row = resources.find(scope, kind, id);
      return row && toResource(row);
    },
    async put(scope, kind, resource, expected) {
      const value = encodeResource(resource);
      const key = toKey(scope, kind, resource.id);
      return enqueue(key, async () => {
        const known = resources.find(scope, kind, resource.id);
        if ((known?.rev ?? "absent") !== expected) throw resourceConflict();
        const rev = (known?.rev ?? 0) + 1;
        const { tenant, principal } = scope;
        const { id, createdAt, updatedAt, expiresAt = null } = resource;
        const times = { created_at: createdAt, updated_at: updatedAt, expires_at: expiresAt };
        const row = { tenant, principal, kind, id, ...times, rev, value };
        await writer.write(() => resources.write(key, row));
        return { ...resource, rev };
      });
    },
    async remove(scope, kind, id) {
      const key = toKey(scope, kind, id);
      return enqueue(key, async () => {
        const isKnown = resources.find(scope, kind, id) !== null;
        if (isKnown) await writer.write(() => resources.write(key, null));
        return isKnown;
      });
    },
    async list(scope, kind, range) {
      return resources.list(scope, kind, range).map(toResource);
    },
    async expired(kind, at, max) {
      return resources.expired(kind, at, max).map(toOwnedResource);
    },
  };
}
