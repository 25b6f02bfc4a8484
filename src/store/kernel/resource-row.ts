import type { JsonObject } from "../../lib/json.ts";
import { Fault, LIMITS } from "../../model/index.ts";
import type { NewResource, OwnedResource, Resource, ResourceRange } from "../../ports/index.ts";
import { toStoredScope } from "./stored-scope.ts";

/** A row of the table `resource`. */
export interface ResourceRow {
  readonly tenant: string;
  readonly principal: string;
  readonly kind: string;
  readonly id: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly expires_at: number | null;
  readonly rev: number;
  readonly value: string;
}

export const toResource = (row: ResourceRow): Resource => ({
  id: row.id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  ...(row.expires_at !== null && { expiresAt: row.expires_at }),
  rev: row.rev,
  value: JSON.parse(row.value) as JsonObject,
});

/** With the scope that was authorized when the record was created. */
export const toOwnedResource = (row: ResourceRow): OwnedResource => ({
  ...toResource(row),
  scope: toStoredScope(row),
});

export function encodeResource({ value }: NewResource): string {
  const text = JSON.stringify(value);
  if (text.length <= LIMITS.storageValueBytesMax) return text;
  throw new Fault(
    "too-large",
    `The record has ${text.length} characters; the maximum is ${LIMITS.storageValueBytesMax}`,
  );
}

export const TIME_COLUMNS: Readonly<Record<ResourceRange["by"], "created_at" | "updated_at">> = {
  createdAt: "created_at",
  updatedAt: "updated_at",
};

export const resourceConflict = (): Fault => new Fault("conflict", "The record was changed concurrently");
